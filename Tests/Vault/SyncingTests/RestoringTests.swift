// SPDX-License-Identifier: Apache-2.0

import Enclaves
import Foundation
import Histories
import Keychains
import Primitives
import Remotes
import Secrets
import TemporaryHomes
import Testing
import Vaults

@testable import Syncing

@Suite("Restoring from a remote, and what can go wrong there")
struct RestoringTests {
  private let folder: RemoteFolder
  private let first: SyncedCoffer

  init() throws {
    folder = try RemoteFolder()
    first = try SyncedCoffer()
    for number in 0..<5 { try first.add("text \(number)") }
    try first.makeAccount(at: folder.remote, folder: folder.path)
  }

  @Test("Passphrase or words, with the card, give everything back, and a drill says so before")
  func restore() throws {
    let address = try first.coffer.account.open().address()
    for secret in [AccountSecret(try SyncedCoffer.passphrase()), AccountSecret(SyncedCoffer.words)] {
      let before = try folder.files()
      let drill = try first.coffer.account.drill(
        at: folder.remote, address, with: secret, enclave: SoftwareEnclave())
      #expect(drill.messageCount == 5 && drill.missingCount == 0)
      #expect(try drill.digest == first.coffer.account.open().history.withDigest())
      #expect(try folder.files() == before)
      let restored = try SyncedCoffer()
      #expect(try restored.join(first, at: folder.remote, with: secret).outcome == .complete)
      #expect(try restored.shown() == first.shown())
    }
  }

