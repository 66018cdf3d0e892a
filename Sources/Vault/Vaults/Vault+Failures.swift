// SPDX-License-Identifier: Apache-2.0
//
// The vault's side of the failure monitor.

internal import Logging
internal import Storage
internal import Synchronization

extension Vault {
  /// What the monitor says after a failure.
  public enum Alarm: Sendable, Equatable {
    case none
    /// «Data corruption detected; restore from backup».
    case warning
    /// The same, and the vault is locked until the next authentication.
    case locked
  }

  /// Lets a vault open, or not.
  func admit(isAuthenticated: Bool) throws {
    let key = try stateKey()
    let failures: FailureLog
    do {
      failures = try file.read(.messages) { transaction in
        _ = try VaultState.load(transaction, key: key)
        return try FailureLog.load(transaction, key: key)
      }
    } catch StorageError.outdated {
      // Every use of the vault says so; captures and slots can be used, and the rest be examined.
      return
    }
    guard failures.isLocked else { return }
    guard isAuthenticated else { throw VaultError.lockedAfterFailures }
    try file.write(.messages) { transaction in
      var failures = try FailureLog.load(transaction, key: key)
      failures.unlock()
      try failures.save(transaction, key: key)
    }
  }

  /// Calls `listener` when more messages have failed to open than warn, or than lock; the second argument is
  /// how many. It may read and write the coffer.
  public func listenForAlarms(_ listener: @escaping @Sendable (Alarm, Int) -> Void) {
    alarms.listen(listener)
  }

  /// Ends the warning, because the person was told which messages do not open.
  /// - Returns: of how many failures was warned.
  public func clearFailures() throws -> Int {
    let key = try stateKey()
    guard try status().unexaminedFailures > 0 else { return 0 }
    return try file.write(.messages) { transaction in
      var failures = try FailureLog.load(transaction, key: key)
      let count = failures.unexaminedCount
      failures.clear()
      try failures.save(transaction, key: key)
      return count
    }
  }

  /// Counts messages that failed to open.
  ///
  /// Counting is a write. While another process writes, or the disk is full or failing, the failures stay uncounted
  /// rather than hiding behind another error; the answer to the person is the same.
  @discardableResult
  public func recordFailures(_ ids: [MessageID]) throws -> Alarm {
    if ids.isEmpty { return .none }
    Self.log.critical("messages failed to open", metadata: ["count": "\(ids.count)"])
    let key = try stateKey()
    let members = Array(Set(ids.map { FailureLog.member($0, key: key) }))
    let now = clock.now()
    do {
      let (before, failures) = try file.write(.messages) { transaction in
        let before = try FailureLog.load(transaction, key: key)
        var failures = before
        failures.record(members, now: now)
        try failures.save(transaction, key: key)
        return (before, failures)
      }
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

/// Who hears the alarms of one vault.
final class AlarmBell: Sendable {
  private let listener = Mutex<(@Sendable (Vault.Alarm, Int) -> Void)?>(nil)

  func listen(_ listener: @escaping @Sendable (Vault.Alarm, Int) -> Void) {
    self.listener.withLock { $0 = listener }
  }

  /// To be called outside of transactions.
  func ring(_ alarm: Vault.Alarm, _ count: Int) { listener.withLock { $0 }?(alarm, count) }
}
