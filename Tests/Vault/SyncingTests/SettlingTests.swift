// SPDX-License-Identifier: Apache-2.0
//
// An account that two devices changed at the same time: its user says which continuation is right.

import CofferKit
import Foundation
import Histories
import Remotes
import Testing

@testable import Syncing

@Suite("An account with two continuations")
struct SettlingTests {
  private let folder: RemoteFolder
  private let other: RemoteFolder
  private let first: SyncedCoffer
  private let second: SyncedCoffer

  init() throws {
    (folder, other) = (try RemoteFolder(), try RemoteFolder())
    (first, second) = (try SyncedCoffer(), try SyncedCoffer())
    try first.makeAccount(at: folder.remote, folder: folder.path)
    try second.join(first, at: folder.remote)
    try first.sync(at: folder.remote)
  }

  private func passphrase(_ text: String = "Correct-horse-7-battery") throws -> AccountSecret {
    AccountSecret(try SyncedCoffer.passphrase(text))
  }

  private func exchange(_ new: String, on coffer: SyncedCoffer, at remote: any Remote) throws {
    let report = try coffer.coffer.account.open().exchangePassphrases(
      for: passphrase(new), with: passphrase(), at: remote)
    try #require(report.outcome == .complete)
  }

  @Test("A device that comes later is asked too; a drill chooses as its device did", arguments: [0, 1])
  func joiningLater(number: Int) throws {
    try first.add("one")
    try first.sync(at: folder.remote)
    try second.sync(at: folder.remote)
    try folder.copy(into: other)
    try exchange("Nine-Lanterns-Above-2026", on: first, at: folder.remote)
    try exchange("Seven-Herons-Cross-2026", on: second, at: other.remote)
    try other.copy(into: folder)
    try first.sync(at: folder.remote)
    let words = AccountSecret(SyncedCoffer.words)
    let address = try first.coffer.account.open().address()
    #expect(throws: SyncError.refused(.ownerForked)) {
      try first.coffer.account.drill(
        at: folder.remote, address, with: words, enclave: SyncedCoffer.enclave)
    }
    let fork = try #require(first.coffer.account.open().ownerFork)
    let right = fork.branches[number].id
    let account = try first.coffer.account.open()
    var choices: [ControlID] = []
    account.changed = { change in if case .settle(_, let branch) = change { choices.append(branch) } }
    _ = try account.settle(fork, on: right, with: words, at: folder.remote)
    #expect(choices == [right])
    let drill = try first.coffer.account.drill(
      at: folder.remote, address, with: words, enclave: SyncedCoffer.enclave)
    #expect(try drill.digest == first.coffer.account.open().summary().digest && drill.missingCount == 0)

