// SPDX-License-Identifier: Apache-2.0
//
// Folders and files that are open. What is done through them stays in the folder, whatever becomes of its path.

internal import Glibc

/// An open folder.
struct OpenFolder: ~Copyable {
  let descriptor: Int32

  private init(descriptor: Int32) { self.descriptor = descriptor }

  deinit { close(descriptor) }

  /// Opens the folder of a remote.
  /// - Throws: `RemoteError.unreachable` when it is not there, or is not a folder.
  init(root path: String) throws(RemoteError) {
    let opened = unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard opened >= 0 else {
      switch errno {
      case ENOTDIR, ELOOP, ENAMETOOLONG: throw .unreachable
      default: throw RemoteError(systemError: errno)
      }
    }
    self.init(descriptor: opened)
  }

  /// What has a name in a folder.
  enum Entry: Equatable {
    case nothing
    case file(byteCount: Int)
    case folder
    /// A link, a pipe, a device.
    case other
  }

  func entry(_ name: String) throws(RemoteError) -> Entry {
    guard let status = try status(name) else { return .nothing }
    switch status.st_mode & S_IFMT {
    case S_IFREG: return .file(byteCount: Int(status.st_size))
    case S_IFDIR: return .folder
    default: return .other
    }
  }

  /// Of a link, that of the link; nil when there is nothing.
  func status(_ name: String) throws(RemoteError) -> stat? {
    var status = stat()
    if unsafe fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 { return status }
    guard errno == ENOENT else { throw RemoteError(systemError: errno) }
    return nil
  }

  /// Opens a folder in this one; nil when there is none of that name.
  func folder(_ part: String) throws(RemoteError) -> OpenFolder? {
    let opened = unsafe openat(descriptor, part, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)
    guard opened >= 0 else {
      switch errno {
      case ENOENT, ENOTDIR, ELOOP: return nil
      default: throw RemoteError(systemError: errno)
      }
    }
    return OpenFolder(descriptor: opened)
  }

  /// Opens a folder in a folder, and so on; nil when one is missing. It is this one if there are no parts.
  consuming func descending(into parts: ArraySlice<String>) throws(RemoteError) -> OpenFolder? {
    var folder = self
    for part in parts {
      guard let next = try folder.folder(part) else { return nil }
      folder = next
    }
    return folder
  }

  /// Opens a file in this folder; nil when there is no file of that name.
  func file(_ name: String) throws(RemoteError) -> OpenFile? {
    // A device is not opened, and a pipe that takes the name meanwhile does not make us wait.
    guard case .file = try entry(name) else { return nil }
    let opened = unsafe openat(
      descriptor, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0)
    guard opened >= 0 else {
      switch errno {
      case ENOENT, ELOOP, ENXIO: return nil
      default: throw RemoteError(systemError: errno)
      }
    }
    return try OpenFile(descriptor: opened)
  }

  /// Tells this folder from all others that are there.
  func identity() throws(RemoteError) -> FolderIdentity {
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0 else { throw RemoteError(systemError: errno) }
    return FolderIdentity(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
  }
}

/// A device and the number of a folder on it.
struct FolderIdentity: Equatable {
  let device: UInt64
  let inode: UInt64
}

/// A file that is open for reading.
struct OpenFile: ~Copyable {
  let descriptor: Int32
  /// How many bytes it had when it was opened.
  let byteCount: Int

  /// Takes the descriptor over; nil when it is not that of a file.
  init?(descriptor: Int32) throws(RemoteError) {
    var status = stat()
    let code = unsafe fstat(descriptor, &status) == 0 ? 0 : errno
    guard code == 0, status.st_mode & S_IFMT == S_IFREG else {
      close(descriptor)
      if code != 0 { throw RemoteError(systemError: code) }
      return nil
    }
    self.descriptor = descriptor
    byteCount = Int(status.st_size)
  }

  deinit { close(descriptor) }

  /// The bytes in a range, as far as they are there, or all; at most ``RemoteObject/byteCountLimit``.
  func bytes(in range: Range<Int>?) throws(RemoteError) -> [UInt8] {
    let whole = 0..<byteCount
    let wanted = range?.clamped(to: whole) ?? whole
    var bytes = [UInt8](repeating: 0, count: min(wanted.count, RemoteObject.byteCountLimit))
    let count = try fill(&bytes, from: wanted.lowerBound)
    // The file became shorter meanwhile.
    bytes.removeLast(bytes.count - count)
    return bytes
  }

  /// Whether it holds exactly these bytes. What cannot be read does not.
  func holds(_ bytes: [UInt8]) -> Bool {
    guard byteCount == bytes.count else { return false }
    var piece = [UInt8](repeating: 0, count: min(bytes.count, Self.pieceByteCount))
    var offset = 0
    while offset < bytes.count {
      let count = min(piece.count, bytes.count - offset)
      guard let filled = try? fill(&piece, from: offset), filled >= count else { return false }
      let isEqual = unsafe bytes.withUnsafeBytes { bytes in
        unsafe piece.withUnsafeBytes { piece in
          guard let one = bytes.baseAddress, let other = piece.baseAddress else { return false }
          return unsafe memcmp(one + offset, other, count) == 0
        }
      }
      guard isEqual else { return false }
      offset += count
    }
    return true
  }

  private static let pieceByteCount = 256 << 10

  /// Fills `bytes` from an offset on; fewer only at the file's end.
  private func fill(_ bytes: inout [UInt8], from offset: Int) throws(RemoteError) -> Int {
    var count = 0
    while count < bytes.count {
      let found = unsafe bytes.withUnsafeMutableBytes { bytes in
        let left = unsafe UnsafeMutableRawBufferPointer(rebasing: bytes[count...])
        return unsafe pread(descriptor, left.baseAddress, left.count, off_t(offset + count))
      }
      if found == 0 { break }
      guard found > 0 else {
        if errno == EINTR { continue }
        throw RemoteError(systemError: errno)
      }
      count += found
    }
    return count
  }
}
