// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, section 5.2.5: what cannot be used is passed over, and spoils nothing.

import Testing

@testable import OpenPGP

@Suite("Lists of signatures")
struct SignatureListTests {
  /// A signature packet of version 4, well formed.
  static let signature = packet(2, [4, 0, 27, 8, 0, 6, 5, 2, 0, 0, 0, 9, 0, 0, 1, 2] + zeros(64))

  static func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }

  static func packet(_ type: UInt8, _ body: [UInt8]) -> [UInt8] {
    PacketHeader(type: PacketType(rawValue: type), byteCount: body.count).bytes + body
  }

  static func list(_ packets: [UInt8]...) throws -> SignatureList {
    try SignatureList(reading: MemorySource(packets.flatMap { $0 }))
  }

  @Test("Markers, padding and unknown packets that are not critical are ignored")
  func ignored() throws {
    let list = try Self.list(
      Self.packet(10, Array("PGP".utf8)), Self.signature, Self.packet(21, [1, 2, 3]),
      Self.packet(60, [1]), Self.signature)
    #expect(list.signatures.count == 2)
    #expect(list.malformedCount == 0)
  }

  @Test("They are ignored in any number, and a marker whatever is in it")
  func manyIgnored() throws {
    let padding = Array(repeating: Self.packet(21, []), count: 1500).flatMap { $0 }
    let markers = Array(repeating: Self.packet(10, Array("PGQ".utf8)), count: 1500).flatMap { $0 }
    let list = try Self.list(padding, markers, Self.signature, padding)
    #expect(list.signatures.count == 1 && list.malformedCount == 0)
    #expect(throws: OpenPGPError.overLimit(.signatureCount)) {
      try Self.list(Array(repeating: Self.signature, count: 1025).flatMap { $0 })
    }
  }

  @Test("A packet that is a broken signature is one; what is no packet is none")
  func broken() throws {
    #expect(try Self.list(Self.packet(2, [4, 0, 27])).hasSignature)
    #expect(try Self.list(Self.packet(2, [9])).hasSignature)
    #expect(try !Self.list([0, 1, 2]).hasSignature)
    #expect(try !Self.list(Self.packet(21, [])).hasSignature)
  }

  @Test("Unknown versions are skipped, and the signatures behind them are read")
  func unknownVersions() throws {
    let list = try Self.list(Self.packet(2, [99, 1, 2, 3]), Self.signature, Self.packet(2, [2]))
    #expect(list.signatures.count == 1)
    #expect(list.unknownVersionCount == 2)
    #expect(list.malformedCount == 0)
    #expect(list.unreadableCount == 2)
  }

  @Test("A malformed signature counts as bad, and the ones around it are read")
  func malformed() throws {
    let list = try Self.list(Self.signature, Self.packet(2, [4, 0, 27]), Self.signature)
    #expect(list.signatures.count == 2)
    #expect(list.malformedCount == 1)
    #expect(list.unreadableCount == 1)
  }

  @Test("Trailing octets make a signature malformed")
  func trailingOctets() throws {
    let body = [4, 0, 27, 8, 0, 0, 0, 0, 1, 2] + Self.zeros(65)
    #expect(try Self.list(Self.packet(2, body)).malformedCount == 1)
  }

  @Test(
    "A salt of another length than the hash wants makes a signature malformed", arguments: [0, 15, 17, 32])
  func saltLength(count: Int) throws {
    for (salt, malformedCount) in [(count, 1), (16, 0)] {
      let body = [6, 0, 27, 8] + Self.zeros(8) + [1, 2, UInt8(salt)] + Self.zeros(salt + 64)
      #expect(try Self.list(Self.packet(2, body)).malformedCount == malformedCount)
    }
  }

  @Test("A list with other packets in it is none", arguments: [13, 6, 11, 30] as [UInt8])
  func otherPackets(type: UInt8) {
    #expect(throws: OpenPGPError.malformed(.signature)) {
      _ = try Self.list(Self.signature, Self.packet(type, [65]), Self.signature)
    }
  }

  @Test("Armor that breaks off is not a list of signatures")
  func brokenArmor() {
    let source = BreakingSource(Self.signature)
    #expect(throws: OpenPGPError.malformed(.armor)) { _ = try SignatureList(reading: source) }
  }

  @Test("Octets that are no packets end the list and count as bad")
  func noise() throws {
    let list = try Self.list(Self.signature, [0x00, 0x01])
    #expect(list.signatures.count == 1)
    #expect(list.malformedCount == 1)
    let truncated = try Self.list(Self.signature, Array(Self.signature.dropLast()))
    #expect(truncated.signatures.count == 1)
    #expect(truncated.malformedCount == 1)
  }

  @Test("An empty list is a list without signatures")
  func empty() throws {
    let list = try Self.list()
    #expect(list.signatures.isEmpty)
    #expect(list.malformedCount == 0)
  }

  @Test("A packet that is too large is not read, and the next one is")
  func tooLarge() throws {
    let large = Self.packet(2, Self.zeros(Limits.packetByteCount + 1))
    let list = try Self.list(large, Self.signature)
    #expect(list.signatures.count == 1)
    #expect(list.malformedCount == 1)
  }

  @Test("More signatures than the limit allows are refused, readable or not")
  func tooMany() {
    let many = [[UInt8]](repeating: Self.packet(2, [9]), count: Limits.signatureCount + 1).flatMap { $0 }
    #expect(throws: OpenPGPError.overLimit(.signatureCount)) { _ = try Self.list(many) }
  }
}

/// Bytes from armor that breaks off behind them.
private final class BreakingSource: ByteSource {
  private let bytes: MemorySource

  init(_ bytes: [UInt8]) { self.bytes = MemorySource(bytes) }

  func withNext<R: ~Copyable>(_ body: (RawSpan) throws(OpenPGPError) -> R) throws(OpenPGPError) -> R {
    try bytes.withNext { (next) throws(OpenPGPError) -> R in
      guard next.byteCount > 0 else { throw .malformed(.armor) }
      return try body(next)
    }
  }

  func consume(_ count: Int) { bytes.consume(count) }
}