  @Test("A slot that is open already is not opened again, so that its passphrase is derived once")
  func openedOnce() throws {
    let address = try first.coffer.account.open().address()
    let wrong = AccountSecret(try SyncedCoffer.passphrase("Another-horse-8-battery"))
    #expect(try AccountLink.slot(at: folder.remote, address, with: wrong) == nil)
    let slot = try #require(
      try AccountLink.slot(at: folder.remote, address, with: AccountSecret(SyncedCoffer.passphrase())))
    let restored = try SyncedCoffer()
    // What would open another slot opens none: only the one that was handed on is used.
    let report = try restored.coffer.account.join(
      at: folder.remote, address, with: wrong, slot: slot, enclave: SoftwareEnclave(), name: "second"
    ).report
    #expect(report.outcome == .complete)
    #expect(try restored.shown() == first.shown())
  }

  @Test("The card's text is read again; a slip of the pen is noticed, and so is a wrong account")
  func card() throws {
    let address = try first.coffer.account.open().address()
    let text = address.text().withBytes { [UInt8](copying: $0) }
    let read = try AccountAddress(text.rawSpan)
    #expect(read.account == address.account)
    #expect(
      read.secret.withBytes { [UInt8](copying: $0) } == address.secret.withBytes { [UInt8](copying: $0) })
    for offset in text.count - 36..<text.count {
      var wrong = text
      wrong[offset] = wrong[offset] == UInt8(ascii: "1") ? UInt8(ascii: "2") : UInt8(ascii: "1")
      #expect(throws: AddressError.mistyped) { try AccountAddress(wrong.rawSpan) }
    }
    #expect(throws: AddressError.mistyped) { try AccountAddress(text.dropLast().rawSpan) }
    let place = Array("folder:///tmp/x".utf8)
    #expect(throws: AddressError.placeOnly) { try AccountAddress(place.rawSpan) }
    #expect(throws: AddressError.self) { try AccountAddress([UInt8]().rawSpan) }
  }

  @Test("A wrong passphrase, other words and another card open nothing, and leave nothing here or there")
  func wrongSecrets() throws {
    let before = try folder.files()
    let other = try SyncedCoffer()
    let address = try first.coffer.account.open().address()
    let wrong = [
      AccountSecret(try SyncedCoffer.passphrase("Another-horse-8-battery")),
      AccountSecret(RecoveryPhrase(entropy: SystemRandom.secretBytes(count: 16))),
    ]
    for secret in wrong {
      #expect(throws: SyncError.wrongSecret) {
        try other.coffer.account.join(
          at: folder.remote, address, with: secret, enclave: SoftwareEnclave(), name: "other")
      }
    }
    let card = AccountAddress(
      place: address.place, account: address.account,
      secret: SharedSecretBytes(SystemRandom.secretBytes(count: 16)))
    #expect(throws: SyncError.wrongSecret) {
      try other.coffer.account.join(
        at: folder.remote, card, with: AccountSecret(SyncedCoffer.passphrase()), enclave: SoftwareEnclave(),
        name: "other")
    }
    let elsewhere = AccountAddress(
      place: address.place, account: AccountID(beginningOf: [UInt8](repeating: 9, count: 16)),
      secret: address.secret)
    #expect(throws: SyncError.notThere) {
      try other.coffer.account.join(
        at: folder.remote, elsewhere, with: wrong[0], enclave: SoftwareEnclave(), name: "other")
    }
    #expect(try folder.files() == before)
    #expect(try !other.coffer.account.exists())
    #expect(try other.coffer.keychain.accounts().filter { $0.hasPrefix("account.") }.isEmpty)
  }

  @Test("A damaged slot is damage, and neither a wrong passphrase nor another place")
  func damagedSlots() throws {
    let other = try SyncedCoffer()
    let address = try first.coffer.account.open().address()
    let words = AccountSecret(RecoveryPhrase(entropy: SystemRandom.secretBytes(count: 16)))
    func join(_ secret: AccountSecret) throws {
      _ = try other.coffer.account.join(
        at: folder.remote, address, with: secret, enclave: SoftwareEnclave(), name: "other")
    }
    let slots = try folder.files().keys.filter { $0.contains("/slots/") }.sorted()
    // What other programs put there is not a slot.
    let copy = folder.path + "/" + slots[0] + ".sync-conflict"
    try Data([1]).write(to: URL(filePath: copy))
    #expect(throws: SyncError.wrongSecret) { try join(words) }
    for (count, slot) in slots.enumerated() {
      let url = URL(filePath: folder.path + "/" + slot)
      var bytes = try Data(contentsOf: url)
      bytes[bytes.count / 2] ^= 1
      try bytes.write(to: url)
      #expect(throws: SyncError.slotsDamaged(count + 1)) { try join(words) }
    }
    #expect(throws: SyncError.slotsDamaged(slots.count)) {
      try join(AccountSecret(SyncedCoffer.passphrase()))
    }
    #expect(throws: SyncError.slotsDamaged(slots.count)) {
      try AccountLink.checkIsThere(at: folder.remote, address)
    }
    #expect(try !other.coffer.account.exists())
  }

  @Test("A second account at one place is made only on demand")
  func secondAccount() throws {
    let other = try SyncedCoffer()
    #expect(throws: SyncError.accountThere(1)) {
      try other.makeAccount(at: folder.remote, folder: folder.path)
    }
    #expect(throws: SyncError.hasAccount) { try first.makeAccount(at: folder.remote, folder: folder.path) }
  }

  @Test("A folder that is not there, and one that was emptied, are told apart from 'all deleted'")
  func missing() throws {
    let moved = folder.path + ".away"
    try FileManager.default.moveItem(atPath: folder.path, toPath: moved)
    let unreachable = try first.sync(at: folder.remote)
    #expect(unreachable.outcome == .unreachable && unreachable.remoteError == .unreachable)
    try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: false)
    let empty = try first.sync(at: folder.remote)
    #expect(empty.outcome == .empty && empty.alarms.contains(.empty))
    #expect(try first.shown().count == 5 && folder.files().isEmpty)
    try FileManager.default.removeItem(atPath: folder.path)
    try FileManager.default.moveItem(atPath: moved, toPath: folder.path)
    let again = try first.sync(at: folder.remote)
    #expect(again.outcome == .complete && again.alarms.isEmpty)
  }

  @Test("Objects that are gone are put back, and a pack that is gone is written again from what is here")
  func putBack() throws {
    for (name, _) in try folder.files() {
      try FileManager.default.removeItem(atPath: folder.path + "/" + name)
    }
    let report = try first.sync(.verify, at: folder.remote)
    #expect(report.outcome == .complete)
    let restored = try SyncedCoffer()
    #expect(try restored.join(first, at: folder.remote).outcome == .complete)
    #expect(try restored.shown() == first.shown())
  }

  @Test("A byte that was changed at the remote is noticed, and nothing here changes")
  func tampered() throws {
    let other = try SyncedCoffer()
    try other.join(first, at: folder.remote)
    try first.add("later")
    try first.sync(at: folder.remote)
    for (name, data) in try folder.files() {
      var changed = data
      changed[data.count / 2] ^= 1
      try changed.write(to: URL(filePath: folder.path + "/" + name))
    }
    let report = try other.sync(at: folder.remote)
    #expect(report.newCount == 0 && report.changedCount == 0)
    #expect(try other.shown().count == 5)
    // Whoever has them writes them again. A pack of the right length is noticed by who reads it.
    #expect(try first.sync(.verify, at: folder.remote).outcome == .complete)
    #expect(try other.sync(.verify, at: folder.remote).missingCount == 1)
    #expect(try other.shown().count == 5)
  }
}

extension History {
  /// The digest of all records that count here.
  func withDigest() -> StateDigest {
    var history = self
    return history.stateDigest()
  }
}
