// SPDX-License-Identifier: Apache-2.0
//
// Certificates made by hand, without any cryptography: for what is about packets and their order alone.

import Secrets

@testable import OpenPGP

/// Parts of certificates, and packets around them.
enum CertificateParts {
  /// A primary key or subkey of version 4; `number` makes it another one.
  static func key(_ number: UInt8, version: UInt8 = 4) -> PublicKey {
    PublicKey(
      version: version, creationTime: Timestamp(secondsSince1970: 1), algorithm: .ed25519,
      material: .ed25519([UInt8](repeating: number, count: 32)))
  }

  /// A signature that nobody made; `number` makes it another one.
  static func signature(_ type: SignatureType, _ number: UInt8) -> Signature {
    Signature(
      version: 4, type: type, algorithm: .ed25519, hash: .sha512,
      hashedArea: SubpacketArea([Subpacket(.signatureCreationTime(Timestamp(secondsSince1970: 2)))]),
      unhashedArea: SubpacketArea(), digestPrefix: [number, number], salt: [],
      material: .ed25519([UInt8](repeating: number, count: 64)))
  }

  /// A secret key in the clear, of zeros.
  static func secret(_ key: PublicKey) -> SecretKey {
    SecretKey(
      publicKey: key, protection: .none, protectedMaterial: SharedSecretBytes(SecretBytes(zeroed: 34)))
  }

  /// A certificate with one of everything that this engine reads.
  static var complete: Certificate {
    var certificate = Certificate(primaryKey: key(1))
    certificate.signatures = [signature(.keyRevocation, 9), signature(.directKey, 1)]
    certificate.userIDs = [
      .init(UserID("Ada <ada@example.org>"), signatures: [signature(.positiveCertification, 2)]),
      .init(UserID("Ada at work"), signatures: [signature(.positiveCertification, 3)]),
    ]
    certificate.userAttributes = [
      .init(UserAttribute(bytes: [2, 1, 0]), signatures: [signature(.positiveCertification, 4)])
    ]
    certificate.subkeys = [.init(key(2), signatures: [signature(.subkeyBinding, 5)])]
    return certificate
  }

  static func octets(_ packets: [Packet]) throws -> [UInt8] {
    let sink = ArraySink()
    for packet in packets { try packet.write(to: sink) }
    return sink.bytes
  }

  /// A packet of any type, also of those that are not known.
  static func packet(_ type: UInt8, _ body: [UInt8]) -> [UInt8] {
    PacketHeader(type: PacketType(rawValue: type), byteCount: body.count).bytes + body
  }

  static func octets(_ certificate: Certificate) throws -> [UInt8] {
    let sink = ArraySink()
    try certificate.write(to: sink)
    return sink.bytes
  }
}
