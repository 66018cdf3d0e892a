// SPDX-License-Identifier: Apache-2.0

import Foundation
import Histories
import Primitives
import Remotes
import Secrets
import Testing
import Vaults

@testable import Syncing

@Suite("Two coffers of one account")
struct TwoCoffersTests {
  private let folder: RemoteFolder
  private let first: SyncedCoffer
  private let second: SyncedCoffer

  init() throws {
    folder = try RemoteFolder()
    first = try SyncedCoffer()
    second = try SyncedCoffer()
  }

  private func link() throws {
    try first.makeAccount(at: folder.remote, folder: folder.path)
    try second.join(first, at: folder.remote)
  }

  /// Both run twice, so that what each has reaches the other.
  private func settle() throws {
    for _ in 0..<2 {
      #expect(try first.sync(at: folder.remote).outcome == .complete)
      #expect(try second.sync(at: folder.remote).outcome == .complete)
    }
    #expect(try first.shown() == second.shown())
    for order in Vault.Order.allCases where order != .stored {
      #expect(try first.listed(order) == second.listed(order))
    }
    #expect(try first.coffer.account.open().status().words == second.coffer.account.open().status().words)
  }

  @Test("Messages of one second are listed in one order on both, wherever they were added and changed")
  func sameOrder() throws {
    // All have one date, and came to the two coffers in different orders.
    var ids = [try first.add("lease"), try second.add("boat"), try first.add("garden")]
    try link()
    try settle()
    #expect(try second.listed() == ids.reversed())
    ids += [try second.add("roof"), try first.add("well"), try second.add("gate")]
    try first.edit(ids[1], "the boat")
    try second.coffer.removeMessage(ids[2])
    try settle()
    try first.coffer.putBackMessage(ids[2])
    try settle()
    for coffer in [first, second] {
      #expect(try coffer.listed() == ids.reversed())
      #expect(try coffer.listed(limit: 2) == ids.suffix(2).reversed())
      #expect(try coffer.listed(.title, limit: 4, isReversed: true) == Array(ids.prefix(4)))
    }
  }

  @Test("What both had is on both afterwards, and later messages travel both ways")
  func messages() throws {
    let ids = try (0..<20).map { try first.add("text \($0)", title: "title \($0)", tags: ["a"]) }
    try second.add("already here")
    let report = try first.makeAccount(at: folder.remote, folder: folder.path)
    #expect(report.outcome == .complete && report.sentCount == 20 && report.waitingCount == 0)
    let joined = try second.join(first, at: folder.remote)
    #expect(joined.outcome == .complete && joined.newCount == 20 && joined.sentCount == 1)
    #expect(try second.shown().count == 21)
    let back = try first.sync(at: folder.remote)
    #expect(back.newCount == 1 && back.sentCount == 0)
    #expect(try first.shown() == second.shown())
    #expect(try first.shown()[ids[3]] == Shown(title: "title 3", tags: ["a"], text: "text 3"))
    // Nothing to do: nothing is written.
    let before = try folder.files()
    #expect(try first.sync(at: folder.remote).sentCount == 0)
    #expect(try folder.files() == before)
  }

  @Test("So many edits at once are held until the user confirms them, and a confirmation stays")
  func confirmation() throws {
    let ids = try (0..<110).map { try first.add("text \($0)") }
    try link()
    for id in ids { try second.edit(id, "edited") }
    try second.sync(at: folder.remote)
    try first.sync(at: folder.remote)
    func heldCount() throws -> Int {
      try first.coffer.account.open().devices.reduce(0) { $0 + $1.heldCount }
    }
    #expect(try heldCount() > 100)
    try first.coffer.account.open().confirm(second.device())
    #expect(try heldCount() == 0)
    try settle()
    #expect(try heldCount() == 0 && Set(first.shown().values.map(\.text)) == ["edited"])
  }

