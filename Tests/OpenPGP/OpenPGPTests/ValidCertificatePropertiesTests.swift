// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, section 5.2.3.10: where the facts about a key stand, and which signature of several counts.

import Testing

@testable import OpenPGP

struct ValidCertificatePropertiesTests {
  @Test("Version 6: facts come from the direct-key signature, and not from a user ID")
  func version6Facts() throws {
    var holder = try KeyHolderFixture(version: 6)
    try holder.addDirectKeySignature([.keyFlags(.certify), .features([.seipdVersion1, .seipdVersion2])])
    try holder.addUserID(
      KeyHolderFixture.userID,
      [.keyFlags([.certify, .sign]), .features(.seipdVersion1), .keyExpirationTime(seconds: 1)])
    let valid = holder.valid(on: 1)
    #expect(valid.problem == nil)
    #expect(valid.primaryKey.flags == .certify)
    #expect(valid.features == [.seipdVersion1, .seipdVersion2])
    #expect(valid.primaryKey.expirationTime == nil)
  }

  @Test("Version 6 without a direct-key signature cannot be used")
  func version6WithoutDirectKeySignature() throws {
    var holder = try KeyHolderFixture(version: 6)
    try holder.addUserID(KeyHolderFixture.userID, [.keyFlags([.certify, .sign])])
    #expect(holder.valid(on: 1).problem == .notBound)
  }

  @Test("Version 4: the primary user ID speaks, and a direct-key signature for what it leaves out")
  func version4Facts() throws {
    var holder = try KeyHolderFixture(version: 4)
    try holder.addUserID(KeyHolderFixture.userID, [.keyFlags([.certify, .sign]), .features(.seipdVersion1)])
    try holder.addDirectKeySignature([
      .keyFlags(.certify), .preferredHashAlgorithms([.sha384]),
      .keyExpirationTime(seconds: seconds(days: 5)),
    ])
    let valid = holder.valid(on: 1)
    #expect(valid.primaryKey.flags == [.certify, .sign])
    #expect(valid.features == .seipdVersion1)
    #expect(valid.preferredHashAlgorithms == [.sha384])
    #expect(valid.primaryKey.expirationTime == day(5))
    #expect(holder.valid(on: 5).problem == .expired)
  }

  @Test("A certificate without user IDs can be used", arguments: [4, 6] as [UInt8])
  func withoutUserID(version: UInt8) throws {
    var holder = try KeyHolderFixture(version: version)
    try holder.addDirectKeySignature([.keyFlags([.certify, .sign])])
    try holder.addEncryptionSubkey()
    let valid = holder.valid(on: 1)
    #expect(valid.problem == nil)
    #expect(valid.primaryUserID == nil)
    #expect(try valid.encryptionKeys(for: .encryptStorage).count == 1)
  }

  @Test("A certificate that only a stranger has certified cannot be used")
  func strangersCertification() throws {
    var holder = try KeyHolderFixture(version: 4)
    try holder.addUserID(
      KeyHolderFixture.userID, [.keyFlags(.sign)], by: try KeyHolderFixture(version: 4).primary)
    let valid = holder.valid(on: 1)
    #expect(valid.problem == .notBound)
    #expect(valid.userIDs.map(\.problem) == [.notBound])
  }

  @Test(
    "The newest self-signature counts, but none from after the time of the valid",
    arguments: [4, 6] as [UInt8])
  func newest(version: UInt8) throws {
    var holder = try KeyHolderFixture(version: version)
    for (flags, time) in [(KeyFlags.certify, 0), ([.certify, .sign, .split], 20), ([.certify, .sign], 10)] {
      if version == 6 {
        try holder.addDirectKeySignature([.keyFlags(flags)], on: time)
      } else {
        try holder.addUserID(KeyHolderFixture.userID, [.keyFlags(flags)], on: time)
      }
    }
    #expect(holder.valid(on: 5).primaryKey.flags == .certify)
    #expect(holder.valid(on: 15).primaryKey.flags == [.certify, .sign])
    #expect(holder.valid(on: 25).primaryKey.flags == [.certify, .sign, .split])
  }

