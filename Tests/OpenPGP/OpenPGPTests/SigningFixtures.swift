// SPDX-License-Identifier: Apache-2.0
//
// Keys that sign, the certificates that say so, and signatures of every kind of wrongness.

@testable import OpenPGP

/// A holder: a primary key that signs, a signing subkey, and what is said of them.
struct SigningFixture {
  var primary: UnlockedKey
  var subkey: UnlockedKey
  var certificate: Certificate

  /// When keys and statements of the holder were made, unless something else is said.
  static let creationTime = Timestamp(secondsSince1970: 1_704_067_200)
  /// When documents are signed: a day later.
  static let signingTime = creationTime.adding(seconds: 86_400)
  /// When signatures are verified: a year later.
  static let now = creationTime.adding(seconds: 365 * 86_400)

  /// What the holder says of the primary key and the subkey.
  struct SelfSignatureContents {
    var primary: [Subpacket.Content] = [.keyFlags([.certify, .sign])]
    var subkey: [Subpacket.Content] = [.keyFlags(.sign)]
    var unhashed: [Subpacket] = []
    var time = SigningFixture.creationTime
    var keyTime = SigningFixture.creationTime
  }

  init(
    version: UInt8, _ algorithm: KeyAlgorithm = .ed25519,
    _ statements: SelfSignatureContents = SelfSignatureContents()
  ) throws {
    let time = statements.keyTime
    primary = try UnlockedKey.generate(algorithm, version: version, creationTime: time)
    subkey = try UnlockedKey.generate(algorithm, version: version, creationTime: time)
    certificate = Certificate(primaryKey: primary.publicKey)
    try state(statements)
  }

  /// Signs the holder's statements.
  private mutating func state(_ statements: SelfSignatureContents) throws {
    let subpackets = statements.primary.map { Subpacket($0) }
    let userID = UserID("Holder <holder@example.org>")
    let direct = SignatureBuilder(
      type: .directKey, creationTime: statements.time, subpackets: subpackets,
      unhashedSubpackets: statements.unhashed)
    certificate.signatures = [try direct.sign(.directKey(primary.publicKey), with: primary)]
    let certification = SignatureBuilder(
      type: .positiveCertification, creationTime: statements.time, subpackets: subpackets,
      unhashedSubpackets: statements.unhashed)
    let bound = try certification.sign(.userID(primary.publicKey, userID), with: primary)
    certificate.userIDs = [Certificate.Component(userID, signatures: [bound])]

    let target = SignedTarget.subkey(primary: primary.publicKey, subkey.publicKey)
    let back = try SignatureBuilder(type: .primaryKeyBinding, creationTime: statements.time).sign(
      target, with: subkey)
    let binding = SignatureBuilder(
      type: .subkeyBinding, creationTime: statements.time,
      subpackets: statements.subkey.map { Subpacket($0) },
      unhashedSubpackets: [Subpacket(.embeddedSignature(back))] + statements.unhashed)
    certificate.subkeys = [
      Certificate.Component(subkey.publicKey, signatures: [try binding.sign(target, with: primary)])
    ]
  }

  /// Adds a revocation of the primary key.
  mutating func revoke(_ code: RevocationReason.Code, at time: Timestamp) throws {
    let builder = SignatureBuilder(
      type: .keyRevocation, creationTime: time,
      subpackets: [Subpacket(.reasonForRevocation(RevocationReason(code)))])
    certificate.signatures.append(try builder.sign(.directKey(primary.publicKey), with: primary))
  }
}

/// A signature over ``SignedDocument/bytes`` that is as it should be, but for what a test changes.
struct SignatureFixture {
  let signer: UnlockedKey
  var version: UInt8
  var type = SignatureType.binary
  var hash = HashAlgorithm.sha512
  var hashed: [Subpacket]
  var unhashed: [Subpacket] = []
  var salt: [UInt8]
  var document = SignedDocument.bytes

  init(_ signer: UnlockedKey, at time: Timestamp = SigningFixture.signingTime) {
    self.signer = signer
    version = signer.publicKey.version
    salt = version == 6 ? [UInt8](repeating: 7, count: 32) : []
    hashed = [
      Subpacket(.signatureCreationTime(time), isCritical: true),
      Subpacket(.issuerFingerprint(signer.publicKey.fingerprint)),
    ]
  }

  func draft() -> Signature {
    Signature(
      version: version, type: type, algorithm: signer.publicKey.algorithm, hash: hash,
      hashedArea: SubpacketArea(hashed), unhashedArea: SubpacketArea(unhashed), digestPrefix: [0, 0],
      salt: salt, material: .unknown([]))
  }

  func made() throws -> Signature {
    let draft = draft()
    let documentHash = try DocumentHash(hash, isText: type == .text, salt: salt)
    documentHash.update(document.span.bytes)
    return try draft.signed(digest: documentHash.digest(for: draft), with: signer)
  }
}

/// A document that is signed.
enum SignedDocument {
  static let text = "First line\nsecond line\n"
  static let bytes = Array(text.utf8)
  static let bytesWithCarriageReturns = Array("First line\r\nsecond line\r\n".utf8)
  static let other = Array("First line\nsecond lime\n".utf8)
}

extension Signature {
  /// This signature with another version of one of its fields.
  func changed(digestPrefix: [UInt8]? = nil, salt: [UInt8]? = nil, material: SignatureMaterial? = nil)
    -> Signature
  {
    Signature(
      version: version, type: type, algorithm: algorithm, hash: hash, hashedArea: hashedArea,
      unhashedArea: unhashedArea, digestPrefix: digestPrefix ?? self.digestPrefix, salt: salt ?? self.salt,
      material: material ?? self.material)
  }
}
