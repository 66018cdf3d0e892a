// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, sections 4.2.1.4 and 5.9: literal data in parts.

import Primitives
import Secrets
import Testing

@testable import OpenPGP

@Suite("The composer of messages")
struct MessageComposerTests {
  /// What the composer puts into a part.
  private static let partByteCount = 128 << 10
  /// Format, length of the name, date.
  private static let fieldByteCount = 6

  @Test(
    "Data whose length is near that of a part are whole, and their parts have the lengths of the format",
    arguments: [1, 2], -8...1)
  func lengths(parts: Int, beyond: Int) throws {
    let data = patterned(parts * Self.partByteCount + beyond)
    let message = ArraySink()
    try message.write(allOf: try MessageComposer(MemorySource(data), isText: false, signer: nil))
    #expect(message.bytes.first == 0xC0 | PacketType.literalData.rawValue)

    var body: [UInt8] = []
    var position = 1
    while message.bytes[position] == 224 + 17 {
      body += message.bytes[position + 1..<position + 1 + Self.partByteCount]
      position += 1 + Self.partByteCount
    }
    #expect(body.count == (data.count + Self.fieldByteCount) / Self.partByteCount * Self.partByteCount)
    let rest = message.bytes.count - position
    let length = PartialBodyWriter.length(data.count + Self.fieldByteCount - body.count, isLast: true)
    #expect(Array(message.bytes[position..<position + length.count]) == length)
    body += message.bytes[position + length.count..<position + rest]
    #expect(Array(body.dropFirst(Self.fieldByteCount)) == data)
  }

  @Test("Text that ends within a character is refused wherever its parts end", arguments: -8...1)
  func unfinishedText(beyond: Int) throws {
    let text = [UInt8](repeating: 0x61, count: Self.partByteCount + beyond - 1) + [0xC3]
    #expect(throws: OpenPGPError.notText) {
      try ArraySink().write(allOf: try MessageComposer(MemorySource(text), isText: true, signer: nil))
    }
  }
}
