// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, sections 5.2.3.7 and 5.2.3.33 to 5.2.3.36: subpackets that are not what their type says, critical ones
// that nobody follows, and very many of them.

import Testing

@testable import OpenPGP

@Suite("Odd subpackets")
struct SubpacketRulesTests {
  typealias Holder = SigningFixture

  /// A subpacket of any body, as it stands in an area.
  private static func raw(_ type: UInt8, _ body: [UInt8]) -> [UInt8] { [UInt8(body.count + 1), type] + body }

  /// The body of a version 4 signature with these octets in one of its areas.
  private static func signature(hashed: [UInt8] = [], unhashed: [UInt8] = []) -> [UInt8] {
    func counted(_ area: [UInt8]) -> [UInt8] { [UInt8(area.count >> 8), UInt8(area.count & 255)] + area }
    return [4, 0, 27, 10] + counted(hashed) + counted(unhashed) + [0, 0] + [UInt8](repeating: 1, count: 64)
  }

  private static let digest = [UInt8](repeating: 7, count: 64)

  @Test(
    "A signature target without a digest as long as its hash algorithm's makes the signature malformed",
    arguments: [[], [22], [22, 10], [22, 10] + digest.dropLast(), [22, 10] + digest + [7], [1, 2, 3]]
      as [[UInt8]])
  func signatureTarget(body: [UInt8]) throws {
    for area in [Self.raw(31, body), Self.raw(31 | 0x80, body)] {
      for octets in [Self.signature(hashed: area), Self.signature(unhashed: area)] {
        #expect(throws: OpenPGPError.self) { try Signature(body: octets.span.bytes) }
      }
    }
  }

  @Test("A whole signature target is read, and one of an unknown hash algorithm may have any length")
  func wholeSignatureTarget() throws {
    for body in [[22, 10] + Self.digest, [22, 99], [22, 99, 1, 2, 3]] as [[UInt8]] {
      let octets = Self.signature(hashed: Self.raw(31, body))
      #expect(try Signature(body: octets.span.bytes).body == octets)
    }
  }

  @Test(
    "What stands in the place of an embedded signature and is none makes the signature around it malformed",
    arguments: [
      [], [4], Array("junk!".utf8), [9, 1, 2, 3], Array(signature().dropLast()), signature() + [0],
    ]
      as [[UInt8]])
  func embeddedSignature(body: [UInt8]) throws {
    for area in [Self.raw(32, body), Self.raw(32 | 0x80, body)] {
      for octets in [Self.signature(hashed: area), Self.signature(unhashed: area)] {
        #expect(throws: OpenPGPError.malformed(.subpacket)) { try Signature(body: octets.span.bytes) }
      }
    }
    let whole = Self.signature(unhashed: Self.raw(32, Self.signature()))
    #expect(try Signature(body: whole.span.bytes).embeddedSignatures.count == 1)
  }

  @Test(
    "A fingerprint that is shorter or longer than its version has it makes the signature malformed",
    arguments: [33, 35] as [UInt8])
  func fingerprints(type: UInt8) throws {
    let ones = [UInt8](repeating: 1, count: 33)
    for body in [[], [4], [4] + ones.prefix(19), [6] + ones] as [[UInt8]] {
      let octets = Self.signature(unhashed: Self.raw(type, body))
      #expect(throws: OpenPGPError.self) { try Signature(body: octets.span.bytes) }
    }
  }

