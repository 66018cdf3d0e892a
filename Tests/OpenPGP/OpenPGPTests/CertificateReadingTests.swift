// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, section 10: which sequences of packets are certificates, and what of them is kept.

import Secrets
import Testing

@testable import OpenPGP

struct CertificateReadingTests {
  private typealias Parts = CertificateParts

  private func read(_ octets: [UInt8]) throws -> [Certificate] {
    try Certificate.readAll(MemorySource(octets))
  }

  @Test("What is written is read again, and writes the same octets")
  func roundTrip() throws {
    let octets = try Parts.octets(Parts.complete)
    let certificates = try read(octets)
    #expect(certificates == [Parts.complete])
    #expect(try Parts.octets(certificates[0]) == octets)
  }

  @Test("Marker, padding and trust packets are ignored wherever they stand")
  func ignored() throws {
    var octets: [UInt8] = []
    let noise = try Parts.octets([.marker, .padding([1, 2]), .trust([3])])
    let source = PacketReader(MemorySource(try Parts.octets(Parts.complete)))
    while let packet = try source.nextPacket() {
      octets += noise
      octets += try Parts.octets([packet])
    }
    #expect(try read(octets + noise) == [Parts.complete])
  }

  @Test("Certificates may follow each other")
  func several() throws {
    let second = Certificate(primaryKey: Parts.key(7))
    let octets = try Parts.octets(Parts.complete) + Parts.octets(second)
    #expect(try read(octets) == [Parts.complete, second])
  }

  @Test("A certificate that comes twice is one, with all components of both")
  func duplicates() throws {
    var other = Certificate(primaryKey: Parts.complete.primaryKey)
    let more = Parts.signature(.genericCertification, 8)
    other.userIDs = [
      .init(
        UserID("Ada at work"),
        signatures: [more, Parts.complete.userIDs[1].signatures[0], Parts.complete.userIDs[1].signatures[0]])
    ]
    let octets = try Parts.octets(Parts.complete) + Parts.octets(other) + Parts.octets(Parts.complete)
    var expected = Parts.complete
    expected.userIDs[1].signatures.append(more)
    #expect(try read(octets) == [expected])
  }

  @Test("A revocation of the key or a direct-key signature belongs to the key wherever it stands")
  func misplaced() throws {
    var expected = Parts.complete
    let (revocation, direct) = (expected.signatures[0], expected.signatures[1])
    let others = try Parts.octets(Parts.complete).dropFirst(
      try Parts.octets([
        .publicKey(expected.primaryKey), .signature(revocation), .signature(direct),
      ]).count)
    let key = try Parts.octets([.publicKey(expected.primaryKey)])
    let signatures = try Parts.octets([.signature(direct), .signature(revocation)])
    #expect(try read(key + others + signatures) == [expected])
    #expect(try read(key + others + signatures + signatures) == [expected])
    let userID = try Parts.octets([.userID(expected.userIDs[0].packet)])
    #expect(try read(key + userID + signatures + others) == [expected])
    let unknownSubkey = Parts.packet(14, [99])
    expected.opaqueSubkeys = [.init(OpaquePacket(.publicSubkey, body: [99]))]
    #expect(try read(key + others + unknownSubkey + signatures) == [expected])
  }

  @Test("A signature of an unknown version is kept as it came")
  func unknownSignature() throws {
    var octets = try Parts.octets([.publicKey(Parts.key(1)), .userID(UserID("Ada"))])
    octets += Parts.packet(2, [99, 1, 2, 3])
    octets += try Parts.octets([.signature(Parts.signature(.positiveCertification, 1))])
    let certificate = try read(octets)[0]
    #expect(certificate.userIDs[0].signatures.count == 1)
    #expect(certificate.userIDs[0].opaquePackets.map(\.body) == [[99, 1, 2, 3]])
    #expect(try read(try Parts.octets(certificate)) == [certificate])
  }

