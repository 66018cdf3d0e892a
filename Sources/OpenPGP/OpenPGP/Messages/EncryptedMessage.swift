// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, section 10.3: the packets of an encrypted message: session keys, then one packet of integrity
// protected data, and nothing after it; and which of the two forms of section 5.13 the data has.

internal import Primitives
internal import Secrets

/// An encrypted message whose beginning has been read, up to the ciphertext.
final class EncryptedMessage {
  let header: SEIPDHeader
  /// Those that `isWanted` chose: for keys, and then for passwords, each in their order.
  let sessionKeyPackets: [Packet]
  /// What the session key packets, kept or not, leave to a quantum computer.
  let quantumWeaknesses: [QuantumWeakness]
  /// Version 1: the first octets of the ciphertext, as many as the longest prefix has.
  private let beginning: [UInt8]
  private let packets: PacketReader
  private let body: PacketBody

  /// Reads up to the ciphertext.
  /// - Parameter isWanted: whether a session key may be of use; the others are not kept.
  /// - Throws: ``OpenPGPError/refused(_:)`` with `noIntegrityProtection` for the packet that has none;
  ///   ``OpenPGPError/malformed(_:)`` with `messageStructure` when it is not an encrypted message.
  init(
    _ source: any ByteSource, keeping isWanted: (Packet) -> Bool
  ) throws(OpenPGPError) {
    packets = PacketReader(try OpenPGPInput.packets(source))
    var (forKeys, forPasswords): ([Packet], [Packet]) = ([], [])
    var count = 0
    var weaknesses: [QuantumWeakness] = []
    func keep(_ packet: Packet, in kept: inout [Packet], upTo limit: Int) {
      if kept.count < limit, isWanted(packet) { kept.append(packet) }
    }
    while let (header, body) = try packets.next() {
      if try body.isIgnored(header.type) { continue }
      switch header.type {
      case .pkesk, .skesk:
        count += 1
        guard count <= Limits.recipientCount else { throw .overLimit(.recipientCount) }
        // One that is too large is not for any algorithm of this engine.
        if case .known(let byteCount) = header.length, byteCount > Limits.sessionKeyPacketByteCount {
          weaknesses.append(.unreadable)
          break
        }
        let packet = try body.readPacket(header.type)
        if let weakness = QuantumWeakness(packet) { weaknesses.append(weakness) }
        if header.type == .pkesk {
          keep(packet, in: &forKeys, upTo: Limits.privateKeyAttemptCount)
        } else {
          keep(packet, in: &forPasswords, upTo: Limits.passwordAttemptCount)
        }
      case .seipd:
        sessionKeyPackets = forKeys + forPasswords
        quantumWeaknesses = weaknesses
        self.body = body
        self.header = try SEIPDHeader(body)
        beginning = self.header == .version1 ? try Self.readBeginning(body) : []
        return
      case .symmetricallyEncryptedData: throw .refused(.noIntegrityProtection)
      default: throw .malformed(.messageStructure)
      }
    }
    throw .malformed(.messageStructure)
  }

  private static func readBeginning(_ body: PacketBody) throws(OpenPGPError) -> [UInt8] {
    var beginning: [UInt8] = []
    // Blocks have 16 octets at most.
    for _ in 0..<16 + 2 { beginning.append(try body.readByte()) }
    return beginning
  }

  /// The format of a message under `key`: nil when the key cannot be this message's.
  func format(for key: SessionKey) -> EncryptionFormat? {
    switch header {
    case .version1:
      guard let cipher = key.cipher, cipher.keyByteCount == key.bytes.count else { return nil }
      return .version1(cipher)
    case .version2(let cipher, let aead, _, _):
      guard key.cipher == nil || key.cipher == cipher, cipher.keyByteCount == key.bytes.count else {
        return nil
      }
      return .version2(AEADCiphersuite(cipher, aead))
    }
  }

  /// Whether the repeated octets of the prefix say that the key may be right; always true for version 2,
  /// which has no prefix.
  func mayFit(_ key: SessionKey, _ format: EncryptionFormat) throws(OpenPGPError) -> Bool {
    guard case .version1(let algorithm) = format else { return true }
    var prefix = Array(beginning.prefix(try SEIPDv1Prefix.byteCount(algorithm)))
    var cipher = try key.bytes.withBytes { (key) throws(OpenPGPError) in
      try SEIPDv1Prefix.cipher(algorithm, .decrypt, key: key)
    }
    var span = prefix.mutableSpan
    var bytes = unsafe span.mutableBytes
    cipher.process(&bytes)
    return SEIPDv1Prefix.isRepeated(prefix)
  }

  /// The plaintext; its end comes only when all of it is authentic.
  /// - Parameter isRecognised: whether this ciphertext is known to have been authenticated before.
  func plaintext(
    under key: SessionKey, _ format: EncryptionFormat, isRecognised: Bool
  ) throws(OpenPGPError) -> any ByteSource {
    switch (header, format) {
    case (.version1, _):
      let work = try SEIPDv1Decryptor(body, beginning: beginning, format.cipher, key: key.bytes)
      let byteCount = body.knownByteCount.map { $0 + beginning.count }
      return MDCCheckedSource(work, byteCount: byteCount, checks: !isRecognised)
    case (.version2(_, _, let chunkOctet, let salt), .version2(let suite)):
      return try SEIPDv2Decryptor.source(
        body, byteCount: body.knownByteCount,
        try SEIPDv2Keys(suite, chunkOctet: chunkOctet, salt: salt, sessionKey: key.bytes))
    case (.version2, .version1): throw .internalFailure
    }
  }

  /// Reads on after the ciphertext, which has been read.
  /// - Throws: ``OpenPGPError/malformed(_:)`` when it is anything that means something.
  func expectEnd() throws(OpenPGPError) {
    guard try body.isAtEnd() else { throw .malformed(.trailingOctets) }
    while let (header, body) = try packets.next() {
      guard try body.isIgnored(header.type) else { throw .malformed(.messageStructure) }
    }
  }
}

/// How a message is encrypted: known to the sender before anything is written (D27), and to the recipient
/// with the plaintext.
///
/// [RFC 9580, section 5.13](https://www.rfc-editor.org/rfc/rfc9580#section-5.13)
public enum EncryptionFormat: Hashable, Sendable {
  /// Integrity protected data of version 1: CFB and a modification detection code.
  case version1(SymmetricAlgorithm)
  /// Integrity protected data of version 2: AEAD in chunks.
  case version2(AEADCiphersuite)

  /// The cipher of the session key.
  public var cipher: SymmetricAlgorithm {
    switch self {
    case .version1(let cipher): cipher
    case .version2(let suite): suite.cipher
    }
  }

  /// The version of the packets that carry the session key to a public key.
  var publicKeyPacketVersion: UInt8 {
    switch self {
    case .version1: 3
    case .version2: 6
    }
  }
}
