// SPDX-License-Identifier: Apache-2.0
//
// The segments that an import makes on another thread while it stores messages. Batches have four messages, segments
// six.

import MessageFormats
import Storage
import Testing

@testable import Vaults

@Suite("The search index beside an import")
struct ImportIndexingTests {
  private let fixture: VaultFixture
  private let vault: Vault

  init() throws {
    fixture = try VaultFixture()
    vault = fixture.indexed()
  }

  private func source(_ count: Int) -> ListSource {
    ListSource(texts: (1...count).map { $0 % 3 == 0 ? "garden shed \($0)" : "garden \($0)" })
  }

  /// Every file is named, and the index finds what opening every message finds.
  private func expectWhole() throws {
    let record = try #require(try vault.currentRecord())
    #expect(try fixture.segmentFiles().count == record.segments.count)
    try vault.expectAsScanned()
  }

  @Test("An import that is stopped has indexed what was in the making", arguments: 1...30)
  func stopped(limit: Int) throws {
    var source = source(60)
    let progress = try vault.importMessages(from: &source) { _, progress in progress.importedCount < limit }
    let indexed = try #require(try vault.currentRecord()).indexed.count
    // The batch after which it was stopped begins no segment.
    let begun = (progress.importedCount - 4) / 12 * 12
    #expect(indexed >= begun && indexed <= progress.importedCount, "\(indexed) of \(progress.importedCount)")
    try expectWhole()
  }

  @Test("Of an import whose source fails, or that an error ends, all that was stored is found")
  func failed() throws {
    struct Ended: Error {}
    var broken = source(27)
    broken.end = .cannotRead(errno: 5)
    #expect(throws: MessageFormatError.self) { try vault.importMessages(from: &broken) { _, _ in true } }
    try expectWhole()
    var next = source(27)
    #expect(throws: Ended.self) {
      try vault.importMessages(from: &next) { _, progress in
        if progress.importedCount > 14 { throw Ended() }
        return true
      }
    }
    #expect(try vault.status().messageCount == 27 + 16)
    try expectWhole()
  }

  @Test("A message that is removed while its segment is made is in no answer")
  func removed() throws {
    var source = source(40)
    var first: [MessageID] = []
    try vault.importMessages(from: &source) { ids, progress in
      if first.isEmpty { first = ids }
      // The first segment is being made, and is not named yet.
      if progress.importedCount == 12 {
        #expect(try vault.currentRecord()?.segments.isEmpty == true)
        for id in first.prefix(2) { try vault.remove(id) }
      }
      return true
    }
    let found = try vault.found(.init(try SearchExpression(["garden"]))).found
    #expect(found.count == 38 && !found.ids.contains(first[0]) && !found.ids.contains(first[1]))
    #expect(try vault.currentRecord()?.indexed.count == 38)
    try expectWhole()
  }
}
