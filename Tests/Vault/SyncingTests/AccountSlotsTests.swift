// SPDX-License-Identifier: Apache-2.0
//
// What opens an account: slots that are added, removed and exchanged.

import CofferKit
import Foundation
import Histories
import Keychains
import Primitives
import Remotes
import Secrets
import Testing

@testable import Syncing

@Suite("The slots of an account")
struct AccountSlotsTests {
  private let folder: RemoteFolder
  private let first: SyncedCoffer
  private let second: SyncedCoffer

  init() throws {
    folder = try RemoteFolder()
    first = try SyncedCoffer()
    second = try SyncedCoffer()
    try first.makeAccount(at: folder.remote, folder: folder.path)
    try second.join(first, at: folder.remote)
    try first.sync(at: folder.remote)
  }

  private func passphrase(_ text: String = "Correct-horse-7-battery") throws -> AccountSecret {
    AccountSecret(try SyncedCoffer.passphrase(text), isOwn: true)
  }
  private static let new = "Nine-Lanterns-Above-2026"
  private var words: AccountSecret { AccountSecret(SyncedCoffer.words) }

  private func opens(_ coffer: SyncedCoffer, _ secret: AccountSecret) throws -> Bool {
    try coffer.coffer.account.open().opens(with: secret, at: folder.remote)
  }

  /// Exchanges the passphrase of the account.
  @discardableResult
  private func exchange(
    _ new: AccountSecret, with secret: AccountSecret, on coffer: SyncedCoffer, at remote: (any Remote)? = nil
  ) throws -> SyncReport {
    let synchronizer = try coffer.coffer.account.open()
    return try synchronizer.changeSlots(
      adding: new, removing: { $0.filter { $0.kind == .passphrase }.map(\.id) },
      costs: SyncedCoffer.costs(), with: secret, at: remote ?? folder.remote)
  }

