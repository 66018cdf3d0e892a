// SPDX-License-Identifier: Apache-2.0
//
// Reading the names in a folder. They are handed on one by one: a list of any length takes the memory of one name, and
// of one open folder for each part.

internal import Glibc

/// What one list knows of the time.
struct FolderWalk {
  /// A writer needs seconds. The clocks of machines that share a folder, and of vfat, differ by hours.
  static let temporaryLifetimeSeconds = 24 * 60 * 60

  /// Temporary files that were last written before this time, in seconds since 1970, belong to nobody.
  let limit = Int(time(nil)) - temporaryLifetimeSeconds
}

extension OpenFolder {
  /// Hands on the objects in this folder and in those in it, and removes temporary files that were left.
  /// - Parameter parts: of this folder's name, from the root on.
  func list(
    _ parts: [String], _ walk: FolderWalk, _ body: (RemoteObject) -> Void
  ) throws(RemoteError) {
    let prefix = parts.map { $0 + "/" }.joined()
    try eachName { (name) throws(RemoteError) in
      guard RemoteName.isPart(name.utf8) else {
        if TemporaryName.matches(name) { removeLeftover(name, walk) }
        return
      }
      switch try entry(name) {
      case .file(let byteCount): body(RemoteObject(name: prefix + name, byteCount: byteCount, date: nil))
      case .folder:
        guard parts.count + 1 < RemoteName.partCountLimit, let inner = try folder(name) else { return }
        try inner.list(parts + [name], walk, body)
      case .nothing, .other: break
      }
    }
  }

  /// Removes a temporary file of this user's that is too old to be written to. What cannot be removed stays.
  private func removeLeftover(_ name: String, _ walk: FolderWalk) {
    guard let status = try? status(name), status.st_mode & S_IFMT == S_IFREG, status.st_uid == geteuid(),
      status.st_mtim.tv_sec < walk.limit
    else { return }
    unsafe unlinkat(descriptor, name, 0)
  }

  /// Every name in this folder, "." and ".." too.
  /// - Throws: what `body` throws; `RemoteError` when the names cannot be read to their end.
  private func eachName(_ body: (String) throws(RemoteError) -> Void) throws(RemoteError) {
    // The reading position belongs to the descriptor, so the list opens its own.
    let listed = unsafe openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard listed >= 0 else { throw RemoteError(systemError: errno) }
    guard let directory = unsafe fdopendir(listed) else {
      let code = errno
      close(listed)
      throw RemoteError(systemError: code)
    }
    defer { unsafe closedir(directory) }
    while true {
      errno = 0
      guard let entry = unsafe readdir(directory) else {
        guard errno == 0 else { throw RemoteError(systemError: errno) }
        return
      }
      let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
        unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      try body(name)
    }
  }
}
