// SPDX-License-Identifier: Apache-2.0
//
// The vault's side of the failure monitor.

internal import Logging
internal import Storage

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
      return try file.write(.messages) { transaction in
        var failures = try FailureLog.load(transaction, key: key)
        failures.record(members, now: now)
        try failures.save(transaction, key: key)
        if failures.isLocked { return .locked }
        return failures.recentCount(now: now) > FailureLog.warningLimit ? .warning : .none
      }
    } catch StorageError.inUse, StorageError.full, StorageError.notPermitted, StorageError.readOnly,
      StorageError.inputOutput
    {
      return .none
    }
  }
}
