// SPDX-License-Identifier: Apache-2.0
//
// Key Replacement (draft-ietf-openpgp-replacementkey): the octets, and when what two certificates say of each other
// counts.

import Foundation
import Primitives
import Secrets
import Testing

@testable import OpenPGP

@Suite("Key Replacement")
struct KeyReplacementTests {
  typealias Relation = ReplacementStatement.Relation

  // MARK: Octets

  /// Two certificates that go-crypto made (ProtonMail/go-crypto, pull request 311; BSD-3-Clause): RSA of version 4, and
  /// the key of RFC 9580, appendix A.4, that replaces it.
  private static let pair = """
    xo0ETMNJqAEEALcMoAEOmMCQAI1F0e6PkRO9WGH9V7iLrLfGhlh0dmPx4aO1qY8y/aZHI3PAJLlzWc0u/Ij/YPd3Ua379q9e
    YV5qFAjPrYvwzqMLDV9TqietWQibqbFbfrwnd6Jde0NhRAJ+O80gOQnxR9DjMrJAz2PTOV9d/g3wpsBOhlWvfqzfABEBAAHC
    wGcEHwEIAJsFgmoMQCo1FAAAAAAAHAAQc2FsdEBub3RhdGlvbnMub3BlbnBncGpzLm9yZwS2DTtQGUVpvdU9riBHnDUCmwMW
    IQQPC/tCs7CL7OVW//zBgcBT3oSb8kRkAEEGyxhsTwYJppfk1S36bHIrDB8eJ8GKVnCPZSXsJ7rZrMnHcOtVZHA7uJOffvok
    6zEVk0kQyr4qq7hMPE2Z+YOm/wAAFjsD/3/HcPHpZLmxcJfEw7TAiKjzhyNGYjCPARWmfMesAKwEHEBPQHWAUZuqIJQRLU9n
    Jt/imlJF6qrJ3iKRNrfKeCVtqHshsMpBP+RdYzaEpqrYH4jOFty37ns5iCOEf6bk7YWX4AZRu/duz/VOArLmM4Y+9YFU1KD7
    wT9sZANC/F0mxioGY4d/4xsAAAAg+U2nu0jWCmHlZ3BqZYfQMxmZu52JGggkLq2EVD34laPCwAQGHxsIAAAAZQWCagxAKgKb
    AyKhBssYbE8GCaaX5NUt+mxyKwwfHifBilZwj2Ul7Ce62azJOGQBNQQPC/tCs7CL7OVW//zBgcBT3oSb8t6vSXAJl0xjL1oE
    NxU8/rxgQ8lSnW1tsgnGO2QnhQdbAAAAAC9hEAABAgMEBQYHCAkKCwwNDg+EXl7/WSQpX/UYTJ1QeZFSkBYJzSG7Uqr5Z7aN
    orF+GiMDM0rEMqH2Tf9B1yCwSTdYQjU6A6wcqvOLfPMclZ4L
    """

  private static func others() throws -> (old: Certificate, new: Certificate) {
    let packets = try #require(Data(base64Encoded: pair, options: .ignoreUnknownCharacters))
    let certificates = try Certificate.readAll(MemorySource(Array(packets)))
    try #require(certificates.count == 2)
    return (certificates[0], certificates[1])
  }

