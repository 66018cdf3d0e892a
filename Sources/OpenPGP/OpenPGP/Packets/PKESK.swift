// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, section 5.1: versions 3 and 6; RFC 9980, section 4.3.1.

internal import PostQuantum
internal import Primitives

/// A session key encrypted to a public key.
///
/// [RFC 9580, section 5.1](https://www.rfc-editor.org/rfc/rfc9580#section-5.1)
public struct PKESK: Hashable, Sendable {
  /// Whose key, as far as the packet says.
  public enum Recipient: Hashable, Sendable {
    /// Version 3.
    case keyID(KeyID)
    /// Version 6.
    case fingerprint(Fingerprint)
    /// Not named: every secret key is to be tried (section 5.1.8).
    case anonymous
  }

  /// 3 with integrity protected data of version 1, 6 with version 2.
  public let version: UInt8
  /// Whose key it is for.
  public let recipient: Recipient
  /// The algorithm of that key.
  public let algorithm: PublicKeyAlgorithm
  /// The encrypted session key.
  public let material: Material

  /// The fields that the algorithm defines.
  public enum Material: Hashable, Sendable {
    /// RSA: the encrypted payload.
    case rsa(MPI)
    /// Elgamal: two numbers.
    case elgamal(MPI, MPI)
    /// The ephemeral point with its prefix octet, and the wrapped key.
    case ecdh(point: MPI, wrapped: [UInt8])
    /// The ephemeral key of 32 octets; version 3 has the cipher in the clear.
    case x25519(ephemeral: [UInt8], SymmetricAlgorithm?, wrapped: [UInt8])
    /// The ephemeral key of 56 octets; version 3 has the cipher in the clear.
    case x448(ephemeral: [UInt8], SymmetricAlgorithm?, wrapped: [UInt8])
    /// The ephemeral key of ECDH (32 or 56 octets) and the ciphertext of ML-KEM (1,088 or 1,568); version 3 has
    /// the cipher in the clear.
    case compositeKEM(
      CompositeKEMAlgorithm, ephemeral: [UInt8], ciphertext: [UInt8], SymmetricAlgorithm?, wrapped: [UInt8])
    /// Of an algorithm that this engine does not have.
    case unknown([UInt8])
  }

  /// A packet to be written. Not public: nothing checks that recipient and material fit the version.
  init(
    version: UInt8, recipient: Recipient, algorithm: PublicKeyAlgorithm, material: Material
  ) {
    self.version = version
    self.recipient = recipient
    self.algorithm = algorithm
    self.material = material
  }

  init(body: RawSpan) throws(OpenPGPError) {
    var cursor = PacketCursor()
    version = try cursor.readByte(body)
    switch version {
    case 3:
      let id = KeyID(bytes: try cursor.readBytes(body, count: KeyID.byteCount))
      recipient = id == .anonymous ? .anonymous : .keyID(id)
    case 6:
      let count = Int(try cursor.readByte(body))
      if count == 0 {
        recipient = .anonymous
      } else {
        let version = try cursor.readByte(body)
        guard Fingerprint.byteCount(version: version).map({ $0 == count - 1 }) ?? true else {
          throw .malformed(.sessionKey)
        }
        let bytes = try cursor.readBytes(body, count: count - 1)
        recipient = .fingerprint(Fingerprint(version: version, bytes: bytes))
      }
    default: throw .unsupported(.packetVersion(.pkesk, version))
    }
    algorithm = PublicKeyAlgorithm(rawValue: try cursor.readByte(body))
    material = try Material(&cursor, body, algorithm: algorithm, version: version)
    try cursor.expectEnd(body)
  }

  /// The body of the packet.
  public var body: [UInt8] {
    var output: [UInt8] = [version]
    switch recipient {
    case .keyID(let id): output += id.bytes
    case .fingerprint(let fingerprint):
      output += [UInt8(fingerprint.bytes.count + 1), fingerprint.version] + fingerprint.bytes
    case .anonymous: output += version == 3 ? KeyID.anonymous.bytes : [0]
    }
    output.append(algorithm.rawValue)
    material.write(to: &output)
    return output
  }
}

extension PKESK.Material {
  init(
    _ cursor: inout PacketCursor, _ body: RawSpan, algorithm: PublicKeyAlgorithm, version: UInt8
  ) throws(OpenPGPError) {
    func number(_ cursor: inout PacketCursor) throws(OpenPGPError) -> MPI {
      try MPI(&cursor, body, countsLeadingZeros: version < 6)
    }
    switch algorithm {
    case .rsa, .rsaEncryptOnly: self = .rsa(try number(&cursor))
    case .elgamal:
      let first = try number(&cursor)
      self = .elgamal(first, try number(&cursor))
    case .ecdh:
      let point = try number(&cursor)
      let count = Int(try cursor.readByte(body))
      self = .ecdh(point: point, wrapped: try cursor.readBytes(body, count: count))
    case .x25519, .x448:
      let ephemeral = try cursor.readBytes(body, count: algorithm == .x25519 ? 32 : 56)
      let (cipher, wrapped) = try Self.readWrapped(&cursor, body, version: version)
      self =
        algorithm == .x25519
        ? .x25519(ephemeral: ephemeral, cipher, wrapped: wrapped)
        : .x448(ephemeral: ephemeral, cipher, wrapped: wrapped)
    default:
      guard let kind = CompositeKEMAlgorithm(algorithm) else {
        self = .unknown(cursor.readRest(body))
        return
      }
      let ephemeral = try cursor.readBytes(body, count: kind.curveKeyByteCount)
      let ciphertext = try cursor.readBytes(body, count: kind.lattice.ciphertextByteCount)
      let (cipher, wrapped) = try Self.readWrapped(&cursor, body, version: version)
      self = .compositeKEM(kind, ephemeral: ephemeral, ciphertext: ciphertext, cipher, wrapped: wrapped)
    }
  }

  /// A count, in version 3 the cipher, and the wrapped key.
  private static func readWrapped(
    _ cursor: inout PacketCursor, _ body: RawSpan, version: UInt8
  ) throws(OpenPGPError) -> (SymmetricAlgorithm?, [UInt8]) {
    var count = Int(try cursor.readByte(body))
    var cipher: SymmetricAlgorithm?
    if version == 3 {
      guard count > 0 else { throw .malformed(.sessionKey) }
      cipher = SymmetricAlgorithm(rawValue: try cursor.readByte(body))
      count -= 1
    }
    return (cipher, try cursor.readBytes(body, count: count))
  }

  func write(to output: inout [UInt8]) {
    switch self {
    case .rsa(let value): value.write(to: &output)
    case .elgamal(let first, let second):
      first.write(to: &output)
      second.write(to: &output)
    case .ecdh(let point, let wrapped):
      point.write(to: &output)
      output += [UInt8(wrapped.count)] + wrapped
    case .x25519(let ephemeral, let cipher, let wrapped), .x448(let ephemeral, let cipher, let wrapped):
      output += ephemeral
      Self.write(cipher, wrapped, to: &output)
    case .compositeKEM(_, let ephemeral, let ciphertext, let cipher, let wrapped):
      output += ephemeral + ciphertext
      Self.write(cipher, wrapped, to: &output)
    case .unknown(let bytes): output += bytes
    }
  }

  private static func write(_ cipher: SymmetricAlgorithm?, _ wrapped: [UInt8], to output: inout [UInt8]) {
    let cipher = cipher.map { [$0.rawValue] } ?? []
    output += [UInt8(cipher.count + wrapped.count)] + cipher + wrapped
  }
}
