// SPDX-License-Identifier: Apache-2.0
//
// Two commands of an account at once. The second one runs as a whole right after a request of the first, at each of its
// requests in turn: one of both comes to its end, the other one says why not, and what is kept is one account.

import Enclaves
import Foundation
import Histories
import Keychains
import Remotes
import Secrets
import Storage
import Synchronization
import Testing

@testable import Syncing

@Suite("Two commands of an account at once")
struct AtOnceTests {
  private let folder: RemoteFolder
  private let first: SyncedCoffer

  init() throws {
    folder = try RemoteFolder()
    let made = try SyncedCoffer()
    try made.add("text")
    first = try Self.reopened(made)
  }

  /// The same coffer as a command opens it, which has written nothing yet: whoever has is the only writer.
  private static func reopened(_ coffer: SyncedCoffer) throws -> SyncedCoffer {
    coffer.coffer.close()
    return try SyncedCoffer(opening: coffer.place)
  }

  /// How often a command may be asked to go on before it is at its end.
  private static let requests = [0, 1, 2, 3, 5, 8, 12, 17]

  /// Whether a command came to its end; otherwise it must be by an error that says that another one is at work.
  private func succeeds(_ command: () throws -> Void) throws -> Bool {
    do {
      try command()
      return true
    } catch let error as SyncError {
      try #require([.hasAccount, .busy, .accountBegun, .accountThere(1)].contains(error), "\(error)")
    } catch let error as StorageError { try #require(error == .inUse) }
    return false
  }

  private func accountCount() throws -> Int { try AccountsThere(at: folder.remote).made.count }

  @Test("Two make an account in one coffer", arguments: requests)
  func twoMake(after count: Int) throws {
    var others = 0
    let remote = InterveningRemote(folder.remote, after: count) {
      let other = try SyncedCoffer(opening: first.place)
      if try succeeds({ try other.makeAccount(at: folder.remote, folder: folder.path) }) { others += 1 }
      other.coffer.close()
    }
    let mine = try succeeds { try first.makeAccount(at: remote, folder: folder.path) }
    try remote.check()
    #expect(others + (mine ? 1 : 0) == 1)
    let again = try Self.reopened(first)
    #expect(try again.sync(at: folder.remote).outcome == .complete)
    #expect(try accountCount() == 1)
  }

  @Test("Two coffers make an account at one empty place", arguments: requests)
  func twoPlaces(after count: Int) throws {
    let second = try Self.reopened(SyncedCoffer())
    var others = 0
    let remote = InterveningRemote(folder.remote, after: count) {
      if try succeeds({ try second.makeAccount(at: folder.remote, folder: folder.path) }) { others += 1 }
    }
    let mine = try succeeds { try first.makeAccount(at: remote, folder: folder.path) }
    try remote.check()
    #expect(others + (mine ? 1 : 0) <= 1)
    #expect(try accountCount() == others + (mine ? 1 : 0))
    // Whoever was refused finds an account, or can make one.
    guard others == 0, !mine else { return }
    try first.makeAccount(at: folder.remote, folder: folder.path)
    #expect(try accountCount() == 1)
  }

  @Test("Two join with the passphrase in one coffer", arguments: requests)
  func twoJoin(after count: Int) throws {
    try first.makeAccount(at: folder.remote, folder: folder.path)
    let second = try Self.reopened(SyncedCoffer())
    var others = 0
    let remote = InterveningRemote(folder.remote, after: count) {
      let other = try SyncedCoffer(opening: second.place)
      if try succeeds({ try other.join(first, at: folder.remote) }) { others += 1 }
      other.coffer.close()
    }
    let mine = try succeeds { try second.join(first, at: remote) }
    try remote.check()
    #expect(others + (mine ? 1 : 0) == 1)
    let again = try Self.reopened(second)
    #expect(try again.sync(at: folder.remote).outcome == .complete)
    try first.sync(at: folder.remote)
    #expect(try first.coffer.account.open().devices.count == 2)
    #expect(try again.shown().count == 1)
  }

  @Test("One joins while another makes an account in the same coffer", arguments: requests)
  func joinAndMake(after count: Int) throws {
    try first.makeAccount(at: folder.remote, folder: folder.path)
    let elsewhere = try RemoteFolder()
    let second = try Self.reopened(SyncedCoffer())
    var others = 0
    let remote = InterveningRemote(folder.remote, after: count) {
      let other = try SyncedCoffer(opening: second.place)
      if try succeeds({ try other.makeAccount(at: elsewhere.remote, folder: elsewhere.path) }) { others += 1 }
      other.coffer.close()
    }
    let mine = try succeeds { try second.join(first, at: remote) }
    try remote.check()
    #expect(others + (mine ? 1 : 0) == 1)
    let again = try Self.reopened(second)
    let place = mine ? folder.remote : elsewhere.remote
    #expect(try again.sync(at: place).outcome == .complete)
  }

  @Test("Two ask to be enrolled with one card: both show the words of one device")
  func twoAsk() throws {
    try first.makeAccount(at: folder.remote, folder: folder.path)
    let second = try Self.reopened(SyncedCoffer())
    let address = try first.coffer.account.open().address()
    var words: [String] = []
    let remote = InterveningRemote(folder.remote, after: 0) {
      let other = try SyncedCoffer(opening: second.place)
      words = try other.coffer.account.askToJoin(
        at: folder.remote, address, enclave: SoftwareEnclave(), name: "second"
      ).enrolmentWords
      other.coffer.close()
    }
    let mine = try second.coffer.account.askToJoin(
      at: remote, address, enclave: SoftwareEnclave(), name: "second")
    try remote.check()
    #expect(mine.enrolmentWords == words && words.count == 12)
    let waiting = try first.coffer.account.open().waitingDevices(at: folder.remote).devices
    #expect(waiting.map(\.words) == [words])
  }

  @Test("Two go on under a new identifier in one coffer", arguments: requests)
  func twoRejoin(after count: Int) throws {
    try first.makeAccount(at: folder.remote, folder: folder.path)
    let first = try Self.reopened(first)
    let secret = AccountSecret(try SyncedCoffer.passphrase())
    func rejoin(_ coffer: SyncedCoffer, _ remote: any Remote) throws -> Bool {
      try succeeds {
        let report = try coffer.coffer.account.open().rejoin(
          with: secret, enclave: SyncedCoffer.enclave, at: remote)
        #expect(report.outcome == .complete)
      }
    }
    var others = 0
    let remote = InterveningRemote(folder.remote, after: count) {
      let other = try SyncedCoffer(opening: first.place)
      if try rejoin(other, folder.remote) { others += 1 }
      other.coffer.close()
    }
    let mine = try rejoin(first, remote)
    try remote.check()
    #expect(others + (mine ? 1 : 0) >= 1)
    let again = try Self.reopened(first)
    try again.add("later")
    let report = try again.sync(at: folder.remote)
    #expect(report.outcome == .complete && report.sentCount == 1)
  }

  @Test("A deep examination opens what is kept of the account")
  func examination() throws {
    try first.makeAccount(at: folder.remote, folder: folder.path)
    let healthy = try first.coffer.examine(isDeep: true)
    #expect(healthy.isHealthy && healthy.checks.contains("what is kept of the account"))
    // The key of the rows is another one.
    _ = try AccountItems(keychain: first.coffer.keychain).makeStateKey()
    let found = try first.coffer.examine(isDeep: true)
    #expect(!found.isHealthy)
    #expect(found.findings.map(\.text).contains("what is kept of the account: not what was stored"))
  }
}

/// A remote that calls somebody else right after so many requests.
private final class InterveningRemote: Remote {
  private let remote: any Remote
  private let left: Atomic<Int>
  /// Whoever asks waits for it, so that nobody is in it twice.
  private nonisolated(unsafe) let intervene: () throws -> Void
  private let failure = Mutex<(any Error)?>(nil)

