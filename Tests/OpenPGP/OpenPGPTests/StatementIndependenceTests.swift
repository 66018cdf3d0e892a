// SPDX-License-Identifier: Apache-2.0
//
// Anybody can put copies of a holder's signatures, spoilt or not, and signatures of his own into a certificate, in any
// order. What the certificate says at a time depends on none of that (RFC 9580, section 5.2.5).

import Extents
import SeededGenerators
import Testing

@testable import OpenPGP

@Suite("What a certificate says depends on what its holder says alone")
struct StatementIndependenceTests {
  /// What is asked of a certificate, for one time.
  private struct Answer: Equatable {
    struct Key: Equatable {
      let flags: KeyFlags
      let end: Timestamp?
      let problem: ValidCertificate.Problem?
    }
    struct Name: Equatable {
      let isPrimary: Bool
      let problem: ValidCertificate.Problem?
    }

    let problem: ValidCertificate.Problem?
    var keys: [Fingerprint: Key]
    let names: [UserID: Name]
    let features: Features
    let hashes: [HashAlgorithm]

    init(_ valid: ValidCertificate) {
      problem = valid.problem
      keys = Dictionary(
        uniqueKeysWithValues: valid.keys.map {
          ($0.publicKey.fingerprint, Key(flags: $0.flags, end: $0.expirationTime, problem: $0.problem))
        })
      names = Dictionary(
        uniqueKeysWithValues: valid.userIDs.map {
          ($0.userID, Name(isPrimary: $0.isPrimary, problem: $0.problem))
        })
      features = valid.features
      hashes = valid.preferredHashAlgorithms
    }
  }

  private static let days = [4, 12, 60]

  private func answers(_ certificate: Certificate) -> [Answer] {
    Self.days.map {
      Answer(ValidCertificate(certificate, at: day($0), now: day(60), policy: .standard))
    }
  }

  @Test(
    "5,000 certificates with spoilt copies, doubles, strangers' signatures, in another order: the same answers"
  )
  func spoilt() throws {
    let holders = try Holders()
    for var random in Shares("spoilt certificates", count: 8).generators(full: 5000) {
      let holder = holders.all.randomElement(using: &random) ?? holders.all[0]
      let expected = answers(holder.certificate)
      let stranger = try #require(holders.strangers[holder.certificate.primaryKey.version])
      let made = try SpoiltCertificate(holder, stranger: stranger, using: &random).certificate
      let read = try #require(try Certificate.readAll(MemorySource(made.packets())).first)
        .knowing(made.knownOthers)
      let reduced = read.reducedToHolderStatements()
      #expect(answers(read) == expected, "\(holder.name): as it came")
      #expect(answers(reduced) == expected, "\(holder.name): as it is kept")
      #expect(reduced.reducedToHolderStatements() == reduced, "\(holder.name): reduced twice")
      let merged = holder.certificate.merging(reduced).reducedToHolderStatements()
      #expect(answers(merged) == expected, "\(holder.name): as an update")
      // What lists ask, without verifying: they say of no subkey that it signs.
      for (time, answer) in zip(Self.days, expected) {
        let listed = Answer(ValidCertificate(verifiedBefore: reduced, at: day(time), policy: .standard))
        #expect(listed.problem == answer.problem, "\(holder.name): in a list")
        #expect(
          listed.keys.filter { $0.value.flags.encrypts } == answer.keys.filter { $0.value.flags.encrypts })
      }
    }
  }
}

/// Holders who have said all that a certificate can say.
private struct Holders {
  struct Named {
    let name: String
    let certificate: Certificate
  }

  let all: [Named]
  /// Of versions 4 and 6.
  let strangers: [UInt8: KeyHolderFixture]

  init() throws {
    var all: [Named] = []
    for version: UInt8 in [4, 6] {
      for (name, change) in Self.changes {
        var holder = try KeyHolderFixture.usual(version: version, says: [.features(.seipdVersion1)])
        try holder.addEncryptionSubkey()
        try holder.addSigningSubkey()
        try holder.addUserID(UserID("Countess <countess@example.org>"), on: 2)
        var others: [Certificate] = []
        try change(&holder, &others)
        all.append(
          Named(
            name: "version \(version), \(name)", certificate: holder.certificate.knowing(others)))
      }
    }
    self.all = all
    strangers = [4: try KeyHolderFixture.usual(version: 4), 6: try KeyHolderFixture.usual(version: 6)]
  }

