// SPDX-License-Identifier: Apache-2.0
//
// Somebody with a key, who says of it whatever a test wants, true or not. Times are days of a calendar that
// begins on the day the key is made.

import Testing

@testable import OpenPGP

/// A certificate under construction, with the keys to sign for it.
struct KeyHolderFixture {
  let primary: UnlockedKey
  var certificate: Certificate
  private(set) var subkeys: [UnlockedKey] = []

  /// A key that nothing is said of yet.
  init(version: UInt8 = 6, _ algorithm: KeyAlgorithm = .ed25519, madeOn made: Int = 0) throws {
    primary = try UnlockedKey.generate(algorithm, version: version, creationTime: day(made))
    certificate = Certificate(primaryKey: primary.publicKey)
  }

  /// A key with a user ID, and with everything said as our own keys say it.
  static func usual(version: UInt8 = 6, says facts: [Subpacket.Content] = []) throws -> KeyHolderFixture {
    var holder = try KeyHolderFixture(version: version)
    try holder.state(facts)
    return holder
  }

  /// Says these things where the version says such things, and that it certifies and signs.
  mutating func state(_ facts: [Subpacket.Content], on time: Int = 0) throws {
    let all = [.keyFlags([.certify, .sign])] + facts
    if primary.publicKey.version == 6 {
      try addDirectKeySignature(all, on: time)
      try addUserID(Self.userID, on: time)
    } else {
      try addUserID(Self.userID, all, on: time)
    }
  }

  mutating func addDirectKeySignature(
    _ facts: [Subpacket.Content], on time: Int = 0, by signer: UnlockedKey? = nil
  ) throws {
    certificate.signatures.append(
      try signature(.directKey, over: .directKey(primary.publicKey), facts, on: time, by: signer))
  }

  /// Certifies a user ID, which is put in when it is not there.
  mutating func addUserID(
    _ userID: UserID, _ facts: [Subpacket.Content] = [], on time: Int = 0, by signer: UnlockedKey? = nil
  ) throws {
    let target = SignedTarget.userID(primary.publicKey, userID)
    let new = try signature(.positiveCertification, over: target, facts, on: time, by: signer)
    if !certificate.userIDs.contains(where: { $0.packet == userID }) {
      certificate.userIDs.append(.init(userID))
    }
    certificate = certificate.adding(new, to: .userID(userID))
  }

  /// A subkey without any signature.
  mutating func addUnboundSubkey(_ algorithm: KeyAlgorithm = .x25519, madeOn made: Int = 0) throws
    -> UnlockedKey
  {
    let key = try UnlockedKey.generate(
      algorithm, version: primary.publicKey.version, creationTime: day(made))
    subkeys.append(key)
    certificate.subkeys.append(.init(key.publicKey))
    return key
  }

  /// An encryption subkey as it should be, or spoilt.
  @discardableResult
  mutating func addEncryptionSubkey(
    _ facts: [Subpacket.Content] = [], on time: Int = 0, by signer: UnlockedKey? = nil
  ) throws -> UnlockedKey {
    let key = try addUnboundSubkey(madeOn: time)
    try bind(key, [.keyFlags([.encryptCommunications, .encryptStorage])] + facts, on: time, by: signer)
    return key
  }

  /// A signing subkey with its confirmation in the hashed area.
  @discardableResult
  mutating func addSigningSubkey(_ facts: [Subpacket.Content] = [], on time: Int = 0) throws -> UnlockedKey {
    let key = try addUnboundSubkey(.ed25519, madeOn: time)
    let confirmation = try confirmation(of: key, on: time)
    try bind(key, [.keyFlags(.sign), .embeddedSignature(confirmation)] + facts, on: time)
    return key
  }

  mutating func bind(
    _ key: UnlockedKey, _ facts: [Subpacket.Content], unhashed: [Subpacket.Content] = [], on time: Int = 0,
    by signer: UnlockedKey? = nil
  ) throws {
    let target = SignedTarget.subkey(primary: primary.publicKey, key.publicKey)
    let binding = try signature(
      .subkeyBinding, over: target, facts, unhashed: unhashed, on: time, by: signer)
    certificate = certificate.adding(binding, to: .subkey(key.publicKey.fingerprint))
  }

  /// The signature by which a subkey says that it belongs here.
  func confirmation(
    of key: UnlockedKey, _ facts: [Subpacket.Content] = [], on time: Int = 0, by signer: UnlockedKey? = nil
  ) throws -> Signature {
    let target = SignedTarget.subkey(primary: primary.publicKey, key.publicKey)
    return try signature(.primaryKeyBinding, over: target, facts, on: time, by: signer ?? key)
  }

  mutating func revoke(
    _ code: RevocationReason.Code?, _ part: Certificate.Part = .primaryKey, on time: Int,
    by signer: UnlockedKey? = nil
  ) throws {
    let facts = code.map { [Subpacket.Content.reasonForRevocation(RevocationReason($0))] } ?? []
    let new: Signature
    switch part {
    case .primaryKey:
      new = try signature(.keyRevocation, over: .directKey(primary.publicKey), facts, on: time, by: signer)
    case .subkey(let fingerprint):
      let key = try #require(certificate.publicKey(fingerprint))
      let target = SignedTarget.subkey(primary: primary.publicKey, key)
      new = try signature(.subkeyRevocation, over: target, facts, on: time, by: signer)
    case .userID(let userID):
      let target = SignedTarget.userID(primary.publicKey, userID)
      new = try signature(.certificationRevocation, over: target, facts, on: time, by: signer)
    }
    certificate = certificate.adding(new, to: part)
  }

  func signature(
    _ type: SignatureType, over target: SignedTarget, _ facts: [Subpacket.Content],
    unhashed: [Subpacket.Content] = [], on time: Int, by signer: UnlockedKey? = nil
  ) throws -> Signature {
    var builder = SignatureBuilder(type: type, creationTime: day(time))
    builder.subpackets = facts.map { Subpacket($0) }
    builder.unhashedSubpackets = unhashed.map { Subpacket($0) }
    return try builder.sign(target, with: signer ?? primary)
  }

  /// What the certificate says on a day, asked on a later one.
  func valid(on time: Int, today: Int = 10_000, revokers: [Certificate] = []) -> ValidCertificate {
    ValidCertificate(
      certificate.knowing(revokers), at: day(time), now: day(today), policy: .standard)
  }

  static let userID = UserID("Ada <ada@example.org>")
}

/// A day, counted from 2024-01-01.
func day(_ number: Int) -> Timestamp {
  Timestamp(secondsSince1970: UInt32(1_704_067_200 + number * 86_400))
}

/// So many days in seconds.
func seconds(days: Int) -> UInt32 { UInt32(days * 86_400) }

extension Signature {
  /// The same with a bit of its value changed.
  var broken: Signature {
    guard case .ed25519(var bytes) = material else { preconditionFailure("a test breaks Ed25519 only") }
    bytes[40] ^= 1
    return Signature(
      version: version, type: type, algorithm: algorithm, hash: hash, hashedArea: hashedArea,
      unhashedArea: unhashedArea, digestPrefix: digestPrefix, salt: salt, material: .ed25519(bytes))
  }
}
