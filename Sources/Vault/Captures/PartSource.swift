// SPDX-License-Identifier: Apache-2.0
//
// Where the bytes of a part come from: a file, read once from its beginning, or memory.

internal import Foundation
internal import Glibc
internal import Primitives
public import Secrets

/// The bytes of one part, read in order.
public final class PartSource {
  /// How many there are.
  public let byteCount: Int
  private let descriptor: Int32
  private let bytes: SharedSecretBytes?
  private var offset = 0
  private let isStopped: () -> Bool

  /// A regular file; it is opened now, and read when the part is sealed.
  ///
  /// - Parameters:
  ///   - path: the file.
  ///   - part: what it is to become.
  ///   - isStopped: asked before each piece; true ends the reading with `CaptureError.interrupted`.
  /// - Throws: `CaptureError.cannotRead`, naming `part`.
  public init(
    path: String, for part: CapturePart, isStopped: @escaping () -> Bool = { false }
  ) throws(CaptureError) {
    self.isStopped = isStopped
    // Without this, opening a pipe that has no writer would block forever.
    descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
    bytes = nil
    var status = stat()
    guard descriptor >= 0, unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      if descriptor >= 0 { close(descriptor) }
      throw .cannotRead(part)
    }
    byteCount = Int(status.st_size)
  }

  /// Bytes in memory.
  public init(_ bytes: consuming SecretBytes) {
    byteCount = bytes.count
    self.bytes = SharedSecretBytes(bytes)
    isStopped = { false }
    descriptor = -1
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// Fills `buffer`; fewer bytes only at the end.
  func read(into buffer: inout MutableRawSpan) throws(CaptureError) -> Int {
    if isStopped() { throw .interrupted }
    if let bytes {
      let count = min(buffer.byteCount, byteCount - offset)
      bytes.withBytes { buffer.copy($0.extracting(offset..<offset + count), to: 0) }
      offset += count
      return count
    }
    var count = 0
    while count < buffer.byteCount {
      let found = unsafe buffer.withUnsafeMutableBytes { bytes in
        unsafe Glibc.read(descriptor, bytes.baseAddress?.advanced(by: count), bytes.count - count)
      }
      if found == 0 { break }
      guard found > 0 else {
        if errno == EINTR { continue }
        return -1
      }
      count += found
    }
    return count
  }

  /// Whether every byte was read, and the file has not grown since.
  var isAtEnd: Bool {
    guard descriptor >= 0 else { return offset == byteCount }
    var byte: UInt8 = 0
    return unsafe Glibc.read(descriptor, &byte, 1) == 0
  }
}

/// Bytes in memory, read in order as a file is.
struct DataReader {
  private let data: Data
  private var offset = 0

  init(_ data: Data) { self.data = data }

  /// Fills `buffer`; fewer bytes only at the end.
  mutating func read(into buffer: inout MutableRawSpan) -> Int {
    let count = min(buffer.byteCount, data.count - offset)
    buffer.copy(data.bytes.extracting(offset..<offset + count), to: 0)
    offset += count
    return count
  }
}
