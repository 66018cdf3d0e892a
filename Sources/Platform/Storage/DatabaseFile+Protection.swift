// SPDX-License-Identifier: Apache-2.0
//
// Who else could reach the files: owner and mode of the folder and of the database (Specs/storage.md,
// "Files"). For modules that open nothing where others can read or write.

internal import Glibc

extension DatabaseFile {
  /// Whether nobody but this user can reach the folder and the database: the folder has mode 0700, the
  /// database, its log and the log's index are ordinary files of mode 0600, and all of them belong to this
  /// user.
  /// - Throws: `StorageError.inputOutput` when it cannot be told.
  package func isPrivate() throws(StorageError) -> Bool {
    guard case .folder(let folder) = place else { return true }
    let (home, path) = (folder.home, folder.path)
    // The path may lead through a link of the user's; the target counts.
    guard try Self.isPrivate(home, .folder, followsLinks: true, mayBeMissing: false),
      try Self.isPrivate(path, .file, followsLinks: false, mayBeMissing: false)
    else { return false }
    for ending in ["-wal", "-shm"] {
      guard try Self.isPrivate(path + ending, .file, followsLinks: false, mayBeMissing: true) else {
        return false
      }
    }
    return true
  }

  /// Kind and mode, as `st_mode` has them.
  private enum Private: mode_t {
    case folder = 0o040700
    case file = 0o100600
  }

  private static func isPrivate(
    _ path: String, _ wanted: Private, followsLinks: Bool, mayBeMissing: Bool
  ) throws(StorageError) -> Bool {
    var status = stat()
    let result = unsafe followsLinks ? stat(path, &status) : lstat(path, &status)
    guard result == 0 else {
      if mayBeMissing, errno == ENOENT { return true }
      throw .inputOutput(code: errno)
    }
    return status.st_mode == wanted.rawValue && status.st_uid == geteuid()
  }
}
