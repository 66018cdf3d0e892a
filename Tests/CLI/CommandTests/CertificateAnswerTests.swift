// SPDX-License-Identifier: Apache-2.0
//
// Whether a key is good has one answer in every command, and nothing that strangers add to a certificate changes it:
// copies of signatures, spoilt or not, in front or behind.

import CommandRuns
import Extents
import Foundation
import SeededGenerators
import Testing

@testable import OpenPGP

@Suite("One answer about a key in all commands")
struct CertificateAnswerTests {
  fileprivate static let pass = ["--passphrase-file", "pass"]
  private static let made = Timestamp(secondsSince1970: 1_700_000_000)
  private static let later = Timestamp(secondsSince1970: 1_710_000_000)

  /// What a certificate says, as its holder left it.
  enum State: String, CaseIterable {
    case good, expired, stolen, retired, subkeyStolen, nameGivenUp, revokedByOther
  }

  fileprivate struct Holder {
    let certificate: Certificate
    let signature: [UInt8]
    /// Of whom the holder has allowed to revoke; nil for nobody.
    let revoker: Certificate?
  }

  fileprivate static func holder(_ state: State, isAdvanced: Bool) throws -> Holder {
    let userID = UserID("Bob <bob@example.org>")
    var generation = KeyGeneration(
      isAdvanced ? .advanced : .universal, userIDs: [userID, UserID("Robert <rob@example.org>")],
      creationTime: made)
    if state == .expired { generation.validitySeconds = 86_400 * 10 }
    let key = try generation.generate()
    let signer = try key.unlocked(key.certificate.fingerprint, for: .certify, passwords: [])
    let document = SignatureBuilder(type: .binary, creationTime: Timestamp(secondsSince1970: 1_700_086_400))
    let signing = try ValidCertificate(key.certificate, at: made, now: made, policy: .standard).signingKeys()[
      0]
    let draft = try document.draft(for: signing)
    var hash = HashContext(draft.hash)
    hash.update(draft.salt)
    hash.update(Array("a document".utf8))
    hash.update(draft.hashedFields)
    let signature = try draft.signed(
      digest: hash.finish(), with: key.unlocked(signing.fingerprint, for: .sign, passwords: []))
    let packet = ArraySink()
    try Packet.signature(signature).write(to: packet)

    func revoked(_ part: Certificate.Part, _ code: RevocationReason.Code) throws -> Certificate {
      try key.certificate.revoking(part, reason: RevocationReason(code), at: later, by: signer)
    }
    var revoker: Certificate?
    let certificate: Certificate
    switch state {
    case .good, .expired: certificate = key.certificate
    case .stolen: certificate = try revoked(.primaryKey, .compromised)
    case .retired: certificate = try revoked(.primaryKey, .retired)
    case .subkeyStolen:
      let subkey = try #require(key.certificate.subkeys.first { $0.packet.algorithm.encrypts })
      certificate = try revoked(.subkey(subkey.packet.fingerprint), .compromised)
    case .nameGivenUp: certificate = try revoked(.userID(userID), .userIDInvalid)
    case .revokedByOther:
      let other = try KeyGeneration(
        .universal, userIDs: [UserID("Rosa <rosa@example.net>")], creationTime: made
      ).generate()
      let body =
        [0x80, other.certificate.primaryKey.algorithm.rawValue] + other.certificate.fingerprint.bytes
      let target = SignedTarget.directKey(key.certificate.primaryKey)
      let naming = SignatureBuilder(
        type: .directKey, creationTime: made,
        subpackets: [
          try Subpacket(typeOctet: SubpacketType.revocationKey.rawValue, body: body, isEmbedded: false)
        ])
      let revocation = SignatureBuilder(
        type: .keyRevocation, creationTime: later,
        subpackets: [Subpacket(.reasonForRevocation(RevocationReason(.compromised)))])
      var changed = key.certificate
      changed.signatures.append(try naming.sign(target, with: signer))
      changed.signatures.append(
        try revocation.sign(
          target, with: other.unlocked(other.certificate.fingerprint, for: .certify, passwords: [])))
      (certificate, revoker) = (changed, other.certificate)
    }
    return Holder(certificate: certificate, signature: packet.bytes, revoker: revoker)
  }

  /// What each command says.
  private struct Answers: Equatable {
    let shown: String
    let listed: String
    let encrypted: String
    let verified: String
    let sopEncrypted: Int32
    let sopVerified: Int32
  }

