// SPDX-License-Identifier: Apache-2.0
//
// Messages through the vault and back: what comes out is what went in, or nothing.

import Foundation
import MessageFormats
import Secrets
import Testing
import Texts

@testable import Vaults

@Suite("Messages of a vault")
struct MessageTests {
  @Test(
    "A message comes back byte for byte",
    arguments: [0, 1, 15, 16, 17, 4_068, 4_096, 65_537, 5 << 20])
  func roundTrip(byteCount: Int) throws {
    let fixture = try VaultFixture()
    let content = (0..<byteCount).map { UInt8(truncatingIfNeeded: $0 &* 167 ^ $0 >> 8) }
    let metadata = MessageMetadata(
      title: "Grüße \u{1F512}", tags: ["a", ""], contentType: "application/octet-stream", date: -1)
    let id = try fixture.vault.add(SecretBytes(copying: content.span.bytes), metadata: metadata)
    let read = try fixture.reopened().withMessage(id) { ($0, array($1)) }
    #expect(read.0 == metadata)
    #expect(read.1 == content)
  }

  @Test("A message that was removed is not found, and neither is one that never was")
  func remove() throws {
    let fixture = try VaultFixture()
    let ids = try ["one", "two", "three"].map { try fixture.vault.add($0) }
    try fixture.vault.remove(ids[1])
    #expect(try fixture.vault.texts() == ["one", "three"])
    for (id, code) in [(ids[1], "MESSAGE_IN_TRASH"), (MessageID(), "MESSAGE_NOT_FOUND")] {
      expectError(code) { try fixture.vault.text(id) }
      expectError(code) { try fixture.vault.remove(id) }
    }
    #expect(try fixture.vault.status().messageCount == 2)
    try fixture.vault.checkRows()
  }

  @Test("A selection takes the tag, the number and the order")
  func selection() throws {
    let fixture = try VaultFixture()
    for number in 1...6 { try fixture.vault.add("\(number)", tags: number % 2 == 0 ? ["even"] : []) }
    let vault = fixture.vault
    #expect(try vault.texts() == ["1", "2", "3", "4", "5", "6"])
    #expect(try vault.titles(.init(limit: 2)) == ["6", "5"])
    #expect(try vault.texts(tag: "even") == ["2", "4", "6"])
    #expect(try vault.titles(.init(tag: "even", limit: 1)) == ["6"])
    #expect(try vault.titles(.init(tag: "none")) == [])
    #expect(try vault.titles(.init(limit: 0)) == [])
    #expect(try vault.titles(.init(limit: 6)).count == 6)
  }

  @Test("The newest first goes by the dates, whatever came last, and a limit counts from there")
  func byDate() throws {
    let fixture = try VaultFixture()
    for (text, date) in [("March", 3), ("January", 1), ("past", -5), ("February", 2), ("March too", 3)] {
      let metadata = MessageMetadata(title: text, contentType: "text/plain", date: Int64(date))
      _ = try fixture.vault.add(bytes(of: text), metadata: metadata)
    }
    let sorted = ["March too", "March", "February", "January", "past"]
    // With room for all metadata, for that of some messages, and for none; read at once or in small batches.
    for (keptByteCount, count) in [(8 << 20, 4_000), (120, 4_000), (120, 2), (0, 1)] {
      let vault = fixture.vault(batchOf: count, keptByteCount: keptByteCount)
      #expect(try vault.titles() == sorted)
      for limit in 0...6 { #expect(try vault.titles(.init(limit: limit)) == Array(sorted.prefix(limit))) }
      // The order in which they came is another matter.
      #expect(try vault.texts() == ["March", "January", "past", "February", "March too"])
    }
  }

  @Test("A list is sorted by what the selection says, either way, whatever fits into memory")
  func orders() throws {
    let fixture = try VaultFixture()
    for (title, date, content) in [
      ("béta", 3, "12"), ("Alpha", 1, "1"), ("gamma", 2, "123"), ("beta", 4, "12"),
    ] {
      let metadata = MessageMetadata(title: title, contentType: "text/plain", date: Int64(date))
      _ = try fixture.vault.add(bytes(of: content), metadata: metadata)
    }
    let sorted: [Vault.Order: [String]] = [
      .date: ["beta", "béta", "gamma", "Alpha"], .stored: ["beta", "gamma", "Alpha", "béta"],
      .title: ["Alpha", "beta", "béta", "gamma"], .size: ["gamma", "beta", "béta", "Alpha"],
    ]
    for keptByteCount in [8 << 20, 120, 0] {
      let vault = fixture.vault(batchOf: 2, keptByteCount: keptByteCount)
      for order in Vault.Order.allCases {
        let wanted = try #require(sorted[order])
        #expect(try vault.titles(.init(order: order)) == wanted)
        #expect(
          try vault.titles(.init(limit: 3, order: order, isReversed: true))
            == Array(wanted.reversed().prefix(3)))
      }
    }
  }