  private typealias Change = @Sendable (inout KeyHolderFixture, inout [Certificate]) throws -> Void
  private static let changes: [(String, Change)] = [
    ("nothing more", { _, _ in }),
    (
      "renewed",
      { holder, _ in
        try holder.state([.keyExpirationTime(seconds: seconds(days: 10))], on: 3)
        try holder.state([.keyExpirationTime(seconds: seconds(days: 50))], on: 9)
      }
    ),
    ("ended", { holder, _ in try holder.state([.keyExpirationTime(seconds: seconds(days: 20))], on: 11) }),
    ("retired", { holder, _ in try holder.revoke(.retired, on: 11) }),
    (
      "retired and taken back",
      { holder, _ in
        try holder.revoke(.retired, on: 3)
        try holder.state([], on: 20)
      }
    ),
    (
      "stolen",
      { holder, _ in
        try holder.revoke(.retired, on: 5)
        try holder.revoke(.compromised, on: 22)
      }
    ),
    (
      "a subkey retired, another stolen",
      { holder, _ in
        try holder.revoke(.retired, .subkey(holder.subkeys[0].publicKey.fingerprint), on: 10)
        try holder.revoke(.compromised, .subkey(holder.subkeys[1].publicKey.fingerprint), on: 10)
      }
    ),
    (
      "a subkey renewed",
      { holder, _ in
        try holder.bind(
          holder.subkeys[0], [.keyFlags(.encryptStorage), .keyExpirationTime(seconds: seconds(days: 30))],
          on: 10)
      }
    ),
    (
      "confirmed in the unhashed area",
      { holder, _ in
        let key = try holder.addUnboundSubkey(.ed25519, madeOn: 1)
        let confirmation = try holder.confirmation(of: key, on: 1)
        try holder.bind(key, [.keyFlags(.sign)], unhashed: [.embeddedSignature(confirmation)], on: 1)
      }
    ),
    (
      "a user ID given up",
      { holder, _ in
        try holder.revoke(.userIDInvalid, .userID(KeyHolderFixture.userID), on: 10)
      }
    ),
    (
      "revoked by another who may",
      { holder, others in
        // A fingerprint of version 6 has no room in such a subpacket.
        guard holder.primary.publicKey.version == 4 else { return }
        let revoker = try KeyHolderFixture.usual(version: 4)
        let body =
          [0x80, revoker.primary.publicKey.algorithm.rawValue] + revoker.certificate.fingerprint.bytes
        let naming = try Subpacket(
          typeOctet: SubpacketType.revocationKey.rawValue, body: body, isEmbedded: false)
        let builder = SignatureBuilder(
          type: .directKey, creationTime: day(1),
          subpackets: [Subpacket(.keyFlags([.certify, .sign])), naming])
        holder.certificate.signatures.append(
          try builder.sign(.directKey(holder.primary.publicKey), with: holder.primary))
        try holder.revoke(.retired, on: 11, by: revoker.primary)
        others.append(revoker.certificate)
      }
    ),
  ]
}

/// A certificate to which a stranger added what comes to his mind.
private struct SpoiltCertificate {
  private(set) var certificate: Certificate
  private let stranger: KeyHolderFixture
  private let holder: PublicKey

  init(
    _ named: Holders.Named, stranger: KeyHolderFixture, using random: inout SeededGenerator
  ) throws {
    certificate = named.certificate
    self.stranger = stranger
    holder = named.certificate.primaryKey
    certificate.signatures = try spoilt(certificate.signatures, over: .directKey(holder), &random)
    for index in certificate.userIDs.indices {
      let target = SignedTarget.userID(holder, certificate.userIDs[index].packet)
      certificate.userIDs[index].signatures = try spoilt(
        certificate.userIDs[index].signatures, over: target, &random)
    }
    for index in certificate.subkeys.indices {
      let target = SignedTarget.subkey(primary: holder, certificate.subkeys[index].packet)
      certificate.subkeys[index].signatures = try spoilt(
        certificate.subkeys[index].signatures, over: target, &random)
    }
    certificate.userIDs.shuffle(using: &random)
    certificate.subkeys.shuffle(using: &random)
    // Revocations of subkeys count wherever they are.
    for index in certificate.subkeys.indices where Bool.random(using: &random) {
      let revocations = certificate.subkeys[index].signatures.filter { $0.type == .subkeyRevocation }
      certificate.subkeys[index].signatures.removeAll { $0.type == .subkeyRevocation }
      certificate.userIDs[0].signatures.insert(contentsOf: revocations, at: 0)
    }
  }