  @Test(
    "An older self-signature that somebody else made does not stand in the way of a later one of the holder")
  func forgedBefore() throws {
    let stranger = try KeyHolderFixture().primary
    for version: UInt8 in [4, 6] {
      var holder = try KeyHolderFixture(version: version)
      try holder.state([], on: 30)
      #expect(holder.valid(on: 9).problem == nil)
      let target = SignedTarget.directKey(holder.primary.publicKey)
      let userID = SignedTarget.userID(holder.primary.publicKey, KeyHolderFixture.userID)
      for defect in [
        try Subpacket(typeOctet: 0x80 | 101, body: [1], isEmbedded: false),
        Subpacket(.signatureExpirationTime(seconds: 1)),
      ] {
        for (type, target) in [(SignatureType.directKey, target), (.positiveCertification, userID)] {
          let builder = SignatureBuilder(type: type, creationTime: day(3), subpackets: [defect])
          let forged = try builder.sign(target, with: stranger)
          let draft = Signature(
            version: version, type: type, algorithm: forged.algorithm, hash: forged.hash,
            hashedArea: SubpacketArea(forged.hashedArea.subpackets.filter { $0.type != .issuerFingerprint }),
            unhashedArea: SubpacketArea([Subpacket(.issuerFingerprint(holder.certificate.fingerprint))]),
            digestPrefix: [], salt: version == 6 ? forged.salt : [], material: .unknown([]))
          let named = try draft.signed(digest: try draft.digest(over: target), with: stranger)
          if type == .directKey {
            holder.certificate.signatures.append(named)
          } else {
            holder.certificate.userIDs[0].signatures.append(named)
          }
        }
      }
      #expect(holder.valid(on: 9).problem == nil)
      #expect(holder.valid(on: 9).userIDs.map(\.problem) == [nil])
    }
  }

  @Test("An expired self-signature gives way to an older one that has not")
  func expiredSelfSignature() throws {
    var holder = try KeyHolderFixture(version: 6)
    try holder.addDirectKeySignature([.keyFlags(.certify)])
    try holder.addDirectKeySignature(
      [.keyFlags([.certify, .sign]), .signatureExpirationTime(seconds: seconds(days: 10))], on: 1)
    #expect(holder.valid(on: 2).primaryKey.flags == [.certify, .sign])
    #expect(holder.valid(on: 11).primaryKey.flags == .certify)
  }

  @Test("When the only self-signature has expired, so has the certificate")
  func onlySelfSignatureExpired() throws {
    var holder = try KeyHolderFixture(version: 6)
    try holder.addDirectKeySignature([
      .keyFlags(.certify), .signatureExpirationTime(seconds: seconds(days: 10)),
    ])
    #expect(holder.valid(on: 9).problem == nil)
    #expect(holder.valid(on: 10).problem == .expired)
  }

  @Test("Flags and expiry in the unhashed area count for nothing")
  func unhashedFacts() throws {
    var holder = try KeyHolderFixture(version: 6)
    let target = SignedTarget.directKey(holder.primary.publicKey)
    holder.certificate.signatures = [
      try holder.signature(
        .directKey, over: target, [.keyFlags(.certify)],
        unhashed: [.keyFlags([.certify, .sign]), .keyExpirationTime(seconds: 1)], on: 0)
    ]
    let valid = holder.valid(on: 1)
    #expect(valid.primaryKey.flags == .certify)
    #expect(valid.problem == nil)
  }

  @Test("A self-signature with an unknown critical subpacket does not count; an older one without does")
  func criticalSubpacket() throws {
    var holder = try KeyHolderFixture(version: 6)
    try holder.addDirectKeySignature([.keyFlags(.certify)])
    let unknown = try Subpacket(typeOctet: 0x80 | 99, body: [1], isEmbedded: false)
    let spoilt = try holder.directKeySignature(
      [Subpacket(.keyFlags([.certify, .sign])), unknown], on: 1)
    holder.certificate.signatures.append(spoilt)
    #expect(holder.valid(on: 2).primaryKey.flags == .certify)
    holder.certificate.signatures = [spoilt]
    #expect(holder.valid(on: 2).problem == .refused(.criticalSubpacket))
  }