  @Test("A critical signature target over a document is refused: nobody follows it")
  func criticalTarget() throws {
    let body = [UInt8](Self.raw(31, [22, 10] + Self.digest).dropFirst(2))
    for (octet, result) in [
      (UInt8(31), SignatureVerification.Result.good), (31 | 0x80, .refused(.criticalSubpacket)),
    ] {
      let target = try Subpacket(typeOctet: octet, body: body, isEmbedded: false)
      #expect(
        try SignaturePropertiesTests.result(try SignaturePropertiesTests.holder()) { recipe, _ in
          recipe.hashed.append(target)
        } == result)
    }
  }

  @Test("A critical signature target takes nothing from a revocation")
  func criticalTargetOfRevocation() throws {
    var holder = try SignaturePropertiesTests.holder()
    let target = try Subpacket(
      typeOctet: 31 | 0x80, body: [22, 10] + Self.digest, isEmbedded: false)
    let builder = SignatureBuilder(
      type: .keyRevocation, creationTime: Holder.signingTime, subpackets: [target])
    holder.certificate.signatures.append(
      try builder.sign(.directKey(holder.primary.publicKey), with: holder.primary))
    #expect(try SignaturePropertiesTests.result(holder) == .revoked)
  }

  @Test("An intended recipient of an unknown version is nobody, and refused when it is critical")
  func unknownRecipient() throws {
    let holder = try SignaturePropertiesTests.holder()
    for (octet, result) in [
      (UInt8(35), SignatureVerification.Result.good), (35 | 0x80, .refused(.criticalSubpacket)),
    ] {
      let recipient = try Subpacket(
        typeOctet: octet, body: [9] + [UInt8](repeating: 1, count: 20), isEmbedded: false)
      #expect(
        try SignaturePropertiesTests.result(holder) { recipe, _ in recipe.hashed.append(recipient) } == result
      )
      #expect(
        try SignaturePropertiesTests.result(holder) { recipe, _ in recipe.unhashed.append(recipient) }
          == .good)
    }
  }

  @Test("What the holder of a certificate says need not name its maker, who is known")
  func namelessStatement() throws {
    var holder = try Holder(version: 4)
    let key = holder.primary.publicKey
    let draft = Signature(
      version: 4, type: .directKey, algorithm: key.algorithm, hash: .sha512,
      hashedArea: SubpacketArea([
        Subpacket(.signatureCreationTime(Holder.creationTime)), Subpacket(.keyFlags([.certify, .sign])),
      ]), unhashedArea: SubpacketArea(), digestPrefix: [0, 0], salt: [], material: .unknown([]))
    holder.certificate.userIDs = []
    holder.certificate.signatures = [
      try draft.signed(digest: try draft.digest(over: .directKey(key)), with: holder.primary)
    ]
    #expect(try SignaturePropertiesTests.result(holder) == .good)
  }

  // MARK: Many subpackets

  /// The shortest subpackets of a private type that there are, so many octets of them.
  private static func area(byteCount: Int) -> [UInt8] {
    [UInt8](repeating: 0, count: byteCount).indices.map { $0.isMultiple(of: 2) ? 1 : 100 }
  }

  @Test("A signature whose areas are as full as version 4 allows is good")
  func fullAreas() throws {
    let filling = try SubpacketArea(bytes: Self.area(byteCount: 65_000), isEmbedded: false).subpackets
    #expect(filling.count == 32_500)
    let result = try SignaturePropertiesTests.result(try SignaturePropertiesTests.holder()) { recipe, _ in
      recipe.hashed += filling
      recipe.unhashed += filling
    }
    #expect(result == .good)
  }

  @Test("Time grows with the octets of an area, not with their square")
  func longArea() throws {
    let area = Self.area(byteCount: 1_000_000)
    let count: [UInt8] = [0, 0x0F, 0x42, 0x40]
    let octets =
      [6, 0, 27, 10] + count + area + [0, 0, 0, 0, 1, 2, 32] + [UInt8](repeating: 1, count: 96)
    let begin = secondsOfThisThread()
    let signature = try Signature(body: octets.span.bytes)
    // Half a million subpackets take less than a second; half a million times as many would take days.
    #expect(secondsOfThisThread() - begin < 60)
    #expect(signature.hashedArea.subpackets.count == 500_000)
    #expect(!signature.namesIssuer && signature.creationTime == nil)
  }

  @Test("A subpacket takes no more than thirty-two times the memory of the shortest there is")
  func memory() {
    #expect(MemoryLayout<Subpacket>.stride <= 32 * 2)
  }

  @Test("Signatures with more subpackets than the limit together are refused")
  func manyFullSignatures() throws {
    let full = Self.signature(hashed: Self.area(byteCount: 65_534), unhashed: Self.area(byteCount: 65_534))
    let packet = PacketHeader(type: .signature, byteCount: full.count).bytes + full
    let most = [[UInt8]](repeating: packet, count: Limits.subpacketByteCount / (2 * 65_534))
    #expect(try SignatureList(reading: MemorySource(most.flatMap(\.self))).signatures.count == most.count)
    #expect(throws: OpenPGPError.overLimit(.subpacketByteCount)) {
      try SignatureList(reading: MemorySource((most + [packet]).flatMap(\.self)))
    }
    let literal = PacketHeader(type: .literalData, byteCount: 7).bytes + [0x62, 0, 0, 0, 0, 0, 65]
    #expect(throws: OpenPGPError.overLimit(.subpacketByteCount)) {
      try InlineMessageReader(verifier: nil).read(
        from: MemorySource((most + [packet]).flatMap(\.self) + literal), to: ArraySink()
      ) { _ in true }
    }
  }
}