  init(_ remote: any Remote, after count: Int, _ intervene: @escaping () throws -> Void) {
    self.remote = remote
    left = Atomic(count)
    self.intervene = intervene
  }

  /// Throws what the other one threw; calls it, if there were not so many requests.
  func check() throws {
    if left.load(ordering: .relaxed) >= 0 { try intervene() }
    if let error = failure.withLock({ $0 }) { throw error }
  }

  private func answer<R>(_ body: () throws(RemoteError) -> R) throws(RemoteError) -> R {
    let result = Result { () throws(RemoteError) in try body() }
    if left.subtract(1, ordering: .relaxed).newValue == -1 {
      do { try intervene() } catch { failure.withLock { $0 = error } }
    }
    return try result.get()
  }

  func list(_ folder: String, _ body: (RemoteObject) -> Void) throws(RemoteError) -> UInt64? {
    try answer { () throws(RemoteError) in try remote.list(folder, body) }
  }
  func get(_ name: String, range: Range<Int>?) throws(RemoteError) -> [UInt8]? {
    try answer { () throws(RemoteError) in try remote.get(name, range: range) }
  }
  func put(_ name: String, _ bytes: [UInt8]) throws(RemoteError) {
    try answer { () throws(RemoteError) in try remote.put(name, bytes) }
  }
  func stat(_ name: String) throws(RemoteError) -> Int? {
    try answer { () throws(RemoteError) in try remote.stat(name) }
  }
  func delete(_ name: String) throws(RemoteError) {
    try answer { () throws(RemoteError) in try remote.delete(name) }
  }
}
