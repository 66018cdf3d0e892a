// SPDX-License-Identifier: Apache-2.0
//
// The personal data vault: messages in the coffer's file, each encrypted with its own key, which is derived from a
// versioned random vault key in the keychain. The vault's state (count, digest of all identifiers, versions, rotation)
// changes in the same transaction as the messages.
//
// Concurrency: a vault holds shared references; its changing state is in the file, or in the key cache, which has a
// mutex. It can be used from any thread; the file's lock keeps other processes from writing.

internal import Glibc
public import Keychains
internal import Logging
internal import Primitives
public import Storage
internal import Synchronization

/// An open vault.
///
/// Some closures run inside a transaction of the file: do not use the vault or the keychain in them.
public final class Vault: Sendable {
  /// Days after which a new key is due.
  public static let keyLifetimeDays = 365
  /// Days for which a retired key is kept.
  public static let retiredKeyDays = 30

  static let secondsPerDay: Int64 = 86_400

  let file: DatabaseFile
  let keychain: KeychainService
  let clock: VaultClock
  let batch: BatchLimits
  let index: IndexLimits
  let cache: VaultKeyCache
  let stateRow = VaultRow<VaultState>()
  let failureRow = VaultRow<FailureLog>()
  let searchRow = VaultRow<SearchRecord>()
  let alarms = AlarmBell()
  private let hasWritten = Atomic(false)

  /// Whether messages were changed through this value.
  public var isChanged: Bool { hasWritten.load(ordering: .relaxed) }

  /// Makes an empty vault in a new coffer.
  public static func create(
    file: DatabaseFile, keychain: KeychainService, clock: VaultClock = .system
  ) throws -> Vault {
    let vault = Vault(file: file, keychain: keychain, clock: clock)
    try vault.saveFirstKeys()
    let key = try vault.keys().state
    try file.write(.messages) { transaction in
      let state = VaultState(
        currentVersion: 1, keys: [VaultState.Key(version: 1, created: clock.now(), retired: nil)])
      try vault.stateRow.save(state, transaction, key: key)
      try vault.failureRow.save(FailureLog(), transaction, key: key)
    }
    return vault
  }

  /// Opens the vault of a coffer: reads its keys, its state and its failures.
  ///
  /// - Parameters:
  ///   - file: the coffer's file.
  ///   - keychain: holds the vault's keys.
  ///   - isAuthenticated: whether the user has just authenticated; a vault that locked itself after too many
  ///     failures opens only then.
  ///   - clock: tells the time.
  /// - Throws: `VaultError.lockedAfterFailures`; `VaultError.keychainAccessDenied`; `VaultError.corrupt`.
  public static func open(
    file: DatabaseFile, keychain: KeychainService, isAuthenticated: Bool, clock: VaultClock = .system
  ) throws -> Vault {
    let vault = Vault(file: file, keychain: keychain, clock: clock)
    try vault.admit(isAuthenticated: isAuthenticated)
    return vault
  }

  /// A vault, without creating it or checking its failures; tests choose the size of its batches and of its segments.
  package init(
    file: DatabaseFile, keychain: KeychainService, clock: VaultClock, batch: BatchLimits = .standard,
    index: IndexLimits = .standard
  ) {
    self.file = file
    self.keychain = keychain
    self.clock = clock
    self.batch = batch
    self.index = index
    cache = VaultKeyCache(uptime: clock.uptime)
  }

  /// Drops the keys from memory.
  public func clearCache() { cache.clear() }

  static let log = Logger(label: "app.rial.vault")
}

// MARK: Transactions

extension Vault {
  /// Runs `body` on one consistent state of the vault. Inside `body`, do not use the vault, and do not write to a slow
  /// reader: until it returns, the write-ahead log cannot be emptied.
  func read<R>(
    _ body: (borrowing Transaction, VaultState, VaultKeys) throws -> R
  ) throws -> R {
    try withKeys { keys in
      try file.read(.messages) { transaction in
        try body(transaction, admitted(transaction, keys), keys)
      }
    }
  }

  /// Runs `body` as one transaction, and stores the state at its end. Do not use the vault inside `body`.
  /// - Parameter keepsExpired: whether what has been in the trash for long enough stays until another change.
  func write<R>(
    keepsExpired: Bool = false, _ body: (borrowing Transaction, inout VaultState, VaultKeys) throws -> R
  ) throws -> R {
    // From here no other process writes, so the keys keep matching the state.
    try file.claimWriting()
    hasWritten.store(true, ordering: .relaxed)
    return try withKeys { keys in
      try file.write(.messages) { transaction in
        // Read again, since another process may have written after the vault was opened. The row is unsealed
        // again only then.
        var state = try admitted(transaction, keys)
        let before = state
        if !keepsExpired { try Self.eraseExpired(now: clock.now(), &state, keys, transaction) }
        let result = try body(transaction, &state, keys)
        if state != before { try stateRow.save(state, transaction, key: keys.state) }
        return result
      }
    }
  }