  @Test("A subkey of an unknown version is kept with its signatures, and the next one is read")
  func unknownSubkey() throws {
    let binding = Parts.signature(.subkeyBinding, 1)
    var octets = try Parts.octets([.publicKey(Parts.key(1))])
    octets += Parts.packet(14, [99, 1, 2, 3])
    octets += try Parts.octets([
      .signature(binding), .publicSubkey(Parts.key(2)), .signature(Parts.signature(.subkeyBinding, 2)),
    ])
    let certificate = try read(octets)[0]
    #expect(certificate.opaqueSubkeys.map(\.packet.body) == [[99, 1, 2, 3]])
    #expect(certificate.opaqueSubkeys[0].signatures == [binding])
    #expect(certificate.subkeys.map(\.packet) == [Parts.key(2)])
    #expect(try read(try Parts.octets(certificate)) == [certificate])
  }

  @Test("An unknown packet that is not critical is kept, and does not part a user ID from its signature")
  func unknownNotCritical() throws {
    var octets = try Parts.octets([.publicKey(Parts.key(1)), .userID(UserID("Ada"))])
    octets += Parts.packet(40, [1])
    octets += try Parts.octets([.signature(Parts.signature(.positiveCertification, 1))])
    let certificate = try read(Parts.packet(60, [1]) + octets)[0]
    #expect(certificate.userIDs[0].signatures.count == 1)
    #expect(certificate.userIDs[0].opaquePackets.map(\.type.rawValue) == [40])
  }

  @Test("An unknown critical packet ends the reading", arguments: [19, 22, 39] as [UInt8])
  func unknownCritical(type: UInt8) throws {
    let octets = try Parts.octets(Parts.complete) + Parts.packet(type, [1])
    #expect(throws: OpenPGPError.unsupported(.packetType(type))) { try read(octets) }
  }

  @Test(
    "A packet that belongs into a message ends the reading",
    arguments: [1, 3, 4, 8, 9, 11, 18, 20] as [UInt8])
  func packetOfMessage(type: UInt8) throws {
    let octets = try Parts.octets(Parts.complete) + Parts.packet(type, [1])
    #expect(throws: OpenPGPError.malformed(.certificateStructure)) { try read(octets) }
  }

  @Test("A certificate of an unknown version is passed over when another one is there")
  func unknownPrimaryKey() throws {
    var octets = Parts.packet(6, [99, 1, 2, 3])
    octets += try Parts.octets([
      .userID(UserID("Eve")), .signature(Parts.signature(.positiveCertification, 1)),
    ])
    #expect(throws: OpenPGPError.unsupported(.packetVersion(.publicKey, 99))) { try read(octets) }
    #expect(try read(octets + Parts.octets(Parts.complete)) == [Parts.complete])
    #expect(try read(try Parts.octets(Parts.complete) + octets) == [Parts.complete])
  }

  @Test("Signatures and user IDs without a key are no certificate")
  func withoutKey() throws {
    let signature = try Parts.octets([.signature(Parts.signature(.keyRevocation, 1))])
    #expect(throws: OpenPGPError.malformed(.certificateStructure)) { try read(signature) }
    #expect(throws: OpenPGPError.malformed(.certificateStructure)) { try read([]) }
    #expect(throws: OpenPGPError.malformed(.certificateStructure)) {
      try read(try Parts.octets([.userID(UserID("Ada"))]))
    }
  }

  @Test("A truncated certificate is refused at every length but those of whole packets")
  func truncated() throws {
    let octets = try Parts.octets(Parts.complete)
    var ends: Set<Int> = []
    var end = 0
    let source = PacketReader(MemorySource(octets))
    while let packet = try source.nextPacket() {
      end += try Parts.octets([packet]).count
      ends.insert(end)
    }
    for count in 1..<octets.count where !ends.contains(count) {
      #expect(throws: OpenPGPError.malformed(.truncated)) { try read(Array(octets.prefix(count))) }
    }
  }

  @Test("More packets than a certificate may have are refused")
  func tooManyPackets() throws {
    var octets = try Parts.octets([.publicKey(Parts.key(1))])
    let marker = try Parts.octets([.marker])
    for _ in 0..<Limits.certificatePacketCount { octets += marker }
    #expect(throws: OpenPGPError.overLimit(.certificatePacketCount)) { try read(octets) }
  }

  @Test("Revocations are written before other signatures on the same component")
  func canonicalOrder() throws {
    var certificate = Parts.complete
    certificate.subkeys[0].signatures.append(Parts.signature(.subkeyRevocation, 7))
    let again = try read(try Parts.octets(certificate))[0]
    #expect(again.subkeys[0].signatures.map(\.type) == [.subkeyRevocation, .subkeyBinding])
  }
}
