// SPDX-License-Identifier: Apache-2.0
//
// Writing into a folder so that a crash at any moment leaves the old object or the new one: the bytes go to a temporary
// file in the same folder and to the disk, then the file gets the name, then the name goes to the disk. At most a
// temporary file is left, which a list removes after a day.

internal import CSystem
internal import Glibc
internal import Synchronization

extension OpenFolder {
  /// Writes a file, also over one that is there.
  /// - Throws: `RemoteError.refused(.occupied)` when something else has the name.
  func put(_ name: String, _ bytes: [UInt8]) throws(RemoteError) {
    switch try entry(name) {
    case .folder, .other: throw .refused(.occupied)
    case .nothing: break
    case .file(let byteCount):
      // Whoever wrote it may have been killed before it was on the disk. If that cannot be brought about, it is
      // written again.
      if byteCount == bytes.count, isOnDisk(name, bytes) { return try flush() }
    }
    try replace(name, bytes)
  }

  /// Whether a file holds these bytes and is on the disk.
  private func isOnDisk(_ name: String, _ bytes: [UInt8]) -> Bool {
    guard let file = try? file(name), file.holds(bytes) else { return false }
    return fsync(file.descriptor) == 0
  }

  private func replace(_ name: String, _ bytes: [UInt8]) throws(RemoteError) {
    let temporary = TemporaryName.new()
    let flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW
    let file = unsafe openat(descriptor, temporary, flags, 0o600)
    guard file >= 0 else { throw RemoteError(systemError: errno) }
    do throws(RemoteError) {
      try Self.fill(file, bytes)
      guard unsafe renameat(descriptor, temporary, descriptor, name) == 0 else {
        // A folder took the name meanwhile.
        throw errno == EISDIR || errno == ENOTEMPTY ? .refused(.occupied) : RemoteError(systemError: errno)
      }
    } catch {
      unsafe unlinkat(descriptor, temporary, 0)
      throw error
    }
    try flush()
  }

  /// Writes all bytes to the disk, and closes the file: some file systems do not rename an open one.
  private static func fill(_ file: Int32, _ bytes: [UInt8]) throws(RemoteError) {
    let isWritten =
      unsafe bytes.withUnsafeBytes { unsafe coffer_write_all(file, $0.baseAddress, $0.count) } == 0
    guard isWritten, fsync(file) == 0 else {
      let code = errno
      close(file)
      throw RemoteError(systemError: code)
    }
    // File systems of the network may tell only here that the disk is full.
    guard close(file) == 0 || errno == EINTR else { throw RemoteError(systemError: errno) }
  }

  /// Opens a folder in this one, and makes it if there is none.
  /// - Throws: `RemoteError.refused(.occupied)` when something else has the name.
  func madeFolder(_ part: String) throws(RemoteError) -> OpenFolder {
    if let there = try folder(part) { return there }
    guard unsafe mkdirat(descriptor, part, 0o700) == 0 || errno == EEXIST else {
      throw RemoteError(systemError: errno)
    }
    if let made = try folder(part) { return made }
    throw try entry(part) == .nothing ? .unreachable : .refused(.occupied)
  }

  /// Deletes a file; what else has the name stays.
  func delete(_ name: String) throws(RemoteError) {
    if case .file = try entry(name), unsafe unlinkat(descriptor, name, 0) != 0, errno != ENOENT {
      throw RemoteError(systemError: errno)
    }
    // Also where there was nothing: whoever deleted it may have been killed before that was on the disk.
    try flush()
  }

  /// Waits until the names in this folder are on the disk, where the file system can do that.
  func flush() throws(RemoteError) {
    if fsync(descriptor) == 0 { return }
    guard errno == EINVAL || errno == EOPNOTSUPP else { throw RemoteError(systemError: errno) }
  }
}

/// The folders whose names are on the disk. Without this each object would wait for the disk once for each part of
/// its name.
final class FlushedFolders: Sendable {
  private let known = Mutex<[String: FolderIdentity]>([:])

  /// Calls `flush` unless it has succeeded before for this folder.
  /// - Parameters:
  ///   - parts: of its name, from the root on.
  ///   - identity: tells it from a folder that had the name before.
  func ensure(
    _ parts: ArraySlice<String>, identity: FolderIdentity, _ flush: () throws(RemoteError) -> Void
  ) throws(RemoteError) {
    let name = parts.joined(separator: "/")
    if known.withLock({ $0[name] }) == identity { return }
    try flush()
    known.withLock { $0[name] = identity }
  }
}

/// The names of files that are being written.
enum TemporaryName {
  private static let head = ".coffer-"
  /// Nextcloud and ownCloud do not copy files whose names end so.
  private static let tail = ".part"
  private static let digitCount = 32

  /// One that nobody has.
  static func new() -> String {
    var random = SystemRandomNumberGenerator()
    let digits = (0..<digitCount).map { _ in String(Int.random(in: 0..<16, using: &random), radix: 16) }
    return head + digits.joined() + tail
  }

  static func matches(_ name: String) -> Bool {
    guard name.hasPrefix(head), name.hasSuffix(tail) else { return false }
    let digits = name.utf8.dropFirst(head.utf8.count).dropLast(tail.utf8.count)
    return digits.count == digitCount
      && digits.allSatisfy {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
          || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0)
      }
  }
}
