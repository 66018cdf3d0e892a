// SPDX-License-Identifier: Apache-2.0
//
// A search index whose files or record were changed: the answer is the same, and the damage is told.

import Foundation
import MessageFormats
import Primitives
import SearchIndex
import Secrets
import Storage
import Testing

@testable import Vaults

@Suite("A search index that was changed behind the vault's back")
struct IndexDamageTests {
  private let fixture: VaultFixture
  private let vault: Vault
  private let searches: [Vault.Search]
  private let expected: [Found]

  init() throws {
    fixture = try VaultFixture()
    vault = fixture.indexed()
    for number in 1...10 { try vault.add("garden shed \(number)", tags: ["home"]) }
    _ = try vault.flush { _ in true }
    try vault.add("garden tail")
    searches = [Vault.Search(), .init(try SearchExpression(["\"garden shed\""]))]
    let vault = vault
    expected = try searches.map { search in
      var scan = search
      scan.isScan = true
      return try vault.found(scan).found
    }
    #expect(try vault.currentRecord()?.segments.count == 2)
  }

  /// The answers are right; whether damage was told with one of them.
  private func isToldDamaged(_ what: String) throws -> Bool {
    var isTold = false
    for (search, expected) in zip(searches, expected) {
      let found = try fixture.indexed().found(search)
      #expect(found.found == expected, "\(what)")
      isTold = isTold || found.isDamaged
    }
    return isTold
  }

  @Test("A byte of the record")
  func record() throws {
    let sealed = try row(3)
    for place in sealed.indices {
      var changed = sealed
      changed[place] ^= 0x10
      try setRow(3, changed)
      #expect(try isToldDamaged("byte \(place)"))
    }
    try setRow(3, sealed)
    #expect(try !isToldDamaged("none"))
  }

  @Test("A byte of a segment: all of the header, and of each block some of every part")
  func files() throws {
    // Every byte of a block is authenticated in the same way.
    let blockByteCount = 12 + 16_384 + 16
    for path in try fixture.segmentFiles() {
      let bytes = try Data(contentsOf: URL(filePath: path))
      var places = Array(0..<32)
      for start in stride(from: 32, to: bytes.count, by: blockByteCount) {
        places += [0, 11, 12, 13, 9_000, blockByteCount - 17, blockByteCount - 16, blockByteCount - 1]
          .map { start + $0 }
      }
      var tolds = 0
      for place in places {
        var changed = bytes
        changed[place] ^= 0x01
        try changed.write(to: URL(filePath: path))
        let isTold = try isToldDamaged("byte \(place)")
        // A search need not read every block; whoever reads all of them tells.
        if isTold { tolds += 1 }
        #expect(try isTold || vault.indexStatus(isDeep: true)?.trouble == .damaged, "byte \(place)")
      }
      #expect(tolds > places.count / 2)
      try bytes.write(to: URL(filePath: path))
    }
    #expect(try !isToldDamaged("none"))
  }

  @Test("A file that is missing, short, long, another's or a link")
  func exchanged() throws {
    let paths = try fixture.segmentFiles()
    let contents = try paths.map { try Data(contentsOf: URL(filePath: $0)) }
    let changes: [(String, (String) throws -> Void)] = [
      ("missing", { try FileManager.default.removeItem(atPath: $0) }),
      ("empty", { try Data().write(to: URL(filePath: $0)) }),
      ("short", { try contents[0].dropLast().write(to: URL(filePath: $0)) }),
      ("a block short", { try contents[0].dropLast(16_412).write(to: URL(filePath: $0)) }),
      ("long", { try (contents[0] + [0]).write(to: URL(filePath: $0)) }),
      ("another's", { try contents[1].write(to: URL(filePath: $0)) }),
      (
        "two blocks exchanged",
        {
          let block = { contents[0].subdata(in: 32 + 16_412 * $0..<32 + 16_412 * ($0 + 1)) }
          try (contents[0].prefix(32) + block(1) + block(0) + contents[0].dropFirst(32 + 2 * 16_412))
            .write(to: URL(filePath: $0))
        }
      ),
      (
        "a link",
        {
          try FileManager.default.removeItem(atPath: $0)
          try FileManager.default.createSymbolicLink(atPath: $0, withDestinationPath: paths[1])
        }
      ),
    ]
    for (what, change) in changes {
      try change(paths[0])
      #expect(try isToldDamaged(what))
      try? FileManager.default.removeItem(atPath: paths[0])
      try contents[0].write(to: URL(filePath: paths[0]))
      #expect(try !isToldDamaged("after \(what)"))
    }
  }

