// SPDX-License-Identifier: Apache-2.0
//
// Packets that a fuzzer made up and that were read wrongly once.

import Primitives
import Secrets
import Testing

@testable import OpenPGP

@Suite struct FuzzedPacketTests {
  private static func written(_ packet: Packet) -> [UInt8] {
    packet.body().withBytes { [UInt8](copying: $0) }
  }

  private static func parsed(_ type: PacketType, _ body: [UInt8]) -> Packet {
    let span = body.span
    return Packet(type: type, body: span.bytes)
  }

  /// A key of version 6 with Ed25519, up to its secret part.
  private static let publicPart: [UInt8] =
    [6, 0, 0, 0, 1, 27, 0, 0, 0, 32] + [UInt8](repeating: 0x11, count: 32)

  @Test("A secret key of unknown protection keeps its parameters, and those behind an unknown specifier")
  func unknownProtection() {
    // CFB, twelve octets of parameters: a cipher, and a specifier of unknown type with what belongs to it.
    let body = Self.publicPart + [254, 12, 9, 3, 99, 1, 2] + [UInt8](repeating: 7, count: 7) + [0xAA, 0xBB]
    let packet = Self.parsed(.secretKey, body)
    guard case .secretKey(let key) = packet, case .unknown(usage: 254, let parameters) = key.protection else {
      Issue.record("the key was not read")
      return
    }
    #expect(parameters.count == 12)
    #expect(key.protectedMaterial.count == 2)
    #expect(Self.written(packet) == body)
  }

  @Test("A specifier that is as long as its length can say is written as it came")
  func longSpecifier() {
    let body = Self.publicPart + [254, 255, 9, 255, 99] + [UInt8](repeating: 7, count: 300)
    #expect(Self.written(Self.parsed(.secretKey, body)) == body)
  }

  @Test("A key of version 4 that is too long for its fingerprint is refused")
  func longKey() {
    let body = [4, 0, 0, 0, 1, 99] + [UInt8](repeating: 7, count: 65_530)
    guard case .unknown(.publicKey, _, why: .malformed(.publicKey)) = Self.parsed(.publicKey, body) else {
      Issue.record("the key was read")
      return
    }
    guard case .publicKey = Self.parsed(.publicKey, Array(body.dropLast())) else {
      Issue.record("a key of the largest size was refused")
      return
    }
  }

  @Test("A recipient's fingerprint has the length of its version")
  func shortFingerprint() {
    let body: [UInt8] = [6, 4, 6, 1, 2, 3, 25] + [UInt8](repeating: 7, count: 80)
    guard case .unknown(_, _, why: .malformed(.sessionKey)) = Self.parsed(.pkesk, body)
    else {
      Issue.record("a fingerprint of three octets was taken")
      return
    }
  }

  @Test("A fingerprint of an unknown version, however short, has a key ID", arguments: [0, 3, 8, 40])
  func shortKeyID(count: Int) {
    let id = Fingerprint(version: 9, bytes: [UInt8](repeating: 5, count: count)).keyID
    #expect(
      id.bytes == [UInt8](repeating: 5, count: min(count, 8))
        + [UInt8](repeating: 0, count: max(0, 8 - count)))
  }

  @Test("A body in a great many parts of one octet takes no longer than it is")
  func manyParts() throws {
    // A literal packet: a part of 512 octets, then parts of one octet each, and none at the end.
    let partCount = 400_000
    let body = [UInt8](repeating: 0x62, count: 512 + partCount)
    var stream: [UInt8] = [0xCB, 0xE9] + body.prefix(512)
    for octet in body.dropFirst(512) { stream += [0xE0, octet] }
    stream.append(0)
    let began = secondsOfThisThread()
    let packet = try PacketReader(MemorySource(stream)).nextPacket()
    // Copied anew for each part, this took a minute and more; as it is, less than a second.
    #expect(secondsOfThisThread() - began < 20)
    guard case .unknown(.literalData, let read, _) = packet else {
      Issue.record("the packet was not read")
      return
    }
    #expect(read == body)
  }
}
