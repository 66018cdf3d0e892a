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

  /// Fills `target` as far as the source reaches, and moves on by as much. A source that can put its bytes
  /// there without keeping them first has its own version of this.
  /// - Returns: how many bytes were written: fewer than there is room for only at the end.
  func read(into target: inout MutableRawSpan) throws(OpenPGPError) -> Int
}

extension ByteSource {
  public func read(into target: inout MutableRawSpan) throws(OpenPGPError) -> Int {
    try readLent(into: &target, from: 0)
  }

  /// Fills `target` from `offset` on with bytes that are lent.
  /// - Returns: how many bytes of `target` are filled then.
  func readLent(into target: inout MutableRawSpan, from offset: Int) throws(OpenPGPError) -> Int {
    var filled = offset
    let room = target.byteCount
    while filled < room {
      let count = try withNext { (next) throws(OpenPGPError) -> Int in
        let count = min(next.byteCount, room - filled)
        target.copy(next.extracting(0..<count), to: filled)
        return count
      }
      if count == 0 { break }
      consume(count)
      filled += count
    }
    return filled
  }

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

  /// Whether there are no more bytes.
  func isAtEnd() throws(OpenPGPError) -> Bool {
    try withNext { (next) throws(OpenPGPError) in next.isEmpty }
  }

  /// Reads to the end, and drops it.
  func skipRest() throws(OpenPGPError) {
    while true {
      let count = try withNext { (next) throws(OpenPGPError) in next.byteCount }
      if count == 0 { return }
      consume(count)
    }
  }
}
