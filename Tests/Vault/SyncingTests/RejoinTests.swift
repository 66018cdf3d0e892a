// SPDX-License-Identifier: Apache-2.0
//
// A device that was copied, or revoked by mistake, goes on under a new identifier.

import CofferKit
import Foundation
import Histories
import Remotes
import TemporaryHomes
import Testing

@testable import Syncing

@Suite("A device that goes on under a new identifier")
struct RejoinTests {
  private let folder: RemoteFolder
  private let first: SyncedCoffer

  init() throws {
    folder = try RemoteFolder()
    first = try SyncedCoffer()
  }

  private func secret() throws -> AccountSecret { AccountSecret(try SyncedCoffer.passphrase()) }

  private func rejoin(_ coffer: SyncedCoffer, at remote: (any Remote)? = nil) throws -> SyncReport {
    try coffer.coffer.account.open().rejoin(
      with: secret(), enclave: SyncedCoffer.enclave, at: remote ?? folder.remote)
  }

  private func texts(_ coffer: SyncedCoffer) throws -> [String] {
    try coffer.shown().values.map(\.text).sorted()
  }

  @Test("A copied home: both copies go on, and nothing that either had is lost")
  func copied() throws {
    let second = try SyncedCoffer()
    let id = try first.add("before")
    try first.makeAccount(at: folder.remote, folder: folder.path)
    try second.join(first, at: folder.remote)
    let copy = try first.place.copy()
    let twin = try SyncedCoffer(opening: copy)
    try first.add("of the original")
    try twin.add("of the copy")
    try twin.edit(id, "edited on the copy")
    let former = try first.device()
    #expect(try twin.device() == former)
    #expect(try first.sync(at: folder.remote).outcome == .complete)
    // What the other one sent is not this one's; and a device that stops misses nothing, since it asks for nothing.
    let stopped = try twin.sync(at: folder.remote)
    #expect(stopped.outcome == .cloned && stopped.sentCount == 0 && stopped.missingCount == 0)
    #expect(try twin.coffer.account.open().status().missingCount == 0)

    #expect(try rejoin(twin).outcome == .complete)
    #expect(try twin.device() != former)
    // The other one was revoked with all that it had sent.
    #expect(try first.sync(at: folder.remote).outcome == .revoked)
    try first.add("waits")
    #expect(try rejoin(first).outcome == .complete)
    for coffer in [second, twin, first, second] {
      let report = try coffer.sync(at: folder.remote)
      #expect(report.outcome == .complete && report.alarms.isEmpty)
    }
    for coffer in [first, twin, second] {
      #expect(try texts(coffer) == ["edited on the copy", "of the copy", "of the original", "waits"])
      #expect(try coffer.coffer.account.open().quarantine().isEmpty)
    }
    let names = try second.coffer.account.open().status().devices
    #expect(names.filter { !$0.isRevoked }.map(\.name).sorted() == ["first", "first", "second"])
    #expect(names.first { $0.id == former }?.isRevoked == true)
    // The new keys are those that a new process finds.
    try first.add("later")
    #expect(try first.sync(at: folder.remote).sentCount == 1)
    try second.sync(at: folder.remote)
    #expect(try texts(second).contains("later"))
  }

  @Test("A device that was revoked by mistake says again what does not count, with what waited")
  func revokedByMistake() throws {
    let clock = TestClock()
    let second = try SyncedCoffer(clock: clock.clock)
    let id = try first.add("one")
    try first.makeAccount(at: folder.remote, folder: folder.path)
    try second.join(first, at: folder.remote)
    try second.add("cut off")
    try second.edit(id, "edited")
    try second.sync(at: folder.remote)
    try first.sync(at: folder.remote)
    // Nothing of it counts, not even that it was there.
    _ = try first.coffer.account.open().revoke(
      try second.device(), since: 0, with: secret(), at: folder.remote)
    #expect(try texts(first) == ["one"])
    try second.add("waits")
    #expect(try second.sync(at: folder.remote).outcome == .revoked)
    #expect(try second.coffer.account.open().run(.sync, at: folder.remote).outcome == .revoked)
    let report = try rejoin(second)
    #expect(report.outcome == .complete && report.sentCount == 3)
    #expect(try first.sync(at: folder.remote).outcome == .complete)
    #expect(try texts(first) == ["cut off", "edited", "waits"] && texts(second) == texts(first))
    #expect(try first.coffer.account.open().quarantine().isEmpty)
    #expect(try first.trash().isEmpty && second.trash().isEmpty)
  }

