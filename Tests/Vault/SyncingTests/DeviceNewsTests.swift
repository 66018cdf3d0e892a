// SPDX-License-Identifier: Apache-2.0

import Histories
import Primitives
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
    return try synchronizer.takeDeviceNews().map { "\($0.kind) \($0.name)" }
  }

  /// The first device lets a third one in, and the second does not hear of it.
  private func letThirdIn() throws -> SyncedCoffer {
    try second.join(first, at: folder.remote)
    #expect(try news(first).isEmpty)
    try folder.copy(into: other)
    let (third, approving) = (try SyncedCoffer(), try first.coffer.account.open())
    _ = try third.coffer.account.askToJoin(
      at: folder.remote, approving.address(), enclave: SyncedCoffer.enclave, name: "third")
    let waiting = try #require(approving.waitingDevices(at: folder.remote).devices.first)
    _ = try approving.approve(waiting, with: words, at: folder.remote)
    return third
  }

  private func exchange(_ new: String, on coffer: SyncedCoffer, at remote: any Remote) throws {
    let report = try coffer.coffer.account.open().exchangePassphrases(
      for: AccountSecret(SyncedCoffer.passphrase(new)), with: words, at: remote)
    try #require(report.outcome == .complete)
  }

  @Test("It hears once of one that came, was revoked, or came back; nobody hears of what they did themselves")
  func heard() throws {
    #expect(try news(first).isEmpty)
    try second.join(first, at: folder.remote)
    #expect(try news(second).isEmpty)
    // A run that tells nobody, as one that is interrupted, loses nothing.
    try first.sync(at: folder.remote)
    #expect(try news(first) == ["added second"])
    #expect(try news(first).isEmpty)
    let third = try SyncedCoffer()
    try third.join(first, at: folder.remote, name: "third")
    #expect(try news(third).isEmpty && news(second) == ["added third"])
    _ = try first.coffer.account.open().revoke(second.device(), with: words, at: folder.remote)
    #expect(try news(first) == ["added third"])
    #expect(try news(third) == ["revoked second"])
    // It hears nothing while it does not belong to the account, and everything afterwards.
    #expect(try news(second).isEmpty)
    let fourth = try SyncedCoffer()
    try fourth.join(first, at: folder.remote, name: "fourth")
    _ = try second.coffer.account.open().rejoin(
      with: words, enclave: SyncedCoffer.enclave, at: folder.remote)
    #expect(try news(second) == ["added fourth"])
    #expect(try news(third) == ["added fourth", "rejoined second"])
    // One that came and went meanwhile is told of, too.
    _ = try second.coffer.account.open().revoke(fourth.device(), with: words, at: folder.remote)
    #expect(try news(first) == ["rejoined second", "passed fourth"])
    #expect(try news(second).isEmpty)
  }

  @Test(
    "Who let a device in hears of it when another one's new passphrase undid that, and that device does not")
  func dropped() throws {
    let third = try letThirdIn()
    #expect(try news(first).isEmpty && news(third).isEmpty)
    try exchange("Nine-Lanterns-Above-2026", on: second, at: other.remote)
    try other.copy(into: folder)
    #expect(try news(first) == ["dropped third"])
    #expect(try news(third).isEmpty)
    #expect(try third.sync(at: folder.remote).outcome == .notMember)
  }

  @Test("Nothing is said before the user has chosen between continuations, and then what they did not show")
  func forked() throws {
    let third = try letThirdIn()
    try exchange("Nine-Lanterns-Above-2026", on: first, at: folder.remote)
    try exchange("Seven-Herons-Cross-2026", on: second, at: other.remote)
    try other.copy(into: folder)
    #expect(try news(first).isEmpty)
    let synchronizer = try first.coffer.account.open()
    let fork = try #require(synchronizer.ownerFork)
    let came = try third.device()
    let mine = try #require(fork.branches.first { $0.members.contains(came) })
    _ = try synchronizer.settle(fork, on: mine.id, with: words, at: folder.remote)
    #expect(try synchronizer.takeDeviceNews().isEmpty && news(first).isEmpty)
  }

  private func read(_ bytes: [UInt8]) -> ToldDevices? { ToldDevices(bytes.rawSpan) }

  @Test("What is kept of who was told reads as it was written, and nothing else does")
  func bytes() throws {
    try second.join(first, at: folder.remote)
    try first.sync(at: folder.remote)
    let told = try ToldDevices(first.coffer.account.open().devices)
    let bytes = told.bytes
    #expect(read(bytes) == told && bytes.count == 2 * 18 + "firstsecond".utf8.count)
    for count in 1..<bytes.count where count != 18 + 5 && count != 18 + 6 {
      #expect(read(Array(bytes.prefix(count))) == nil, "\(count)")
    }
    var wrong = bytes
    wrong[16] = 2
    #expect(read(wrong) == nil)
  }
}
