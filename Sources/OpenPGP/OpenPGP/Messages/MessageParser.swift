// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, section 10.3: one literal packet, in any number of compressed packets, in any number of
// signatures, with marker and padding packets anywhere. Every signature is over the literal data. Anything
// else, or anything missing, means that it is not a message.

internal import Primitives
internal import Secrets

/// Reads one message that is not encrypted, or the packets inside one that was.
final class MessageParser {
  /// The findings besides the data.
  struct Contents {
    var literal: LiteralDataHeader
    var signatures: [Signature]
    var verifications: [SignatureVerification]
    var unreadableSignatureCount: Int
  }

  private let sink: any ByteSink
  private let signatures: MessageSignatures
  private let budget = CompressionBudget()
  private var literal: LiteralDataHeader?

  /// - Parameter intendedFor: the certificate that decrypted the message.
  init(verifier: SignatureVerifier?, intendedFor: Fingerprint?, sink: any ByteSink) {
    self.sink = sink
    signatures = MessageSignatures(verifier, intendedFor: intendedFor)
  }

  /// Reads `source` to its end, and writes the data to the sink.
  func parse(_ source: any ByteSource) throws(OpenPGPError) -> Contents {
    try readMessage(PacketReader(source), depth: 0)
    guard let literal else { throw .malformed(.messageStructure) }
    return Contents(
      literal: literal, signatures: signatures.signatures, verifications: signatures.verifications,
      unreadableSignatureCount: signatures.unreadableCount)
  }

  private func readMessage(_ packets: PacketReader, depth: Int) throws(OpenPGPError) {
    guard depth <= Limits.nestingDepth else { throw .overLimit(.nestingDepth) }
    let level = signatures.beginLevel()
    guard try readSignaturesBefore(packets, depth: depth) else { throw .malformed(.messageStructure) }
    while let (header, body) = try packets.next() {
      if try body.isIgnored(header.type) { continue }
      guard header.type == .signature else { throw .malformed(.messageStructure) }
      try signatures.close(try body.readPacket(.signature), in: level)
    }
    try signatures.endLevel(level)
  }

  /// Reads the announcements of signatures, and then the data; false when there is no data.
  private func readSignaturesBefore(_ packets: PacketReader, depth: Int) throws(OpenPGPError) -> Bool {
    while let (header, body) = try packets.next() {
      if try body.isIgnored(header.type) { continue }
      switch header.type {
      case .onePassSignature: try signatures.announce(try body.readPacket(header.type))
      case .signature: try signatures.prefix(try body.readPacket(header.type))
      case .literalData:
        try readLiteral(body)
        return true
      case .compressedData:
        try readCompressed(body, depth: depth)
        return true
      default: throw .malformed(.messageStructure)
      }
    }
    return false
  }

  private func readLiteral(_ body: PacketBody) throws(OpenPGPError) {
    literal = try LiteralDataHeader(body)
    while true {
      let count = try body.withNext { (next) throws(OpenPGPError) in
        signatures.update(next)
        if !next.isEmpty { try sink.write(next) }
        return next.byteCount
      }
      if count == 0 { return }
      body.consume(count)
    }
  }

  private func readCompressed(_ body: PacketBody, depth: Int) throws(OpenPGPError) {
    let algorithm = CompressionAlgorithm(rawValue: try body.readByte())
    switch algorithm {
    case .uncompressed: try readMessage(PacketReader(body), depth: depth + 1)
    case .zip, .zlib:
      try readMessage(PacketReader(try InflatingSource(body, algorithm, budget)), depth: depth + 1)
    default: throw .unsupported(.compressionAlgorithm(algorithm.rawValue))
    }
  }
}

extension PacketBody {
  /// Whether a packet of this type means nothing, wherever it is: markers, padding, and types that a reader
  /// may leave unread when it does not know them (section 4.3).
  /// - Throws: ``OpenPGPError/unsupported(_:)`` for a type that it may not.
  func isIgnored(_ type: PacketType) throws(OpenPGPError) -> Bool {
    switch type {
    case .marker, .padding: return true
    case _ where !type.isKnown:
      if type.isCritical { throw .unsupported(.packetType(type.rawValue)) }
      return true
    default: return false
    }
  }
}

extension PacketType {
  /// Whether the standard has this type.
  fileprivate var isKnown: Bool { (1...14).contains(rawValue) || [17, 18, 21].contains(rawValue) }
}

/// Keeps plaintext in locked memory until it may be released, as long as there is not much of it.
final class BufferingSink: ByteSink {
  private var held = SecretBytes(zeroed: 0)
  private var heldCount = 0
  /// Whether everything that was written is here.
  private(set) var isComplete = true

  func write(_ bytes: RawSpan) throws(OpenPGPError) {
    guard isComplete else { return }
    let count = heldCount + bytes.byteCount
    guard count <= Self.byteCountLimit else {
      isComplete = false
      held = SecretBytes(zeroed: 0)
      return
    }
    if count > held.count { enlarge(to: min(max(2 * count, Self.firstByteCount), Self.byteCountLimit)) }
    held.withMutableBytes { $0.copy(bytes, to: heldCount) }
    heldCount += bytes.byteCount
  }

  /// Begins again.
  func forget() {
    held.erase()
    heldCount = 0
    isComplete = true
  }

  /// Writes the held plaintext.
  func release(to sink: any ByteSink) throws(OpenPGPError) {
    precondition(isComplete, "a part of the plaintext is not the plaintext")
    guard heldCount > 0 else { return }
    try held.withBytes { (bytes) throws(OpenPGPError) in try sink.write(bytes.extracting(0..<heldCount)) }
  }

  private func enlarge(to byteCount: Int) {
    var larger = SecretBytes(zeroed: byteCount)
    larger.withMutableBytes { larger in
      held.withBytes { larger.copy($0.extracting(0..<heldCount), to: 0) }
    }
    held = larger
  }

  private static let firstByteCount = 16 << 10
  /// Larger plaintext is decrypted a second time, which is cheaper than much locked memory.
  private static let byteCountLimit = SecretMemory.lockedByteCountLimit
}
