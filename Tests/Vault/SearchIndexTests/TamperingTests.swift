// SPDX-License-Identifier: Apache-2.0
//
// Damaged, exchanged and missing segments: an error, never another answer.

import Extents
import Foundation
import MessageFormats
import Primitives
import Storage
import SeededGenerators
import Testing

@testable import SearchIndex

@Suite("Damaged segments")
struct TamperingTests {
  private let folder: SegmentFolder
  private let description: SegmentDescription
  private let messages: [Message]

  init() throws {
    var random = SeededGenerator(run: 31)
    folder = try SegmentFolder()
    messages = Corpus.messages(12, &random)
    description = try folder.build(messages)
  }

  private func bytes(_ description: SegmentDescription) -> [UInt8] {
    FileManager.default.contents(atPath: folder.path(description.id)).map { Array($0) } ?? []
  }

  private func write(_ bytes: [UInt8]) throws {
    try Data(bytes).write(to: URL(filePath: folder.path(description.id)))
  }

  /// Opens, searches and verifies.
  private func read(_ description: SegmentDescription) throws {
    let reader = try folder.open(description)
    for argument in ["garden", "\"garden lease\"", "日本", "tag:x", "date:1999", "is:mail"] {
      let expression = try SearchExpression([argument])
      #expect(try indexed(reader, messages, expression) == scanned(messages, expression))
    }
    try reader.verify()
  }

  @Test("each byte of a file flipped is damage, and no search finds anything else")
  func flips() throws {
    let whole = bytes(description)
    #expect(whole.count == description.byteCount && description.blockCount == 6)
    let file = try #require(FileHandle(forUpdatingAtPath: folder.path(description.id)))
    func put(_ byte: UInt8, _ offset: Int) throws {
      try file.seek(toOffset: UInt64(offset))
      try file.write(contentsOf: [byte])
    }
    let reader = try folder.open(description)
    var sections: [Int: SegmentFormat.Section] = [:]
    for section in SegmentFormat.Section.allCases {
      for block in reader.file.blocks(section) { sections[Int(block)] = section }
    }
    let block = SharedBlock()
    for offset in Shares("segments, changed bytes", count: 4).of(Array(whole.indices)) {
      try put(whole[offset] ^ 1 << UInt8(offset % 8), offset)
      let number = (offset - 32) / SegmentFormat.boxByteCount
      if offset < 32 || sections[number] == .root {
        #expect(throws: SegmentError.damaged, "\(offset)") { _ = try folder.open(description) }
      } else {
        let section = try #require(sections[number])
        #expect(throws: SegmentError.damaged, "\(offset)") {
          try reader.file.open(number, as: section, into: block)
        }
      }
      if offset % 997 == 0 {
        #expect(throws: SegmentError.damaged) { try folder.open(description).verify() }
        // What a search does not read, it does not notice.
        do { try read(description) } catch let error as SegmentError { #expect(error == .damaged) }
      }
      try put(whole[offset], offset)
    }
    try read(description)
  }

  @Test("blocks exchanged within a segment and between two are damage")
  func exchanges() throws {
    let whole = bytes(description)
    let other = bytes(try folder.build(messages))
    let size = SegmentFormat.boxByteCount
    func range(_ block: Int) -> Range<Int> { 32 + block * size..<32 + (block + 1) * size }
    for first in 0..<description.blockCount {
      for second in 0..<description.blockCount where first != second {
        var changed = whole
        changed.replaceSubrange(range(first), with: whole[range(second)])
        try write(changed)
        #expect(throws: SegmentError.damaged) { try read(description) }
      }
      var changed = whole
      changed.replaceSubrange(range(first), with: other[range(first)])
      try write(changed)
      #expect(throws: SegmentError.damaged) { try read(description) }
    }
    try write(other)
    #expect(throws: SegmentError.damaged) { try read(description) }
  }

