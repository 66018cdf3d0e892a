// SPDX-License-Identifier: Apache-2.0
//
// What an attack on synchronisation found: each lost a change, showed a removed message, or left a vault with two rows of
// one message shown.

import CofferKit
import Foundation
import Histories
import Primitives
import Remotes
import Secrets
import TemporaryHomes
import Testing
import Vaults

@testable import Syncing

@Suite("What an attack on synchronisation found")
struct AttackTests {
  private let folder: RemoteFolder
  private let first: SyncedCoffer
  private let second: SyncedCoffer

  init() throws {
    folder = try RemoteFolder()
    first = try SyncedCoffer()
    second = try SyncedCoffer()
  }

  private func settle(_ coffers: [SyncedCoffer]? = nil) throws {
    let coffers = coffers ?? [first, second]
    for _ in 0..<2 {
      for coffer in coffers { #expect(try coffer.sync(at: folder.remote).outcome == .complete) }
    }
    let shown = try coffers.map { try $0.shown() }
    #expect(shown.allSatisfy { $0 == shown[0] })
  }

  @Test("A copy of a home from before an edit joins, and the edit stays")
  func joiningCopy() throws {
    let ids = try ["one", "other"].map { try first.add($0) }
    let copy = try first.place.copy()
    try first.makeAccount(at: folder.remote, folder: folder.path)
    try second.join(first, at: folder.remote)
    try first.edit(ids[0], "two")
    try first.coffer.removeMessage(ids[1])
    try first.coffer.eraseMessages([ids[1]])
    try settle()
    let third = try SyncedCoffer(opening: copy)
    try third.join(first, at: folder.remote)
    try settle([first, second, third])
    #expect(try first.shown().values.map(\.text) == ["two"])
    #expect(try third.trash() == [ids[1]])
  }

  /// What is there after a join that ended early, beside the account that ``first`` has made.
  private struct StoppedJoin {
    let folder: RemoteFolder
    let owner: SyncedCoffer
    let third: SyncedCoffer
    let isWhole: Bool
  }

  /// Joins with copies of all, and gets no answer after so many requests.
  private func join(from home: TemporaryHome, stoppingAfter limit: Int) throws -> StoppedJoin {
    let here = try RemoteFolder()
    try folder.copy(into: here)
    let owner = try SyncedCoffer(opening: first.place.copy())
    let third = try SyncedCoffer(opening: home.copy())
    let stopping = StoppingRemote(here.remote, after: limit, carriesLastOut: limit % 4 == 0)
    let report = try? third.join(owner, at: stopping, name: "third")
    return StoppedJoin(folder: here, owner: owner, third: third, isWhole: report?.outcome == .complete)
  }

  @Test("A join that ends early brings back nothing that was removed elsewhere, whenever it ends")
  func interruptedJoin() throws {
    let ids = try ["one", "other"].map { try first.add($0) }
    let former = try first.place.copy()
    try first.makeAccount(at: folder.remote, folder: folder.path)
    try first.edit(ids[0], "two")
    try first.coffer.removeMessage(ids[1])
    try first.sync(at: folder.remote)
    var (limit, joinedCount, isWhole) = (0, 0, false)
    while !isWhole {
      let join = try join(from: former, stoppingAfter: limit)
      let (owner, third) = (join.owner, join.third)
      isWhole = join.isWhole
      limit += 2
      guard try third.coffer.account.exists() else { continue }
      joinedCount += 1
      #expect(try third.sync(at: join.folder.remote).outcome == .complete)
      #expect(try third.trash() == [ids[1]] && third.shown().values.map(\.text) == ["two"], "\(limit)")
      try owner.sync(at: join.folder.remote)
      #expect(try owner.shown().values.map(\.text) == ["two"], "\(limit)")
      #expect(try owner.history(ids[0]) == ["one", "two"] && owner.trash() == [ids[1]], "\(limit)")
    }
    #expect(joinedCount > 3)
  }

  @Test("What a user does after a join that ended early replaces nothing that it did not see, and is counted")
  func afterInterruptedJoin() throws {
    let ids = try ["one", "other", "third"].map { try first.add($0) }
    try first.makeAccount(at: folder.remote, folder: folder.path)
    let empty = try SyncedCoffer()
    let own = try empty.add("own")
    let joins = (0..<60).lazy.map { try? join(from: empty.place, stoppingAfter: $0) }
    let early = try #require(
      joins.compactMap(\.self).first { join in
        (try? join.third.shown().count == 4 && !join.third.coffer.account.open().takesLocalChanges) ?? false
      })
    let (owner, third, remote) = (early.owner, early.third, early.folder.remote)
    try owner.edit(ids[0], "theirs")
    try owner.edit(ids[1], "kept")
    try owner.sync(at: remote)
    let waitingCount = try third.coffer.account.open().countWaiting()
    #expect(waitingCount > 0)
    try third.edit(ids[0], "mine")
    for id in ids[1...] { try third.coffer.removeMessage(id) }
    // The edit and two removals.
    #expect(try third.coffer.account.open().countWaiting() == waitingCount + 3)
    let report = try third.sync(at: remote)
    #expect(report.outcome == .complete && report.waitingCount == 0)
    #expect(report.parallel == [ids[0]])
    #expect(report.returned == [ids[1]])
    try owner.sync(at: remote)
    try third.sync(at: remote)
    #expect(try owner.shown() == third.shown() && Set(owner.shown().keys) == [own, ids[0], ids[1]])
    for coffer in [owner, third] {
      #expect(try coffer.shown()[ids[1]]?.text == "kept" && coffer.trash() == [ids[2]])
      #expect(try Set(coffer.history(ids[0])) == ["one", "theirs", "mine"])
    }
  }

