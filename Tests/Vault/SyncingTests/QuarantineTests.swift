// SPDX-License-Identifier: Apache-2.0
//
// What a revocation cuts off: it comes back, it is listed, and some of it is taken in.

import CofferKit
import Foundation
import Histories
import Primitives
import Remotes
import Testing

@testable import Syncing

@Suite("What a revocation cuts off")
struct QuarantineTests {
  private let folder: RemoteFolder
  private let clock = TestClock()
  private let first: SyncedCoffer
  private let second: SyncedCoffer

  init() throws {
    folder = try RemoteFolder()
    first = try SyncedCoffer(clock: clock.clock)
    second = try SyncedCoffer(clock: clock.clock)
  }

  private func secret() throws -> AccountSecret { AccountSecret(try SyncedCoffer.passphrase()) }

  private func link() throws {
    try first.makeAccount(at: folder.remote, folder: folder.path)
    try second.join(first, at: folder.remote)
    try first.sync(at: folder.remote)
    clock.advance(3_600)
  }

  @Test("A revoked device that had removed everything: every message is back on all, and quarantine lists it")
  func removedEverything() throws {
    let ids = try (0..<5).map { try first.add("text \($0)", title: "title \($0)") }
    try link()
    let third = try SyncedCoffer(clock: clock.clock)
    try third.join(first, at: folder.remote, name: "third")
    try first.sync(at: folder.remote)
    let before = try first.shown()
    let since = clock.now
    clock.advance(60)
    for id in ids { try second.coffer.removeMessage(id) }
    let planted = try second.add("planted", title: "plant")
    try second.sync(at: folder.remote)
    for coffer in [first, third] {
      try coffer.sync(at: folder.remote)
      #expect(try coffer.shown().keys.elementsEqual([planted]) && coffer.trash() == Set(ids))
    }
    let synchronizer = try first.coffer.account.open()
    #expect(try synchronizer.quarantine().isEmpty)
    let cutOff = synchronizer.cutOff(of: try second.device(), since: since)
    #expect((cutOff.removedCount, cutOff.addedCount, cutOff.changedCount) == (ids.count, 1, 0))
    #expect(synchronizer.cutsOffMore(of: try second.device(), since: since))
    let report = try synchronizer.revoke(
      try second.device(), since: since, with: secret(), at: folder.remote)
    #expect(report.outcome == .complete)
    // The same again, or later, cuts off nothing more.
    for time in [since, since + 30] {
      #expect(!synchronizer.cutsOffMore(of: try second.device(), since: time))
    }
    #expect(try third.sync(at: folder.remote).outcome == .complete)
    for coffer in [first, third] {
      #expect(try coffer.shown() == before && coffer.trash() == [planted])
      let listed = try coffer.coffer.account.open().quarantine()
      #expect(Set(listed.filter { $0.kind == .removal }.map(\.message)) == Set(ids))
      #expect(Set(listed.compactMap(\.title)) == Set((0..<5).map { "title \($0)" } + ["plant"]))
      #expect(listed.filter { $0.kind == .version }.map(\.message) == [planted])
      #expect(try listed.allSatisfy { try $0.device == second.device() && $0.deviceName == "second" })
      #expect(try coffer.coffer.account.open().status().quarantinedCount == 6)
    }
    #expect(try second.sync(at: folder.remote).outcome == .revoked)

    // What is taken in is a message of this device, on all.
    let taking = try first.coffer.account.open().takeFromQuarantine([planted]) { folder.remote }
    #expect(taking.taken == [planted] && taking.unreadable.isEmpty)
    #expect(try first.shown()[planted]?.text == "planted" && first.trash().isEmpty)
    let again = try first.coffer.account.open()
    #expect(try again.quarantine().allSatisfy { $0.kind == .removal })
    #expect(try again.run(.sync, at: folder.remote).sentCount == 1)
    #expect(try third.sync(at: folder.remote).changedCount == 1)
    #expect(try third.shown() == first.shown() && third.shown().count == 6)
    #expect(try third.coffer.account.open().quarantine().allSatisfy { $0.kind == .removal })
  }

  @Test("A device that was revoked without a date is revoked again with one: what it removed is back")
  func revokedAgain() throws {
    let id = try first.add("text")
    try link()
    let since = clock.now
    clock.advance(60)
    try second.coffer.removeMessage(id)
    try second.sync(at: folder.remote)
    let device = try second.device()
    for date in [nil, since] {
      let report = try first.coffer.account.open().revoke(
        device, since: date, with: secret(), at: folder.remote)
      #expect(report.outcome == .complete)
      #expect(try first.shown().keys.contains(id) == (date != nil))
    }
    let third = try SyncedCoffer(clock: clock.clock)
    #expect(try third.join(first, at: folder.remote, name: "third").outcome == .complete)
    #expect(try third.shown() == first.shown())
    #expect(try second.sync(at: folder.remote).outcome == .revoked)
  }

