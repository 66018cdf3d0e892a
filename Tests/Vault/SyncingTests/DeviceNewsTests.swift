// SPDX-License-Identifier: Apache-2.0

import Histories
import Remotes
import Testing

@testable import Syncing

@Suite("What a device hears of the others")
struct DeviceNewsTests {
  private let folder: RemoteFolder
  private let other: RemoteFolder
  private let first: SyncedCoffer
  private let second: SyncedCoffer
  private let words = AccountSecret(SyncedCoffer.words)

  init() throws {
    (folder, other) = (try RemoteFolder(), try RemoteFolder())
    (first, second) = (try SyncedCoffer(), try SyncedCoffer())
    try first.makeAccount(at: folder.remote, folder: folder.path)
  }

  private func news(_ coffer: SyncedCoffer) throws -> [String] {
    let synchronizer = try coffer.coffer.account.open()
    _ = try synchronizer.run(.sync, at: folder.remote)
    return synchronizer.deviceNews.map { "\($0.kind) \($0.name)" }
  }

  @Test("It hears once of one that came, was revoked, or came back; nobody hears of what they did themselves")
  func heard() throws {
    try second.join(first, at: folder.remote)
    #expect(try news(second).isEmpty)
    #expect(try news(first) == ["added second"])
    #expect(try news(first).isEmpty)
    let third = try SyncedCoffer()
    try third.join(first, at: folder.remote, name: "third")
    #expect(try news(second) == ["added third"])
    let revoking = try first.coffer.account.open()
    _ = try revoking.revoke(second.device(), with: words, at: folder.remote)
    #expect(revoking.deviceNews.map(\.name) == ["third"])
    #expect(try news(first).isEmpty)
    #expect(try news(third) == ["revoked second"])
    let back = try second.coffer.account.open()
    _ = try back.rejoin(with: words, enclave: SyncedCoffer.enclave, at: folder.remote)
    #expect(back.deviceNews.isEmpty)
    #expect(try news(third) == ["rejoined second"])
  }

  @Test("Who let a device in hears of it when another one's new passphrase undid that")
  func dropped() throws {
    try second.join(first, at: folder.remote)
    try first.sync(at: folder.remote)
    try folder.copy(into: other)
    let third = try SyncedCoffer()
    _ = try third.coffer.account.askToJoin(
      at: folder.remote, first.coffer.account.open().address(), enclave: SyncedCoffer.enclave, name: "third")
    let approving = try first.coffer.account.open()
    let waiting = try #require(approving.waitingDevices(at: folder.remote).devices.first)
    _ = try approving.approve(waiting, with: words, at: folder.remote)
    #expect(approving.deviceNews.isEmpty)
    let report = try second.coffer.account.open().changeSlots(
      adding: AccountSecret(SyncedCoffer.passphrase("Nine-Lanterns-Above-2026")),
      removing: { $0.filter { $0.kind == .passphrase }.map(\.id) }, costs: SyncedCoffer.costs(), with: words,
      at: other.remote)
    #expect(report.outcome == .complete)
    try other.copy(into: folder)
    #expect(try news(first) == ["dropped third"])
    #expect(try third.sync(at: folder.remote).outcome == .notMember)
  }
}
