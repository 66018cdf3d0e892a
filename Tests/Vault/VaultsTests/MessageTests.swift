// SPDX-License-Identifier: Apache-2.0
//
// Messages through the vault and back: what comes out is what went in, or nothing.

import Foundation
import MessageFormats
import Secrets
import Testing

@testable import Vaults

@Suite("Messages of a vault")
struct MessageTests {
  @Test(
    "A message comes back byte for byte",
    arguments: [0, 1, 15, 16, 17, 4_068, 4_096, 65_537, 5 << 20])
  func roundTrip(byteCount: Int) throws {
    let bench = try VaultBench()
    let content = (0..<byteCount).map { UInt8(truncatingIfNeeded: $0 &* 167 ^ $0 >> 8) }
    let metadata = MessageMetadata(
      title: "Grüße \u{1F512}", tags: ["a", ""], contentType: "application/octet-stream", date: -1)
    let id = try bench.vault.add(SecretBytes(copying: content.span.bytes), metadata: metadata)
    let read = try bench.reopened().withMessage(id) { ($0, array($1)) }
    #expect(read.0 == metadata)
    #expect(read.1 == content)
  }

  @Test("A message that was removed is not found, and neither is one that never was")
  func remove() throws {
    let bench = try VaultBench()
    let ids = try ["one", "two", "three"].map { try bench.vault.add($0) }
    try bench.vault.remove(ids[1])
    #expect(try bench.vault.texts() == ["one", "three"])
    for id in [ids[1], MessageID()] {
      expectError("MESSAGE_NOT_FOUND") { try bench.vault.text(id) }
      expectError("MESSAGE_NOT_FOUND") { try bench.vault.remove(id) }
    }
    #expect(try bench.vault.status().messageCount == 2)
    try bench.vault.checkCount()
  }

  @Test("A selection takes the tag, the number and the order")
  func selection() throws {
    let bench = try VaultBench()
    for number in 1...6 { try bench.vault.add("\(number)", tags: number % 2 == 0 ? ["even"] : []) }
    let vault = bench.vault
    #expect(try vault.texts() == ["1", "2", "3", "4", "5", "6"])
    #expect(try vault.texts(.init(limit: 2)) == ["6", "5"])
    #expect(try vault.texts(.init(tag: "even", isNewestFirst: false)) == ["2", "4", "6"])
    #expect(try vault.texts(.init(tag: "even", limit: 1)) == ["6"])
    #expect(try vault.texts(.init(tag: "none")) == [])
    #expect(try vault.texts(.init(limit: 0)) == [])
    #expect(try vault.texts(.init(limit: 6)).count == 6)
  }

  @Test("The newest first goes by the dates, whatever came last, and a limit counts from there")
  func byDate() throws {
    let bench = try VaultBench()
    for (text, date) in [("March", 3), ("January", 1), ("past", -5), ("February", 2), ("March too", 3)] {
      let metadata = MessageMetadata(title: text, contentType: "text/plain", date: Int64(date))
      _ = try bench.vault.add(bytes(of: text), metadata: metadata)
    }
    let vault = try bench.reopened()
    let sorted = ["March too", "March", "February", "January", "past"]
    #expect(try vault.texts(.init()) == sorted)
    for limit in 0...6 { #expect(try vault.texts(.init(limit: limit)) == Array(sorted.prefix(limit))) }
    // The order in which they came is another matter.
    #expect(try vault.texts(.all) == ["March", "January", "past", "February", "March too"])
  }

  @Test("Who chooses sees every message once, and is lent those that it chose")
  func choosing() throws {
    let bench = try VaultBench()
    for number in 1...5 { try bench.vault.add("\(number)", tags: number == 5 ? ["five"] : []) }
    for isNewestFirst in [true, false] {
      var seen: [String] = []
      var lent: [String] = []
      let unreadable = try bench.vault.forEachMessage(.init(isNewestFirst: isNewestFirst)) { metadata, _ in
        seen.append(metadata.title)
        return metadata.title != "2"
      } _: { _, metadata, _ in
        lent.append(metadata.title)
        return metadata.title != "3"
      }
      #expect(unreadable.isEmpty)
      #expect(lent == (isNewestFirst ? ["5", "4", "3"] : ["1", "3"]))
      #expect(seen == (isNewestFirst ? ["1", "2", "3", "4", "5"] : ["1", "2", "3"]))
    }
  }

  @Test("A reader that has seen enough ends the reading")
  func stops() throws {
    let bench = try VaultBench()
    for number in 1...4 { try bench.vault.add("\(number)") }
    var seen = 0
    let unreadable = try bench.vault.forEachMessage { _, _, _ in
      seen += 1
      return seen < 2
    }
    #expect(seen == 2 && unreadable.isEmpty)
  }

  @Test("Metadata at its bounds is stored, and beyond them refused")
  func bounds() throws {
    let bench = try VaultBench()
    func add(_ metadata: MessageMetadata) throws -> MessageMetadata {
      try bench.vault.withMessage(bench.vault.add(bytes(of: "x"), metadata: metadata)) { read, _ in read }
    }
    let largest = MessageMetadata(
      title: String(repeating: "t", count: MessageLimits.titleByteCount),
      tags: Array(
        repeating: String(repeating: "g", count: MessageLimits.tagByteCount), count: MessageLimits.tagCount),
      contentType: String(repeating: "c", count: MessageLimits.contentTypeByteCount),
      date: Timestamp.representable.upperBound)
    #expect(try add(largest) == largest)
    for change: (inout MessageMetadata) -> Void in [
      { $0.title += "t" }, { $0.tags.append("") }, { $0.tags[0] += "g" }, { $0.contentType += "c" },
      { $0.date += 1 }, { $0.date = Timestamp.representable.lowerBound - 1 },
    ] {
      var larger = largest
      change(&larger)
      expectError("METADATA_OUT_OF_BOUNDS") { try add(larger) }
    }
    #expect(try bench.vault.status().messageCount == 1)
  }

  @Test("A message larger than the limit is refused and leaves nothing")
  func tooLarge() throws {
    let bench = try VaultBench()
    let content = SecretBytes(zeroed: MessageLimits.messageByteCount + 1)
    #expect(throws: VaultError.self) {
      try bench.vault.add(content, metadata: MessageMetadata(contentType: "text/plain"))
    }
    #expect(try bench.vault.status().messageCount == 0)
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
    "Text that is no UUID names no message",
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
