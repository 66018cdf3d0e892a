// SPDX-License-Identifier: Apache-2.0
//
// How data of any size moves: a source lends what it has and is told how much was used, so that a layer
// above it (packet body, cipher, decompression) copies nothing it need not copy.
//
// Concurrency: a source and a sink belong to one thread at a time; they are not Sendable.

internal import Primitives

/// Bytes that come one after the other.
public protocol ByteSource: AnyObject {
  /// Lends the next bytes: at least one, or none at the end. Lending again without ``consume(_:)`` gives the
  /// same bytes. They are erased or overwritten when they have been consumed.
  func withNext<R: ~Copyable>(_ body: (RawSpan) throws(OpenPGPError) -> R) throws(OpenPGPError) -> R

  /// Moves on by `count` bytes of those that were lent last.
  func consume(_ count: Int)
}

extension ByteSource {
  /// The next byte; nil at the end.
  func readByteIfAny() throws(OpenPGPError) -> UInt8? {
    let byte = try withNext { (next) throws(OpenPGPError) -> UInt8? in
      next.isEmpty ? nil : unsafe next.unsafeLoad(as: UInt8.self)
    }
    if byte != nil { consume(1) }
    return byte
  }

  /// The next byte.
  /// - Throws: ``OpenPGPError/malformed(_:)`` with `truncated` at the end.
  func readByte() throws(OpenPGPError) -> UInt8 {
    guard let byte = try readByteIfAny() else { throw .malformed(.truncated) }
    return byte
  }

  /// Fills `target` as far as the source reaches.
  /// - Returns: how many bytes were written: fewer than there is room for only at the end.
  func read(into target: inout MutableRawSpan) throws(OpenPGPError) -> Int {
    var filled = 0
    let room = target.byteCount
    while filled < room {
      let count = try withNext { (next) throws(OpenPGPError) -> Int in min(next.byteCount, room - filled) }
      if count == 0 { break }
      _ = try withNext { (next) throws(OpenPGPError) in target.copy(next.extracting(0..<count), to: filled) }
      consume(count)
      filled += count
    }
    return filled
  }
}
