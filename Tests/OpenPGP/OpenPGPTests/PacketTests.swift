// SPDX-License-Identifier: Apache-2.0
//
// Parse, then serialise: the same octets, or a packet of unknown form that keeps them.

import Primitives
import Secrets
import Testing

@testable import OpenPGP

struct PacketTests {
  /// Bodies that are well formed, one a form, by packet type.
  static let samples: [(type: PacketType, body: [UInt8], name: String)] = [
    (.pkesk, [3] + id + [1, 0, 9, 0x01, 0xFF], "PKESK 3, RSA"),
    (.pkesk, [3] + id + [1, 0, 17, 0, 0, 0xFF], "PKESK 3, RSA, zeros counted"),
    (.pkesk, [3] + id + [18, 0, 7, 0x40, 2, 8, 9], "PKESK 3, ECDH"),
    (.pkesk, [3] + zeros(8) + [25] + zeros(32) + [3, 9, 1, 2], "PKESK 3, X25519"),
    (.pkesk, [6, 0, 26] + zeros(56) + [2, 1, 2], "PKESK 6, anonymous X448"),
    (.pkesk, [6, 33, 6] + zeros(32) + [99, 1, 2, 3], "PKESK 6, unknown algorithm"),
    (.signature, [3, 5, 0, 0, 0, 0, 1] + id + [1, 8, 0xAB, 0xCD, 0, 1, 1], "signature 3"),
    (
      .signature,
      [4, 0x13, 22, 10, 0, 6, 5, 2, 0, 0, 0, 9, 0, 10, 9, 16] + id + [0xAB, 0xCD, 0, 1, 1, 0, 2, 2],
      "signature 4"
    ),
    (
      .signature, [4, 0, 99, 10, 0, 4, 3, 0xE4, 1, 2, 0, 0, 1, 2, 3, 4],
      "signature 4, unknown algorithm, private subpacket"
    ),
    (
      .signature, [4, 0, 1, 8, 0, 8, 0xFF, 0, 0, 0, 3, 27, 3, 0, 0, 0, 1, 2, 0, 1, 1],
      "signature 4, long lengths"
    ),
    (.signature, [4, 0, 1, 8, 0, 0, 0, 0, 1, 2, 0, 16, 0, 1], "signature 4, zeros counted"),
    (.signature, [6, 0, 27, 8, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 16] + zeros(16) + zeros(64), "signature 6"),
    (.skesk, [4, 9, 3, 8] + id + [0xFF], "SKESK 4"),
    (.skesk, [4, 9, 3, 8] + id + [0xFF, 1, 2, 3], "SKESK 4 with a key"),
    (
      .skesk,
      [6, 38, 9, 2, 20, 4] + zeros(16) + [1, 4, 21] + zeros(15) + zeros(48), "SKESK 6"
    ),
    (.onePassSignature, [3, 0, 8, 1] + id + [1], "one-pass 3"),
    (.onePassSignature, [6, 0, 8, 27, 16] + zeros(16) + zeros(32) + [0], "one-pass 6"),
    (.publicKey, [4, 0, 0, 0, 1, 1, 0, 9, 1, 1, 0, 2, 3], "RSA"),
    (.publicKey, [4, 0, 0, 0, 1, 17, 0, 1, 1, 0, 1, 1, 0, 1, 1, 0, 1, 1], "DSA"),
    (.publicKey, [6, 0, 0, 0, 1, 27, 0, 0, 0, 32] + zeros(32), "Ed25519, version 6"),
    (.publicSubkey, [4, 0, 0, 0, 1, 18, 3, 1, 2, 3, 0, 3, 4, 3, 1, 8, 9], "ECDH, unknown curve"),
    (.publicSubkey, [4, 0, 0, 0, 1, 99, 1, 2, 3], "unknown algorithm"),
    (.publicSubkey, [6, 0, 0, 0, 1, 99, 0, 0, 0, 2, 1, 2], "unknown algorithm, version 6"),
    (.secretKey, [4, 0, 0, 0, 1, 27] + zeros(32) + [0] + zeros(32) + [0, 0], "secret, version 4"),
    (
      .secretKey, [4, 0, 0, 0, 1, 27] + zeros(32) + [254, 9, 3, 8] + id + [96] + zeros(16) + zeros(52),
      "secret, CFB"
    ),
    (
      .secretKey, [4, 0, 0, 0, 1, 27] + zeros(32) + [255, 9, 0, 2] + zeros(16) + zeros(34), "secret, checksum"
    ),
    (.secretKey, [4, 0, 0, 0, 1, 27] + zeros(32) + [9] + zeros(16) + zeros(34), "secret, cipher as usage"),
    (
      .secretKey, [4, 0, 0, 0, 1, 27] + zeros(32) + [254, 9, 101, 0, 0x47, 0x4E, 0x55, 1], "secret, on a card"
    ),
    (.secretSubkey, [6, 0, 0, 0, 1, 25, 0, 0, 0, 32] + zeros(32) + [0] + zeros(32), "secret, version 6"),
    (
      .secretSubkey,
      [6, 0, 0, 0, 1, 25, 0, 0, 0, 32] + zeros(32) + [253, 38, 9, 2, 20, 4] + zeros(16) + [3, 4, 19]
        + zeros(15) + zeros(48), "secret, AEAD"
    ),
    (.marker, Array("PGP".utf8), "marker"),
    (.trust, [1, 2, 3], "trust"),
    (.userID, Array("Ada <ada@example.org>".utf8), "user ID"),
    (.userAttribute, [2, 1, 0], "user attribute"),
    (.padding, [9, 9, 9], "padding"),
  ]