  @Test("What another device says again, and the place loses, is shown and can be edited where it is")
  func saidAgainAndLost() throws {
    let clock = TestClock()
    let (first, second) = (try SyncedCoffer(clock: clock.clock), try SyncedCoffer(clock: clock.clock))
    try first.makeAccount(at: folder.remote, folder: folder.path)
    try second.join(first, at: folder.remote)
    // Of the former and the new version of a message, either may be the higher one.
    let ids = try (0..<8).map { try second.add("text \($0)") }
    try second.sync(at: folder.remote)
    try first.sync(at: folder.remote)
    let former = Set(try folder.files().keys)
    _ = try first.coffer.account.open().revoke(
      try second.device(), since: 0, with: secret(), at: folder.remote)
    #expect(try first.shown().isEmpty && first.trash() == Set(ids))
    #expect(try second.sync(at: folder.remote).outcome == .revoked)
    #expect(try rejoin(second).outcome == .complete)
    let packs = Set(try folder.files().keys).subtracting(former).filter { $0.contains("pack/") }
    try #require(!packs.isEmpty)
    for pack in packs { try FileManager.default.removeItem(atPath: folder.path + "/" + pack) }
    #expect(try first.sync(at: folder.remote).outcome == .complete)
    #expect(try first.shown().isEmpty)
    clock.advance(2 * 86_400)
    let report = try first.sync(at: folder.remote)
    #expect(report.outcome == .complete && report.alarms.isEmpty && report.missingCount == 0)
    #expect((report.newCount, report.changedCount) == (0, ids.count))
    #expect(try first.trash().isEmpty && first.shown() == second.shown() && first.shown().count == ids.count)

    for (number, id) in ids.enumerated() where number > 0 { try first.edit(id, "edited \(number)") }
    try first.coffer.removeMessage(ids[0])
    for coffer in [first, second, first] {
      let report = try coffer.sync(at: folder.remote)
      #expect(report.outcome == .complete && report.parallel.isEmpty && report.alarms.isEmpty)
    }
    for coffer in [first, second] {
      #expect(try texts(coffer) == (1..<ids.count).map { "edited \($0)" })
      #expect(try coffer.trash() == [ids[0]])
      let status = try coffer.coffer.account.open().status()
      #expect(status.waitingCount == 0 && status.missingCount == 0)
    }
  }

  @Test("A wrong passphrase, or a place that does not answer, changes nothing")
  func refused() throws {
    try first.add("text")
    try first.makeAccount(at: folder.remote, folder: folder.path)
    let (former, before) = (try first.device(), try folder.files())
    #expect(throws: SyncError.wrongSecret) {
      try first.coffer.account.open().rejoin(
        with: AccountSecret(SyncedCoffer.passphrase("Other-Heron-2026-x")), enclave: SyncedCoffer.enclave,
        at: folder.remote)
    }
    #expect(throws: SyncError.remote(.unreachable)) {
      try rejoin(first, at: StoppingRemote(folder.remote, after: 0, carriesLastOut: false))
    }
    #expect(try first.device() == former && folder.files() == before)
    #expect(try first.sync(at: folder.remote).outcome == .complete)
  }

  @Test("The process may end at any request: the device is the old one or the new one, and can write")
  func interrupted() throws {
    try first.add("before")
    try first.makeAccount(at: folder.remote, folder: folder.path)
    var changes = 0
    for limit in stride(from: 0, to: 100, by: 2) {
      let copy = try RemoteFolder()
      try folder.copy(into: copy)
      let device = try SyncedCoffer(opening: first.place.copy())
      let former = try device.device()
      try device.add("waits")
      let stopping = StoppingRemote(copy.remote, after: limit, carriesLastOut: limit % 4 == 0)
      let outcome = try? rejoin(device, at: stopping).outcome
      // As a new process.
      #expect(try device.sync(at: copy.remote).outcome == .complete, "request \(limit)")
      let list = try device.coffer.account.open().status()
      #expect(list.devices.filter { !$0.isRevoked }.count == 1 && list.waitingCount == 0, "request \(limit)")
      if try device.device() != former { changes += 1 }
      if outcome == .complete {
        let second = try SyncedCoffer()
        try second.join(device, at: copy.remote)
        #expect(try texts(second) == ["before", "waits"])
        #expect(limit > 8 && changes > 2 && changes < limit / 2)
        return
      }
    }
    Issue.record("a change has fewer requests")
  }

  @Test("Keys that were made for a change that did not come are passed over, and made again")
  func halfMade() throws {
    try first.makeAccount(at: folder.remote, folder: folder.path)
    let items = AccountItems(keychain: try first.coffer.account.open().items.keychain)
    _ = try items.makeKeys(in: SyncedCoffer.enclave, as: .second)
    let former = try first.device()
    #expect(try first.sync(at: folder.remote).outcome == .complete)
    #expect(try first.device() == former)
    #expect(try rejoin(first).outcome == .complete)
    try first.add("text")
    #expect(try first.sync(at: folder.remote).outcome == .complete)
    // And once more, with the first pair again.
    #expect(try rejoin(first).outcome == .complete)
    #expect(try first.sync(at: folder.remote).outcome == .complete)
    try first.coffer.account.forget()
    for name in AccountItems.names {
      let isLeft = try items.keychain.loadSecret(forKey: name) != nil
      #expect(!isLeft, "\(name)")
    }
  }
}