  /// The state names a version whose key is missing.
  private struct MissingVersion: Error {
    let state: VaultState
  }

  /// Runs `work` with the keys of the vault. They come from the keychain, which may be in the same file, so
  /// they are loaded before a transaction begins.
  private func withKeys<R>(_ work: (VaultKeys) throws -> R) throws -> R {
    var refused: VaultState?
    while true {
      do {
        return try work(keys())
      } catch let error as MissingVersion {
        // Another process may have begun a rotation since they were loaded. Where the keychain does not have
        // the key either, it is lost.
        guard error.state != refused else { throw VaultError.corrupt }
        refused = error.state
        cache.clear()
      }
    }
  }

  /// The state as this transaction sees it.
  /// - Throws: `VaultError.lockedAfterFailures`, `.corrupt`.
  private func admitted(_ transaction: borrowing Transaction, _ keys: VaultKeys) throws -> VaultState {
    let state = try stateRow.load(transaction, key: keys.state)
    guard try !failureRow.load(transaction, key: keys.state).isLocked else {
      throw VaultError.lockedAfterFailures
    }
    guard keys.covers(state) else { throw MissingVersion(state: state) }
    return state
  }
}

// MARK: Status

extension Vault {
  /// The status of a vault.
  public struct Status: Sendable, Equatable {
    /// One version of the vault key.
    public struct Key: Sendable, Equatable {
      /// Its number, from 1.
      public let version: Int
      /// Seconds since 1970, UTC.
      public let created: Int64
      /// When it was replaced; nil while it is in use.
      public let retired: Int64?
    }
    /// Messages in the vault, without those in the trash.
    public let messageCount: Int
    /// Messages in the trash.
    public let trashCount: Int
    /// The version of the key for new messages.
    public let currentKeyVersion: Int
    /// In order of their versions.
    public let keys: [Key]
    /// Whether a rotation was started and not finished.
    public let isRotating: Bool
    /// Whether the current key is older than ``Vault/keyLifetimeDays``.
    public let isRotationDue: Bool
    /// Distinct messages that failed to open in the last hour.
    public let recentFailures: Int
    /// Distinct messages that failed to open, which the user is warned about until an examination names them.
    public let unexaminedFailures: Int
    /// Whether the vault has locked itself after too many of them.
    public let isLocked: Bool
  }

  /// Reads the vault's state.
  public func status() throws -> Status {
    let key = try keys().state
    return try file.read(.messages) { transaction in
      try status(
        stateRow.load(transaction, key: key), failureRow.load(transaction, key: key))
    }
  }

  /// The status as the vault was last read or written, without reading it again; nil when that has not
  /// succeeded yet.
  public var lastStatus: Status? {
    guard let state = stateRow.lastValue, let failures = failureRow.lastValue else { return nil }
    return status(state, failures)
  }

  private func status(_ state: VaultState, _ failures: FailureLog) -> Status {
    let now = clock.now()
    let age = now - (state.key(state.currentVersion)?.created ?? now)
    return Status(
      messageCount: state.messageCount, trashCount: state.removedCount,
      currentKeyVersion: state.currentVersion,
      keys: state.keys.map { Status.Key(version: $0.version, created: $0.created, retired: $0.retired) },
      isRotating: state.rotation != nil,
      isRotationDue: age >= Int64(Self.keyLifetimeDays) * Self.secondsPerDay,
      recentFailures: failures.recentCount(now: now), unexaminedFailures: failures.unexaminedCount,
      isLocked: failures.isLocked)
  }
}

/// The clocks of a vault; tests use their own.
public struct VaultClock: Sendable {
  /// Seconds since 1970, UTC.
  public var now: @Sendable () -> Int64
  /// Seconds since some moment; never set back, and continues while the machine sleeps.
  public var uptime: @Sendable () -> Int64
  /// Waits for a number of seconds.
  public var pause: @Sendable (Int) -> Void

  /// Clocks of your own.
  public init(
    now: @escaping @Sendable () -> Int64, uptime: @escaping @Sendable () -> Int64,
    pause: @escaping @Sendable (Int) -> Void
  ) {
    self.now = now
    self.uptime = uptime
    self.pause = pause
  }

  /// The system's clocks. One that is set to a year that RFC 3339 cannot write shows the nearest second that it can.
  public static let system = VaultClock(
    now: { min(max(0, seconds(CLOCK_REALTIME)), 253_402_300_799) }, uptime: { seconds(CLOCK_BOOTTIME) },
    pause: { sleep(UInt32($0)) })

  private static func seconds(_ clock: clockid_t) -> Int64 {
    var time = timespec()
    unsafe _ = clock_gettime(clock, &time)
    return Int64(time.tv_sec)
  }
}
