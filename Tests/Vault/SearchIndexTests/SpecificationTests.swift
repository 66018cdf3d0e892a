// SPDX-License-Identifier: Apache-2.0
//
// The worked example of Specs/search-index.md: a segment of three messages.

import Foundation
import MessageFormats
import Primitives
import SpecExamples
import Storage
import Testing

@testable import SearchIndex

@Suite("Worked example of a segment")
struct SpecificationTests {
  private let example = try? SpecExample(page: "search-index.md")

  private func hex(_ name: String) throws -> [UInt8] { try #require(example).bytes(name) }

  private func messages() throws -> [Message] {
    let ids = try hex("ids")
    func id(_ index: Int) throws -> RecordID {
      let bytes = Array(ids[index * 16..<index * 16 + 16])
      let id = RecordID(bytes.span.bytes)
      return try #require(id)
    }
    let note = MessageMetadata(
      title: "Key of the garden shed", tags: ["home", "keys"], contentType: "text/plain; charset=utf-8",
      date: 1_759_449_600)
    let mail = MessageMetadata(title: "Garden", contentType: "message/rfc822", date: 1_759_539_600)
    return [
      Message(
        number: 7, id: try id(0), timestamp: 1_759_536_000, metadata: note,
        content: Array("It hangs behind the ivy.\n".utf8)),
      Message(
        number: 8, id: try id(1), timestamp: 1_759_539_605, metadata: mail,
        content: Array(try #require(example).text("mail").utf8)),
      Message(number: 10, id: try id(2), timestamp: 1_759_540_000, metadata: nil, content: []),
    ]
  }

  /// Nonces a0…ab, then each with one more at its end.
  private func seed() throws -> SegmentSeed {
    let last = Counter()
    return SegmentSeed(id: try #require(BlobName(bytes: try hex("segment id")))) {
      last.value += 1
      return Array(0xA0...0xAA) + [0xAA + last.value]
    }
  }

  private final class Counter {
    var value: UInt8 = 0
  }

  private func build(_ folder: SegmentFolder) throws -> SegmentDescription {
    let key = try hex("vault key")
    var builder = try SegmentBuilder(
      files: folder.files, keyVersion: 2, vaultKey: key.span.bytes, seed: try seed())
    for message in try messages() { try builder.append(message) }
    return try builder.finish(numbers: 5...10)
  }

  private func open(_ description: SegmentDescription, _ folder: SegmentFolder) throws -> SegmentReader {
    let key = try hex("vault key")
    return try SegmentReader(description, files: folder.files, vaultKey: key.span.bytes)
  }

  @Test(
    "the sections and the root are those of the specification",
    arguments: [
      (SegmentFormat.Section.terms, "terms"), (.numbers, "numbers"), (.documents, "documents"),
      (.positions, "positions"), (.rows, "rows"), (.root, "root"),
    ])
  func sections(section: SegmentFormat.Section, name: String) throws {
    let folder = try SegmentFolder()
    let reader = try open(build(folder), folder)
    var bytes = ErasedArray<UInt8>(capacity: 16)
    let count = section == .root ? reader.root.bytes.count + 4 : reader.file.byteCount(section)
    try reader.file.append(0..<count, of: section, to: &bytes)
    let text = bytes.array.map { String(format: "%02x", $0) }.joined()
    #expect(try text == hex(name).map { String(format: "%02x", $0) }.joined(), "\(name): \(text)")
  }

  @Test("key, header, first and last bytes are those of the specification, and the file opens")
  func file() throws {
    let folder = try SegmentFolder()
    let description = try build(folder)
    #expect(
      description
        == SegmentDescription(
          id: try #require(BlobName(bytes: try hex("segment id"))), keyVersion: 2, numbers: 5...10,
          documentCount: 3, blockCount: 6, rootBlockCount: 1))
    let bytes = try #require(
      FileManager.default.contents(atPath: folder.path(description.id)).map { Array($0) })
    #expect(bytes.count == description.byteCount)
    let (key, salt) = (try hex("vault key"), try hex("segment id"))
    var hkdf = HKDF()
    let derived = hkdf.deriveKey(ikm: key.span.bytes, salt: salt.span.bytes, info: "coffer search segment v1")
    let raw = derived.withBytes { span in (0..<32).map { span.unsafeLoad(fromByteOffset: $0, as: UInt8.self) }
    }
    for (name, found) in [
      ("segment key", raw), ("beginning", Array(bytes[..<80])),
      ("first tag", Array(bytes[(32 + 16_412 - 16)..<(32 + 16_412)])), ("last tag", Array(bytes.suffix(16))),
    ] {
      let text = found.map { String(format: "%02x", $0) }.joined()
      #expect(try found == hex(name), "\(name): \(text)")
    }
    let reader = try open(description, folder)
    try reader.verify()
    let messages = try messages()
    for argument in ["garden", "日本", "to:ben", "tag:keys", "=cafe", "\"the garden shed\"", "is:mail"] {
      let expression = try SearchExpression([argument])
      let found = try indexed(reader, messages, expression)
      #expect(!found.isEmpty && found == scanned(messages, expression), "\(argument)")
    }
  }
}
