// SPDX-License-Identifier: Apache-2.0
//
// The files in a coffer's folder are checked before they are used: somebody may have put a link, a pipe, a
// device or a folder in the place of a file. These are never followed, waited for, or written to.

internal import Glibc

extension DatabaseFile {
  /// Opens a file of the coffer; nil when there is none.
  ///
  /// - Parameter folder: the descriptor of the folder that `path` is relative to.
  /// - Throws: `StorageError.placeTaken` when something else has its name.
  static func openFile(
    _ path: String, _ flags: Int32, in folder: Int32 = AT_FDCWD, as place: StorageError.Place
  ) throws(StorageError) -> Int32? {
    // A plain `open` of a pipe without a writer, or of some devices, would wait forever.
    let descriptor = unsafe openat(
      folder, path, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0)
    guard descriptor >= 0 else {
      switch errno {
      case ENOENT: return nil
      case ELOOP, EISDIR, ENXIO, ENODEV: throw .placeTaken(place)
      default: throw StorageError(systemError: errno)
      }
    }
    guard status(descriptor)?.isRegularFile == true else {
      Glibc.close(descriptor)
      throw .placeTaken(place)
    }
    return descriptor
  }

  /// Whether something exists at a path; a link counts, wherever it leads.
  static func isTaken(_ path: String) -> Bool {
    var status = stat()
    return unsafe lstat(path, &status) == 0 || (errno != ENOENT && errno != ENOTDIR)
  }

  /// Checks that the log and its index, which SQLite opens by itself, are ordinary files.
  static func checkLog(of path: String) throws(StorageError) {
    for (ending, place) in [("-wal", StorageError.Place.log), ("-shm", .logIndex)] {
      var status = stat()
      if unsafe lstat(path + ending, &status) == 0, !status.isRegularFile { throw .placeTaken(place) }
    }
  }

  /// Whether the file system of a folder is mounted read-only.
  static func isReadOnlyMedium(_ folder: String) -> Bool {
    var medium = statvfs()
    return unsafe statvfs(folder, &medium) == 0 && medium.f_flag & UInt(ST_RDONLY) != 0
  }

  /// The names in a folder; nil when it cannot be read, which `errno` explains.
  static func names(in folder: String) -> [String]? {
    guard let directory = unsafe opendir(folder) else { return nil }
    defer { unsafe closedir(directory) }
    return try? unsafe names(in: directory)
  }

  /// Every name in an open folder except "." and "..".
  /// - Throws: `StorageError` when the list cannot be read to its end.
  static func names(in directory: OpaquePointer) throws(StorageError) -> [String] {
    var names: [String] = []
    while true {
      errno = 0
      guard let entry = unsafe readdir(directory) else {
        guard errno == 0 else { throw StorageError(systemError: errno) }
        return names
      }
      let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
        unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      if name != ".", name != ".." { names.append(name) }
    }
  }

  /// The result of `fstat`.
  static func status(_ descriptor: Int32) -> stat? {
    var status = stat()
    return unsafe fstat(descriptor, &status) == 0 ? status : nil
  }
}

extension stat {
  var isRegularFile: Bool { st_mode & S_IFMT == S_IFREG }
}