  private func answers(_ certificate: [UInt8], _ holder: Holder, in place: Place) throws -> Answers {
    func file(_ name: String, _ bytes: [UInt8]) throws {
      try Data(bytes).write(to: place.folder.appending(path: name))
    }
    func said(_ arguments: [String]) throws -> String {
      let outcome = try place.run(arguments + Self.pass + ["--json"])
      return "\(outcome.status) \(outcome.output)"
    }
    try file("bob.cert", certificate)
    try file("doc", Array("a document".utf8))
    try file("doc.sig", holder.signature)
    var others: [String] = []
    if let revoker = holder.revoker {
      let sink = ArraySink()
      try revoker.write(to: sink)
      try file("rosa.cert", sink.bytes)
      others = ["rosa.cert"]
      _ = try place.run(["contact", "import", "rosa.cert", "--yes"] + Self.pass)
    }
    let taken = try place.run(["contact", "import", "bob.cert", "--yes"] + Self.pass)
    try #require(taken.status == 0, "\(taken.error)")
    let who = holder.certificate.fingerprint.hexadecimal.lowercased()
    // Names, times of storing and ids differ from contact to contact.
    func plain(_ text: String) -> String {
      text.replacing(/"(id|firstSeen|name)":"[^"]*",?/, with: "")
    }
    let shown = plain(try said(["contact", "show", who]))
    let listed = plain(try said(["contact", "list"]))
    let outcome = try place.run(
      ["encrypt", "--no-sign", "--no-self", "--to", who, "--output", "out.pgp", "doc", "--json"] + Self.pass)
    try? FileManager.default.removeItem(at: place.folder.appending(path: "out.pgp"))
    let code = outcome.output.firstMatch(of: /"code":"([a-z_]+)"/).map { String($0.1) } ?? ""
    let verified = try said(["verify", "--signature", "doc.sig", "doc"])
    let removed = try place.run(["contact", "remove", who, "--yes"] + Self.pass)
    try #require(removed.status == 0, "\(removed.error)")
    if holder.revoker != nil {
      _ = try place.run(["contact", "remove", "rosa@example.net", "--yes"] + Self.pass)
    }
    return Answers(
      shown: shown, listed: listed, encrypted: "\(outcome.status) \(code)", verified: plain(verified),
      sopEncrypted: try sop(["encrypt", "bob.cert"] + others, in: place),
      sopVerified: try sop(["verify", "doc.sig", "bob.cert"] + others, in: place))
  }

  private func sop(_ arguments: [String], in place: Place) throws -> Int32 {
    let process = Process()
    process.executableURL = Place.coffer.deletingLastPathComponent().appending(path: "coffer-sop")
    process.arguments = arguments
    process.currentDirectoryURL = place.folder
    process.standardInput = try FileHandle(forReadingFrom: place.folder.appending(path: "doc"))
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    return process.terminationStatus
  }

  @Test("Certificates in every state, spoilt in many ways, say in every command what their holder has said")
  func answers() throws {
    let place = try Place()
    try place.makeCoffer()
    for var random in Shares("answers about keys", count: 8).generators(full: 112) {
      let state = State.allCases.randomElement(using: &random) ?? .good
      // A fingerprint of version 6 has no room among revokers.
      let isAdvanced = state != .revokedByOther && Bool.random(using: &random)
      let holder = try Self.holder(state, isAdvanced: isAdvanced)
      let sink = ArraySink()
      try holder.certificate.write(to: sink)
      let expected = try answers(sink.bytes, holder, in: place)
      let spoilt = try SpoiltPackets(sink.bytes, using: &random).bytes
      let found = try answers(spoilt, holder, in: place)
      #expect(found == expected, "\(state), version \(isAdvanced ? 6 : 4)")
      let isRevoked = [.stolen, .retired, .revokedByOther].contains(state)
      #expect(expected.encrypted.hasPrefix("0 ") == [.good, .nameGivenUp].contains(state), "\(expected)")
      #expect((expected.sopEncrypted == 0) == expected.encrypted.hasPrefix("0 "), "\(expected)")
      #expect(expected.shown.contains("\"status\":\"revoked\"") == isRevoked, "\(expected)")
      // A hard revocation counts for what was signed before it, too.
      let isGood = ![.stolen, .revokedByOther].contains(state)
      #expect(
        (expected.sopVerified == 0) == isGood && expected.verified.hasPrefix("0 ") == isGood, "\(expected)")
    }
  }
}

