// SPDX-License-Identifier: Apache-2.0

import Foundation
import Histories
import Remotes
import Synchronization
import Testing
import Vaults

@testable import Syncing

/// A place whose lists have whatever they once had.
private final class LateListing: Remote {
  private let remote: any Remote
  private let listed = Mutex<[String: Set<RemoteObject>]>([:])

  init(_ remote: any Remote) { self.remote = remote }

  func list(_ folder: String, _ body: (RemoteObject) -> Void) throws(RemoteError) -> UInt64? {
    let found = try remote.list(folder)
    listed.withLock { $0[folder, default: []].formUnion(found.objects) }
    for object in listed.withLock({ $0[folder] ?? [] }) { body(object) }
    return found.time
  }

  func get(_ name: String, range: Range<Int>?) throws(RemoteError) -> [UInt8]? {
    try remote.get(name, range: range)
  }
  func put(_ name: String, _ bytes: [UInt8]) throws(RemoteError) { try remote.put(name, bytes) }
  func stat(_ name: String) throws(RemoteError) -> Int? { try remote.stat(name) }
  func delete(_ name: String) throws(RemoteError) { try remote.delete(name) }
}

@Suite("The end of an account")
struct DestroyingTests {
  private let folder: RemoteFolder
  private let coffer: SyncedCoffer
  private let passphrase: AccountSecret

  /// An account with one device and two messages, and another account at the same place.
  init() throws {
    folder = try RemoteFolder()
    coffer = try SyncedCoffer()
    passphrase = try AccountSecret(SyncedCoffer.passphrase())
    for text in ["one", "two"] { try coffer.add(text) }
    try coffer.makeAccount(at: folder.remote, folder: folder.path)
  }

  private func destroy(at remote: any Remote) throws {
    let remains = try coffer.coffer.account.open().remains(with: passphrase, at: remote)
    try coffer.coffer.account.destroy(remains, at: remote)
  }

  @Test("All of it is deleted, another account stays, and so do the messages here")
  func all() throws {
    let other = try SyncedCoffer()
    try other.add("of the other")
    let made = try other.coffer.account.make(
      at: folder.remote, .folder(path: folder.path), passphrase: SyncedCoffer.passphrase(),
      words: SyncedCoffer.words, costs: SyncedCoffer.costs(), enclave: SyncedCoffer.enclave, name: "other",
      isAnother: true)
    _ = try made.run(.sync, at: folder.remote)
    let account = made.accountName
    let before = try folder.files().filter { $0.key.hasPrefix(account + "/") }
    let shown = try coffer.shown()
    try destroy(at: folder.remote)
    #expect(try folder.files() == before && !before.isEmpty)
    #expect(try coffer.shown() == shown && !coffer.coffer.account.exists())
    #expect(try other.sync(at: folder.remote).outcome == .complete)
  }

  @Test("Who cannot open it deletes nothing, and neither does a device that is not the last")
  func refusals() throws {
    let before = try folder.files()
    let wrong = try AccountSecret(SyncedCoffer.passphrase("Wrong-horse-7-battery"))
    #expect(throws: SyncError.wrongSecret) {
      try coffer.coffer.account.open().remains(with: wrong, at: folder.remote)
    }
    #expect(try folder.files() == before)
    let second = try SyncedCoffer()
    try second.join(coffer, at: folder.remote)
    #expect(throws: SyncError.otherDevices(["second"])) { try destroy(at: folder.remote) }
    // A revoked device is none, and can end nothing itself.
    let device = try second.device()
    _ = try coffer.coffer.account.open().revoke(device, with: passphrase, at: folder.remote)
    #expect(throws: SyncError.refused(.revoked)) {
      try second.coffer.account.open().remains(with: passphrase, at: folder.remote)
    }
    try destroy(at: folder.remote)
    #expect(try folder.files().isEmpty)
  }

  @Test("Stopped at any deletion, it can be run again, and what is here can be put back")
  func stopped() throws {
    for carriesLastOut in [false, true] {
      for limit in 0... {
        let remains = try coffer.coffer.account.open().remains(with: passphrase, at: folder.remote)
        guard limit < remains.objectCount - 1 else { break }
        let remote = StoppingRemote(folder.remote, after: limit, carriesLastOut: carriesLastOut)
        #expect(throws: SyncError.remote(.unreachable)) {
          try coffer.coffer.account.destroy(remains, at: remote)
        }
        #expect(try coffer.coffer.account.exists())
        // Users who have changed their minds put back what is here. A last slot may be that of the words.
        if limit % 2 == 0 || limit > remains.objectCount - 4 {
          _ = try coffer.sync(.verify, at: folder.remote)
        }
      }
    }
    try destroy(at: folder.remote)
    #expect(try folder.files().isEmpty && !coffer.coffer.account.exists())
  }

  @Test("Where nothing of the account is, nothing is forgotten")
  func otherPlace() throws {
    let empty = try RemoteFolder()
    try empty.remote.put("account/slots/a", [1])
    #expect(throws: SyncError.notThere) { try destroy(at: empty.remote) }
    #expect(try coffer.coffer.account.exists() && empty.files().count == 1)
    #expect(try coffer.sync(at: folder.remote).outcome == .complete)
  }

  @Test("What this device lacks is not deleted")
  func onlyThere() throws {
    let second = try SyncedCoffer()
    try second.join(coffer, at: folder.remote)
    try coffer.sync(at: folder.remote)
    let before = Set(try folder.files().keys)
    try second.add("its pack comes late")
    try second.sync(at: folder.remote)
    for name in try folder.files().keys where name.contains("/pack/") && !before.contains(name) {
      try folder.remote.delete(name)
    }
    let device = try second.device()
    _ = try coffer.coffer.account.open().revoke(device, with: passphrase, at: folder.remote)
    #expect(throws: SyncError.onlyThere(captures: 0, messages: 1)) { try destroy(at: folder.remote) }
    #expect(try !folder.files().isEmpty)
  }

  @Test("What was written meanwhile is deleted too")
  func meanwhile() throws {
    let remains = try coffer.coffer.account.open().remains(with: passphrase, at: folder.remote)
    try coffer.add("sent by another process")
    try coffer.sync(at: folder.remote)
    try coffer.coffer.account.destroy(remains, at: folder.remote)
    #expect(try folder.files().isEmpty && !coffer.coffer.account.exists())
  }

  @Test("A list that still names what was deleted ends it")
  func lateLists() throws {
    let late = LateListing(folder.remote)
    let remains = try coffer.coffer.account.open().remains(with: passphrase, at: late)
    try coffer.coffer.account.destroy(remains, at: late)
    #expect(try folder.files().isEmpty && !coffer.coffer.account.exists())
  }

  @Test("The user can stop it")
  func cancelled() throws {
    let remains = try coffer.coffer.account.open().remains(with: passphrase, at: folder.remote)
    var deleted = [0]
    #expect(throws: SyncError.stopped) {
      try coffer.coffer.account.destroy(remains, at: folder.remote) {
        deleted.append($0)
        return deleted.count < 3
      }
    }
    #expect(deleted.count == 3 && deleted.sorted() == deleted && remains.objectCount > 3)
    #expect(try folder.files().count == remains.objectCount - 2)
  }
}