  @Test("A disk that fails is not damage, and damage beside it is told first")
  func failingDisk() {
    var findings = Vault.Findings()
    findings.indexTrouble.note(.disk(.inputOutput(code: EIO)))
    #expect(findings.indexTrouble == .disk(.inputOutput(code: EIO)))
    findings.indexTrouble.note(.missing)
    #expect(findings.indexTrouble == .damaged)
    findings.indexTrouble.note(.disk(.full))
    #expect(findings.indexTrouble == .damaged)
  }

  @Test("The folder is missing, or another's")
  func folder() throws {
    let folder = fixture.home.path + "/search"
    try FileManager.default.moveItem(atPath: folder, toPath: folder + "2")
    #expect(try isToldDamaged("missing"))
    try FileManager.default.createSymbolicLink(atPath: folder, withDestinationPath: folder + "2")
    #expect(try isToldDamaged("a link"))
    #expect(throws: StorageError.placeTaken(.search)) { try vault.rebuildIndex { _ in true } }
    try FileManager.default.removeItem(atPath: folder)
    #expect(try vault.rebuildIndex { _ in true })
    #expect(try !isToldDamaged("made again"))
  }

  @Test("An earlier record, a record that is gone, and one that comes back")
  func putBack() throws {
    let earlier = try row(3)
    let files = try fixture.segmentFiles().map { ($0, try Data(contentsOf: URL(filePath: $0))) }
    let removed = try vault.add("garden shed 11")
    for number in 12...14 { try vault.add("garden shed \(number)") }
    _ = try vault.flush { _ in true }
    let present = try row(3)
    func expectSame(_ isDamaged: Bool, _ what: String) throws {
      try fixture.indexed().expectAsScanned(what, isDamaged: isDamaged)
    }
    try expectSame(false, "before")
    for (path, content) in files { try content.write(to: URL(filePath: path)) }
    try setRow(3, earlier)
    try expectSame(true, "an earlier record")
    try fixture.tamper("DELETE FROM vault WHERE part = 3")
    try expectSame(false, "no record")
    // Without its record, a message leaves; then the record comes back.
    try fixture.indexed().remove(removed)
    try setRow(3, present)
    try expectSame(true, "a record that comes back")
    #expect(try fixture.indexed().indexStatus() == .init(messageCount: 14, trouble: .damaged))
    // It stays as it is until somebody asks.
    try fixture.indexed().updateIndex()
    try expectSame(true, "after a change")
    #expect(try fixture.indexed().rebuildIndex { _ in true })
    try expectSame(false, "made again")
  }

  @Test("An earlier state alone is corruption, with an index as without")
  func earlierState() throws {
    let earlier = try row(1)
    try vault.add("garden shed 12")
    try setRow(1, earlier)
    expectError("VAULT_CORRUPT") { try fixture.indexed().found(.init()) }
    expectError("VAULT_CORRUPT") { try fixture.indexed().found(.init(nil, .init(limit: 1))) }
  }

  @Test("Merging and purging leave a damaged segment as it is; making the index again mends it")
  func writers() throws {
    let path = try fixture.segmentFiles()[0]
    try Data(count: 50).write(to: URL(filePath: path))
    for number in 1...30 {
      let vault = fixture.indexed()
      let id = try vault.add("ivy \(number)")
      if number % 5 == 0 { try vault.remove(id) }
      try vault.updateIndex()
    }
    try fixture.indexed().expectAsScanned(isDamaged: true)
    // The others are merged without it.
    #expect(try #require(try vault.currentRecord()).segments.count <= 6)
    var steps: [Vault.IndexProgress] = []
    #expect(
      try vault.rebuildIndex {
        steps.append($0); return true
      })
    #expect(!steps.isEmpty && steps.allSatisfy { $0.done <= $0.total })
    try fixture.indexed().expectAsScanned()
    try vault.checkRows()
  }

  // MARK: -

  private func row(_ part: Int64) throws -> [UInt8] {
    try fixture.file.read { transaction in
      try #require(
        try transaction.firstRow("SELECT sealed FROM vault WHERE part = ?", .integer(part)) {
          Array(try $0.bytes(0))
        })
    }
  }

  private func setRow(_ part: Int, _ sealed: [UInt8]) throws {
    try fixture.tamper("INSERT OR REPLACE INTO vault (part, sealed) VALUES (\(part), x'\(hex(sealed))')")
  }
}