extension CertificateAnswerTests {
  @Test("A file with the revocation alone, by another who may, counts for the contact whom it revokes")
  func revocationAlone() throws {
    let place = try Place()
    try place.makeCoffer()
    let holder = try Self.holder(.revokedByOther, isAdvanced: false)
    let revocation = try #require(holder.certificate.signatures.first { $0.type == .keyRevocation })
    var before = holder.certificate
    before.signatures.removeAll { $0.type == .keyRevocation }
    for (name, certificate) in [("bob", before), ("rosa", try #require(holder.revoker))] {
      let sink = ArraySink()
      try certificate.write(to: sink)
      try Data(sink.bytes).write(to: place.folder.appending(path: name))
      #expect(try place.run(["contact", "import", name, "--yes"] + Self.pass).status == 0)
    }
    func status() throws -> String { try place.run(["contact", "show", "bob", "--json"] + Self.pass).output }
    #expect(try status().contains("\"status\":\"good\""))
    let sink = ArraySink()
    try Packet.signature(revocation).write(to: sink)
    try Data(sink.bytes).write(to: place.folder.appending(path: "revocation"))
    #expect(try place.run(["contact", "import", "revocation", "--yes"] + Self.pass).status == 0)
    #expect(try status().contains("\"status\":\"revoked\""))
  }
}

/// The packets of a certificate with copies of its signatures that anybody can make.
private struct SpoiltPackets {
  private(set) var bytes: [UInt8] = []

  init(_ certificate: [UInt8], using random: inout SeededGenerator) throws {
    for packet in try Self.packets(certificate) {
      guard packet.isSignature else {
        bytes += packet.bytes
        continue
      }
      var all = [packet.bytes]
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        all.insert(
          Self.packet(Self.spoilt(packet.body, &random)), at: Int.random(in: 0...all.count, using: &random))
      }
      bytes += all.joined()
    }
  }

  private struct OnePacket {
    let bytes: [UInt8]
    let body: [UInt8]
    let isSignature: Bool
  }

  private static func packets(_ bytes: [UInt8]) throws -> [OnePacket] {
    var packets: [OnePacket] = []
    var rest = bytes[...]
    while let first = rest.first {
      let lengths = Array(rest.dropFirst().prefix(5))
      let (header, count): (Int, Int) =
        switch lengths[0] {
        case ..<192: (2, Int(lengths[0]))
        case ..<224: (3, (Int(lengths[0]) - 192) << 8 + Int(lengths[1]) + 192)
        default: (6, lengths[1...].reduce(0) { $0 << 8 | Int($1) })
        }
      try #require(rest.count >= header + count)
      packets.append(
        OnePacket(
          bytes: Array(rest.prefix(header + count)), body: Array(rest.dropFirst(header).prefix(count)),
          isSignature: first == 0xC2))
      rest = rest.dropFirst(header + count)
    }
    return packets
  }

  private static func packet(_ body: [UInt8]) -> [UInt8] {
    [0xC2, 0xFF] + (0..<4).reversed().map { UInt8(truncatingIfNeeded: body.count >> ($0 * 8)) } + body
  }

  /// The body of a signature with a change where it is not signed, or where it is.
  private static func spoilt(_ body: [UInt8], _ random: inout SeededGenerator) -> [UInt8] {
    let width = body[0] == 6 ? 4 : 2
    func number(at offset: Int) -> Int { body[offset..<offset + width].reduce(0) { $0 << 8 | Int($1) } }
    let hashed = number(at: 4)
    let unhashedAt = 4 + width + hashed
    let unhashed = number(at: unhashedAt)
    let prefixAt = unhashedAt + width + unhashed
    var changed = body
    switch Int.random(in: 0...4, using: &random) {
    case 0: changed[prefixAt + Int.random(in: 0...1, using: &random)] ^= 0x10
    case 1: changed[body.count - 3] ^= 1
    case 2: changed[4 + width + Int.random(in: 2...5, using: &random)] ^= 1
    case 3:
      let added: [UInt8] = [2, 100, 7]
      let count = unhashed + added.count
      let field = (0..<width).reversed().map { UInt8(truncatingIfNeeded: count >> ($0 * 8)) }
      changed.replaceSubrange(unhashedAt..<unhashedAt + width, with: field)
      changed.insert(contentsOf: added, at: prefixAt)
    default: break
    }
    return changed
  }
}
