// SPDX-License-Identifier: Apache-2.0
//
// Random histories of a vault with a small index: after every step, lists and searches find what a scan finds, in the
// same order, and nothing is damaged.

import Extents
import Foundation
import MessageFormats
import Primitives
import Secrets
import Storage
import Testing

@testable import Vaults

@Suite("Random histories of the search index")
struct IndexHistoryTests {
  @Test(
    "After every step the index finds what a scan finds",
    arguments: Shares("histories of the index", count: 3).of(Array(UInt64(1)...6)))
  func history(seed: UInt64) throws {
    let fixture = try VaultFixture()
    var maker = MessageMaker(seed: seed)
    for step in 1...25 {
      // As another command.
      let vault = fixture.indexed()
      let deed = Deed.allCases.randomElement(using: &maker.random) ?? .add
      try deed.run(vault, &maker)
      try vault.expectAsScanned("seed \(seed), step \(step), \(deed), before the update", turn: step)
      if step % 3 != 0 { try vault.updateIndex() }
      try vault.expectAsScanned("seed \(seed), step \(step), \(deed)", turn: step + 2)
      try vault.checkRows()
      try expectNoStrays(fixture, vault)
      fixture.time.advance(Int64.random(in: 1...50_000, using: &maker.random))
    }
  }

  /// Every file is named by the record, and every named file is there.
  private func expectNoStrays(_ fixture: VaultFixture, _ vault: Vault) throws {
    let record = try #require(try vault.currentRecord())
    let names = try fixture.file.searchFiles.names()
    #expect(Set(names) == Set(record.segments.map(\.description.id)))
  }

  enum Deed: CaseIterable {
    case add, importing, importingMany, remove, removeSeveral, edit, putBack, erase, rotate, rebuild, wait

    func run(_ vault: Vault, _ maker: inout MessageMaker) throws {
      switch self {
      case .add:
        let (metadata, content) = maker.next()
        _ = try vault.add(SecretBytes(copying: content.span.bytes), metadata: metadata)
      case .importing: try Self.importMessages(5, vault, &maker)
      case .importingMany: try Self.importMessages(23, vault, &maker)
      case .remove: try Self.remove(1, vault, &maker)
      case .removeSeveral: try Self.remove(6, vault, &maker)
      case .edit:
        guard let id = try Self.any(vault, &maker) else { return }
        let (metadata, content) = maker.next()
        _ = try vault.edit(id, from: nil, to: SecretBytes(copying: content.span.bytes), metadata: metadata)
      case .putBack:
        if let id = try Self.trash(vault).randomElement(using: &maker.random) { try vault.putBack(id) }
      case .erase:
        if let id = try Self.trash(vault).randomElement(using: &maker.random) { try vault.eraseRemoved([id]) }
      case .rotate: _ = try vault.rotate { _ in true }
      case .rebuild: #expect(try vault.rebuildIndex { _ in true })
      case .wait: break
      }
    }

    private static func importMessages(_ count: Int, _ vault: Vault, _ maker: inout MessageMaker) throws {
      var entries: [ListSource.Entry] = []
      for _ in 0..<count {
        let (metadata, content) = maker.next()
        entries.append((metadata, content))
      }
      var source = ListSource(entries)
      try vault.importMessages(from: &source) { _, _ in true }
    }

    private static func remove(_ count: Int, _ vault: Vault, _ maker: inout MessageMaker) throws {
      for _ in 0..<count {
        if let id = try any(vault, &maker) { try vault.remove(id) }
      }
    }

    private static func any(_ vault: Vault, _ maker: inout MessageMaker) throws -> MessageID? {
      var ids: [MessageID] = []
      _ = try vault.forEachMessage { id, _, _ in
        ids.append(id)
        return true
      }
      return ids.randomElement(using: &maker.random)
    }

    private static func trash(_ vault: Vault) throws -> [MessageID] {
      var ids: [MessageID] = []
      _ = try vault.listTrash { id, _, _, _ in
        ids.append(id)
        return true
      }
      return ids
    }
  }
}
