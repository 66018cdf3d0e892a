// SPDX-License-Identifier: Apache-2.0
//
// How data of any size moves. A source lends what it has and is told how much was used, so that a layer above
// it (packet body, cipher, decompression) copies only what it must.
//
// Concurrency: a source and a sink belong to one thread at a time; they are not Sendable.

internal import Primitives
public import Secrets

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
  /// See ``ByteSource/read(into:)``.
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

extension ByteSource {
  /// Hands all that is left to `body`, piece by piece.
  func forEach(_ body: (RawSpan) -> Void) throws(OpenPGPError) {
    while true {
      let count = try withNext { (next) throws(OpenPGPError) -> Int in
        if next.byteCount > 0 { body(next) }
        return next.byteCount
      }
      if count == 0 { return }
      consume(count)
    }
  }
}

/// A source that can be read again from its beginning.
///
/// While it recognises, it gives exactly what it gave before, or fails with ``OpenPGPError/inputChanged`` before it hands
/// out a byte that is not the same: decisions of the first pass hold for the second.
public protocol RewindableSource: ByteSource {
  /// Goes back to the first byte. What lies beyond the furthest byte that was read before has not been seen.
  /// - Parameter recognising: pass false only if you recognise by yourself, for example by an authentication tag, that
  ///   the bytes are the same as before. From then on the source keeps no track of what it reads, which saves
  ///   time, so you cannot pass true later.
  func rewind(recognising: Bool) throws(OpenPGPError)
}

/// Where bytes go, one after the other.
public protocol ByteSink: AnyObject {
  /// Takes all of `bytes`, which are the caller's again afterwards.
  func write(_ bytes: RawSpan) throws(OpenPGPError)
}

extension ByteSink {
  /// Takes the bytes of an array.
  public func write(_ bytes: [UInt8]) throws(OpenPGPError) { try write(bytes.rawSpan) }

  /// Takes all that `source` gives.
  public func write(allOf source: any ByteSource) throws(OpenPGPError) {
    while true {
      let count = try source.withNext { (next) throws(OpenPGPError) in
        if !next.isEmpty { try write(next) }
        return next.byteCount
      }
      if count == 0 { return }
      source.consume(count)
    }
  }
}

/// Bytes that are in memory already.
public final class MemorySource: RewindableSource {
  private let bytes: SharedSecretBytes
  private var offset = 0

  /// Bytes that stay in memory for secrets.
  public init(_ bytes: SharedSecretBytes) { self.bytes = bytes }

  /// A copy of public bytes.
  public convenience init(_ bytes: [UInt8]) {
    var writer = SecretWriter(byteCount: bytes.count)
    writer.append(bytes)
    self.init(SharedSecretBytes(writer.finish()))
  }

  /// See ``ByteSource/withNext(_:)``.
  public func withNext<R: ~Copyable>(_ body: (RawSpan) throws(OpenPGPError) -> R) throws(OpenPGPError) -> R {
    try bytes.withBytes { (all) throws(OpenPGPError) -> R in
      try body(all.extracting(offset..<all.byteCount))
    }
  }

  /// See ``ByteSource/consume(_:)``.
  public func consume(_ count: Int) {
    precondition(count <= bytes.count - offset, "more was consumed than lent")
    offset += count
  }

  /// Goes back to the first byte; nobody changes these bytes.
  public func rewind(recognising: Bool) { offset = 0 }
}

/// Collects public bytes in an array.
public final class ArraySink: ByteSink {
  /// All bytes that were written.
  public private(set) var bytes: [UInt8] = []

  /// An empty array.
  public init() {}

  /// See ``ByteSink/write(_:)``.
  public func write(_ bytes: RawSpan) throws(OpenPGPError) { self.bytes.append(bytes) }
}