  private func spoilt(
    _ signatures: [Signature], over target: SignedTarget, _ random: inout SeededGenerator
  ) throws -> [Signature] {
    var made = signatures
    for signature in signatures {
      for _ in 0..<Int.random(in: 0...3, using: &random) { made.append(try copy(of: signature, &random)) }
      if Bool.random(using: &random) { made.append(try forged(signature.type, over: target, &random)) }
    }
    made.shuffle(using: &random)
    return made
  }

  /// A copy, whole or with something changed that no signature covers, or that one does.
  private func copy(of signature: Signature, _ random: inout SeededGenerator) throws -> Signature {
    var unhashed = signature.unhashedArea.subpackets
    var prefix = signature.digestPrefix
    var hashed = signature.hashedArea
    switch Int.random(in: 0...8, using: &random) {
    case 0: return signature.broken
    case 1: prefix[Int.random(in: 0...1, using: &random)] ^= 1 << UInt8.random(in: 0...7, using: &random)
    case 2: unhashed = []
    case 3: unhashed.append(Subpacket(.issuerFingerprint(stranger.certificate.fingerprint)))
    case 4: unhashed.append(try Subpacket(typeOctet: 100, body: [1], isEmbedded: false))
    case 5:
      let other = try stranger.signature(
        .primaryKeyBinding, over: .subkey(primary: holder, stranger.primary.publicKey), [], on: 1)
      unhashed = [Subpacket(.embeddedSignature(other))] + unhashed
    case 6: unhashed.removeAll { $0.content?.asEmbeddedSignature != nil }
    case 7:
      // Signed, so that it is another signature, and not a good one.
      hashed = SubpacketArea(
        hashed.subpackets.filter { $0.type != .reasonForRevocation && $0.type != .keyExpirationTime })
      if hashed == signature.hashedArea {
        hashed = SubpacketArea(hashed.subpackets + [Subpacket(.revocable(true))])
      }
    default: break
    }
    return Signature(
      version: signature.version, type: signature.type, algorithm: signature.algorithm, hash: signature.hash,
      hashedArea: hashed, unhashedArea: SubpacketArea(unhashed), digestPrefix: prefix, salt: signature.salt,
      material: signature.material)
  }

  /// A signature that says that it is the holder's: with the right digest, at any time, with or without what a policy
  /// refuses.
  private func forged(
    _ type: SignatureType, over target: SignedTarget, _ random: inout SeededGenerator
  ) throws -> Signature {
    var builder = SignatureBuilder(
      type: type, creationTime: day(Int.random(in: -3...70, using: &random)),
      subpackets: [Subpacket(.keyFlags([.certify, .sign]))])
    switch Int.random(in: 0...4, using: &random) {
    case 0: builder.subpackets.append(try Subpacket(typeOctet: 0x80 | 101, body: [1], isEmbedded: false))
    case 1: builder.subpackets.append(Subpacket(.signatureExpirationTime(seconds: 1)))
    case 2: builder.subpackets.append(Subpacket(.keyExpirationTime(seconds: 1)))
    case 3: builder.subpackets.append(Subpacket(.reasonForRevocation(RevocationReason(.compromised))))
    default: break
    }
    let made = try builder.draft(for: stranger.primary.publicKey)
    let draft = Signature(
      version: made.version, type: made.type, algorithm: made.algorithm, hash: made.hash,
      hashedArea: SubpacketArea(made.hashedArea.subpackets.filter { $0.type != .issuerFingerprint }),
      unhashedArea: SubpacketArea([Subpacket(.issuerFingerprint(holder.fingerprint))]), digestPrefix: [0, 0],
      salt: made.salt, material: .unknown([]))
    return try draft.signed(digest: try draft.digest(over: target), with: stranger.primary)
  }
}

extension KeyFlags {
  fileprivate var encrypts: Bool { !isDisjoint(with: [.encryptCommunications, .encryptStorage]) }
}

extension Certificate {
  fileprivate func packets() throws -> [UInt8] {
    let sink = ArraySink()
    try write(to: sink)
    return sink.bytes
  }

  fileprivate var knownOthers: [Certificate] { knownRevokers.map { Certificate(primaryKey: $0) } }
}