  @Test("Without a date, what came before the revocation counts, removals too")
  func withoutDate() throws {
    let id = try first.add("text")
    try link()
    try second.coffer.removeMessage(id)
    try second.add("kept")
    try second.sync(at: folder.remote)
    let report = try first.coffer.account.open().revoke(
      try second.device(), with: secret(), at: folder.remote)
    #expect(report.outcome == .complete)
    #expect(try first.shown().values.map(\.text) == ["kept"] && first.trash() == [id])
    #expect(try first.coffer.account.open().quarantine().isEmpty)
  }

  @Test("An edit that is cut off makes way for what was there, and comes back when it is taken in")
  func edited() throws {
    let id = try first.add("one", title: "first")
    try link()
    let since = clock.now
    clock.advance(60)
    try second.edit(id, "two", title: "second")
    try second.sync(at: folder.remote)
    try first.sync(at: folder.remote)
    #expect(try first.shown()[id]?.text == "two")
    _ = try first.coffer.account.open().revoke(
      try second.device(), since: since, with: secret(), at: folder.remote)
    #expect(try first.shown()[id]?.text == "one" && first.trash().isEmpty)
    let synchronizer = try first.coffer.account.open()
    #expect(try synchronizer.quarantine().map(\.title) == ["second"])
    #expect(try synchronizer.takeFromQuarantine([id]) { folder.remote }.taken == [id])
    #expect(try first.shown()[id]?.text == "two")
    #expect(try first.history(id) == ["one", "two"])
    #expect(try first.sync(at: folder.remote).outcome == .complete)
    #expect(try first.coffer.account.open().quarantine().isEmpty)
    #expect(try first.sync(.verify, at: folder.remote).alarms.isEmpty)
  }

  @Test(
    "What a revoked device sent later is got out of its pack when it is taken in, and not if that is missing")
  func later() throws {
    try link()
    // The device does not hear of its revocation.
    let other = try RemoteFolder()
    try folder.copy(into: other)
    _ = try first.coffer.account.open().revoke(try second.device(), with: secret(), at: folder.remote)
    let ids = try ["one", "two"].map { try second.add($0) }
    #expect(try second.sync(at: other.remote).outcome == .complete)
    try other.copy(into: folder)
    #expect(try first.sync(at: folder.remote).newCount == 0)
    let listed = try first.coffer.account.open().quarantine()
    #expect(Set(listed.map(\.message)) == Set(ids) && listed.allSatisfy { $0.title == nil })
    #expect(try first.shown().isEmpty && first.trash().isEmpty)

    #expect(throws: SyncError.remote(.unreachable)) {
      try first.coffer.account.open().takeFromQuarantine(ids) {
        StoppingRemote(folder.remote, after: 0, carriesLastOut: false)
      }
    }
    let empty = try RemoteFolder()
    let none = try first.coffer.account.open().takeFromQuarantine(ids) { empty.remote }
    #expect(none.taken.isEmpty && Set(none.unreadable) == Set(ids))
    #expect(try first.shown().isEmpty)

    // Its user stops it at the second request: what was got until then is taken in.
    var requestCount = 0
    let taking = try first.coffer.account.open().takeFromQuarantine(
      ids.reversed(), at: { folder.remote },
      progress: { _ in
        requestCount += 1
        return requestCount < 2
      })
    #expect(taking.isStopped && taking.taken == [ids[1]] && taking.unreadable.isEmpty)
    #expect(try first.shown().mapValues(\.text) == [ids[1]: "two"])
    #expect(try first.coffer.account.open().quarantine().map(\.message) == [ids[0]])
    #expect(try first.sync(at: folder.remote).sentCount == 1)
  }

  @Test("Offline a device is revoked with a date alone, and the next run tells the others")
  func offline() throws {
    let id = try first.add("text")
    try link()
    let since = clock.now
    clock.advance(60)
    try second.coffer.removeMessage(id)
    try second.sync(at: folder.remote)
    try first.sync(at: folder.remote)
    let nowhere = StoppingRemote(folder.remote, after: 0, carriesLastOut: false)
    #expect(throws: SyncError.remote(.unreachable)) {
      try first.coffer.account.open().revoke(try second.device(), with: secret(), at: nowhere)
    }
    #expect(throws: SyncError.wrongSecret) {
      try first.coffer.account.open().revoke(
        try second.device(), since: since, with: AccountSecret(SyncedCoffer.passphrase("Other-Heron-2026-x")),
        at: nowhere)
    }
    #expect(try first.shown().isEmpty)
    let report = try first.coffer.account.open().revoke(
      try second.device(), since: since, with: secret(), at: nowhere)
    #expect(report.outcome == .unreachable)
    #expect(try first.shown()[id] != nil)
    #expect(try second.sync(at: folder.remote).outcome == .complete)
    #expect(try first.sync(at: folder.remote).outcome == .complete)
    #expect(try second.sync(at: folder.remote).outcome == .revoked)
  }
}
