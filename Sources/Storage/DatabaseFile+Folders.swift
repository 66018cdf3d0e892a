// SPDX-License-Identifier: Apache-2.0
//
// The folder of a coffer: made private, and with a name that survives a crash.

internal import Glibc

extension DatabaseFile {
  /// Makes a folder with mode 0700, and those above it that are not there.
  static func makeDirectory(_ path: String) throws {
    let parts = path.split(separator: "/", omittingEmptySubsequences: true)
    var parent = path.hasPrefix("/") ? "/" : "."
    for (index, part) in parts.enumerated() {
      let made = parent == "." ? String(part) : parent == "/" ? "/" + part : parent + "/" + part
      let isNew = unsafe mkdir(made, 0o700) == 0
      if !isNew, errno != EEXIST, errno != EISDIR {
        throw errno == ENOSPC ? StorageError.full : .notPermitted
      }
      // One that is there may be what a killed process has just made. The parent of an older one need not be
      // readable.
      if isNew || index == parts.count - 1 { try sync(parent, mayBeUnreadable: !isNew) }
      parent = made
    }
    // A directory made for the coffer beforehand becomes private; one that others use is left to the owner
    // and to the doctor.
    if isEmpty(path), unsafe chmod(path, 0o700) != 0 { throw StorageError.notPermitted }
  }

  private static func isEmpty(_ path: String) -> Bool {
    guard let directory = unsafe opendir(path) else { return false }
    defer { unsafe closedir(directory) }
    var count = 0
    while unsafe readdir(directory) != nil { count += 1 }
    // «.» and «..»
    return count <= 2
  }

  /// Waits until the contents of a file, or the names in a folder, are on the disk.
  static func sync(_ path: String, mayBeUnreadable: Bool = false) throws {
    let descriptor = unsafe Glibc.open(path, O_RDONLY | O_CLOEXEC)
    if descriptor < 0, mayBeUnreadable, errno == EACCES { return }
    guard descriptor >= 0 else { throw StorageError(systemError: errno) }
    defer { Glibc.close(descriptor) }
    guard fsync(descriptor) == 0 else { throw StorageError(systemError: errno) }
  }
}