  @Test(
    "A device that leaves and joins again brings no former version back, and sends what it changed meanwhile")
  func joiningAgain() throws {
    let ids = try ["one", "other"].map { try first.add($0) }
    try first.makeAccount(at: folder.remote, folder: folder.path)
    try second.join(first, at: folder.remote)
    try first.edit(ids[0], "two")
    try settle()
    try second.edit(ids[0], "three")
    try second.coffer.removeMessage(ids[1])
    try settle()
    let address = try second.coffer.account.open().address()
    try first.coffer.account.forget()
    try first.edit(ids[0], "four")
    _ = try first.coffer.account.join(
      at: folder.remote, address, with: AccountSecret(SyncedCoffer.passphrase()),
      enclave: SyncedCoffer.enclave,
      name: "again")
    try settle()
    #expect(try second.shown().values.map(\.text) == ["four"])
    #expect(try second.history(ids[0]) == ["one", "two", "three", "four"])
  }

  @Test("An edit and a removal between two runs are a removal")
  func editedAndRemoved() throws {
    let ids = try (0..<3).map { try first.add("text \($0)") }
    try first.makeAccount(at: folder.remote, folder: folder.path)
    try second.join(first, at: folder.remote)
    for id in ids { try first.edit(id, "edited") }
    for id in ids { try first.coffer.removeMessage(id) }
    try first.coffer.eraseMessages([ids[2]])
    try settle()
    #expect(try second.shown().isEmpty && second.trash() == Set(ids))
    // What comes back elsewhere comes back here, and the trash is empty then.
    try second.coffer.putBackMessage(ids[0])
    try settle()
    #expect(try first.shown().count == 1 && !first.trash().contains(ids[0]))
    // Without a run between, in the trash of both: put back on both.
    try first.coffer.putBackMessage(ids[1])
    try second.coffer.putBackMessage(ids[1])
    try settle()
    #expect(try first.shown().count == 2)
  }

  @Test("A large edit and an edit elsewhere are both kept, and one removal takes both")
  func largeEdit() throws {
    let id = try first.add("text")
    try first.makeAccount(at: folder.remote, folder: folder.path)
    try second.join(first, at: folder.remote)
    try first.edit(id, String(repeating: "x", count: 17 << 20))
    try second.edit(id, "small")
    try settle()
    #expect(try first.shown()[id] == second.shown()[id])
    for coffer in [first, second] {
      let texts = try coffer.history(id)
      #expect(texts.contains("small") && texts.contains { $0.utf8.count == 17 << 20 })
    }
    try first.coffer.removeMessage(id)
    try first.sync(at: folder.remote)
    try second.sync(at: folder.remote)
    #expect(try second.shown().isEmpty)
  }

  @Test("While sending fails, an edit elsewhere arrives beside an edit here")
  func sendingFails() throws {
    let id = try first.add("text")
    try first.makeAccount(at: folder.remote, folder: folder.path)
    try second.join(first, at: folder.remote)
    try first.edit(id, "first")
    try second.edit(id, "second")
    try second.sync(at: folder.remote)
    for limit in 0..<14 {
      _ = try first.sync(at: StoppingRemote(folder.remote, after: limit, carriesLastOut: false))
      #expect(try first.shown()[id] != nil)
    }
    try settle()
    #expect(try first.history(id) == ["text", "first", "second"])
  }

  @Test("A removal takes only what its user had: a version whose content is not here yet survives")
  func unseen() throws {
    let id = try first.add("one")
    try first.makeAccount(at: folder.remote, folder: folder.path)
    try second.join(first, at: folder.remote)
    try second.edit(id, "precious")
    try second.sync(at: folder.remote)
    // As a synchroniser brings it: the segment before its pack.
    let account = try #require(FileManager.default.contentsOfDirectory(atPath: folder.path).first)
    let (packs, away) = (folder.path + "/" + account + "/pack", folder.path + ".away")
    try FileManager.default.moveItem(atPath: packs, toPath: away)
    #expect(try first.sync(at: folder.remote).missingCount == 1)
    #expect(try first.shown()[id]?.text == "one")
    try first.coffer.removeMessage(id)
    try first.sync(at: folder.remote)
    for name in try FileManager.default.subpathsOfDirectory(atPath: away)
    where !FileManager.default.fileExists(atPath: packs + "/" + name) {
      let parent = (packs + "/" + name as NSString).deletingLastPathComponent
      try FileManager.default.createDirectory(atPath: parent, withIntermediateDirectories: true)
      if (try? Data(contentsOf: URL(filePath: away + "/" + name))) != nil {
        try FileManager.default.copyItem(atPath: away + "/" + name, toPath: packs + "/" + name)
      }
    }
    try settle()
    #expect(try first.shown()[id]?.text == "precious")
  }

  @Test(
    "Junk in the folder of slots keeps nobody out, and a changed slot is not a wrong passphrase's fault alone"
  )
  func junkSlots() throws {
    try first.add("text")
    try first.makeAccount(at: folder.remote, folder: folder.path)
    let account = try #require(FileManager.default.contentsOfDirectory(atPath: folder.path).first)
    for number in 0..<100 {
      let name = String(repeating: "0", count: 61) + String(format: "%03d", number)
      try Data("junk".utf8).write(to: URL(filePath: folder.path + "/" + account + "/slots/" + name))
    }
    #expect(try second.join(first, at: folder.remote).newCount == 1)
  }
}
