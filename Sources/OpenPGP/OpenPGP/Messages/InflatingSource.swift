// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, section 5.6: compressed data, which are read and never written. zlib's state holds plaintext, so it
// lives in memory for secrets.

internal import CZlib
internal import Primitives
internal import Secrets

/// What a deflate or zlib stream decompresses to. Octets behind the stream, with which Sequoia hides the length of
/// a message, are left unread, if the packet says where it ends; else they might be anything.
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
