// SPDX-License-Identifier: Apache-2.0
//
// Where the bytes of a part come from: a file, read once from its beginning, memory, or a stream in pieces.

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
  private let stream: PieceReader?
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
    stream = nil
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
    stream = nil
    isStopped = { false }
    descriptor = -1
  }

  /// The next bytes of a stream.
  init(_ stream: PieceReader, byteCount: Int) {
    self.byteCount = byteCount
    self.stream = stream
    bytes = nil
    isStopped = { false }
    descriptor = -1
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// Fills `buffer`; fewer bytes only at the end.
  func read(into buffer: inout MutableRawSpan) throws -> Int {
    if isStopped() { throw CaptureError.interrupted }
    if let stream {
      let count = try stream.read(into: &buffer)
      offset += count
      return count
    }
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

/// Pieces of any length, read in order as one stream.
final class PieceReader {
  private let next: () throws -> SharedSecretBytes?
  private var piece: SharedSecretBytes?
  private var offset = 0
  private var hasEnded = false

  /// - Parameter next: gives the next piece; nil at the end, after which it is not asked again.
  init(_ next: @escaping () throws -> SharedSecretBytes?) { self.next = next }

  /// Fills `buffer`; fewer bytes only at the end.
  func read(into buffer: inout MutableRawSpan) throws -> Int {
    var count = 0
    while count < buffer.byteCount, let piece = try present() {
      let taken = min(buffer.byteCount - count, piece.count - offset)
      piece.withBytes { buffer.copy($0.extracting(offset..<offset + taken), to: count) }
      offset += taken
      count += taken
    }
    return count
  }

  /// Whether there are no more bytes. Asks for the next piece, if it has to.
  func isAtEnd() throws -> Bool { try present() == nil }

  /// The piece that has the next byte.
  private func present() throws -> SharedSecretBytes? {
    while !hasEnded, piece.map({ offset == $0.count }) ?? true {
      (piece, offset) = (try next(), 0)
      hasEnded = piece == nil
    }
    return piece
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