  @Test("Edits travel with their history, removals go to the trash, and what is put back comes back")
  func changes() throws {
    let ids = try (0..<4).map { try first.add("text \($0)") }
    try link()
    try first.edit(ids[0], "better", title: "new", tags: ["x", "y"])
    try second.coffer.removeMessage(ids[1])
    try settle()
    #expect(try second.shown()[ids[0]] == Shown(title: "new", tags: ["x", "y"], text: "better"))
    #expect(try second.history(ids[0]) == ["text 0", "better"])
    #expect(try first.shown()[ids[1]] == nil && first.trash() == [ids[1]])
    try first.coffer.putBackMessage(ids[1])
    try settle()
    #expect(try second.shown()[ids[1]]?.text == "text 1" && second.trash().isEmpty)
    _ = try second.coffer.restoreMessage(ids[0], number: 1)
    try settle()
    #expect(try first.shown()[ids[0]]?.text == "text 0")
    try first.coffer.removeMessage(ids[2])
    try first.coffer.eraseMessages([ids[2]])
    try settle()
    #expect(try second.shown()[ids[2]] == nil && second.trash() == [ids[2]])
  }

  @Test(
    "Edits of both are both kept, and the same one is shown on both; an edit wins over a removal that had not seen it"
  )
  func crossed() throws {
    let ids = try (0..<2).map { try first.add("text \($0)") }
    try link()
    try first.edit(ids[0], "from the first")
    try second.edit(ids[0], "from the second")
    try first.edit(ids[1], "kept")
    try second.coffer.removeMessage(ids[1])
    try settle()
    for coffer in [first, second] {
      #expect(try coffer.history(ids[0]) == ["text 0", "from the first", "from the second"])
      #expect(try coffer.shown()[ids[1]]?.text == "kept" && coffer.trash().isEmpty)
    }
  }

  @Test("Each device says once that a message was changed on both, and a further change decides")
  func parallel() throws {
    let id = try first.add("text")
    try first.add("untouched")
    try link()
    try first.edit(id, "from the first")
    try second.edit(id, "from the second")
    #expect(try first.sync(at: folder.remote).parallel == [])
    for parallel in [[id], []] as [Set<MessageID>] {
      #expect(try second.sync(at: folder.remote).parallel == parallel)
      #expect(try first.sync(at: folder.remote).parallel == parallel)
    }
    try second.edit(id, "decided")
    #expect(try second.sync(at: folder.remote).parallel == [])
    #expect(try first.sync(at: folder.remote).parallel == [])
    #expect(try first.shown() == second.shown() && first.shown()[id]?.text == "decided")
  }

  @Test(
    "A message that was removed on one device and changed on the other is shown again, and who removed it is told once"
  )
  func removedAndChanged() throws {
    let ids = try [first.add("text"), first.add("put back"), first.add("gone")]
    try link()
    for id in ids { try second.coffer.removeMessage(id) }
    try first.edit(ids[0], "changed")
    #expect(try first.sync(at: folder.remote).returned == [])
    #expect(try second.sync(at: folder.remote).returned == [ids[0]])
    #expect(try first.sync(at: folder.remote).returned == [])
    // What the other device puts back is no surprise, changed or not.
    for id in ids.dropFirst() { try first.coffer.putBackMessage(id) }
    try first.edit(ids[2], "put back and changed")
    #expect(try first.sync(at: folder.remote).returned == [])
    #expect(try second.sync(at: folder.remote).returned == [])
    #expect(try first.shown() == second.shown() && Set(second.shown().keys) == Set(ids))
  }

