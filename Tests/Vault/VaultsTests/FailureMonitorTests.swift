// SPDX-License-Identifier: Apache-2.0
//
// The failure monitor: counting, warning, locking, and that nothing is ever erased.

import Foundation
import Keychains
import Synchronization
import Testing

@testable import Vaults

@Suite("Failure monitor")
struct FailureMonitorTests {
  private let fixture: VaultFixture
  private let ids = (0..<101).map { _ in MessageID() }

  init() throws { fixture = try VaultFixture() }

  @Test("More than ten failures warn, and more than a hundred lock")
  func limits() throws {
    let vault = fixture.vault
    #expect(try vault.recordFailures([]) == .none)
    #expect(try vault.recordFailures(Array(ids[..<10])) == .none)
    #expect(try vault.recordFailures([ids[10]]) == .warning)
    #expect(try vault.recordFailures(Array(ids[..<100])) == .warning)
    #expect(try vault.status().recentFailures == 100)
    _ = try fixture.reopened()
    #expect(try vault.recordFailures([ids[100]]) == .locked)
  }

  @Test("A message counts once, however often it fails")
  func sameMessage() throws {
    for _ in 0..<20 { #expect(try fixture.vault.recordFailures([ids[0], ids[0]]) == .none) }
    #expect(try fixture.vault.status().recentFailures == 1)
  }

  @Test("Failures count for an hour after the last time")
  func rollingHour() throws {
    let vault = fixture.vault
    _ = try vault.recordFailures(Array(ids[..<6]))
    fixture.time.advance(1_800)
    _ = try vault.recordFailures(Array(ids[5..<11]))
    #expect(try vault.status().recentFailures == 11)
    fixture.time.advance(1_799)
    #expect(try vault.status().recentFailures == 11)
    fixture.time.advance(1)
    #expect(try vault.status().recentFailures == 6)
    #expect(try vault.recordFailures([ids[20]]) == .none)
    fixture.time.advance(3_600)
    #expect(try vault.status().recentFailures == 0)
  }

  @Test("A vault that locked itself opens only for who has authenticated, and counts anew")
  func locking() throws {
    let id = try fixture.vault.add("kept")
    _ = try fixture.vault.recordFailures(ids)
    expectError("VAULT_LOCKED") { try fixture.vault.text(id) }
    expectError("VAULT_LOCKED") { try fixture.vault.add("not taken") }
    #expect(try fixture.vault.status().isLocked)
    expectError("VAULT_LOCKED") { try fixture.reopened() }
    fixture.time.advance(days: 400)
    expectError("VAULT_LOCKED") { try fixture.reopened() }
    let vault = try fixture.reopened(isAuthenticated: true)
    #expect(try vault.text(id) == "kept")
    #expect(try vault.status().recentFailures == 0)
    #expect(try fixture.reopened().recordFailures([ids[0]]) == .none)
  }

  @Test("What was warned of stays until it is cleared, through hours and an authentication")
  func unexamined() throws {
    _ = try fixture.vault.recordFailures(Array(ids[..<10]))
    #expect(try fixture.vault.status().unexaminedFailures == 0)
    _ = try fixture.vault.recordFailures([ids[10]])
    #expect(try fixture.vault.status().unexaminedFailures == 11)
    fixture.time.advance(days: 400)
    #expect(try fixture.reopened().status().unexaminedFailures == 11)
    _ = try fixture.vault.recordFailures(ids)
    let vault = try fixture.reopened(isAuthenticated: true)
    #expect(try !vault.status().isLocked)
    #expect(try vault.status().unexaminedFailures == 101)
    // The same ones again: they count anew towards the lock, and are no others.
    _ = try vault.recordFailures([ids[0]])
    #expect(try vault.status().recentFailures == 1 && vault.status().unexaminedFailures == 101)
    #expect(try vault.clearFailures() == 101)
    #expect(try vault.status().unexaminedFailures == 0)
    #expect(try vault.clearFailures() == 0)
  }

  @Test("The log's bytes are those of the specification, and no others are read")
  func bytes() throws {
    let members = (0..<101).map { [UInt8](repeating: UInt8($0), count: 16) }
    var log = FailureLog()
    log.record(Array(members[..<2]), now: 0x0102)
    let tail: [UInt8] = [0, 0, 0, 0, 0, 0, 1, 2, 0]
    #expect(log.bytes == [1, 0, 0, 2] + members[0] + tail + members[1] + tail)
    log.record(members, now: 3)
    #expect(log.bytes.prefix(4) == [1, 3, 0, 101])
    log.unlock()
    #expect(log.bytes.prefix(4) == [1, 2, 0, 101])
    #expect(Array(log.bytes[4..<29]) == members[0] + [0, 0, 0, 0, 0, 0, 0, 3, 1] as [UInt8])
    let again = FailureLog(bytes: log.bytes.span.bytes)
    #expect(again == log)
    for (offset, byte) in [(0, 2), (1, 4), (3, 100), (28, 2)] as [(Int, UInt8)] {
      var changed = log.bytes
      changed[offset] = byte
      let read = FailureLog(bytes: changed.span.bytes)
      #expect(read == nil)
    }
  }

  @Test("An alarm is raised once when the failures begin to warn, and once when they lock")
  func alarms() throws {
    let heard = Mutex<[String]>([])
    let vault = fixture.vault
    vault.listenForAlarms { alarm, count in heard.withLock { $0.append("\(alarm) \(count)") } }
    for id in ids[..<50] { _ = try vault.recordFailures([id]) }
    #expect(heard.withLock { $0 } == ["warning 11"])
    _ = try vault.recordFailures(Array(ids[50...]))
    _ = try vault.recordFailures([ids[0]])
    #expect(heard.withLock { $0 } == ["warning 11", "locked 101"])
  }

  @Test("Messages that are damaged by the hundred lock the vault and stay where they are")
  func nothingErased() throws {
    for number in 1...105 { try fixture.vault.add("\(number)") }
    try fixture.tamper("UPDATE messages SET sealed = zeroblob(length(sealed)) WHERE number > 2")
    #expect(try fixture.vault.unreadableMessages { _, _ in }.count == 103)
    _ = try fixture.reopened()
    #expect(try fixture.vault.texts() == ["1", "2"])
    expectError("VAULT_LOCKED") { try fixture.reopened() }
    let vault = try fixture.reopened(isAuthenticated: true)
    #expect(try vault.status().messageCount == 105)
    try vault.checkRows()
    #expect(try vault.texts() == ["1", "2"])
  }

  @Test("Codes and retries are those of the requirements")
  func errorTable() {
    let id = MessageID()
    let table: [(VaultError, String, RetryRule)] = [
      (.encryptionFailed, "ENCRYPTION_FAILED", .onceAfterOneSecond),
      (.dataTampered(id), "DATA_TAMPERED", .never),
      (.decryptionFailed(id, underlying: CancellationError()), "DECRYPTION_FAILED", .never),
      (.keychainAccessDenied, "KEYCHAIN_ACCESS_DENIED", .never),
      (.keychainNotAvailable(.loadFailed(10)), "KEYCHAIN_NOT_AVAILABLE", .exponentialBackoff),
      (.keychainNotAvailable(.loadFailed(-ETIMEDOUT)), "KEYCHAIN_NOT_AVAILABLE", .never),
      (.keychainNotAvailable(.saveFailed(-EBADMSG)), "KEYCHAIN_NOT_AVAILABLE", .never),
      (.keychainNotAvailable(.storage(.inUse)), "KEYCHAIN_NOT_AVAILABLE", .exponentialBackoff),
      (.keychainNotAvailable(.serviceUnavailable), "KEYCHAIN_NOT_AVAILABLE", .onceAfterOneSecond),
      (.keychainNotAvailable(.serviceLocked), "KEYCHAIN_NOT_AVAILABLE", .never),
      (.corrupt, "VAULT_CORRUPT", .never),
      (.lockedAfterFailures, "VAULT_LOCKED", .never),
    ]
    for (error, code, retry) in table { #expect(error.code == code && error.retry == retry) }
  }

  @Test("Tries again after 1, 2, 4 and 8 seconds, once after one second, or never")
  func retries() {
    func pauses(_ error: VaultError) -> [Int] {
      var pauses: [Int] = []
      var tries = 0
      do throws(VaultError) {
        try RetryRule.apply(pause: { pauses.append($0) }) { () throws(VaultError) -> Void in
          tries += 1
          throw error
        }
      } catch {}
      #expect(tries == pauses.count + 1)
      return pauses
    }
    #expect(pauses(.keychainNotAvailable(.loadFailed(10))) == [1, 2, 4, 8])
    #expect(pauses(.keychainNotAvailable(.serviceUnavailable)) == [1])
    #expect(pauses(.encryptionFailed) == [1])
    for error: VaultError in [.dataTampered(ids[0]), .corrupt, .keychainAccessDenied, .lockedAfterFailures] {
      #expect(pauses(error) == [])
    }
  }
}
