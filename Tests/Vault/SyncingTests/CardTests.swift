// SPDX-License-Identifier: Apache-2.0
//
// A new card of an account: its secret comes to the devices in envelopes, and the former one opens nothing any more.

import Enclaves
import Foundation
import Histories
import Keychains
import Remotes
import Secrets
import Testing

@testable import Syncing

@Suite("A new card")
struct CardTests {
  private let folder: RemoteFolder
  private let first: SyncedCoffer
  private let second: SyncedCoffer

  init() throws {
    folder = try RemoteFolder()
    first = try SyncedCoffer()
    second = try SyncedCoffer()
    try first.add("one")
    try first.makeAccount(at: folder.remote, folder: folder.path)
    try second.join(first, at: folder.remote)
    try first.sync(at: folder.remote)
  }

  private var passphrase: AccountSecret {
    get throws { AccountSecret(try SyncedCoffer.passphrase(), isOwn: true) }
  }

  @discardableResult
  private func change(on coffer: SyncedCoffer, at remote: (any Remote)? = nil) throws -> SyncReport {
    try coffer.coffer.account.open().changeSlots(
      adding: passphrase, removing: { _ in [] }, changesCard: true, costs: SyncedCoffer.costs(),
      with: passphrase, at: remote ?? folder.remote)
  }

  private func card(_ coffer: SyncedCoffer) throws -> AccountAddress {
    try coffer.coffer.account.open().address()
  }

  private func text(_ address: AccountAddress) -> [UInt8] {
    address.text().withBytes { [UInt8](copying: $0) }
  }

  /// - Parameter branch: the continuation that is right, if the account has several.
  private func restore(
    _ address: AccountAddress, with secret: AccountSecret, branch: ControlID? = nil
  ) throws -> SyncedCoffer {
    let coffer = try SyncedCoffer()
    let report = try coffer.coffer.account.join(
      at: folder.remote, address, with: secret, enclave: SoftwareEnclave(), name: "third",
      choice: { _ in branch }
    ).report
    #expect(report.outcome == .complete)
    return coffer
  }

  @Test("Every device has it after a sync; with the former one, the passphrase opens nothing that counts")
  func exchanged() throws {
    let former = try card(first)
    #expect(try change(on: first).outcome == .complete)
    let new = try card(first)
    #expect(text(new) != text(former))
    #expect(try text(card(second)) == text(former))
    try second.sync(at: folder.remote)
    #expect(try text(card(second)) == text(new))
    #expect(throws: SyncError.refused(.notOwner)) { try restore(former, with: passphrase) }
    #expect(try restore(new, with: passphrase).shown().count == 1)
    #expect(
      try first.coffer.account.open().slots.map(\.kind).sorted { $0.rawValue < $1.rawValue } == [
        .passphrase, .words,
      ])
    #expect(try !first.coffer.account.open().passphraseDiffers())
  }

  @Test("The words still open with the former card, and whoever restores so has the new one")
  func words() throws {
    let former = try card(first)
    try change(on: first)
    let third = try restore(former, with: AccountSecret(SyncedCoffer.words))
    #expect(try text(card(third)) == text(card(first)))
    // What it says goes on with the new one.
    let fourth = try restore(card(third), with: passphrase)
    #expect(try text(card(fourth)) == text(card(first)))
  }

  @Test("A device that missed the change still opens the account with the passphrase")
  func missed() throws {
    try change(on: first)
    #expect(throws: SyncError.wrongSecret) {
      try second.coffer.account.open().revoke(
        first.device(), with: AccountSecret(SyncedCoffer.passphrase("Another-horse-8-battery")),
        at: folder.remote)
    }
    _ = try second.coffer.account.open().revoke(first.device(), with: passphrase, at: folder.remote)
    #expect(try first.sync(at: folder.remote).outcome == .revoked)
    #expect(try restore(card(second), with: passphrase).shown().count == 1)
  }

  @Test("A revoked device does not learn the new secret, and a device that rejoins does")
  func revoked() throws {
    let former = try card(first)
    _ = try first.coffer.account.open().revoke(second.device(), with: passphrase, at: folder.remote)
    try change(on: first)
    #expect(try second.sync(at: folder.remote).outcome == .revoked)
    #expect(try text(card(second)) == text(former))
    _ = try second.coffer.account.open().rejoin(
      with: AccountSecret(SyncedCoffer.words), enclave: SoftwareEnclave(), at: folder.remote)
    #expect(try text(card(second)) == text(card(first)))
  }

  @Test("A request made with the former card is told from none")
  func requests() throws {
    let former = try card(first)
    try change(on: first)
    let third = try SyncedCoffer()
    _ = try third.coffer.account.askToJoin(
      at: folder.remote, former, enclave: SoftwareEnclave(), name: "third")
    let found = try first.coffer.account.open().waitingDevices(at: folder.remote)
    #expect(found.devices.isEmpty && found.unreadableCount == 1)
  }

  @Test("Two devices that make a card at once fork the account; the chosen one's card is in force on both")
  func crossed() throws {
    let before = try RemoteFolder()
    try folder.copy(into: before)
    try change(on: first)
    try change(on: second, at: before.remote)
    try before.copy(into: folder)
    for coffer in [first, second] { try coffer.sync(at: folder.remote) }
    let fork = try #require(try first.coffer.account.open().ownerFork)
    let branch = try #require(fork.branches.first).id
    for coffer in [first, second, first, second] {
      let synchronizer = try coffer.coffer.account.open()
      if let fork = synchronizer.ownerFork {
        _ = try synchronizer.settle(
          fork, on: branch, with: AccountSecret(SyncedCoffer.words), at: folder.remote)
      } else {
        try coffer.sync(at: folder.remote)
      }
    }
    #expect(try text(card(first)) == text(card(second)))
    let third = try restore(card(first), with: AccountSecret(SyncedCoffer.words), branch: branch)
    #expect(try text(card(third)) == text(card(first)))
    #expect(try first.coffer.account.open().opens(with: passphrase, at: folder.remote))
  }

  @Test(
    "A process that ends at any request leaves one card or the other in force, and the next run tells all")
  func interruptions() throws {
    var limit = 0
    while true {
      let stopping = StoppingRemote(folder.remote, after: limit, carriesLastOut: limit % 2 == 0)
      let report = try? change(on: first, at: stopping)
      if report?.outcome == .complete { break }
      // Whatever became of it, the passphrase opens with the card of this device.
      #expect(try first.coffer.account.open().opens(with: passphrase, at: folder.remote), "\(limit)")
      limit += 1
    }
    #expect(limit > 5)
    #expect(try restore(card(first), with: passphrase).shown().count == 1)
  }
}
