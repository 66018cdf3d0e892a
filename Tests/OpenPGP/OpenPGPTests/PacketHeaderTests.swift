// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, section 4.2.

import Testing

@testable import OpenPGP

struct PacketHeaderTests {
  @Test(
    "A length is written in as few octets as it needs",
    arguments: [(0, 1), (191, 1), (192, 2), (8383, 2), (8384, 5)])
  func shortest(byteCount: Int, octetCount: Int) {
    #expect(PacketHeader(type: .userID, byteCount: byteCount).bytes.count == 1 + octetCount)
  }

  @Test(
    "A header is written as it came, in both formats",
    arguments: [
      [0xCD, 0x05], [0xCD, 0xC0, 0x00], [0xCD, 0xDF, 0xFF], [0xCD, 0xFF, 0x00, 0x00, 0x00, 0x05],
      [0xD2, 0xE9], [0xCB, 0xEA], [0xB4, 0x05], [0xB5, 0x00, 0x05], [0xB6, 0x00, 0x00, 0x00, 0x05], [0xAF],
    ] as [[UInt8]])
  func roundTrip(octets: [UInt8]) throws {
    let header = try #require(try PacketHeader(MemorySource(octets)))
    #expect(header.bytes == octets)
  }

  @Test(
    "Only data packets have a partial or indeterminate length, and their first part has 512 octets",
    arguments: [[0xCD, 0xE9], [0xC2, 0xEA], [0xB7], [0x9B], [0xD2, 0xE8]] as [[UInt8]])
  func openLengths(octets: [UInt8]) {
    #expect(throws: OpenPGPError.malformed(.partialLength)) { try PacketHeader(MemorySource(octets)) }
  }

  @Test(
    "An octet without the highest bit and the reserved type begin no packet", arguments: [0x3F, 0xC0, 0x80])
  func noHeader(first: UInt8) {
    #expect(throws: OpenPGPError.malformed(.packetHeader)) { try PacketHeader(MemorySource([first, 0])) }
  }

  @Test(
    "A header that ends early is truncated",
    arguments: [[0xCD], [0xCD, 0xFF, 0, 0, 0], [0xB6, 0, 0]] as [[UInt8]])
  func truncated(octets: [UInt8]) {
    #expect(throws: OpenPGPError.malformed(.truncated)) { try PacketHeader(MemorySource(octets)) }
  }

  @Test("The parts of a body are read as one, and what was not read is skipped")
  func parts() throws {
    var octets: [UInt8] = [0xCB, 0xE9] + [UInt8](repeating: 1, count: 512)
    octets += [0xE1, 2, 2] + [0xE0, 3] + [0x03, 4, 4, 4] + [0xCD, 0x01, 0x41]
    let reader = PacketReader(MemorySource(octets))
    let (header, body) = try #require(try reader.next())
    #expect(header.length == .partial(512))
    for expected in [UInt8](repeating: 1, count: 512) + [2, 2, 3] {
      #expect(try body.readByte() == expected)
    }
    guard case .userID(let userID) = try reader.nextPacket() else {
      Issue.record("the next packet was not found")
      return
    }
    #expect(userID.bytes == [0x41])
    #expect(try reader.next() == nil)
  }

  @Test("A body that is shorter than its length is truncated, and one that is too long for memory is refused")
  func lyingLengths() throws {
    let short = PacketReader(MemorySource([0xCD, 0x05, 1, 2, 3, 4]))
    #expect(throws: OpenPGPError.malformed(.truncated)) { try short.nextPacket() }
    let huge = PacketReader(MemorySource([0xCD, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 1]))
    #expect(throws: OpenPGPError.overLimit(.packetByteCount)) { try huge.nextPacket() }
  }
}