  @Test("Who chooses sees every message once, and is lent those that it chose")
  func choosing() throws {
    let fixture = try VaultFixture()
    for number in 1...5 { try fixture.vault.add("\(number)", tags: number == 5 ? ["five"] : []) }
    var seen: [String] = []
    var lent: [String] = []
    let unreadable = try fixture.vault.list { metadata, _ in
      seen.append(metadata.title)
      return metadata.title != "2"
    } _: { _, metadata in
      lent.append(metadata.title)
      return metadata.title != "3"
    }
    #expect(unreadable.isEmpty)
    #expect(lent == ["5", "4", "3"])
    #expect(seen == ["1", "2", "3", "4", "5"])
  }

  @Test("A reader that has seen enough ends the reading")
  func stops() throws {
    let fixture = try VaultFixture()
    for number in 1...4 { try fixture.vault.add("\(number)") }
    var seen = 0
    let unreadable = try fixture.vault.forEachMessage { _, _, _ in
      seen += 1
      return seen < 2
    }
    #expect(seen == 2 && unreadable.isEmpty)
  }

  @Test("Metadata at its bounds is stored, and beyond them refused")
  func bounds() throws {
    let fixture = try VaultFixture()
    func add(_ metadata: MessageMetadata) throws -> MessageMetadata {
      try fixture.vault.withMessage(fixture.vault.add(bytes(of: "x"), metadata: metadata)) { read, _ in read }
    }
    let largest = MessageMetadata(
      title: String(repeating: "t", count: MessageLimits.titleByteCount),
      tags: Array(
        repeating: String(repeating: "g", count: MessageLimits.tagByteCount), count: MessageLimits.tagCount),
      contentType: String(repeating: "c", count: MessageLimits.contentTypeByteCount),
      date: CivilTime.representable.upperBound)
    #expect(try add(largest) == largest)
    for change: (inout MessageMetadata) -> Void in [
      { $0.title += "t" }, { $0.tags.append("") }, { $0.tags[0] += "g" }, { $0.contentType += "c" },
      { $0.date += 1 }, { $0.date = CivilTime.representable.lowerBound - 1 },
    ] {
      var larger = largest
      change(&larger)
      expectError("METADATA_OUT_OF_BOUNDS") { try add(larger) }
    }
    #expect(try fixture.vault.status().messageCount == 1)
  }

  @Test("A message larger than the limit is refused and leaves nothing")
  func tooLarge() throws {
    let fixture = try VaultFixture()
    let content = SecretBytes(zeroed: MessageLimits.messageByteCount + 1)
    #expect(throws: VaultError.self) {
      try fixture.vault.add(content, metadata: MessageMetadata(contentType: "text/plain"))
    }
    #expect(try fixture.vault.status().messageCount == 0)
  }

  @Test("Identifiers are UUIDs of version 7, and 100,000 of them differ")
  func identifiers() throws {
    let ids = (0..<100_000).map { _ in MessageID() }
    #expect(Set(ids).count == ids.count)
    for id in ids.prefix(1_000) {
      let text = id.description
      let characters = Array(text)
      #expect(characters.count == 36 && characters[14] == "7" && "89ab".contains(characters[19]))
      #expect(MessageID(text) == id && MessageID(text.uppercased()) == id)
      #expect(id.withBytes { MessageID($0) } == id)
      #expect(UUID(uuidString: text)?.uuidString == text.uppercased())
    }
  }

  @Test(
    "Text that is not a UUID names no message",
    arguments: [
      "", "6f9619ff-8b86-d011-b42d-00c04fc964f", "6f9619ff-8b86-d011-b42d-00c04fc964fff",
      "6f9619ff08b86-d011-b42d-00c04fc964ff", "6f9619ffx8b86-d011-b42d-00c04fc964ff",
      "6f9619fg-8b86-d011-b42d-00c04fc964ff", "６f9619ff-8b86-d011-b42d-00c04fc964",
      "+f9619ff-8b86-d011-b42d-00c04fc964ff",
    ])
  func notAnIdentifier(text: String) { #expect(MessageID(text) == nil) }

  @Test("Fifteen or seventeen bytes are no identifier", arguments: [0, 15, 17])
  func identifierBytes(count: Int) {
    #expect(MessageID([UInt8](repeating: 7, count: count).span.bytes) == nil)
  }
}

/// Expects a `VaultError` by its code.
func expectError<R>(
  _ code: String, sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> R
) {
  do {
    _ = try body()
    Issue.record("nothing was thrown", sourceLocation: sourceLocation)
  } catch let error as VaultError {
    #expect(error.code == code, sourceLocation: sourceLocation)
  } catch {
    Issue.record(error, sourceLocation: sourceLocation)
  }
}
