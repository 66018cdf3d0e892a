// SPDX-License-Identifier: Apache-2.0

import Secrets
import Testing

@testable import OpenPGP

@Suite("A certificate reduced to its holder's statements")
struct HolderStatementTests {
  private static let made = Timestamp(secondsSince1970: 1_700_000_000)
  private static let later = Timestamp(secondsSince1970: 1_700_086_400)
  private static let userID = UserID("Bob <bob@example.org>")

  private func key(_ profile: KeyProfile = .universal, _ userID: UserID = userID) throws
    -> TransferableSecretKey
  {
    try KeyGeneration(profile, userIDs: [userID], creationTime: Self.made).generate()
  }

  private func signer(_ key: TransferableSecretKey) throws -> UnlockedKey {
    try key.unlocked(key.certificate.fingerprint, for: .certify, passwords: [])
  }

  private func read(_ certificate: Certificate) throws -> Certificate {
    let sink = ArraySink()
    try certificate.write(to: sink)
    return try #require(try Certificate.readAll(MemorySource(sink.bytes)).first)
  }

  @Test(
    "A certificate of its holder alone stays as it is",
    arguments: [KeyProfile.universal, .advanced, .rfc4880])
  func unchanged(profile: KeyProfile) throws {
    let certificate = try key(profile).certificate
    #expect(certificate.reducedToHolderStatements() == certificate)
  }

  @Test("What others added is left out: certifications, user IDs, subkeys, pictures, unknown packets")
  func others() throws {
    let (bob, stranger) = (try key(), try key(.universal, UserID("Mallory")))
    var flooded = try bob.certificate.certifying(Self.userID, at: Self.later, by: signer(stranger))
      .certifying(UserID("Bob <mallory@example.org>"), at: Self.later, by: signer(stranger))
    let foreign = try #require(flooded.userIDs[0].signatures.last)
    flooded.userIDs[0].signatures += Array(repeating: foreign, count: 3000)
    flooded.userAttributes = [.init(UserAttribute(bytes: [1, 2, 3]), signatures: [foreign])]
    flooded.subkeys.append(stranger.certificate.subkeys[0])
    flooded.opaquePackets = [OpaquePacket(PacketType(rawValue: 60), body: [1])]
    #expect(flooded.reducedToHolderStatements() == bob.certificate)
  }

  @Test("A signature that names the holder and was not made by him is left out")
  func forged() throws {
    let bob = try key()
    let own = bob.certificate.userIDs[0].signatures[0]
    var forged = bob.certificate
    forged.userIDs.append(.init(UserID("Bob <mallory@example.org>"), signatures: [own]))
    forged.userIDs[0].signatures += bob.certificate.subkeys[0].signatures
    #expect(forged.reducedToHolderStatements() == bob.certificate)
  }

  @Test("Unhashed additions to one signature make no second one, and are left out")
  func unhashed() throws {
    let certificate = try key().certificate
    let own = certificate.userIDs[0].signatures[0]
    var many = certificate
    many.userIDs[0].signatures = try (0..<50).map { number in
      let notation = try Subpacket(typeOctet: 100, body: [UInt8(number)], isEmbedded: false)
      return Signature(
        version: own.version, type: own.type, algorithm: own.algorithm, hash: own.hash,
        hashedArea: own.hashedArea, unhashedArea: SubpacketArea(own.unhashedArea.subpackets + [notation]),
        digestPrefix: own.digestPrefix, salt: own.salt, material: own.material)
    }
    #expect(many.reducedToHolderStatements() == certificate)
  }

  @Test(
    "Revocations are kept and count, the misplaced one of a subkey too",
    arguments: [KeyProfile.universal, .advanced])
  func revocations(profile: KeyProfile) throws {
    let bob = try key(profile)
    let subkey = bob.certificate.subkeys[0].packet.fingerprint
    let reason = RevocationReason(.compromised)
    for part in [Certificate.Part.primaryKey, .subkey(subkey), .userID(Self.userID)] {
      let revoked = try bob.certificate.revoking(part, reason: reason, at: Self.later, by: signer(bob))
      #expect(try read(revoked).reducedToHolderStatements() == read(revoked))
    }
    var misplaced = bob.certificate
    misplaced.userIDs[0].signatures.append(
      try bob.certificate.revocation(of: .subkey(subkey), reason: reason, at: Self.later, by: signer(bob)))
    let reduced = misplaced.reducedToHolderStatements()
    #expect(reduced.subkeys[0].signatures.contains { $0.type == .subkeyRevocation })
    for certificate in [misplaced, reduced] {
      let valid = ValidCertificate(certificate, at: Self.later, now: Self.later, policy: .standard)
      #expect(valid.keys[1].problem == .revoked(reason))
    }
  }

  @Test(
    "A copy that does not verify takes nothing away, wherever it is: a revocation, an end, a back-signature",
    arguments: [KeyProfile.universal, .advanced])
  func spoiltCopies(profile: KeyProfile) throws {
    let bob = try key(profile)
    let reason = RevocationReason(.compromised)
    let subkey = bob.certificate.subkeys[0].packet.fingerprint
    let spoilt: (Signature) -> Signature = { signature in
      Signature(
        version: signature.version, type: signature.type, algorithm: signature.algorithm,
        hash: signature.hash, hashedArea: signature.hashedArea, unhashedArea: signature.unhashedArea,
        digestPrefix: signature.digestPrefix.map { ~$0 }, salt: signature.salt, material: signature.material)
    }
    for part in [Certificate.Part.primaryKey, .subkey(subkey), .userID(Self.userID)] {
      let revoked = try bob.certificate.revoking(part, reason: reason, at: Self.later, by: signer(bob))
      for isInFront in [true, false] {
        var certificate = revoked
        func doubled(_ signatures: [Signature]) -> [Signature] {
          signatures.flatMap { isInFront ? [spoilt($0), $0] : [$0, spoilt($0)] }
        }
        certificate.signatures = doubled(certificate.signatures)
        for index in certificate.userIDs.indices {
          certificate.userIDs[index].signatures = doubled(certificate.userIDs[index].signatures)
        }
        for index in certificate.subkeys.indices {
          certificate.subkeys[index].signatures = doubled(certificate.subkeys[index].signatures)
        }
        #expect(certificate.reducedToHolderStatements() == revoked.reducedToHolderStatements())
      }
    }
  }