  @Test(
    "Also of a message that was erased for good, whichever device is heard first", arguments: [false, true])
  func erasedAndChanged(removerFirst: Bool) throws {
    let id = try first.add("text")
    try link()
    try second.coffer.removeMessage(id)
    try second.coffer.eraseMessages([id])
    try first.edit(id, "changed")
    if removerFirst { #expect(try second.sync(at: folder.remote).returned == []) }
    #expect(try first.sync(at: folder.remote).returned == [])
    #expect(try second.sync(at: folder.remote).returned == [id])
    #expect(try second.sync(at: folder.remote).returned == [])
    // A third device never had it, and is told of nothing.
    let third = try SyncedCoffer()
    #expect(try third.join(first, at: folder.remote, name: "third").returned == [])
    #expect(try third.shown()[id]?.text == "changed")
  }

  @Test("A device tells who removed what it hides, and since when, until it is put back or cut off")
  func removals() throws {
    let ids = try (0..<5).map { try first.add("text \($0)") }
    try link()
    let start = UInt64(Date().timeIntervalSince1970)
    for id in ids.dropFirst(2) { try second.coffer.removeMessage(id) }
    try second.sync(at: folder.remote)
    try first.coffer.removeMessage(ids[0])
    let account = try first.coffer.account.open()
    let report = try account.run(.sync, at: folder.remote)
    #expect(report.removed == Set(ids.dropFirst(2)))
    let removals = account.removals(in: report)
    #expect(removals.map(\.name) == ["second"] && removals.map(\.recordCount) == [3])
    let since = try #require(removals.first?.since)
    #expect(start - 1...start + 3_600 ~= since)
    _ = try account.revoke(
      second.device(), since: Int64(since), with: AccountSecret(SyncedCoffer.passphrase()), at: folder.remote)
    #expect(try account.removals(in: report).isEmpty && first.shown().count == 4)
  }

  @Test("Where a segment is damaged, a device that comes is told at once that something is missing")
  func damagedSegment() throws {
    try first.makeAccount(at: folder.remote, folder: folder.path)
    for number in 0..<3 {
      try first.add("text \(number)")
      try first.sync(at: folder.remote)
    }
    #expect(try first.sync(at: folder.remote).awaitedCount == 0)
    let name = try #require(
      try folder.files().keys.filter { $0.contains("/chain/") }.sorted().dropLast().last)
    var bytes = try #require(try folder.files()[name])
    bytes[bytes.count / 2] ^= 1
    try bytes.write(to: URL(filePath: folder.path + "/" + name))
    let report = try second.join(first, at: folder.remote)
    // It, and the one after it.
    #expect(report.outcome == .complete && report.awaitedCount == 2 && report.newCount == 1)
    #expect(try first.sync(.verify, at: folder.remote).outcome == .complete)
    let after = try second.sync(at: folder.remote)
    #expect(after.awaitedCount == 0 && after.newCount == 2)
  }

  @Test("Messages of one date are listed in the same order on a device that joins later")
  func order() throws {
    let ids = try (0..<3).map { try first.add("text \($0)") }
    try first.makeAccount(at: folder.remote, folder: folder.path)
    for number in 3..<8 {
      try first.add("text \(number)")
      if number == 5 { try first.edit(ids[1], "edited") }
      try first.sync(at: folder.remote)
    }
    try second.join(first, at: folder.remote)
    let lists = try [first, second].map { coffer in
      var list: [MessageID] = []
      _ = try coffer.coffer.vault.list { id, _ in
        list.append(id)
        return true
      }
      return list
    }
    #expect(lists[0].count == 8 && lists[0] == lists[1])
  }

  @Test("A rotation of the vault key on one coffer changes nothing at the remote and nothing on the other")
  func rotation() throws {
    let id = try first.add("text")
    try link()
    let before = try folder.files()
    _ = try first.coffer.rotateVaultKey { _ in true }
    #expect(try first.sync(at: folder.remote).sentCount == 0)
    #expect(try folder.files() == before)
    #expect(try second.shown()[id] != nil)
  }

  @Test("No byte at the remote is of a text, a title, a tag or an identifier")
  func nothingInTheClear() throws {
    let id = try first.add("a very secret text", title: "a secret title", tags: ["secrettag"])
    try link()
    try second.edit(id, "another secret text")
    try settle()
    let files = try folder.files()
    #expect(files.count > 6)
    let octets = id.withBytes { [UInt8](copying: $0) }
    let digits = Hexadecimal.text(octets)
    let needles = ["secret text", "secret title", "secrettag", digits, digits.uppercased()].map {
      Data($0.utf8)
    }
    for (name, data) in files {
      #expect(!name.contains(digits))
      for needle in needles + [Data(octets)] { #expect(data.range(of: needle) == nil, "\(name)") }
    }
  }

  @Test(
    "A message that was stored while another process synchronises is not lost, and two at once are refused")
  func twoProcesses() throws {
    try link()
    let (one, other) = try (first.coffer.account.open(), first.coffer.account.open())
    try first.add("in between")
    #expect(try one.run(.sync, at: folder.remote).sentCount == 1)
    #expect(throws: SyncError.busy) { try other.run(.sync, at: folder.remote) }
    try settle()
    #expect(try second.shown().values.map(\.text) == ["in between"])
  }

  @Test("Many messages go in several segments")
  func many() throws {
    for number in 0..<4_100 { try first.add("m\(number)") }
    try first.makeAccount(at: folder.remote, folder: folder.path)
    let report = try second.join(first, at: folder.remote)
    #expect(report.newCount == 4_100)
    #expect(try first.shown() == second.shown())
  }
}
