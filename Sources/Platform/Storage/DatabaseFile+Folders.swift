// SPDX-License-Identifier: Apache-2.0
//
// The folder of a coffer: made private, and with a name that survives a crash.

internal import Glibc

extension DatabaseFile {
  /// Makes a folder with mode 0700, and those above it that are not there.
  /// - Parameter madeFolders: receives those that were missing, the outermost first.
  /// - Throws: `StorageError.notFound` when one was removed meanwhile, or cannot exist.
  static func makeDirectory(_ path: String, _ madeFolders: inout [String]) throws {
    let parts = path.split(separator: "/", omittingEmptySubsequences: true)
    var parent = path.hasPrefix("/") ? "/" : "."
    for (index, part) in parts.enumerated() {
      let made = parent == "." ? String(part) : parent == "/" ? "/" + part : parent + "/" + part
      let isNew = unsafe mkdir(made, 0o700) == 0
      if !isNew, errno != EEXIST, errno != EISDIR {
        throw errno == ENOENT ? StorageError.notFound : StorageError(systemError: errno)
      }
      if isNew { madeFolders.append(made) }
      // A folder that exists may have been made by a process that was killed just after. The parent of an
      // older one need not be readable.
      if isNew || index == parts.count - 1 { try sync(parent, mayBeUnreadable: !isNew) }
      parent = made
    }
    // A directory made for the coffer beforehand becomes private.
    if names(in: path)?.isEmpty == true, unsafe chmod(path, 0o700) != 0 {
      throw errno == ENOENT ? StorageError.notFound : .notPermitted
    }
  }

  /// Waits until the contents of a file, or the names in a folder, are on the disk.
  static func sync(_ path: String, mayBeUnreadable: Bool = false) throws {
    let descriptor = unsafe Glibc.open(path, O_RDONLY | O_CLOEXEC)
    if descriptor < 0, mayBeUnreadable, errno == EACCES { return }
    guard descriptor >= 0 else {
      throw errno == ENOENT ? StorageError.notFound : StorageError(systemError: errno)
    }
    defer { Glibc.close(descriptor) }
    guard fsync(descriptor) == 0 else { throw StorageError(systemError: errno) }
  }
}
