// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, sections 5.4, 5.9 and 10.3: the packets inside an encryption, or of a message that is only
// signed: one-pass signatures, literal data, signatures. The length of the data need not be known: data that
// does not fit into one part is written in parts.

internal import Primitives
internal import Secrets

/// The packets of a message around the data of a source, as a source.
final class MessageComposer: ByteSource {
  private enum Stage { case firstPart, laterPart, signatures, end }

  private let source: any ByteSource
  private let literal: LiteralDataHeader
  private let signer: DocumentSigner?
  private var textCheck: UTF8Check?
  private var stage = Stage.firstPart
  /// Headers, which go before the part.
  private var head: [UInt8] = []
  private var headOffset = 0
  private var part = SecretBytes(zeroed: readingOffset + partByteCount)
  private var partRange = 0..<0
  /// Octets that were read and belong to the part after this one: as many as the fields of the packet have.
  private var restRange = 0..<0

  /// - Parameter signer: takes in the data as it passes; nil for a message without signatures.
  init(_ source: any ByteSource, isText: Bool, signer: DocumentSigner?) throws(OpenPGPError) {
    self.source = source
    self.signer = signer
    literal = LiteralDataHeader(format: isText ? .utf8 : .binary)
    textCheck = isText ? UTF8Check() : nil
    let packets = ArraySink()
    for packet in signer?.onePassSignatures ?? [] { try Packet.onePassSignature(packet).write(to: packets) }
    head = packets.bytes
  }

  func withNext<R: ~Copyable>(_ body: (RawSpan) throws(OpenPGPError) -> R) throws(OpenPGPError) -> R {
    while headOffset == head.count && partRange.isEmpty && stage != .end { try advance() }
    if headOffset < head.count {
      let head = head
      return try body(head.rawSpan.extracting(headOffset..<head.count))
    }
    return try part.withBytes { (bytes) throws(OpenPGPError) -> R in try body(bytes.extracting(partRange)) }
  }

  func consume(_ count: Int) {
    if headOffset < head.count {
      headOffset += count
    } else {
      partRange = partRange.lowerBound + count..<partRange.upperBound
    }
  }

  private func advance() throws(OpenPGPError) {
    head = []
    headOffset = 0
    switch stage {
    case .firstPart: try readPart(after: literal.bytes)
    case .laterPart: try readPart(after: [])
    case .signatures:
      let packets = ArraySink()
      for signature in try signer?.finish() ?? [] { try Packet.signature(signature).write(to: packets) }
      head = packets.bytes
      stage = .end
    case .end: break
    }
  }

  /// The next part of the literal packet: all there is room for, or all that is left.
  private func readPart(after fields: [UInt8]) throws(OpenPGPError) {
    let (start, end) = try part.withMutableBytes { (bytes) throws(OpenPGPError) in
      let start = Self.readingOffset - fields.count - restRange.count
      bytes.move(restRange, to: start)
      bytes.copy(fields.rawSpan, to: start)
      let room = Self.readingOffset..<bytes.byteCount
      let count = try bytes.withRange(room) { (free) throws(OpenPGPError) in try source.read(into: &free) }
      return (start, Self.readingOffset + count)
    }
    part.withBytes { bytes in
      let data = bytes.extracting(Self.readingOffset..<end)
      signer?.update(data)
      textCheck?.update(data)
    }
    partRange = start..<min(start + Self.partByteCount, end)
    restRange = partRange.upperBound..<end
    let isLast = partRange.count < Self.partByteCount
    if isLast, let textCheck, !textCheck.isComplete { throw .notText }
    let length = PartialBodyWriter.length(partRange.count, isLast: isLast)
    head = stage == .firstPart ? [0xC0 | PacketType.literalData.rawValue] + length : length
    stage = isLast ? .signatures : .laterPart
  }

  /// A power of two. Shorter data is written with its length.
  private static let partByteCount = 128 << 10
  /// Where data is read to, as many as a part has: what goes before it, the fields of the packet or the end
  /// of the data before, moves up to it. So data has the same alignment in memory as in the pages of a file: some
  /// processors take three times as long to copy octets that move by 1 to 15.
  private static let readingOffset = 64
}
