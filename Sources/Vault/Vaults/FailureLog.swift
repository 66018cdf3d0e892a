// SPDX-License-Identifier: Apache-2.0
//
// The failure monitor: distinct messages that failed to open within a rolling hour, kept
// across restarts in a sealed row. More than ten warn, until an examination has named them; more than a
// hundred lock the vault until the person authenticates again. Nothing is ever erased.
//
//   version 1 (1) ‖ flags (1): 1 locked, 2 warned ‖ count (2)
//   ‖ entries: keyed hash of the id (16) ‖ time (8) ‖ settled (1)

internal import Foundation
internal import Primitives
internal import Secrets
internal import Storage

struct FailureLog: Equatable {
  static let warningLimit = 10
  static let lockLimit = 100
  static let windowSeconds: Int64 = 3_600
  /// What lies beyond the lock need not be counted exactly.
  private static let entryLimit = 1_000
  private static let memberByteCount = 16

  struct Entry: Equatable {
    /// Stands for a message without naming it.
    var member: [UInt8]
    var time: Int64
    /// Whether the person has authenticated since: it does not lock again, and is not forgotten either.
    var isSettled = false
  }

  private(set) var entries: [Entry] = []
  private(set) var isLocked = false
  /// Whether there were more failures than warn, and nobody has looked at them since.
  private(set) var isWarned = false

  /// Failures that count towards the limits.
  func recentCount(now: Int64) -> Int { entries.count { Self.isRecent($0, now) && !$0.isSettled } }

  /// Failures that the person is warned of.
  var unexaminedCount: Int { isWarned ? entries.count : 0 }

  private static func isRecent(_ entry: Entry, _ now: Int64) -> Bool { now - entry.time < windowSeconds }

  /// Counts failures; one that is counted already counts from now on anew.
  mutating func record(_ members: [[UInt8]], now: Int64) {
    let forgets = !isWarned
    entries.removeAll { (forgets && !Self.isRecent($0, now)) || members.contains($0.member) }
    for member in members where entries.count < Self.entryLimit {
      entries.append(Entry(member: member, time: now))
    }
    let recent = recentCount(now: now)
    if recent > Self.warningLimit { isWarned = true }
    if recent > Self.lockLimit { isLocked = true }
  }

  /// The person has authenticated: the count begins again, and the warning stays.
  mutating func unlock() {
    isLocked = false
    for index in entries.indices { entries[index].isSettled = true }
  }

  /// The person has seen what does not open.
  mutating func clear() { self = FailureLog() }

  /// A keyed hash of an identifier.
  static func member(_ id: MessageID, key: SharedSecretBytes) -> [UInt8] {
    var hkdf = HKDF()
    var member = [UInt8](repeating: 0, count: memberByteCount)
    var span = member.mutableSpan
    var output = unsafe span.mutableBytes
    let info: StaticString = "coffer vault failures v1"
    key.withBytes { key in
      id.withBytes { id in
        info.withRawSpan { hkdf.derive(ikm: key, salt: id, info: $0, into: &output) }
      }
    }
    return member
  }

  // MARK: The row

  /// The log, empty when nothing ever failed.
  /// - Throws: `VaultError.corrupt` when the row is gone or not what was sealed.
  static func load(_ transaction: borrowing Transaction, key: SharedSecretBytes) throws -> FailureLog {
    try VaultRow.failures.load(transaction, key: key) { FailureLog(bytes: $0) }
  }

  func save(_ transaction: borrowing Transaction, key: SharedSecretBytes) throws {
    try VaultRow.failures.save(bytes, transaction, key: key)
  }

  var bytes: [UInt8] {
    var bytes: [UInt8] = [1, (isLocked ? 1 : 0) | (isWarned ? 2 : 0)]
    bytes.append(bigEndian: UInt16(entries.count))
    for entry in entries {
      bytes += entry.member
      bytes.append(bigEndian: entry.time)
      bytes.append(entry.isSettled ? 1 : 0)
    }
    return bytes
  }

  init() {}

  init?(bytes: RawSpan) {
    var cursor = ByteCursor()
    do {
      guard try cursor.readByte(bytes) == 1 else { return nil }
      let flags = try cursor.readByte(bytes)
      guard flags < 4 else { return nil }
      (isLocked, isWarned) = (flags & 1 != 0, flags & 2 != 0)
      for _ in 0..<(try cursor.readUInt16(bytes)) {
        let member = try cursor.readBytes(bytes, count: Self.memberByteCount)
        let time = try cursor.readInt64(bytes)
        let settled = try cursor.readByte(bytes)
        guard settled < 2 else { return nil }
        entries.append(Entry(member: member, time: time, isSettled: settled == 1))
      }
      guard cursor.isAtEnd(of: bytes) else { return nil }
    } catch {
      return nil
    }
  }
}