  private static let id: [UInt8] = [1, 2, 3, 4, 5, 6, 7, 8]
  private static func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }

  private func octets(_ packet: Packet) -> [UInt8] { packet.body().withBytes { [UInt8](copying: $0) } }

  private func isUnknown(_ packet: Packet) -> Bool {
    switch packet {
    case .unknown, .unknownSecret: true
    default: false
    }
  }

  @Test("A packet is written as it was read", arguments: samples.indices)
  func identity(index: Int) {
    let sample = Self.samples[index]
    let packet = Packet(type: sample.type, body: sample.body.span.bytes)
    #expect(!isUnknown(packet), "\(sample.name) was not read")
    #expect(octets(packet) == sample.body, "\(sample.name)")
    #expect(packet.type == sample.type)
  }

  @Test("A shortened or lengthened packet is kept as one of unknown form, or written as it was read")
  func changedLengths() {
    for sample in Self.samples {
      for count in 0..<sample.body.count {
        let body = Array(sample.body.prefix(count))
        #expect(octets(Packet(type: sample.type, body: body.span.bytes)) == body, "\(sample.name)")
      }
      let longer = sample.body + [0]
      #expect(octets(Packet(type: sample.type, body: longer.span.bytes)) == longer, "\(sample.name)")
    }
  }

  @Test("A changed octet never makes a packet that is written otherwise")
  func changedOctets() {
    for sample in Self.samples {
      for index in sample.body.indices {
        for value in [0, 1, 0x7F, 0x80, 0xFE, 0xFF, sample.body[index] ^ 1] as [UInt8] {
          var body = sample.body
          body[index] = value
          #expect(
            octets(Packet(type: sample.type, body: body.span.bytes)) == body, "\(sample.name) at \(index)")
        }
      }
    }
  }

  @Test(
    "A signature with octets behind it, or a salt of the wrong length, is malformed",
    arguments: [
      [4, 0, 27, 8, 0, 0, 0, 0, 1, 2] + zeros(65),
      [6, 0, 27, 8] + zeros(8) + [1, 2, 15] + zeros(15) + zeros(64),
    ] as [[UInt8]])
  func strictSignatures(body: [UInt8]) {
    #expect(throws: OpenPGPError.self) { try Signature(body: body.span.bytes) }
  }

  @Test(
    "A number whose count of bits is not its own is refused",
    arguments: [[0, 8, 1], [0, 9, 0, 1], [0, 1, 3]] as [[UInt8]])
  func numbers(octets: [UInt8]) {
    var cursor = PacketCursor()
    #expect(throws: OpenPGPError.malformed(.multiprecisionInteger)) { try MPI(&cursor, octets.span.bytes) }
  }

  @Test(
    "Numbers of version 6 count their own bits; of older signatures and session keys, zeros in front as well")
  func leadingZeros() throws {
    let number: [UInt8] = [0, 15, 0, 0xFF]
    let old = [4, 0, 1, 8, 0, 0, 0, 0, 1, 2] + number
    let signature = try Signature(body: old.span.bytes)
    guard case .rsa(let value) = signature.material else {
      Issue.record("another material")
      return
    }
    #expect(value.bytes == [0xFF])
    #expect(signature.body == old)
    let oldSessionKey = [3] + Self.zeros(8) + [1] + number
    #expect(try PKESK(body: oldSessionKey.span.bytes).body == oldSessionKey)
    let new = [6, 0, 1, 8] + Self.zeros(8) + [1, 2, 16] + Self.zeros(16) + number
    #expect(throws: OpenPGPError.malformed(.multiprecisionInteger)) { try Signature(body: new.span.bytes) }
    let newSessionKey = [6, 0, 1] + number
    #expect(throws: OpenPGPError.malformed(.multiprecisionInteger)) {
      try PKESK(body: newSessionKey.span.bytes)
    }
    let tooLong: [UInt8] = [4, 0, 1, 8, 0, 0, 0, 0, 1, 2, 0, 7, 0xFF]
    #expect(throws: OpenPGPError.malformed(.multiprecisionInteger)) {
      try Signature(body: tooLong.span.bytes)
    }
  }

  @Test("A number longer than the limit is refused before it is read")
  func longNumbers() {
    var cursor = PacketCursor()
    let octets: [UInt8] = [0xFF, 0xFF]
    #expect(throws: OpenPGPError.overLimit(.integerBitCount)) { try MPI(&cursor, octets.span.bytes) }
  }

  @Test("Signatures are read one level deep, and kept below it")
  func nestedSignatures() throws {
    var inner = Signature(
      version: 4, type: .primaryKeyBinding, algorithm: .ed25519, hash: .sha512, hashedArea: SubpacketArea(),
      unhashedArea: SubpacketArea(), digestPrefix: [0, 0], salt: [], material: .ed25519(Self.zeros(64)))
    for _ in 0..<300 {
      inner = Signature(
        version: 4, type: .primaryKeyBinding, algorithm: .ed25519, hash: .sha512, hashedArea: SubpacketArea(),
        unhashedArea: SubpacketArea([Subpacket(.embeddedSignature(inner))]), digestPrefix: [0, 0], salt: [],
        material: .ed25519(Self.zeros(64)))
    }
    let read = try Signature(body: inner.body.span.bytes)
    #expect(read.body == inner.body)
    guard case .embeddedSignature(let second)? = read.unhashedArea.subpackets.first?.content else {
      Issue.record("the first level was not read")
      return
    }
    #expect(second.unhashedArea.subpackets.first?.type == .embeddedSignature)
    #expect(second.unhashedArea.subpackets.first?.content == nil)
  }

  @Test("Version 6 has no EdDSALegacy and no Curve25519Legacy")
  func legacyCurves() {
    let oid = Curve.ed25519Legacy.objectIdentifier
    let material = [UInt8(oid.count)] + oid + [0, 3, 4]
    let body = [6, 0, 0, 0, 1, 22, 0, 0, 0, UInt8(material.count)] + material
    #expect(throws: OpenPGPError.malformed(.publicKey)) { try PublicKey(body: body.span.bytes) }
  }

  @Test("Version 6 has no secret keys with a checksum of two octets", arguments: [255, 9] as [UInt8])
  func weakChecksums(usage: UInt8) {
    let body = [6, 0, 0, 0, 1, 27, 0, 0, 0, 32] + Self.zeros(32) + [usage] + Self.zeros(80)
    #expect(throws: OpenPGPError.malformed(.secretKey)) { try SecretKey(body: body.span.bytes) }
  }
}