    let third = try SyncedCoffer()
    #expect(throws: SyncError.refused(.ownerForked)) {
      try third.join(first, at: folder.remote, with: words, name: "third")
    }
    #expect(try !third.coffer.account.exists())
    var asked: [OwnerForkView] = []
    let report = try third.coffer.account.join(
      at: folder.remote, address, with: words, enclave: SyncedCoffer.enclave, name: "third",
      choice: { fork in
        asked.append(fork)
        return right
      }
    ).report
    #expect(report.outcome == .complete && report.newCount == 1 && asked.map(\.at) == [fork.at])
    try third.add("two")
    for coffer in [third, first] {
      #expect(try coffer.sync(at: folder.remote).outcome == .complete)
    }
    #expect(try first.shown() == third.shown() && first.shown().count == 2)
    // The words tell whether two devices chose the same.
    #expect(try first.sync(at: folder.remote).outcome == .complete)
    #expect(try third.sync(at: folder.remote).outcome == .complete)
    #expect(try first.coffer.account.open().historyWords == third.coffer.account.open().historyWords)
    try second.sync(at: folder.remote)
    let there = try #require(second.coffer.account.open().ownerFork)
    _ = try second.coffer.account.open().settle(
      there, on: fork.branches[1 - number].id, with: words, at: folder.remote)
    for coffer in [first, second, first] { try coffer.sync(at: folder.remote) }
    #expect(try first.coffer.account.open().historyWords != second.coffer.account.open().historyWords)
  }

  @Test("Two new cards at once: on the device whose card goes on, its passphrase hands out the keys at once")
  func cards() throws {
    try folder.copy(into: other)
    var slots: [Set<SlotID>] = []
    for (coffer, remote) in [(first, folder.remote), (second, other.remote)] {
      let report = try coffer.coffer.account.open().changeSlots(
        adding: passphrase(), removing: { _ in [] }, changesCard: true, costs: SyncedCoffer.costs(),
        with: passphrase(), at: remote)
      try #require(report.outcome == .complete)
      slots.append(Set(try coffer.coffer.account.open().slots.map(\.id)))
    }
    try other.copy(into: folder)
    for coffer in [first, second] { try coffer.sync(at: folder.remote) }
    // Each of the two keeps what it did itself.
    for (coffer, slots) in zip([first, second], slots) {
      let account = try coffer.coffer.account.open()
      let fork = try #require(account.ownerFork)
      let own = try #require(fork.branches.first { $0.slots == slots })
      let (report, isOfBranch) = try account.settle(fork, on: own.id, with: passphrase(), at: folder.remote)
      #expect(isOfBranch && report.outcome == .complete)
    }
  }

  @Test("Both continuations are shown with what each did; once all have chosen, everybody goes on")
  func chosen() throws {
    let third = try SyncedCoffer()
    try third.join(first, at: folder.remote, name: "third")
    try first.sync(at: folder.remote)
    try second.sync(at: folder.remote)
    try folder.copy(into: other)
    let (one, two) = ("Nine-Lanterns-Above-2026", "Seven-Herons-Cross-2026")
    try exchange(one, on: first, at: folder.remote)
    try exchange(two, on: second, at: other.remote)
    _ = try second.coffer.account.open().revoke(third.device(), with: passphrase(two), at: other.remote)
    try other.copy(into: folder)

    let report = try first.sync(at: folder.remote)
    #expect(report.alarms.contains(.ownerForked))
    let synchronizer = try first.coffer.account.open()
    let fork = try #require(synchronizer.ownerFork)
    #expect(fork.branches.count == 2)
    let revoking = try #require(
      fork.branches.firstIndex { branch in
        branch.deeds.contains { if case .revokedDevice(_, "third") = $0 { true } else { false } }
      })
    for branch in fork.branches {
      #expect(branch.deeds.contains(.addedSlot(.passphrase)) && !branch.isFormerKey)
      #expect(branch.deeds.contains { if case .removedSlot(_, .passphrase) = $0 { true } else { false } })
      #expect(branch.slots.count == 2 && branch.lastKnown != nil)
    }
    #expect(try !fork.branches[revoking].members.contains(third.device()))
    // Nothing is changed before the choice.
    #expect(throws: SyncError.refused(.ownerForked)) {
      try synchronizer.revoke(second.device(), with: AccountSecret(SyncedCoffer.words), at: folder.remote)
    }
    let right = fork.branches[1 - revoking].id
    let settled = try first.coffer.account.open().settle(
      fork, on: right, with: passphrase(one), at: folder.remote)
    #expect(settled.isOfBranch && settled.report.outcome == .complete)
    // It is kept, as a new process finds it.
    #expect(try first.coffer.account.open().ownerFork == nil)
    try second.sync(at: folder.remote)
    let there = try #require(second.coffer.account.open().ownerFork)
    _ = try second.coffer.account.open().settle(
      there, on: right, with: AccountSecret(SyncedCoffer.words), at: folder.remote)
    try first.add("from the first")
    try second.add("from the second")
    for coffer in [first, second, first, second] {
      let report = try coffer.sync(at: folder.remote)
      #expect(report.outcome == .complete && report.alarms.isEmpty)
    }
    #expect(try first.shown() == second.shown() && first.shown().count == 2)
    #expect(try second.coffer.account.open().opens(with: passphrase(one), at: folder.remote))
    // What the other continuation took away stays away.
    #expect(try third.sync(at: folder.remote).outcome == .revoked)
    #expect(try first.coffer.account.open().status().devices.first { $0.name == "third" }?.isRevoked == true)
  }

  @Test("What was removed elsewhere while the account had two continuations goes when the user has chosen")
  func heldMeanwhile() throws {
    let id = try first.add("one")
    for coffer in [first, second] { try coffer.sync(at: folder.remote) }
    try folder.copy(into: other)
    try exchange("Nine-Lanterns-Above-2026", on: first, at: folder.remote)
    try exchange("Seven-Herons-Cross-2026", on: second, at: other.remote)
    try second.coffer.removeMessage(id)
    try second.sync(at: other.remote)
    try other.copy(into: folder)
    try first.sync(at: folder.remote)
    #expect(try first.shown()[id] != nil)
    let fork = try #require(first.coffer.account.open().ownerFork)
    let right = try #require(fork.branches.first).id
    let settled = try first.coffer.account.open().settle(
      fork, on: right, with: AccountSecret(SyncedCoffer.words), at: folder.remote)
    #expect(settled.report.outcome == .complete)
    #expect(try first.shown().isEmpty && first.trash() == [id])
  }

  @Test("A revoked device that comes back is asked for a choice that only a slot shows it")
  func comingBack() throws {
    let third = try SyncedCoffer()
    try third.join(first, at: folder.remote, name: "third")
    _ = try first.coffer.account.open().revoke(second.device(), with: passphrase(), at: folder.remote)
    try third.sync(at: folder.remote)
    try folder.copy(into: other)
    try exchange("Nine-Lanterns-Above-2026", on: first, at: folder.remote)
    try exchange("Seven-Herons-Cross-2026", on: third, at: other.remote)
    try other.copy(into: folder)
    try second.add("waits")
    #expect(try second.sync(at: folder.remote).outcome == .revoked)
    #expect(try second.coffer.account.open().ownerFork == nil)
    let words = AccountSecret(SyncedCoffer.words)
    func comeBack(choice: (OwnerForkView) -> ControlID?) throws -> SyncReport {
      try second.coffer.account.open().rejoin(
        with: words, enclave: SyncedCoffer.enclave, at: folder.remote, choice: choice)
    }
    #expect(throws: SyncError.refused(.ownerForked)) { try comeBack { _ in nil } }
    var asked: [OwnerForkView] = []
    let report = try comeBack { fork in
      asked.append(fork)
      return fork.branches.first?.id
    }
    let fork = try #require(asked.first)
    #expect(report.outcome == .complete && report.sentCount == 1 && asked.count == 1)
    try first.sync(at: folder.remote)
    _ = try first.coffer.account.open().settle(
      fork, on: fork.branches[0].id, with: words, at: folder.remote)
    #expect(try first.shown().values.map(\.text) == ["waits"])
  }

  @Test("A slot of the other continuation makes the choice too, and then changes nothing")
  func otherSlot() throws {
    try folder.copy(into: other)
    let (one, two) = ("Nine-Lanterns-Above-2026", "Seven-Herons-Cross-2026")
    try exchange(one, on: first, at: folder.remote)
    try exchange(two, on: second, at: other.remote)
    try other.copy(into: folder)
    try first.sync(at: folder.remote)
    let fork = try #require(first.coffer.account.open().ownerFork)
    // Whichever comes first: both must work.
    let mine = try #require(fork.branches.first)
    let isOfOne = try first.coffer.account.open().settle(
      fork, on: mine.id, with: passphrase(one), at: folder.remote
    ).isOfBranch
    #expect(try first.coffer.account.open().ownerFork == nil)
    #expect(try first.coffer.account.open().opens(with: passphrase(isOfOne ? one : two), at: folder.remote))
    #expect(try !first.coffer.account.open().opens(with: passphrase(isOfOne ? two : one), at: folder.remote))
  }

  @Test(
    "Two devices that each remove one of the two slots leave the one that the chosen continuation left",
    arguments: [0, 1])
  func lastSlots(_ chosen: Int) throws {
    try folder.copy(into: other)
    let words = AccountSecret(SyncedCoffer.words)
    func remove(_ kind: SlotEntry.Kind, _ coffer: SyncedCoffer, _ secret: AccountSecret, _ remote: any Remote)
      throws
    {
      let report = try coffer.coffer.account.open().changeSlots(
        adding: nil, removing: { $0.filter { $0.kind == kind }.map(\.id) }, costs: SyncedCoffer.costs(),
        with: secret, at: remote)
      try #require(report.outcome == .complete)
    }
    try remove(.words, first, passphrase(), folder.remote)
    try remove(.passphrase, second, words, other.remote)
    try other.copy(into: folder)
    try first.sync(at: folder.remote)
    let fork = try #require(first.coffer.account.open().ownerFork)
    let branch = fork.branches[chosen]
    #expect(branch.slots.count == 1)
    _ = try first.coffer.account.open().settle(fork, on: branch.id, with: passphrase(), at: folder.remote)
    let synchronizer = try first.coffer.account.open()
    let left = try #require(synchronizer.slots.first)
    #expect(synchronizer.slots.map(\.id) == Array(branch.slots))
    #expect(try synchronizer.opens(with: passphrase(), at: folder.remote) == (left.kind == .passphrase))
    #expect(try synchronizer.opens(with: words, at: folder.remote) == (left.kind == .words))
    // The account can be changed with it.
    let report = try synchronizer.changeSlots(
      adding: passphrase("Nine-Lanterns-Above-2026"), removing: { _ in [] }, costs: SyncedCoffer.costs(),
      with: left.kind == .words ? words : passphrase(), at: folder.remote)
    #expect(report.outcome == .complete && synchronizer.slots.count == 2)
  }

  @Test("Keys that a device lacks are handed out when a slot is opened")
  func keys() throws {
    try folder.copy(into: other)
    let third = try SyncedCoffer()
    // One device joins while another one revokes: it lacks the new key.
    try third.join(first, at: other.remote, name: "third")
    _ = try first.coffer.account.open().revoke(second.device(), with: passphrase(), at: folder.remote)
    try first.add("new")
    try first.sync(at: folder.remote)
    try other.copy(into: folder)
    try first.sync(at: folder.remote)
    #expect(try first.coffer.account.open().needsSlot)
    _ = try third.sync(at: folder.remote)
    #expect(try third.shown().isEmpty)
    #expect(
      try first.coffer.account.open().handOutKeys(with: passphrase(), at: folder.remote).report.outcome
        == .complete)
    #expect(try !first.coffer.account.open().needsSlot)
    #expect(try third.sync(at: folder.remote).outcome == .complete)
    #expect(try third.shown().values.map(\.text) == ["new"])
  }
}
