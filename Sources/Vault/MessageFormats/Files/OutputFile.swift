// SPDX-License-Identifier: Apache-2.0
//
// Writing a file that is either whole under its name or not there, through a buffer; or standard output.

internal import CSystem
internal import Glibc

/// A file being written, or standard output. When it goes unfinished, nothing of the file is left.
struct OutputFile: ~Copyable {
  private let descriptor: Int32
  /// Nil for a descriptor of the caller.
  private let file: UnnamedFile?
  private let target: String
  private var isDone = false
  private var failed = false
  /// The bytes to write next. Append to it, then call ``flushIfLarge()``.
  var buffer = ByteBuffer(capacity: OutputFile.flushByteCount + (16 << 10))

  /// - Parameters:
  ///   - path: `-` is standard output.
  ///   - record: is told a temporary name of the file.
  ///   - standardOutput: the descriptor of standard output.
  init(
    path: String, record: (any UnfinishedExportRecord)?, standardOutput: Int32 = STDOUT_FILENO
  ) throws(MessageFormatError) {
    target = path
    file = path == "-" ? nil : try UnnamedFile(path: path, record: record)
    descriptor = file?.descriptor ?? standardOutput
  }

  /// A descriptor that is written to and never closed: for tests of failing devices.
  init(descriptor: Int32) {
    self.descriptor = descriptor
    file = nil
    target = ""
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
    guard !isDone, !failed else { throw .finished }
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
    isDone = true
    guard let file else { return }
    try file.synchronise()
    try file.claimName()
  }

  /// Large enough that system calls do not matter, small enough for the cache.
  private static let flushByteCount = 256 << 10
}

/// Writing by descriptor.
package enum SystemWrite {
  /// Writes all of `bytes`.
  package static func all(_ bytes: RawSpan, to descriptor: Int32) throws(MessageFormatError) {
    let result = unsafe bytes.withUnsafeBytes {
      unsafe coffer_write_all(descriptor, $0.baseAddress, $0.count)
    }
    guard result == 0 else { throw .cannotWrite(errno: errno) }
  }

  /// Makes the names in the folder of `path` durable. Not every file system can, and not every folder opens:
  /// then it does nothing.
  /// - Throws: `.cannotWrite` when the disk is full or broken.
  package static func syncFolder(of path: String) throws(MessageFormatError) {
    let opened = unsafe open(UnfinishedExport.parent(of: path), O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)
    guard opened >= 0 else { return }
    defer { close(opened) }
    guard fsync(opened) != 0, [EIO, ENOSPC, EDQUOT].contains(errno) else { return }
    throw .cannotWrite(errno: errno)
  }
}
