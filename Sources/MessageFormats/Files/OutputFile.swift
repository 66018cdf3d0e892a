// SPDX-License-Identifier: Apache-2.0
//
// Writing a file that is either whole under its name or not there: a temporary name beside the target,
// synced, then given its name only if nothing has it. Mode 0600; nothing is ever overwritten.

internal import CSystem
internal import Glibc

/// A file being written, or standard output. When it goes unfinished, so does the temporary file.
struct OutputFile: ~Copyable {
  private var descriptor: Int32
  private let isStandardOutput: Bool
  private let target: String
  private let temporary: String
  private var failed = false
  /// What is waiting to be written. Append to it, then call ``flushIfLarge()``.
  var buffer = ByteBuffer(capacity: OutputFile.flushByteCount + (16 << 10))

  /// - Parameter path: `-` is standard output.
  init(path: String) throws(MessageFormatError) {
    target = path
    isStandardOutput = path == "-"
    temporary = isStandardOutput ? "" : TemporaryName.beside(path)
    if isStandardOutput {
      descriptor = STDOUT_FILENO
    } else {
      var status = stat()
      if unsafe lstat(path, &status) == 0 {
        descriptor = -1
        throw .alreadyExists
      }
      descriptor = unsafe open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
      if descriptor < 0 { throw errno == ENOENT ? .notFound : .cannotWrite(errno: errno) }
    }
  }

  /// A descriptor that is written to and never closed: for tests of failing devices.
  init(descriptor: Int32) {
    self.descriptor = descriptor
    isStandardOutput = true
    target = ""
    temporary = ""
  }

  deinit {
    if descriptor >= 0 && !isStandardOutput {
      close(descriptor)
      unsafe unlink(temporary)
    }
  }

  /// Writes the buffer out once it is worth a system call.
  mutating func flushIfLarge() throws(MessageFormatError) {
    if buffer.count >= Self.flushByteCount { try flush() }
  }

  /// Writes `bytes`, large ones past the buffer.
  mutating func write(_ bytes: RawSpan) throws(MessageFormatError) {
    if bytes.byteCount < Self.flushByteCount {
      buffer.append(bytes)
      try flushIfLarge()
    } else {
      try flush()
      try writeNow(bytes)
    }
  }

  private mutating func flush() throws(MessageFormatError) {
    guard descriptor >= 0, !failed else { throw .finished }
    let descriptor = descriptor
    do {
      try buffer.withBytes { (bytes) throws(MessageFormatError) in
        try SystemWrite.all(bytes, to: descriptor)
      }
    } catch {
      failed = true
      throw error
    }
    buffer.removeAll()
  }

  private mutating func writeNow(_ bytes: RawSpan) throws(MessageFormatError) {
    do { try SystemWrite.all(bytes, to: descriptor) } catch {
      failed = true
      throw error
    }
  }

  /// Makes the file durable and gives it its name.
  mutating func finish() throws(MessageFormatError) {
    try flush()
    if isStandardOutput {
      descriptor = -1
      return
    }
    guard fsync(descriptor) == 0 else { throw .cannotWrite(errno: errno) }
    try claimName()
    close(descriptor)
    descriptor = -1
    SystemWrite.syncFolder(of: target)
  }

  private func claimName() throws(MessageFormatError) {
    // A hard link fails when the name is taken, which a rename does not.
    if unsafe link(temporary, target) == 0 {
      unsafe unlink(temporary)
      return
    }
    if errno == EEXIST { throw .alreadyExists }
    guard errno == EPERM || errno == EOPNOTSUPP || errno == ENOSYS || errno == EMLINK else {
      throw .cannotWrite(errno: errno)
    }
    // File systems without hard links (FAT): look, then rename.
    var status = stat()
    if unsafe lstat(target, &status) == 0 { throw .alreadyExists }
    guard unsafe rename(temporary, target) == 0 else { throw .cannotWrite(errno: errno) }
  }

  /// Large enough that system calls do not matter, small enough for the cache.
  private static let flushByteCount = 256 << 10
}

/// Names for what is not finished yet.
enum TemporaryName {
  /// A hidden name in the folder of `path` that nobody else uses.
  static func beside(_ path: String) -> String {
    var end = path.endIndex
    while end > path.startIndex, path[path.index(before: end)] == "/" { end = path.index(before: end) }
    let bare = path[..<end]
    let random = String(UInt64.random(in: 0...UInt64.max), radix: 36)
    guard let slash = bare.lastIndex(of: "/") else { return ".coffer-\(random).partial" }
    return "\(bare[...slash]).coffer-\(random).partial"
  }
}

/// Writing by descriptor.
package enum SystemWrite {
  /// Writes all of `bytes`.
  package static func all(_ bytes: RawSpan, to descriptor: Int32) throws(MessageFormatError) {
    var code: Int32 = 0
    unsafe bytes.withUnsafeBytes { source in
      var offset = 0
      while offset < source.count, let base = source.baseAddress {
        let count = unsafe Glibc.write(descriptor, base + offset, source.count - offset)
        if count >= 0 {
          offset += count
        } else if errno != EINTR {
          code = errno
          return
        }
      }
    }
    if code != 0 { throw .cannotWrite(errno: code) }
  }

  /// Makes the names in the folder of `path` durable, as far as the file system can.
  static func syncFolder(of path: String) {
    let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
    let opened = unsafe open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)
    guard opened >= 0 else { return }
    fsync(opened)
    close(opened)
  }
}