  @Test("a file that is shorter, longer or empty is damage; one that is not there is missing")
  func lengths() throws {
    let whole = bytes(description)
    for count in [0, 1, 31, 32, 33, whole.count - SegmentFormat.boxByteCount, whole.count - 1] {
      try write(Array(whole[..<count]))
      #expect(throws: SegmentError.damaged) { try read(description) }
    }
    try write(whole + [0])
    #expect(throws: SegmentError.damaged) { try read(description) }
    try write(whole + whole.suffix(SegmentFormat.boxByteCount))
    #expect(throws: SegmentError.damaged) { try read(description) }
    folder.files.remove(description.id)
    #expect(throws: SegmentError.missing) { try read(description) }
    try FileManager.default.createDirectory(
      atPath: folder.path(description.id), withIntermediateDirectories: false)
    #expect(throws: SegmentError.damaged) { try read(description) }
  }

  @Test("a description that says something else is damage")
  func descriptions() throws {
    try read(description)
    var wrong = [description, description, description, description, description]
    wrong[0].documentCount += 1
    wrong[1].blockCount -= 1
    wrong[2].rootBlockCount += 1
    wrong[3].numbers = description.numbers.lowerBound...description.numbers.upperBound + 1
    wrong[4].rootBlockCount = 0
    for wrong in wrong { #expect(throws: SegmentError.damaged) { try read(wrong) } }
  }

  @Test("another vault key opens nothing")
  func wrongKey() throws {
    #expect(throws: SegmentError.damaged) {
      _ = try SegmentReader(
        description, files: folder.files, vaultKey: [UInt8](repeating: 0x43, count: 32).span.bytes)
    }
  }

  @Test("a segment that was put back under the name of another is damage")
  func renamed() throws {
    let other = try folder.build(messages)
    folder.files.remove(other.id)
    try FileManager.default.copyItem(
      atPath: folder.path(description.id), toPath: folder.path(other.id))
    #expect(throws: SegmentError.damaged) { try read(other) }
  }

  @Test("a builder that is dropped leaves no file, and what is finished has mode 0600")
  func files() throws {
    let before = try folder.files.names()
    let key = folder.key
    do {
      var builder = try SegmentBuilder(files: folder.files, keyVersion: 1, vaultKey: key.span.bytes)
      try builder.append(messages[0])
      #expect(try folder.files.names().count == before.count + 1)
    }
    #expect(try folder.files.names() == before)
    let attributes = try FileManager.default.attributesOfItem(atPath: folder.path(description.id))
    #expect(attributes[.posixPermissions] as? Int == 0o600)
  }

  @Test("when the folder cannot be written, the disk is to blame and nothing is there")
  func noFolder() throws {
    let folder = try SegmentFolder()
    try Data().write(to: URL(filePath: folder.home.path + "/search"))
    let key = folder.key
    #expect(throws: SegmentError.disk(.placeTaken(.search))) {
      _ = try SegmentBuilder(files: folder.files, keyVersion: 1, vaultKey: key.span.bytes)
    }
  }

  @Test("a merge of a damaged segment is damage, and leaves no file")
  func damagedMerge() throws {
    let reader = try folder.open(description)
    var changed = bytes(description)
    changed[32 + SegmentFormat.boxByteCount * 2 + 100] ^= 1
    try write(changed)
    let before = try Set(folder.files.names())
    #expect(throws: SegmentError.damaged) { _ = try folder.merge([(reader, [])]) }
    #expect(throws: SegmentError.damaged) {
      let key = folder.key
      _ = try SegmentMerger.copy(reader, files: folder.files, keyVersion: 1, vaultKey: key.span.bytes)
    }
    #expect(try Set(folder.files.names()) == before)
  }

  @Test("a merge that leaves nothing makes no segment")
  func emptyMerge() throws {
    let before = try folder.files.names()
    let reader = try folder.open(description)
    #expect(try folder.merge([(reader, Array(0..<UInt32(messages.count)))]) == nil)
    #expect(try folder.files.names() == before)
  }
}
