// SPDX-License-Identifier: Apache-2.0
//
// Whatever is changed in a message, nothing of it comes out.

import Secrets
import Testing

@testable import OpenPGP

@Suite("Tampered messages are refused, and nothing of them is released")
struct MessageTamperingTests {
  /// Nothing may come out, and the untouched message must be good.
  private func expectRefusal(
    _ tampered: [UInt8], of message: TestMessage, _ what: Comment, error: OpenPGPError? = nil
  ) {
    let (data, outcome) = message.opened(tampered)
    #expect(data.isEmpty, what)
    switch outcome {
    case .success: Issue.record(what)
    case .failure(let failure): if let error { #expect(failure == error, what) }
    }
  }

  @Test("Each octet flipped", arguments: TestMessage.formats)
  func flips(_ format: EncryptionFormat) throws {
    let message = TestMessage(format, chunkOctet: 0)
    let good = try message.encrypted(patterned(150))
    #expect(try message.decrypted(good) == patterned(150))
    for place in good.indices {
      for bit: UInt8 in [0x01, 0x80] {
        var bad = good
        bad[place] ^= bit
        expectRefusal(bad, of: message, "octet \(place), bit \(bit)")
      }
    }
  }

  @Test("A change of the ciphertext is one error, wherever it is", arguments: TestMessage.formats)
  func oneError(_ format: EncryptionFormat) throws {
    let message = TestMessage(format, chunkOctet: 0)
    let good = try message.encrypted(patterned(150))
    let isVersion1 = format.publicKeyPacketVersion == 3
    // Behind the header of the packet and its fields, and for version 1 the octets that test a guessed key.
    for place in good.indices.dropFirst(isVersion1 ? 4 + 18 : 3 + 36) {
      var bad = good
      bad[place] ^= 0x10
      expectRefusal(bad, of: message, "octet \(place)", error: .notAuthentic)
    }
  }

  @Test("Cut off anywhere", arguments: TestMessage.formats)
  func truncation(_ format: EncryptionFormat) throws {
    let message = TestMessage(format, chunkOctet: 0)
    let body = try message.encrypted(patterned(150))
    for count in 0..<body.count { expectRefusal(Array(body.prefix(count)), of: message, "\(count) octets") }
    // And with a length that says so.
    let fields = Array(body.dropFirst(3))
    for count in 1..<fields.count {
      var bad = [body[0]]
      PacketHeader.write(length: count, octetCount: count < 192 ? 1 : 2, to: &bad)
      expectRefusal(bad + fields.prefix(count), of: message, "a body of \(count) octets")
    }
  }

  @Test("Octets behind the message")
  func trailing() throws {
    for format in TestMessage.formats {
      let message = TestMessage(format)
      let good = try message.encrypted(patterned(100))
      expectRefusal(good + [0], of: message, "an octet")
      expectRefusal(good + good, of: message, "the message again")
      expectRefusal(good + [0xCB, 0x08, 0x62, 0, 0, 0, 0, 0, 0x41, 0x42], of: message, "literal data")
      // Marker and padding mean nothing.
      #expect(try message.decrypted(good + [0xCA, 3, 0x50, 0x47, 0x50, 0xD5, 1, 9]) == patterned(100))
    }
  }

  /// The header of a version 2 message of 64-octet chunks, and the sealed chunks with the last tag.
  private func chunks(_ message: TestMessage) throws -> (head: [UInt8], chunks: [[UInt8]], tag: [UInt8]) {
    let encrypted = try message.encrypted(patterned(300))
    let fields = Array(encrypted.dropFirst(3).prefix(36))
    var rest = Array(encrypted.dropFirst(3 + 36))
    var chunks: [[UInt8]] = []
    while rest.count > 16 {
      let count = min(80, rest.count - 16)
      chunks.append(Array(rest.prefix(count)))
      rest = Array(rest.dropFirst(count))
    }
    return (fields, chunks, rest)
  }

  private func packet(_ head: [UInt8], _ chunks: [[UInt8]], _ tag: [UInt8]) -> [UInt8] {
    let body = head + chunks.flatMap { $0 } + tag
    var packet: [UInt8] = [0xD2]
    PacketHeader.write(length: body.count, octetCount: 5, to: &packet)
    return packet + body
  }

  @Test(
    "Chunks reordered, repeated, left out, or of another message",
    arguments: [AEADAlgorithm.ocb, .gcm, .eax])
  func splices(_ aead: AEADAlgorithm) throws {
    let message = TestMessage(.version2(AEADCiphersuite(.aes256, aead)), chunkOctet: 0)
    let (head, chunks, tag) = try chunks(message)
    let (otherHead, otherChunks, otherTag) = try self.chunks(message)
    #expect(try message.decrypted(packet(head, chunks, tag)) == patterned(300))
    #expect(try message.decrypted(packet(otherHead, otherChunks, otherTag)) == patterned(300))
    var swapped = chunks
    swapped.swapAt(0, 1)
    expectRefusal(packet(head, swapped, tag), of: message, "swapped", error: .notAuthentic)
    expectRefusal(packet(head, [chunks[0]] + chunks, tag), of: message, "repeated", error: .notAuthentic)
    expectRefusal(packet(head, chunks.dropLast(), tag), of: message, "last left out", error: .notAuthentic)
    expectRefusal(packet(head, Array(chunks.dropFirst()), tag), of: message, "first left out")
    expectRefusal(packet(head, chunks, []), of: message, "no last tag", error: .notAuthentic)
    expectRefusal(packet(head, [], tag), of: message, "no chunks", error: .notAuthentic)
    expectRefusal(packet(head, chunks, otherTag), of: message, "tag of another", error: .notAuthentic)
    expectRefusal(packet(otherHead, chunks, tag), of: message, "header of another", error: .notAuthentic)
    for index in chunks.indices {
      var spliced = chunks
      spliced[index] = otherChunks[index]
      expectRefusal(packet(head, spliced, tag), of: message, "spliced", error: .notAuthentic)
    }
  }

  @Test("Cipher, mode and chunk size in the header cannot be changed")
  func header() throws {
    let message = TestMessage(.version2(AEADCiphersuite(.aes256, .ocb)), chunkOctet: 3)
    let good = try message.encrypted(patterned(2_000))
    for (place, values) in [
      (4, [7, 8, 10, 13, 99] as [UInt8]), (5, [1, 3, 9]), (6, [0, 2, 4, 16, 17, 60, 255]),
    ] {
      for value in values {
        var bad = good
        bad[place] = value
        expectRefusal(bad, of: message, "octet \(place) is \(value)")
      }
    }
  }

  @Test("The modification detection code removed, or its packet another")
  func detectionCode() throws {
    let message = TestMessage(.version1(.aes256))
    let good = try message.encrypted(patterned(100))
    let body = Array(good.dropFirst(2))
    var cut: [UInt8] = [0xD2]
    PacketHeader.write(length: body.count - 22, octetCount: 1, to: &cut)
    expectRefusal(cut + body.dropLast(22), of: message, "no code", error: .notAuthentic)
  }

  @Test("A message in the packet without integrity protection, and LibrePGP's packet")
  func downgrades() throws {
    let message = TestMessage(.version1(.aes256))
    let good = try message.encrypted(patterned(100))
    let body = Array(good.dropFirst(3))
    var downgraded: [UInt8] = [0xC9]
    PacketHeader.write(length: body.count, octetCount: 1, to: &downgraded)
    expectRefusal(downgraded + body, of: message, "type 9", error: .refused(.noIntegrityProtection))
    downgraded[0] = 0xD4
    expectRefusal(downgraded + body, of: message, "type 20", error: .unsupported(.packetType(20)))
  }

  @Test("A message of version 2 that says that it is of version 1, and the reverse")
  func versions() throws {
    let second = TestMessage(.version2(AEADCiphersuite(.aes256, .ocb)))
    let body = Array(try second.encrypted(patterned(100)).dropFirst(3 + 36))
    var downgraded: [UInt8] = [0xD2]
    PacketHeader.write(length: body.count + 1, octetCount: 1, to: &downgraded)
    expectRefusal(downgraded + [1] + body, of: second, "version 1")
    for version: UInt8 in [0, 2, 3, 99] {
      let first = TestMessage(.version1(.aes256))
      var bad = try first.encrypted(patterned(100))
      bad[2] = version
      expectRefusal(bad, of: first, "version \(version)")
    }
  }
}