  @Test("Revocations by a revoker who is known are kept behind any number that do not verify")
  func designated() throws {
    let revoker = try KeyHolderFixture(version: 4)
    let stranger = try KeyHolderFixture(version: 4)
    var holder = try KeyHolderFixture(version: 4)
    try holder.addUserID(KeyHolderFixture.userID, [.keyFlags(.sign)])
    let body = [0x80, revoker.primary.publicKey.algorithm.rawValue] + revoker.certificate.fingerprint.bytes
    let naming = try Subpacket(typeOctet: SubpacketType.revocationKey.rawValue, body: body, isEmbedded: false)
    let builder = SignatureBuilder(type: .directKey, creationTime: day(0), subpackets: [naming])
    let target = SignedTarget.directKey(holder.primary.publicKey)
    holder.certificate.signatures = [try builder.sign(target, with: holder.primary)]
    for number in 0..<40 {
      let forged = try holder.signature(.keyRevocation, over: target, [], on: number, by: stranger.primary)
      let names = SubpacketArea([Subpacket(.issuerFingerprint(revoker.certificate.fingerprint))])
      let draft = Signature(
        version: 4, type: forged.type, algorithm: forged.algorithm, hash: forged.hash,
        hashedArea: SubpacketArea(forged.hashedArea.subpackets.filter { $0.type != .issuerFingerprint }),
        unhashedArea: names, digestPrefix: [], salt: [], material: .unknown([]))
      holder.certificate.signatures.append(
        try draft.signed(digest: try draft.digest(over: target), with: stranger.primary))
    }
    try holder.revoke(.compromised, on: 5, by: revoker.primary)
    let known = holder.certificate.knowing([revoker.certificate]).reducedToHolderStatements()
    #expect(known.signatures.filter { $0.type == .keyRevocation }.count == 1)
    #expect(holder.valid(on: 6, revokers: [revoker.certificate]).problem != nil)
    for certificate in [known, known.reducedToHolderStatements()] {
      let valid = ValidCertificate(certificate, at: day(6), now: day(6), policy: .standard)
      let listed = ValidCertificate(verifiedBefore: certificate, at: day(6), policy: .standard)
      #expect(valid.problem == .revoked(RevocationReason(.compromised)))
      #expect(listed.problem == valid.problem)
    }
    // Nobody can tell which ones are forged while the revoker is not known.
    let unknown = holder.certificate.reducedToHolderStatements()
    #expect(unknown.signatures.filter { $0.type == .keyRevocation }.count == 16)
  }

  @Test("Subkeys and signatures of unknown versions are kept, and no more than a few of the latter")
  func future() throws {
    var certificate = try key().certificate
    let unknown = OpaquePacket(.signature, body: [9, 1, 2, 3])
    certificate.userIDs[0].opaquePackets = [unknown]
    certificate.opaqueSubkeys = [.init(OpaquePacket(.publicSubkey, body: [9, 9]), opaquePackets: [unknown])]
    #expect(certificate.reducedToHolderStatements() == certificate)
    certificate.userIDs[0].opaquePackets = Array(repeating: unknown, count: 100)
    #expect(certificate.reducedToHolderStatements().userIDs[0].opaquePackets.count == 16)
  }

  @Test(
    "Judged without verifying again, a reduced certificate says the same",
    arguments: [KeyProfile.universal, .advanced, .rfc4880])
  func verifiedBefore(profile: KeyProfile) throws {
    let bob = try key(profile)
    let subkey = bob.certificate.subkeys[0].packet.fingerprint
    let parts = [Certificate.Part.primaryKey, .subkey(subkey), .userID(Self.userID)]
    let certificates =
      [bob.certificate]
      + (try parts.map {
        try bob.certificate.revoking($0, reason: RevocationReason(.retired), at: Self.later, by: signer(bob))
      })
    for certificate in certificates {
      let reduced = certificate.reducedToHolderStatements()
      let slow = ValidCertificate(reduced, at: Self.later, now: Self.later, policy: .standard)
      let fast = ValidCertificate(verifiedBefore: reduced, at: Self.later, policy: .standard)
      #expect(fast.verificationCount == 0 && slow.verificationCount > 0)
      #expect(fast.problem == slow.problem && fast.keys.map(\.problem) == slow.keys.map(\.problem))
      #expect(fast.userIDs.map(\.problem) == slow.userIDs.map(\.problem))
      #expect(fast.keys.map(\.expirationTime) == slow.keys.map(\.expirationTime))
    }
  }

  @Test("A sequence with any secret key holds no certificate for a reader who refuses secrets")
  func secrets() throws {
    let bob = try key()
    let sink = ArraySink()
    try bob.certificate.write(to: sink)
    #expect(try Certificate.readAllWithoutSecrets(MemorySource(sink.bytes)) == [bob.certificate])
    try Packet.secretSubkey(try #require(bob.secrets[bob.certificate.subkeys[0].packet.fingerprint])).write(
      to: sink)
    #expect(throws: OpenPGPError.malformed(.secretKeyAsCertificate)) {
      try Certificate.readAllWithoutSecrets(MemorySource(sink.bytes))
    }
  }
}
