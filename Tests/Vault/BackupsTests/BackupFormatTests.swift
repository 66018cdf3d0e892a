// SPDX-License-Identifier: Apache-2.0
//
// The bytes of a backup, and what a reader refuses.

import Foundation
import Keychains
import Primitives
import Secrets
import SpecExamples
import Storage
import TemporaryHomes
import Testing

@testable import Backups
@testable import CofferKit

@Suite("The file of a backup")
struct BackupFormatTests {
  @Test("The worked example of the page: key and chunk come out as they stand there, and open again")
  func example() throws {
    let page = try SpecExample(page: "backup.md")
    let records = try page.bytes("records")
    let key = [UInt8](repeating: 0x2A, count: 32)
    let digest = [UInt8](repeating: 7, count: 32)
    let derived = BackupHeader.bodyKey(key.rawSpan, digest: digest)
    let expectedKey = try page.bytes("key")
    #expect(derived.withBytes { Array($0.withUnsafeBytes { Array($0) }) } == expectedKey)
    var chunk = records + [UInt8](repeating: 0, count: 16)
    chunk.withMutableRawSpan { BackupChunks(derived).seal(&$0, isLast: true) }
    #expect(try page.bytes("chunk") == chunk)
    var opened = [UInt8](repeating: 0, count: records.count)
    try opened.withMutableRawSpan { try BackupChunks(derived).open(chunk.rawSpan, isLast: true, into: &$0) }
    #expect(opened == records)
    #expect(throws: BackupError.damaged) {
      try opened.withMutableRawSpan {
        try BackupChunks(derived).open(chunk.rawSpan, isLast: false, into: &$0)
      }
    }
  }

  @Test("A changed bit in any part of the file is noticed, and nothing is left of the attempt")
  func tampered() throws {
    let fixture = try BackupFixture()
    _ = try fixture.addIdentity("Ada <ada@example.org>")
    try fixture.backUp(withIdentities: true)
    let bytes = try fixture.bytes()
    // Everywhere in the head, and at least once in each chunk.
    let head = Array(stride(from: 0, to: 700, by: 37))
    let body = Array(stride(from: 700, to: bytes.count, by: 19_001)) + [bytes.count - 1, bytes.count - 40]
    for place in head + body {
      var changed = bytes
      changed[place] ^= 0x10
      try fixture.write(changed, "changed")
      let home = try TemporaryHome()
      #expect(throws: (any Error).self, "byte \(place)") {
        try restore(fixture.path("changed"), to: home.path)
      }
      #expect(!FileManager.default.fileExists(atPath: home.path), "byte \(place)")
    }
  }

  @Test("A file that was cut off, or got more bytes, is not restored")
  func cut() throws {
    let fixture = try BackupFixture()
    try fixture.backUp()
    let bytes = try fixture.bytes()
    let header = try BackupReader(path: fixture.path()).header.bytes.count
    let chunk = BackupChunks.sealedByteCount
    for count in [0, 5, 12, 100, header - 1, header, header + 10, header + chunk, bytes.count - 1] {
      try fixture.write(Array(bytes.prefix(count)), "cut")
      let home = try TemporaryHome()
      #expect(throws: BackupError.self, "\(count) bytes") { try restore(fixture.path("cut"), to: home.path) }
      #expect(!FileManager.default.fileExists(atPath: home.path))
    }
    try fixture.write(bytes + [0], "longer")
    let home = try TemporaryHome()
    #expect(throws: BackupError.damaged) { try restore(fixture.path("longer"), to: home.path) }
  }

  @Test("Chunks that were exchanged, or come from another backup, do not open")
  func exchanged() throws {
    let fixture = try BackupFixture()
    try fixture.backUp("one")
    try fixture.backUp("two")
    let (one, two) = (try fixture.bytes("one"), try fixture.bytes("two"))
    let header = try BackupReader(path: fixture.path("one")).header.bytes.count
    let chunk = BackupChunks.sealedByteCount
    try #require(one.count > header + 2 * chunk)
    let first = header..<header + chunk
    let second = first.upperBound..<first.upperBound + chunk
    var swapped = one
    swapped.replaceSubrange(first, with: one[second])
    swapped.replaceSubrange(second, with: one[first])
    try fixture.write(swapped, "swapped")
    try fixture.write(Array(one[..<first.upperBound] + two[first.upperBound...]), "mixed")
    try fixture.write(Array(one[..<first.upperBound] + one[second.upperBound...]), "without")
    try fixture.write(Array(two[..<header] + one[header...]), "other-head")
    for name in ["swapped", "mixed", "without", "other-head"] {
      let home = try TemporaryHome()
      #expect(throws: BackupError.damaged, "\(name)") { try restore(fixture.path(name), to: home.path) }
      #expect(!FileManager.default.fileExists(atPath: home.path))
    }
  }

  @Test("Another file, and one of a later version, are refused as what they are")
  func otherFiles() throws {
    let fixture = try BackupFixture(blobs: false)
    try fixture.backUp()
    var bytes = try fixture.bytes()
    bytes[7] = 2
    try fixture.write(bytes, "later")
    #expect(throws: BackupError.unknownVersion(2)) { _ = try LockedBackup(path: fixture.path("later")) }
    try fixture.write(Array("not a backup at all, but a letter".utf8), "letter")
    #expect(throws: BackupError.notABackup) { _ = try LockedBackup(path: fixture.path("letter")) }
    #expect(throws: BackupError.notABackup) { _ = try LockedBackup(path: fixture.folder.path) }
    #expect(throws: BackupError.system(errno: ENOENT)) { _ = try LockedBackup(path: fixture.path("none")) }
  }

  @Test("Nothing of the coffer can be read in the file")
  func ciphertext() throws {
    let fixture = try BackupFixture()
    let fingerprint = try fixture.addIdentity("Ada Lovelace <ada@example.org>")
    try fixture.backUp(withIdentities: true)
    let file = Data(try fixture.bytes())
    for text in ["the text of message", "Ada Lovelace", "coffer.settings", "rial."] {
      #expect(file.range(of: Data(text.utf8)) == nil)
    }
    let key = try #require(try privateParts(fixture.coffer)[fingerprint])
    #expect(file.range(of: Data(key.suffix(40))) == nil)
  }
}
