// SPDX-License-Identifier: Apache-2.0
//
// The failure monitor (VA-21, D44): distinct messages that failed to open within a rolling hour, kept
// across restarts in a sealed row. More than ten warn; more than a hundred lock the vault until the
// person authenticates again. Nothing is ever erased.
//
//   version 1 (1) ‖ locked (1) ‖ count (2) ‖ entries: keyed hash of the id (16) ‖ time (8)

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
  }

  private(set) var entries: [Entry] = []
  private(set) var isLocked = false

  func recentCount(now: Int64) -> Int { entries.count { now - $0.time < Self.windowSeconds } }

  /// Counts failures; one that is counted already counts from now on anew.
  mutating func record(_ members: [[UInt8]], now: Int64) {
    entries.removeAll { now - $0.time >= Self.windowSeconds || members.contains($0.member) }
    for member in members where entries.count < Self.entryLimit {
      entries.append(Entry(member: member, time: now))
    }
    if entries.count > Self.lockLimit { isLocked = true }
  }

  /// The person has authenticated: the count begins again.
  mutating func unlock() { self = FailureLog() }

  /// A keyed hash of an identifier.
  static func member(_ id: MessageID, key: SharedSecret) -> [UInt8] {
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
  static func load(_ transaction: borrowing Transaction, key: SharedSecret) throws -> FailureLog {
    try VaultRow.failures.load(transaction, key: key) { FailureLog(bytes: $0) }
  }

  func save(_ transaction: borrowing Transaction, key: SharedSecret) throws {
    try VaultRow.failures.save(bytes, transaction, key: key)
  }

  private var bytes: [UInt8] {
    var bytes: [UInt8] = [1, isLocked ? 1 : 0]
    bytes.append(bigEndian: UInt16(entries.count))
    for entry in entries {
      bytes += entry.member
      bytes.append(bigEndian: entry.time)
    }
    return bytes
  }

  init() {}

  private init?(bytes: RawSpan) {
    var cursor = ByteCursor()
    do {
      guard try cursor.readByte(bytes) == 1 else { return nil }
      isLocked = try cursor.readByte(bytes) == 1
      for _ in 0..<(try cursor.readUInt16(bytes)) {
        let member = try cursor.readBytes(bytes, count: Self.memberByteCount)
        entries.append(Entry(member: member, time: try cursor.readInt64(bytes)))
      }
      guard cursor.isAtEnd(of: bytes) else { return nil }
    } catch {
      return nil
    }
  }
}
