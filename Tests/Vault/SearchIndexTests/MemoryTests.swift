// SPDX-License-Identifier: Apache-2.0
//
// What making and reading segments leaves in memory: keys and words nowhere, once they are let go. Titles, tags, types and
// the words of a search are Swift strings and are not looked for.

import Foundation
import MemorySearch
import MessageFormats
import Primitives
import Secrets
import Storage
import Testing

@testable import SearchIndex

@Suite("What the search index leaves in memory")
struct MemoryTests {
  @Test("words, vault key and segment key are gone after building, searching, merging and copying")
  func nothingLeft() async {
    await #expect(processExitsWith: .success) { recordingErrors { try MemoryTests().expectGone() } }
  }

  private func expectGone() throws {
    let folder = try SegmentFolder()
    let word = secretWord()
    let key = SystemRandom.secretBytes(count: 32)
    let wordNeedle = word.withBytes { Needle($0) }
    let keyNeedle = key.withBytes { Needle($0) }
    let segmentKey = try use(folder, word, key)
    try forget(consume word, consume key)
    for (name, needle) in [("word", wordNeedle), ("vault key", keyNeedle), ("segment key", segmentKey)] {
      try ProcessMemory.expectGone(needle, "\(name)")
    }
  }

  @Test("while a segment is made, its words are in locked memory")
  func locked() async {
    await #expect(processExitsWith: .success) { recordingErrors { try MemoryTests().expectLocked() } }
  }

  private func expectLocked() throws {
    let folder = try SegmentFolder()
    let word = secretWord()
    let key = SystemRandom.secretBytes(count: 32)
    var builder = try key.withBytes { try SegmentBuilder(files: folder.files, keyVersion: 1, vaultKey: $0) }
    try append(word, 1, &builder)
    let needle = word.withBytes { Needle($0) }
    // In the words of the segment at least, and where the test has it.
    #expect(try ProcessMemory.places(of: needle).count > 2)
    let file = try #require(FileHandle(forReadingAtPath: "/proc/self/smaps"))
    let maps = String(decoding: try file.readToEnd() ?? Data(), as: UTF8.self)
    // The chunk of words: 1 MiB by itself.
    let pieces = maps.components(separatedBy: "VmFlags:")
    func isWhole(_ piece: String, _ name: String) -> Bool {
      piece.split(separator: "\n").contains { $0.hasPrefix(name) && $0.hasSuffix(" 1024 kB") }
    }
    #expect(pieces.contains { isWhole($0, "Size:") && isWhole($0, "Locked:") }, "\(pieces.count)")
    #expect(SecretMemory.isLocked)
    _ = try builder.finish()
  }

  private func secretWord() -> SecretBytes {
    var random = SystemRandomNumberGenerator()
    return SecretBytes(byteCount: 64) { bytes in
      for offset in 0..<64 {
        bytes.storeBytes(
          of: UInt8.random(in: 0x61...0x7A, using: &random), toByteOffset: offset, as: UInt8.self)
      }
    }
  }

  @inline(never)
  private func append(_ word: borrowing SecretBytes, _ number: Int64, _ builder: inout SegmentBuilder) throws
  {
    try word.withBytes { content in
      try builder.append(
        number: number, id: RecordID(), timestamp: 1,
        metadata: MessageMetadata(title: "garden", contentType: "text/plain"), content: content)
    }
  }

  @inline(never)
  private func use(
    _ folder: SegmentFolder, _ word: borrowing SecretBytes, _ key: borrowing SecretBytes
  ) throws -> Needle {
    try key.withBytes { key in
      var readers: [SegmentReader] = []
      for number in 1...2 {
        var builder = try SegmentBuilder(files: folder.files, keyVersion: 1, vaultKey: key)
        try append(word, Int64(number), &builder)
        readers.append(try SegmentReader(builder.finish(), files: folder.files, vaultKey: key))
      }
      let merged = try SegmentMerger.merge(
        readers.map { ($0, []) }, files: folder.files, keyVersion: 1, vaultKey: key)
      let reader = try SegmentReader(try #require(merged), files: folder.files, vaultKey: key)
      _ = try SegmentMerger.copy(reader, files: folder.files, keyVersion: 1, vaultKey: key)
      try reader.verify()
      for argument in ["arden", "garden", "gard*"] {
        #expect(try reader.ordinals(SearchExpression([argument])) { _, _ in false } == [0, 1])
      }
      try reader.forEachRow { _ = $0.title }
      var hkdf = HKDF()
      let id = reader.description.id.bytes
      let segmentKey = hkdf.deriveKey(ikm: key, salt: id.span.bytes, info: "coffer search segment v1")
      return segmentKey.withBytes { Needle($0) }
    }
  }

  @inline(never)
  private func forget(_ word: consuming SecretBytes, _ key: consuming SecretBytes) throws {}
}
