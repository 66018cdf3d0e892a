// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, section 5.2.3: what a signature of this engine says besides what its caller asks for.

import Testing

@testable import OpenPGP

@Suite("Drafts of signatures")
struct SignatureBuilderTests {
  static let time = Timestamp(secondsSince1970: 1_704_067_200)
  static let ed25519 = key(.ed25519, .ed25519([UInt8](repeating: 1, count: 32)), version: 4)
  static let ed25519Version6 = key(.ed25519, .ed25519([UInt8](repeating: 1, count: 32)), version: 6)
  static let ed448 = key(.ed448, .ed448([UInt8](repeating: 1, count: 57)), version: 6)

  static func key(_ algorithm: PublicKeyAlgorithm, _ material: PublicKeyMaterial, version: UInt8) -> PublicKey
  {
    PublicKey(version: version, creationTime: time, algorithm: algorithm, material: material)
  }

  static func draft(
    _ key: PublicKey, _ hash: HashAlgorithm = .sha256, subpackets: [Subpacket] = []
  ) throws -> Signature {
    try SignatureBuilder(type: .binary, hash: hash, creationTime: time, subpackets: subpackets).draft(
      for: key)
  }

  @Test("Version 4 names its issuer by fingerprint, hashed, and by key ID, unhashed")
  func version4() throws {
    let draft = try Self.draft(Self.ed25519)
    #expect(draft.version == 4)
    #expect(draft.salt.isEmpty)
    #expect(draft.hashedArea.subpackets.map(\.type) == [.signatureCreationTime, .issuerFingerprint])
    #expect(draft.unhashedArea.subpackets == [Subpacket(.issuerKeyID(Self.ed25519.keyID))])
    #expect(draft.issuerFingerprints == [Self.ed25519.fingerprint])
    #expect(draft.creationTime == Self.time)
  }

  @Test("Version 6 names its issuer by fingerprint alone, and has a new salt of the hash's length each time")
  func version6() throws {
    for (hash, count) in [(HashAlgorithm.sha256, 16), (.sha384, 24), (.sha512, 32), (.sha3_512, 32)] {
      let draft = try Self.draft(Self.ed25519Version6, hash)
      #expect(draft.version == 6)
      #expect(draft.salt.count == count)
      #expect(draft.unhashedArea.subpackets.isEmpty)
      #expect(draft.issuerKeyIDs.isEmpty)
      #expect(try Self.draft(Self.ed25519Version6, hash).salt != draft.salt)
    }
  }

  @Test("Times, flags, limits of export and version 6's intended recipients are marked as critical")
  func criticality() throws {
    let contents: [Subpacket.Content] = [
      .signatureExpirationTime(seconds: 1), .keyExpirationTime(seconds: 1), .keyFlags(.sign),
      .exportableCertification(false), .intendedRecipientFingerprint(Self.ed25519.fingerprint),
      .exportableCertification(true), .features(.seipdVersion1),
    ]
    for (key, expected) in [
      (Self.ed25519, [true, false, true, true, true, true, false, false, false]),
      (Self.ed25519Version6, [true, false, true, true, true, true, true, false, false]),
    ] {
      let draft = try Self.draft(key, subpackets: contents.map { Subpacket($0) })
      #expect(draft.hashedArea.subpackets.map(\.isCritical) == expected)
    }
  }

  @Test("The hash is as long as the key's algorithm demands")
  func hashLength() throws {
    let point = MPI([4, 1])
    let keys: [(PublicKey, HashAlgorithm, HashAlgorithm)] = [
      (Self.ed25519, .sha224, .sha256), (Self.ed25519, .sha384, .sha384), (Self.ed448, .sha256, .sha512),
      (Self.ed448, .sha3_512, .sha3_512),
      (Self.key(.ecdsa, .ecdsa(.p256, point: point), version: 4), .sha256, .sha256),
      (Self.key(.ecdsa, .ecdsa(.p384, point: point), version: 4), .sha256, .sha384),
      (Self.key(.ecdsa, .ecdsa(.p521, point: point), version: 4), .sha384, .sha512),
      (Self.key(.rsa, .rsa(modulus: point, exponent: point), version: 4), .sha224, .sha224),
    ]
    for (key, asked, expected) in keys { #expect(try Self.draft(key, asked).hash == expected) }
  }

  @Test("No weak hash is written", arguments: [HashAlgorithm.md5, .sha1, .ripemd160])
  func weakHash(hash: HashAlgorithm) {
    #expect(throws: OpenPGPError.refused(.hashAlgorithm(hash))) { _ = try Self.draft(Self.ed25519, hash) }
  }

  @Test("A key that only encrypts drafts nothing")
  func encryptionKey() {
    let key = Self.key(.x25519, .x25519([UInt8](repeating: 1, count: 32)), version: 4)
    #expect(throws: OpenPGPError.keyCannot(.sign)) { _ = try Self.draft(key) }
  }

  @Test("More subpackets than version 4 has room for are refused, and version 6 takes them")
  func room() throws {
    let value = [UInt8](repeating: 65, count: 40_000)
    let notation = Notation(isHumanReadable: true, name: Array("a@example.org".utf8), value: value)
    let subpackets = [Subpacket(.notation(notation)), Subpacket(.notation(notation))]
    #expect(throws: OpenPGPError.overLimit(.subpacketByteCount)) {
      _ = try Self.draft(Self.ed25519, subpackets: subpackets)
    }
    #expect(try Self.draft(Self.ed25519Version6, subpackets: subpackets).notations.count == 2)
  }
}