  @Test(
    "A passphrase is exchanged: the new one opens, the former one does nothing any more, the words still open"
  )
  func exchanged() throws {
    try first.add("before")
    #expect(try first.coffer.account.open().slots.map(\.kind) == [.passphrase, .words])
    #expect(try exchange(passphrase(Self.new), with: passphrase(), on: first).outcome == .complete)
    try first.add("after")
    try first.sync(at: folder.remote)
    #expect(try second.sync(at: folder.remote).outcome == .complete)
    #expect(try second.shown().count == 2)
    for coffer in [first, second] {
      #expect(try opens(coffer, passphrase(Self.new)) && opens(coffer, words))
      #expect(try !opens(coffer, passphrase()))
      #expect(try coffer.coffer.account.open().slots.count == 2)
    }
    // The former one opens a slot that is at the place still, and nothing comes of it.
    let (third, late) = (try SyncedCoffer(), try SyncedCoffer())
    #expect(throws: SyncError.refused(.notOwner)) { try third.join(first, at: folder.remote) }
    #expect(try !third.coffer.account.exists() && third.shown().isEmpty)
    #expect(throws: SyncError.refused(.notOwner)) {
      try second.coffer.account.open().revoke(first.device(), with: passphrase(), at: folder.remote)
    }
    #expect(try third.join(first, at: folder.remote, with: passphrase(Self.new)).newCount == 2)
    #expect(try late.join(first, at: folder.remote, with: words, name: "late").newCount == 2)
  }

  @Test(
    "Whoever asks is told of a change that stands, before the run that tells the others; of one that is refused, not"
  )
  func told() throws {
    let account = try first.coffer.account.open()
    var told = 0
    account.changed = { change in if case .revoke = change { told += 1 } }
    let report = try account.revoke(
      second.device(), with: passphrase(), at: folder.remote, progress: { _ in told == 0 })
    #expect(report.outcome == .unreachable && told == 1)
    #expect(try first.coffer.account.open().devices.map(\.isRevoked) == [false, true])
    let other = try second.coffer.account.open()
    other.changed = { _ in Issue.record("nothing was changed") }
    #expect(throws: SyncError.wrongSecret) {
      try other.revoke(first.device(), with: passphrase(Self.new), at: folder.remote)
    }
  }

  @Test("Words are added and removed; the last slot is whatever is left")
  func addedAndRemoved() throws {
    let former = try #require(first.coffer.account.open().slots.first { $0.kind == .words })
    let other = AccountSecret(
      RecoveryPhrase(entropy: SecretBytes(copying: [UInt8](repeating: 9, count: 16).span.bytes)))
    let added = try second.coffer.account.open().changeSlots(
      adding: other, removing: { _ in [] }, costs: SyncedCoffer.costs(), with: passphrase(), at: folder.remote
    )
    #expect(added.outcome == .complete)
    try first.sync(at: folder.remote)
    #expect(try opens(first, other) && opens(first, words))
    // Opened with the words that go.
    let removed = try first.coffer.account.open().changeSlots(
      adding: nil, removing: { _ in [former.id] }, costs: SyncedCoffer.costs(), with: words, at: folder.remote
    )
    #expect(removed.outcome == .complete)
    try second.sync(at: folder.remote)
    #expect(try !opens(second, words) && opens(second, other) && opens(second, passphrase()))
    // A slot that was added by another one's owner key signs too.
    let third = try SyncedCoffer()
    try third.join(first, at: folder.remote, with: other, name: "third")
    #expect(
      try third.coffer.account.open().revoke(second.device(), with: other, at: folder.remote).outcome
        == .complete)
    #expect(try first.sync(at: folder.remote).outcome == .complete)
    #expect(try second.sync(at: folder.remote).outcome == .revoked)
  }

  @Test("The last slot stays, also for a device that has not heard that the other one is gone")
  func lastSlot() throws {
    let words = try #require(second.coffer.account.open().slots.first { $0.kind == .words })
    let removed = try second.coffer.account.open().changeSlots(
      adding: nil, removing: { _ in [words.id] }, costs: SyncedCoffer.costs(), with: passphrase(),
      at: folder.remote)
    #expect(removed.outcome == .complete)
    let stale = try first.coffer.account.open()
    #expect(stale.slots.count == 2)
    #expect(throws: SyncError.refused(.lastSlot)) {
      try stale.changeSlots(
        adding: nil, removing: { $0.filter { $0.kind == .passphrase }.map(\.id) },
        costs: SyncedCoffer.costs(), with: passphrase(), at: folder.remote)
    }
    #expect(try first.sync(at: folder.remote).outcome == .complete && opens(first, passphrase()))
  }

  @Test("A slot that reads differently is not relied on")
  func readBack() throws {
    let before = try first.coffer.account.open().slots.map(\.id)
    #expect(throws: SyncError.slotNotReadBack) {
      try exchange(passphrase(Self.new), with: passphrase(), on: first, at: ForgetfulRemote(folder.remote))
    }
    #expect(try first.coffer.account.open().slots.map(\.id) == before)
    #expect(try first.sync(at: folder.remote).outcome == .complete && opens(first, passphrase()))
  }

  @Test(
    "The process may end after every request: one of both passphrases opens, and the next run ends the work")
  func interrupted() throws {
    var (now, next) = (try passphrase(), try passphrase(Self.new))
    var changes = 0
    for carriesLastOut in [false, true] {
      for limit in 0... {
        let stopping = StoppingRemote(folder.remote, after: limit, carriesLastOut: carriesLastOut)
        let outcome = try? exchange(next, with: now, on: first, at: stopping).outcome
        #expect(try first.sync(at: folder.remote).outcome == .complete, "request \(limit)")
        #expect(try second.sync(at: folder.remote).outcome == .complete, "request \(limit)")
        let isNew = try opens(second, next)
        #expect(try isNew != opens(second, now), "request \(limit)")
        if isNew {
          (now, next) = (next, now)
          changes += 1
        }
        if outcome == .complete { break }
        #expect(limit < 60)
      }
    }
    #expect(changes > 3)
    // Slots that no log names are there too, some of them made last: whoever joins gets in all the same.
    let third = try SyncedCoffer()
    #expect(try third.join(first, at: folder.remote, with: now).outcome == .complete)
    #expect(try first.sync(.verify, at: folder.remote).alarms.isEmpty)
  }

  @Test("Whether coffer and account have one passphrase is known after each change of either")
  func equality() throws {
    func differs(_ coffer: SyncedCoffer) throws -> Bool {
      try coffer.coffer.account.open().passphraseDiffers()
    }
    #expect(try !differs(first) && !differs(second))
    let third = try SyncedCoffer()
    try third.join(first, at: folder.remote, with: words)
    // Words say nothing of passphrases.
    #expect(try !differs(third))
    let fourth = try SyncedCoffer()
    try fourth.join(first, at: folder.remote, with: passphrase(), isOwn: false)
    #expect(try differs(fourth))
    try first.coffer.changePassphrase(to: SyncedCoffer.passphrase(Self.new))
    #expect(try differs(first) && !differs(second))
    try exchange(passphrase(Self.new), with: passphrase(), on: first)
    #expect(try !differs(first))
    try second.sync(at: folder.remote)
    #expect(try differs(second))
    try second.coffer.changePassphrase(to: SyncedCoffer.passphrase(Self.new))
    #expect(try second.coffer.account.open().noteOwnPassphrase(passphrase(Self.new)))
    #expect(try !differs(second))
    // Whoever opens both with it for something else knows it, too.
    try fourth.sync(at: folder.remote)
    try fourth.coffer.changePassphrase(to: SyncedCoffer.passphrase(Self.new))
    #expect(try differs(fourth))
    _ = try fourth.coffer.account.open().handOutKeys(with: passphrase(Self.new), at: folder.remote)
    #expect(try !differs(fourth))
  }

  @Test("A second device of one name gets a number")
  func names() throws {
    let (third, fourth) = (try SyncedCoffer(), try SyncedCoffer())
    try third.join(first, at: folder.remote, name: "first")
    try fourth.join(first, at: folder.remote, name: "first")
    try first.sync(at: folder.remote)
    let names = try first.coffer.account.open().status().devices.map(\.name)
    #expect(names.sorted() == ["first", "first-2", "first-3", "second"])
    let long = String(repeating: "é", count: 32)
    let entry = DeviceEntry(
      id: DeviceID(beginningOf: [UInt8](repeating: 1, count: 16)), signingKey: [], agreementKey: [], level: 2,
      name: long, replaces: nil)
    let renamed = entry.named(unlike: [long, String(repeating: "é", count: 31) + "-2"])
    #expect(renamed.name == String(repeating: "é", count: 31) + "-3")
  }
}

/// A remote that reads another slot back than was written.
private struct ForgetfulRemote: Remote {
  private let remote: any Remote

  init(_ remote: any Remote) { self.remote = remote }

  func list(_ folder: String, _ body: (RemoteObject) -> Void) throws(RemoteError) -> UInt64? {
    try remote.list(folder, body)
  }
  func get(_ name: String, range: Range<Int>?) throws(RemoteError) -> [UInt8]? {
    var bytes = try remote.get(name, range: range)
    if name.contains("/slots/"), let last = bytes?.indices.last { bytes?[last] ^= 1 }
    return bytes
  }
  func put(_ name: String, _ bytes: [UInt8]) throws(RemoteError) { try remote.put(name, bytes) }
  func stat(_ name: String) throws(RemoteError) -> Int? { try remote.stat(name) }
  func delete(_ name: String) throws(RemoteError) { try remote.delete(name) }
}
