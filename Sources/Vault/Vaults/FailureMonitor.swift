// SPDX-License-Identifier: Apache-2.0
//
// The failure monitor counts the distinct messages that failed to open within the last hour, across restarts, in a
// sealed row. More than ten cause a warning until an examination has named them; more than a hundred lock the vault
// until the user authenticates again. Nothing is ever erased.
//
//   version 1 (1) ‖ flags (1): 1 locked, 2 warned ‖ count (2)
//   ‖ entries: keyed hash of the id (16) ‖ time (8) ‖ settled (1)

internal import Logging
public import Primitives
internal import Secrets
internal import Storage
internal import Synchronization

struct FailureLog: Equatable {
  static let warningLimit = 10
  static let lockLimit = 100
  static let windowSeconds: Int64 = 3_600
  /// Beyond the limit that locks the vault, the count need not be exact.
  private static let entryLimit = 1_000
  private static let memberByteCount = 16

  struct Entry: Equatable {
    /// A keyed hash that identifies a message without naming it.
    var member: [UInt8]
    var time: Int64
    /// Whether the user has authenticated since: it does not lock the vault again, but is kept.
    var isSettled = false
  }

  private(set) var entries: [Entry] = []
  private(set) var isLocked = false
  /// Whether a warning was due and no examination has named the messages since.
  private(set) var isWarned = false

  /// Failures that count towards the limits.
  func recentCount(now: Int64) -> Int { entries.count { Self.isRecent($0, now) && !$0.isSettled } }

  /// Failures that the warning is about.
  var unexaminedCount: Int { isWarned ? entries.count : 0 }

  private static func isRecent(_ entry: Entry, _ now: Int64) -> Bool { now - entry.time < windowSeconds }

  /// Counts failures. For a message that is already counted, the hour starts again.
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

  /// The user has authenticated: the count starts again, and the warning stays.
  mutating func unlock() {
    isLocked = false
    for index in entries.indices { entries[index].isSettled = true }
  }

  /// The user has seen which messages do not open.
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

  // MARK: Bytes

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

extension Vault {
  /// The monitor's answer to a failure.
  public enum Alarm: Sendable, Equatable {
    /// Too few failures for a warning.
    case none
    /// "Data corruption detected; restore from backup".
    case warning
    /// The same, and the vault is locked until the next authentication.
    case locked
  }

  /// Decides whether a vault may open.
  func admit(isAuthenticated: Bool) throws {
    let key = try keys().state
    let failures: FailureLog
    do {
      failures = try file.read(.messages) { transaction in
        _ = try stateRow.load(transaction, key: key)
        return try failureRow.load(transaction, key: key)
      }
    } catch StorageError.outdated {
      // Every use of the vault throws this; captures and slots can be used, and the rest can be examined.
      return
    }
    guard failures.isLocked else { return }
    guard isAuthenticated else { throw VaultError.lockedAfterFailures }
    try changeFailures { $0.unlock() }
  }

  /// Changes the failure log as one transaction.
  /// - Returns: the log before and after.
  @discardableResult
  private func changeFailures(
    _ change: (inout FailureLog) -> Void
  ) throws -> (before: FailureLog, after: FailureLog) {
    let key = try keys().state
    return try file.write(.messages) { transaction in
      let before = try failureRow.load(transaction, key: key)
      var after = before
      change(&after)
      try failureRow.save(after, transaction, key: key)
      return (before, after)
    }
  }

  /// Calls `listener` when so many messages have failed to open that a warning is due or the vault locks. The second
  /// argument is their number. It may read and write the coffer.
  public func listenForAlarms(_ listener: @escaping @Sendable (Alarm, Int) -> Void) {
    alarms.listen(listener)
  }

  /// Ends the warning, because the user was told which messages do not open.
  /// - Returns: how many failures the warning was about.
  public func clearFailures() throws -> Int {
    guard try status().unexaminedFailures > 0 else { return 0 }
    return try changeFailures { $0.clear() }.before.unexaminedCount
  }

  /// Counts messages that failed to open.
  ///
  /// Counting is a write. While another process writes, or the disk is full or failing, the failures are not counted,
  /// so that the error of the write does not hide them from the user.
  @discardableResult
  public func recordFailures(_ ids: [MessageID]) throws -> Alarm {
    if ids.isEmpty { return .none }
    Self.log.critical("messages failed to open", metadata: ["count": "\(ids.count)"])
    let key = try keys().state
    let members = Array(Set(ids.map { FailureLog.member($0, key: key) }))
    let now = clock.now()
    do {
      let (before, failures) = try changeFailures { $0.record(members, now: now) }
      if failures.isLocked {
        if !before.isLocked { alarms.ring(.locked, failures.unexaminedCount) }
        return .locked
      }
      if failures.isWarned, !before.isWarned { alarms.ring(.warning, failures.unexaminedCount) }
      return failures.recentCount(now: now) > FailureLog.warningLimit ? .warning : .none
    } catch StorageError.inUse, StorageError.full, StorageError.notPermitted, StorageError.readOnly,
      StorageError.inputOutput
    {
      return .none
    }
  }
}

/// The listener for the alarms of one vault.
final class AlarmBell: Sendable {
  private let listener = Mutex<(@Sendable (Vault.Alarm, Int) -> Void)?>(nil)

  func listen(_ listener: @escaping @Sendable (Vault.Alarm, Int) -> Void) {
    self.listener.withLock { $0 = listener }
  }

  /// Call this outside of transactions only.
  func ring(_ alarm: Vault.Alarm, _ count: Int) { listener.withLock { $0 }?(alarm, count) }
}