  @Test("Both halves of another engine are read, and written octet for octet")
  func octets() throws {
    let (old, new) = try Self.others()
    let forward = try #require(old.signatures[0].hashedArea.subpackets.first { $0.type.rawValue == 100 })
    #expect(
      Hexadecimal.text(forward.body) == "004106"
        + "cb186c4f0609a697e4d52dfa6c722b0c1f1e27c18a56708f6525ec27bad9acc9"
        + "c770eb5564703bb8939f7efa24eb3115934910cabe2aabb84c3c4d99f983a6ff")
    #expect(forward == Subpacket(.keyReplacement(.successor(.init(new.primaryKey)))))
    let inverse = try #require(new.signatures[0].hashedArea.subpackets.first { $0.type.rawValue == 100 })
    #expect(
      Hexadecimal.text(inverse.body) == "013504" + "0f0bfb42b3b08bece556fffcc181c053de849bf2"
        + "deaf497009974c632f5a0437153cfebc6043c9529d6d6db209c63b642785075b")
    #expect(inverse == Subpacket(.keyReplacement(.predecessors([.init(old.primaryKey)]))))
  }

  private static let version4 = [UInt8](repeating: 4, count: 52)
  private static let version6 = [UInt8](repeating: 6, count: 64)

  @Test(
    "What is not as described is nobody's statement, and spoils nothing",
    arguments: [
      [], [0], [1], [0, 0], [1, 0], [0, 53, 4], [0, 53, 4] + version4.dropLast(),
      [0, 52, 4] + version4.dropLast(),
      [0, 54, 4] + version4 + [0], [0, 53, 6] + version4, [0, 65, 4] + version6, [0, 53, 4] + version4 + [0],
      [0, 53, 4] + version4 + [53, 4] + version4, [0, 2, 9, 9], [1, 53, 4] + version4 + [53, 4],
    ] as [[UInt8]])
  func malformed(body: [UInt8]) throws {
    for octet in [100, 100 | 0x80] as [UInt8] {
      let subpacket = try Subpacket(typeOctet: octet, body: body, isEmbedded: false)
      #expect(subpacket.content == nil && subpacket.body == body)
    }
  }

  @Test(
    "Several are replaced, also keys of versions that are not known; other bits of the class mean nothing")
  func predecessors() throws {
    let records = [53, 4] + Self.version4 + [2, 9, 9] + [65, 6] + Self.version6
    for octet in [0x01, 0x81] as [UInt8] {
      let read = try Subpacket(typeOctet: 100, body: [octet] + records, isEmbedded: false)
      guard case .keyReplacement(.predecessors(let targets))? = read.content else {
        Issue.record("not read")
        continue
      }
      #expect(
        targets.map(\.fingerprint.version) == [4, 6] && targets.map(\.fingerprint.bytes.count) == [20, 32])
      #expect(targets.allSatisfy { $0.imprint.count == 32 })
    }
    let forward = try Subpacket(
      typeOctet: 100, body: [0x80, 53, 4] + Self.version4, isEmbedded: false)
    guard case .keyReplacement(.successor)? = forward.content else {
      throw OpenPGPError.malformed(.subpacket)
    }
  }

  // MARK: Two certificates

  /// The relation of an old key and a new one on a day.
  private func relation(_ old: KeyHolderFixture, _ new: KeyHolderFixture, on time: Int = 5) -> Relation {
    old.valid(on: time).replacementStatement.relation(toSuccessor: new.valid(on: time).replacementStatement)
  }

  /// An old key and a new one, which say nothing but that they are keys.
  private static func holders(_ versions: [UInt8]) throws -> (old: KeyHolderFixture, new: KeyHolderFixture) {
    (try .init(version: versions[0]), try .init(version: versions[1]))
  }

  private static func target(_ holder: KeyHolderFixture) -> KeyReplacement.Target {
    .init(holder.primary.publicKey)
  }

  /// A target with this fingerprint, and the imprint of another key.
  private static func wrongTarget(_ holder: KeyHolderFixture) throws -> KeyReplacement {
    let right = KeyReplacement.successor(target(holder)).bytes
    let wrong = right.dropLast() + [right[right.count - 1] ^ 1]
    return try #require(KeyReplacement(Array(wrong)))
  }

  @Test("Both say it, or it does not count", arguments: [[4, 4], [4, 6], [6, 6]] as [[UInt8]])
  func halves(versions: [UInt8]) throws {
    for (saysOld, saysNew, expected) in [
      (true, true, Relation.confirmed), (true, false, .claimed), (false, true, .claimed),
      (false, false, .unrelated),
    ] {
      var (old, new) = try Self.holders(versions)
      try old.state(saysOld ? [.keyReplacement(.successor(Self.target(new)))] : [])
      try new.state(saysNew ? [.keyReplacement(.predecessors([Self.target(old)]))] : [])
      #expect(relation(old, new) == expected)
      #expect(relation(new, old) == .unrelated)
      #expect(relation(old, old) == .unrelated)
    }
  }

  @Test("A wrong imprint, another key, and the other direction are not that key")
  func others() throws {
    var (old, new) = try Self.holders([4, 6])
    let third = try KeyHolderFixture(version: 6)
    try new.state([.keyReplacement(.predecessors([Self.target(old)]))])
    for wrong in [
      try Self.wrongTarget(new), .successor(Self.target(third)), .predecessors([Self.target(new)]),
      .successor(Self.target(old)),
    ] {
      var spoilt = old
      try spoilt.state([.keyReplacement(wrong)])
      #expect(relation(spoilt, new) == .claimed)
    }
    // Both say that they replace the other one.
    try old.state([.keyReplacement(.successor(Self.target(new)))])
    #expect(relation(old, new) == .confirmed)
    #expect(relation(old, third) == .unrelated)
  }

  @Test("Of several keys that are replaced each one counts")
  func severalPredecessors() throws {
    var (first, new) = try Self.holders([4, 6])
    var second = try KeyHolderFixture(version: 6)
    try new.state([.keyReplacement(.predecessors([Self.target(first), Self.target(second)]))])
    try first.state([.keyReplacement(.successor(Self.target(new)))])
    try second.state([.keyReplacement(.successor(Self.target(new)))])
    #expect(relation(first, new) == .confirmed && relation(second, new) == .confirmed)
  }

  @Test("Two statements in one signature are none, and so is one where anybody can write")
  func misplaced() throws {
    var (old, new) = try Self.holders([6, 6])
    try new.state([.keyReplacement(.predecessors([Self.target(old)]))])
    let successor = Subpacket.Content.keyReplacement(.successor(Self.target(new)))
    var twice = old
    try twice.state([successor, successor])
    #expect(relation(twice, new) == .claimed)
    try old.addUserID(KeyHolderFixture.userID)
    old.certificate.signatures.append(
      try old.signature(
        .directKey, over: .directKey(old.primary.publicKey), [.keyFlags([.certify])], unhashed: [successor],
        on: 0))
    #expect(old.valid(on: 5).problem == nil)
    #expect(relation(old, new) == .claimed)
  }

  @Test(
    "A key that was given up has a successor; one that somebody else may have has none",
    arguments: [
      (.superseded, .confirmed), (.retired, .confirmed), (.compromised, .unrelated),
      (RevocationReason.Code.none, .unrelated), (nil, .unrelated),
    ] as [(RevocationReason.Code?, Relation)])
  func revoked(reason: RevocationReason.Code?, expected: Relation) throws {
    var (old, new) = try Self.holders([4, 6])
    try old.state([.keyReplacement(.successor(Self.target(new)))])
    try new.state([.keyReplacement(.predecessors([Self.target(old)]))])
    var revoked = old
    try revoked.revoke(reason, on: 3)
    #expect(relation(revoked, new) == expected)
    // A new key that is worth nothing replaces nothing, whatever its reason.
    try new.revoke(reason, on: 3)
    #expect(relation(old, new) == .unrelated)
  }

  @Test("The revocation itself may name the successor, if its own key made it")
  func namedByRevocation() throws {
    var (old, new) = try Self.holders([6, 6])
    try old.state([])
    try new.state([.keyReplacement(.predecessors([Self.target(old)]))])
    let facts: [Subpacket.Content] = [
      .reasonForRevocation(RevocationReason(.superseded)), .keyReplacement(.successor(Self.target(new))),
    ]
    for (signer, expected) in [(old.primary, Relation.confirmed), (new.primary, .claimed)] {
      var revoked = old
      revoked.certificate.signatures.append(
        try old.signature(
          .keyRevocation, over: .directKey(old.primary.publicKey), facts, on: 3, by: signer))
      #expect(relation(revoked, new) == expected)
    }
  }

  @Test("An old key that has ended may have a successor; a successor that has ended is none")
  func expired() throws {
    var (old, new) = try Self.holders([4, 6])
    let end = Subpacket.Content.keyExpirationTime(seconds: seconds(days: 4))
    try old.state([end, .keyReplacement(.successor(Self.target(new)))])
    try new.state([.keyReplacement(.predecessors([Self.target(old)]))])
    #expect(old.valid(on: 5).problem == .expired)
    #expect(relation(old, new) == .confirmed)
    var ended = new
    ended.certificate = Certificate(primaryKey: new.primary.publicKey)
    try ended.state([end, .keyReplacement(.predecessors([Self.target(old)]))])
    #expect(relation(old, ended, on: 3) == .confirmed && relation(old, ended) == .unrelated)
  }

  // MARK: Writing

  private func make(_ profile: KeyProfile) throws -> TransferableSecretKey {
    try KeyGeneration(profile, userIDs: [KeyHolderFixture.userID], creationTime: day(0)).generate()
  }

  private func valid(_ certificate: Certificate, on time: Int) -> ValidCertificate {
    ValidCertificate(certificate, at: day(time), now: day(time), policy: .standard)
  }

  @Test("What is stated stays through later changes, and the next statement takes its place")
  func stated() throws {
    let new = try make(.rfc9580).certificate.primaryKey
    for profile in [KeyProfile.universal, .rfc9580] {
      var key = try make(profile)
      let primary = try key.unlocked(key.certificate.fingerprint, for: .certify, passwords: [])
      let first = KeyReplacement.successor(.init(new))
      key.certificate = try valid(key.certificate, on: 1).stating(first, by: primary)
      #expect(valid(key.certificate, on: 1).replacement == first)
      #expect(valid(key.certificate.reducedToHolderStatements(), on: 1).replacement == first)
      key.certificate = try valid(key.certificate, on: 2).settingExpiration(to: day(900), by: primary)
      key.certificate = try valid(key.certificate, on: 3).addingUserID(UserID("Ada at work"), by: primary)
      key = try KeyUpdate(time: day(4), policy: .standard).apply(to: key, passwords: [])
      #expect(valid(key.certificate, on: 5).replacement == first)
      let second = KeyReplacement.predecessors([.init(new)])
      key.certificate = try valid(key.certificate, on: 6).stating(second, by: primary)
      #expect(valid(key.certificate, on: 6).replacement == second)
      #expect(valid(key.certificate, on: 5).replacement == first)
      #expect(valid(key.certificate, on: 6).problem == nil)
    }
  }

  @Test("Only its own primary key states it, and not of a key that is revoked")
  func notItsOwn() throws {
    let (key, other) = (try make(.rfc9580), try make(.rfc9580))
    let statement = KeyReplacement.successor(.init(other.certificate.primaryKey))
    let stranger = try other.unlocked(other.certificate.fingerprint, for: .certify, passwords: [])
    #expect(throws: OpenPGPError.keyCannot(.certify)) {
      try valid(key.certificate, on: 1).stating(statement, by: stranger)
    }
    let primary = try key.unlocked(key.certificate.fingerprint, for: .certify, passwords: [])
    let revoked = try key.certificate.revoking(
      .primaryKey, reason: RevocationReason(.superseded), at: day(1), by: primary)
    #expect(throws: OpenPGPError.keyCannot(.certify)) {
      try valid(revoked, on: 2).stating(statement, by: primary)
    }
  }
}
