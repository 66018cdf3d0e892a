// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, section 5.6: compressed data, which is read and never written. The state of zlib holds plaintext,
// so it lives in memory for secrets. How much may come out is limited for the message as a whole.

internal import CZlib
internal import Primitives
internal import Secrets

/// What a deflate or zlib stream decompresses to. Octets after the stream, with which Sequoia hides the
/// length of a message, are left unread, if the packet says where it ends; else they might be anything.
@safe
final class InflatingSource: ByteSource {
  private let source: PacketBody
  private let budget: CompressionBudget
  private let arena: InflateArena
  /// At one address for its whole life: zlib remembers where it is.
  private let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
  private var output = SecretBytes(zeroed: outputByteCount)
  private var lent = 0..<0
  private var isFinished = false
  /// Octets that have come out; the budget counts them.
  var producedCount = 0

  init(
    _ source: PacketBody, _ algorithm: CompressionAlgorithm, _ budget: CompressionBudget
  ) throws(OpenPGPError) {
    self.source = source
    self.budget = budget
    arena = InflateArena()
    unsafe stream.initialize(to: z_stream())
    unsafe arena.serve(stream)
    // Negative: without zlib's header and checksum.
    guard unsafe coffer_inflate_init(stream, algorithm == .zip ? -MAX_WBITS : MAX_WBITS) == Z_OK else {
      throw .internalFailure
    }
  }

  deinit {
    unsafe inflateEnd(stream)
    unsafe stream.deallocate()
  }

  func withNext<R: ~Copyable>(_ body: (RawSpan) throws(OpenPGPError) -> R) throws(OpenPGPError) -> R {
    while lent.isEmpty && !isFinished { try inflateMore() }
    return try output.withBytes { (bytes) throws(OpenPGPError) -> R in try body(bytes.extracting(lent)) }
  }

  func consume(_ count: Int) {
    precondition(count <= lent.count, "more was consumed than lent")
    lent = lent.lowerBound + count..<lent.upperBound
  }

  private func inflateMore() throws(OpenPGPError) {
    let (result, consumed, produced) = try source.withNext { (next) throws(OpenPGPError) in
      output.withMutableBytes { step(next, &$0) }
    }
    source.consume(consumed)
    try budget.spend(input: consumed, output: produced, by: self)
    lent = 0..<produced
    switch result {
    case Z_STREAM_END:
      isFinished = true
      if source.isIndeterminate {
        guard try source.isAtEnd() else { throw .malformed(.trailingOctets) }
      }
    case Z_OK where consumed + produced > 0: break
    default: throw .malformed(.compressedData)
    }
  }

  private func step(_ input: RawSpan, _ output: inout MutableRawSpan) -> (Int32, Int, Int) {
    let room = output.byteCount
    return unsafe input.withUnsafeBytes { input in
      unsafe output.withUnsafeMutableBytes { output in
        unsafe stream.pointee.next_in = unsafe UnsafeMutablePointer(
          mutating: input.baseAddress?.assumingMemoryBound(to: UInt8.self))
        unsafe stream.pointee.avail_in = UInt32(min(input.count, Int(Int32.max)))
        let offered = unsafe Int(stream.pointee.avail_in)
        unsafe stream.pointee.next_out = unsafe output.baseAddress?.assumingMemoryBound(to: UInt8.self)
        unsafe stream.pointee.avail_out = UInt32(room)
        let result = unsafe inflate(stream, Z_NO_FLUSH)
        return unsafe (result, offered - Int(stream.pointee.avail_in), room - Int(stream.pointee.avail_out))
      }
    }
  }

  private static let outputByteCount = 128 << 10
}

/// The memory of one zlib stream: taken from the beginning on, given back as a whole, erased.
@safe
final class InflateArena {
  private var memory = SecretBytes(zeroed: byteCount)
  private var used = 0

  /// Makes `stream` take its memory here.
  func serve(_ stream: UnsafeMutablePointer<z_stream>) {
    unsafe stream.pointee.opaque = unsafe Unmanaged.passUnretained(self).toOpaque()
    unsafe stream.pointee.zalloc = { arena, count, size in
      guard let arena = unsafe arena else { return nil }
      return unsafe Unmanaged<InflateArena>.fromOpaque(arena).takeUnretainedValue().take(
        Int(count) * Int(size))
    }
    unsafe stream.pointee.zfree = { _, _ in }
  }

  /// Nil when there is not enough: then zlib fails as it does without memory.
  private func take(_ count: Int) -> UnsafeMutableRawPointer? {
    guard count <= memory.count - used else { return nil }
    defer { used += (count + 15) & ~15 }
    return unsafe memory.withMutableBytes { bytes in
      unsafe bytes.withUnsafeMutableBytes { unsafe $0.baseAddress.map { unsafe $0 + used } }
    }
  }

  /// zlib takes some 40 KiB to decompress: a window of 32 KiB and its tables.
  private static let byteCount = 64 << 10
}

/// How much may come out of the compressed data of one message, however often it is compressed within itself:
/// the outermost input counts.
final class CompressionBudget {
  private var outermost: ObjectIdentifier?
  private var inputCount = 0

  /// Counts what one step of decompression has used and given.
  /// - Throws: ``OpenPGPError/overLimit(_:)`` with `compressionRatio`.
  func spend(input: Int, output: Int, by layer: InflatingSource) throws(OpenPGPError) {
    if outermost == nil { outermost = ObjectIdentifier(layer) }
    if outermost == ObjectIdentifier(layer) { inputCount += input }
    layer.producedCount += output
    let allowed = Limits.compressionAllowance + inputCount * Limits.compressionRatio
    guard layer.producedCount <= allowed else { throw .overLimit(.compressionRatio) }
  }
}
