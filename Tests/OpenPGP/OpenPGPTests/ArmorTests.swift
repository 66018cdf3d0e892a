// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, section 6: what is written, what is read all the same, and what is refused.

import Foundation
import Testing

@testable import OpenPGP

struct ArmorTests {
  /// Octets that have every value, and no length that lines or groups divide.
  private static func octets(_ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ 7) }
  }

  private static func armored(_ bytes: [UInt8], _ kind: ArmorKind = .message, pieceByteCount: Int = .max)
    throws -> String
  {
    let sink = ArraySink()
    let writer = try ArmorWriter(sink, kind: kind)
    var rest = bytes[...]
    while !rest.isEmpty {
      try writer.write(Array(rest.prefix(pieceByteCount)))
      rest = rest.dropFirst(pieceByteCount)
    }
    try writer.finish()
    return String(decoding: sink.bytes, as: UTF8.self)
  }

  private static func decoded(
    _ text: String, _ scope: ArmorReader.Scope = .firstBlock, pieceByteCount: Int = 1000
  ) throws -> [UInt8] {
    try ArmorReader(PiecemealSource(text, pieceByteCount: pieceByteCount), scope).allBytes()
  }

  @Test("A block has no headers, no checksum, lines of 64 characters, and LF alone")
  func strictlyWritten() throws {
    let text = try Self.armored(Self.octets(100), .signature)
    let expected = """
      -----BEGIN PGP SIGNATURE-----

      \(Data(Self.octets(48)).base64EncodedString())
      \(Data(Self.octets(96)[48...]).base64EncodedString())
      \(Data(Self.octets(100)[96...]).base64EncodedString())
      -----END PGP SIGNATURE-----

      """
    #expect(text == expected)
  }

  @Test(
    "What is written in pieces of any size is read in pieces of any size",
    arguments: [0, 1, 2, 3, 47, 48, 49, 95, 96, 97, 5000, 200_000], [1, 7, 48, 1 << 20])
  func roundTrip(count: Int, pieceByteCount: Int) throws {
    let bytes = Self.octets(count)
    let text = try Self.armored(bytes, pieceByteCount: pieceByteCount)
    #expect(try Self.decoded(text, pieceByteCount: pieceByteCount) == bytes)
  }

  @Test("Base64 is what others write")
  func base64() throws {
    for count in 0..<100 {
      let lines = try Self.armored(Self.octets(count)).split(separator: "\n").dropFirst().dropLast()
      #expect(lines.joined() == Data(Self.octets(count)).base64EncodedString())
    }
  }

  @Test("Lines of 76 characters, and one line without any break, are read")
  func lineLengths() throws {
    let bytes = Self.octets(3000)
    let options: [Data.Base64EncodingOptions] = [[], [.lineLength76Characters, .endLineWithLineFeed]]
    for option in options {
      let body = Data(bytes).base64EncodedString(options: option)
      let text = "-----BEGIN PGP MESSAGE-----\n\n\(body)\n-----END PGP MESSAGE-----\n"
      #expect(try Self.decoded(text) == bytes)
    }
  }

  @Test(
    "Text before the block, headers, CR LF, blanks at line ends and a checksum of any kind do no harm",
    arguments: [
      "Dear all,\n\n-----BEGIN PGP MESSAGE-----\n\naGVsbG8=\n-----END PGP MESSAGE-----\n",
      "\u{FEFF}-----BEGIN PGP MESSAGE-----\n\naGVsbG8=\n-----END PGP MESSAGE-----\n",
      "-----BEGIN PGP MESSAGE-----\nVersion: X\nNobody-Knows: this\nComment:\n\naGVsbG8=\n-----END PGP MESSAGE-----\n",
      "-----BEGIN PGP MESSAGE-----\r\n\r\naGVsbG8=\r\n-----END PGP MESSAGE-----\r\n",
      "-----BEGIN PGP MESSAGE----- \t\n  \naGVs \t\nbG8= \n-----END PGP MESSAGE-----  \n",
      "-----BEGIN PGP MESSAGE-----\n \t\r \t\naGVsbG8=\n-----END PGP MESSAGE-----\n",
      "-----BEGIN PGP ARMORED FILE-----\n\naGVsbG8=\n-----END PGP ARMORED FILE-----\n",
      "-----BEGIN PGP MESSAGE-----\n\naGVsbG8=\n=AAAA\n-----END PGP MESSAGE-----\n",
      "-----BEGIN PGP MESSAGE-----\n\naGVsbG8=\n=not a checksum\n-----END PGP MESSAGE-----\n",
      "-----BEGIN PGP MESSAGE-----\n\naGVs\nbG8=\n\n\n-----END PGP MESSAGE-----",
      "-----BEGIN PGP MESSAGE-----\n\naGVsbG8=\n-----END PGP MESSAGE-----\nKind regards\n",
      "-----BEGIN PGP MESSAGE-----\n\na\nG\nV\ns\nb\nG\n8\n=\n-----END PGP MESSAGE-----\n",
    ])
  func toleratedForms(text: String) throws {
    for pieceByteCount in [1, 5, 1000] {
      #expect(try Self.decoded(text, pieceByteCount: pieceByteCount) == Array("hello".utf8))
    }
  }

  @Test(
    "A block that is cut off, mislabelled, badly padded or has other characters in it is refused",
    arguments: [
      "",
      "no armor at all\n",
      "-----BEGIN PGP MESSAGE-----\n",
      "-----BEGIN PGP MESSAGE-----\n\n",
      "-----BEGIN PGP MESSAGE-----\n\naGVsbG8=\n",
      "-----BEGIN PGP MESSAGE-----\n\naGVsbG8=\n=AAAA\n",
      "-----BEGIN PGP MESSAGE-----\n\naGVsbG8=\n-----END PGP SIGNATURE-----\n",
      "-----BEGIN PGP MESSAGE-----\n\naGVsbG8=\n-----END PGP ARMORED FILE-----\n",
      "-----BEGIN PGP MESSAGE-----\n\naGVsbG8=\n-----END PGP MESSAGE----\n",
      "-----BEGIN PGP MESSAGE-----\n\naGVsbG8\n-----END PGP MESSAGE-----\n",
      "-----BEGIN PGP MESSAGE-----\n\naGVsbG8==\nx\n-----END PGP MESSAGE-----\n",
      "-----BEGIN PGP MESSAGE-----\n\naGVsbG9=\n-----END PGP MESSAGE-----\n",
      "-----BEGIN PGP MESSAGE-----\n\naGVsbG8==\n-----END PGP MESSAGE-----\n",
      "-----BEGIN PGP MESSAGE-----\n\naGVsbG8==AAAA\n-----END PGP MESSAGE-----\n",
      "-----BEGIN PGP MESSAGE-----\n\naGVsbA=\n=AAAA\n-----END PGP MESSAGE-----\n",
      "-----BEGIN PGP MESSAGE-----\n\naGVsb===\n-----END PGP MESSAGE-----\n",
      "-----BEGIN PGP MESSAGE-----\n\naGVs=bG8=\n-----END PGP MESSAGE-----\n",
      "-----BEGIN PGP MESSAGE-----\n\naGVs*bG8=\n-----END PGP MESSAGE-----\n",
      "-----BEGIN PGP MESSAGE-----\n\naGVs-bG8=\n-----END PGP MESSAGE-----\n",
      "-----BEGIN PGP MESSAGE-----\n\naGVs\u{0}bG8=\n-----END PGP MESSAGE-----\n",
      "-----BEGIN PGP MESSAGE-----\n\naGVsbG8=\naGVsbG8=\n-----END PGP MESSAGE-----\n",
      "-----BEGIN PGP MESSAGE-----\nno header, no empty line\naGVsbG8=\n-----END PGP MESSAGE-----\n",
      "-----BEGIN PGP NONSENSE-----\n\naGVsbG8=\n-----END PGP NONSENSE-----\n",
      "-----BEGIN PGP MESSAGE, PART 1/2-----\n\naGVsbG8=\n-----END PGP MESSAGE, PART 1/2-----\n",
    ])
  func refusedForms(text: String) {
    for pieceByteCount in [1, 1000] {
      #expect(throws: OpenPGPError.malformed(.armor)) {
        try Self.decoded(text, pieceByteCount: pieceByteCount)
      }
    }
  }

  @Test("Padding may be broken over lines like everything before it")
  func brokenPadding() throws {
    for lineEnd in ["\n", "\r\n", " \n\t"] {
      let text =
        "-----BEGIN PGP MESSAGE-----\n\naGVsbA=\(lineEnd)=\n=AAAA\n-----END PGP MESSAGE-----\n"
      #expect(try Self.decoded(text, pieceByteCount: 1) == Array("hell".utf8))
    }
  }

  @Test("Several blocks are read as one when they are wanted, and only the first when they are not")
  func severalBlocks() throws {
    let first = try Self.armored([1, 2, 3], .publicKey)
    let second = try Self.armored([4, 5, 6, 7], .privateKey)
    let text = first + "and another:\n" + second
    #expect(try Self.decoded(text, .allBlocks) == [1, 2, 3, 4, 5, 6, 7])
    #expect(try Self.decoded(text) == [1, 2, 3])
    #expect(throws: OpenPGPError.malformed(.armor)) { try Self.decoded(text.dropLast(30) + "", .allBlocks) }
  }

  @Test("Endless text before a block, and endless headers, meet a limit")
  func limits() throws {
    let block = try Self.armored([1])
    let line = String(repeating: "x", count: 99) + "\n"
    let preamble = String(repeating: line, count: Limits.armorPreambleByteCount / 100 + 1)
    #expect(throws: OpenPGPError.overLimit(.armorLine)) { try Self.decoded(preamble + block) }
    let headers = String(repeating: "Comment: x\n", count: Limits.armorHeaderCount + 1)
    #expect(throws: OpenPGPError.overLimit(.armorLine)) {
      try Self.decoded("-----BEGIN PGP MESSAGE-----\n\(headers)\nAAAA\n-----END PGP MESSAGE-----\n")
    }
  }

  @Test("Armor, packets and nothing are told apart without consuming anything")
  func detection() throws {
    let text = try Self.armored([0xC5, 0x00])
    for (bytes, isArmored) in [
      (Array(text.utf8), true), (Array("\u{FEFF}\(text)".utf8), true), ([0xC5, 0x00], false), ([], false),
    ] {
      let source = MemorySource(bytes)
      #expect(try ArmorReader.isArmored(source) == isArmored)
      #expect(try source.allBytes() == bytes)
    }
    #expect(try OpenPGPInput.packets(MemorySource(Array(text.utf8))).allBytes() == [0xC5, 0x00])
    #expect(try OpenPGPInput.packets(MemorySource([0xC5, 0x00])).allBytes() == [0xC5, 0x00])
  }

  @Test("The kind of a block follows from its first packet")
  func kinds() {
    #expect(ArmorKind(firstPacket: .secretKey) == .privateKey)
    #expect(ArmorKind(firstPacket: .publicKey) == .publicKey)
    #expect(ArmorKind(firstPacket: .signature) == .signature)
    #expect(ArmorKind(firstPacket: .seipd) == .message)
    #expect(ArmorKind(firstPacket: .userID) == nil)
  }
}