  @Test("A critical notation counts as unknown unless the policy knows its name")
  func criticalNotation() throws {
    var holder = try KeyHolderFixture(version: 6)
    let name = Array("coffer@example.org".utf8)
    let notation = Notation(isHumanReadable: true, name: name, value: [])
    holder.certificate.signatures = [
      try holder.directKeySignature(
        [Subpacket(.keyFlags(.sign)), Subpacket(.notation(notation), isCritical: true)], on: 0)
    ]
    #expect(holder.valid(on: 1).problem == .refused(.criticalSubpacket))
    var policy = Policy.standard
    policy.knownNotations = [name]
    let valid = ValidCertificate(holder.certificate, at: day(1), now: day(1), policy: policy)
    #expect(valid.problem == nil)
  }

  @Test("Unknown subpackets and notations that are not critical change nothing")
  func unknownSubpacket() throws {
    var holder = try KeyHolderFixture(version: 6)
    let notation = Notation(isHumanReadable: true, name: Array("a@b".utf8), value: [])
    holder.certificate.signatures = [
      try holder.directKeySignature(
        [
          Subpacket(.keyFlags(.sign)), Subpacket(.notation(notation)),
          try Subpacket(typeOctet: 99, body: [1], isEmbedded: false),
        ], on: 0)
    ]
    #expect(holder.valid(on: 1).problem == nil)
  }

  @Test("Self-signatures with SHA-1 count until the policy's day, and not after it")
  func sha1() throws {
    var holder = try KeyHolderFixture(version: 4, .rsa(bitCount: 3072), madeOn: -3000)
    for (time, isGood) in [(-2000, true), (0, false)] {
      let signature = try holder.weakSignature(.sha1, [.keyFlags([.certify, .sign])], on: time)
      holder.certificate.userIDs = [.init(KeyHolderFixture.userID, signatures: [signature])]
      let valid = holder.valid(on: 1)
      #expect(valid.problem == (isGood ? nil : .refused(.hashAlgorithm(.sha1))))
    }
  }

  @Test("A self-signature from before the key's creation does not count")
  func olderThanKey() throws {
    var holder = try KeyHolderFixture(version: 6, madeOn: 10)
    try holder.addDirectKeySignature([.keyFlags(.sign)], on: 5)
    #expect(holder.valid(on: 11).problem == .refused(.signatureOlderThanKey))
  }

  @Test("The order in which signatures of one second came decides nothing")
  func orderOfSignatures() throws {
    var holder = try KeyHolderFixture(version: 6)
    try holder.addDirectKeySignature([.keyFlags(.certify)])
    try holder.addDirectKeySignature([.keyFlags([.certify, .sign])])
    let flags = holder.valid(on: 1).primaryKey.flags
    holder.certificate.signatures.reverse()
    #expect(holder.valid(on: 1).primaryKey.flags == flags)
  }

  @Test("A key of another version than the primary key's is refused")
  func mixedVersions() throws {
    var holder = try KeyHolderFixture.usual(version: 6)
    let key = try UnlockedKey.generate(.x25519, version: 4, creationTime: day(0))
    holder.certificate.subkeys.append(.init(key.publicKey))
    try holder.bind(key, [.keyFlags(.encryptStorage)])
    #expect(holder.valid(on: 1).keys[1].problem == .refused(.versionMismatch))
  }
}

extension KeyHolderFixture {
  fileprivate func directKeySignature(_ subpackets: [Subpacket], on time: Int) throws -> Signature {
    let builder = SignatureBuilder(type: .directKey, creationTime: day(time), subpackets: subpackets)
    return try builder.sign(.directKey(primary.publicKey), with: primary)
  }

  /// A certification with a hash that nothing of ours would use.
  fileprivate func weakSignature(
    _ hash: HashAlgorithm, _ facts: [Subpacket.Content], on time: Int
  ) throws -> Signature {
    let contents = [.signatureCreationTime(day(time))] + facts
    let draft = Signature(
      version: 4, type: .positiveCertification, algorithm: .rsa, hash: hash,
      hashedArea: SubpacketArea(contents.map { Subpacket($0) }), unhashedArea: SubpacketArea(),
      digestPrefix: [0, 0], salt: [], material: .unknown([]))
    let target = SignedTarget.userID(primary.publicKey, Self.userID)
    return try draft.signed(digest: try draft.digest(over: target), with: primary)
  }
}
