// SPDX-License-Identifier: Apache-2.0
//
// The personal data vault: messages in the coffer's file, each under a key of its own, derived from a
// versioned random vault key that the keychain holds. The vault's state (count, digest of all
// identifiers, versions, rotation) changes in the same transaction as the messages.
//
// Concurrency: a vault is a value of shared references; what changes is in the file or behind the key
// cache's mutex. Calls may come from any thread; writers of other processes are kept out by the file.

public import Keychains
internal import Logging
internal import Primitives
internal import Secrets
public import Storage

/// An open vault.
///
/// What is lent to a closure is lent inside a transaction of the one file: the vault and the keychain are
/// not to be called from there.
public final class Vault: Sendable {
  /// Days after which a new key is due.
  public static let keyLifetimeDays = 365
  /// Days for which a former key is kept.
  public static let retiredKeyDays = 30

  static let secondsPerDay: Int64 = 86_400

  let file: DatabaseFile
  let keychain: KeychainService
  let clock: VaultClock
  let batch: BatchLimits
  private let cache: VaultKeyCache
  let alarms = AlarmBell()

  /// Makes an empty vault in a new coffer.
  public static func create(
    file: DatabaseFile, keychain: KeychainService, clock: VaultClock = .system
  ) throws -> Vault {
    let vault = Vault(file: file, keychain: keychain, clock: clock)
    try vault.saveNewKey(stateKeyName)
    try vault.saveNewKey(keyName(1))
    let key = try vault.stateKey()
    try file.write(.messages) { transaction in
      var state = VaultState(
        currentVersion: 1, keys: [VaultState.Key(version: 1, created: clock.now(), retired: nil)])
      try state.save(transaction, key: key)
      try FailureLog().save(transaction, key: key)
    }
    return vault
  }

  /// Opens the vault of a coffer.
  ///
  /// - Parameters:
  ///   - file: the coffer's file.
  ///   - keychain: holds the vault's keys.
  ///   - isAuthenticated: whether the person has just shown who they are; a vault that locked itself after
  ///     too many failures opens only then.
  ///   - clock: tells the time.
  /// - Throws: `VaultError.lockedAfterFailures`; `VaultError.keychainAccessDenied`; `VaultError.corrupt`.
  public static func open(
    file: DatabaseFile, keychain: KeychainService, isAuthenticated: Bool, clock: VaultClock = .system
  ) throws -> Vault {
    let vault = Vault(file: file, keychain: keychain, clock: clock)
    try vault.admit(isAuthenticated: isAuthenticated)
    return vault
  }

  /// A vault that was neither made nor admitted; tests choose the size of its batches.
  package init(
    file: DatabaseFile, keychain: KeychainService, clock: VaultClock, batch: BatchLimits = .standard
  ) {
    self.file = file
    self.keychain = keychain
    self.clock = clock
    self.batch = batch
    cache = VaultKeyCache(uptime: clock.uptime)
  }

  /// Drops the keys from memory.
  public func clearCache() { cache.clear() }

  // MARK: Keys

  private static let stateKeyName = "vault.state_key"

  private static let keyNamePrefix = "vault.master_key.v"

  private static func keyName(_ version: Int) -> String { "\(keyNamePrefix)\(version)" }

  /// The versions whose keys the keychain holds.
  func storedKeyVersions() throws -> [Int] {
    try keychain.accounts().compactMap { account in
      account.hasPrefix(Self.keyNamePrefix) ? Int(account.dropFirst(Self.keyNamePrefix.count)) : nil
    }
  }

  /// The key that seals the vault's state; it is not rotated, it protects counts and not contents.
  func stateKey() throws(VaultError) -> SharedSecretBytes { try loadKey(Self.stateKeyName) }

  /// The vault key of a version.
  func vaultKey(_ version: Int) throws(VaultError) -> SharedSecretBytes { try loadKey(Self.keyName(version)) }

  func saveNewVaultKey(_ version: Int) throws { try saveNewKey(Self.keyName(version)) }

  func deleteVaultKey(_ version: Int) throws {
    try keychain.delete(forKey: Self.keyName(version))
    cache.clear()
  }

  /// - Throws: `KeychainError.duplicateItem` rather than replace a key that may be needed.
  private func saveNewKey(_ name: String) throws {
    let key = SystemRandom.secretBytes(count: SymmetricKey.byteCount)
    try keychain.create(key, forKey: name, accessibility: .whenUnlockedThisDeviceOnly)
  }

  private func loadKey(_ name: String) throws(VaultError) -> SharedSecretBytes {
    try cache.key(name) { () throws(VaultError) -> SecretBytes in
      try RetryRule.apply(pause: clock.pause) { () throws(VaultError) -> SecretBytes in
        let key: SecretBytes?
        do throws(KeychainError) { key = try keychain.loadSecret(forKey: name) } catch {
          if error == .locked { throw .keychainAccessDenied }
          throw error.isDamage ? .corrupt : .keychainNotAvailable(error)
        }
        // Every version that the state names has a key: one that is missing is damage.
        guard let key else { throw .corrupt }
        return key
      }
    }
  }

  static let log = Logger(label: "app.rial.vault")
}

extension Vault {
  /// What can be told about a vault.
  public struct Status: Sendable, Equatable {
    public struct Key: Sendable, Equatable {
      public let version: Int
      /// Seconds since 1970, UTC.
      public let created: Int64
      /// When it was replaced; nil while it is in use.
      public let retired: Int64?
    }
    public let messageCount: Int
    public let currentKeyVersion: Int
    /// In order of their versions.
    public let keys: [Key]
    /// Whether a rotation was begun and not ended.
    public let isRotating: Bool
    /// Whether the current key is older than ``Vault/keyLifetimeDays``.
    public let isRotationDue: Bool
    /// Distinct messages that failed to open in the last hour.
    public let recentFailures: Int
    /// Distinct messages that failed to open, of which the person is warned until an examination names them.
    public let unexaminedFailures: Int
    /// Whether the vault has locked itself after too many of them.
    public let isLocked: Bool
  }

  /// Reads the vault's state.
  public func status() throws -> Status {
    let key = try stateKey()
    let now = clock.now()
    return try file.read(.messages) { transaction in
      let state = try VaultState.load(transaction, key: key)
      let failures = try FailureLog.load(transaction, key: key)
      let age = now - (state.key(state.currentVersion)?.created ?? now)
      return Status(
        messageCount: state.messages.count, currentKeyVersion: state.currentVersion,
        keys: state.keys.map { Status.Key(version: $0.version, created: $0.created, retired: $0.retired) },
        isRotating: state.rotation != nil,
        isRotationDue: age >= Int64(Self.keyLifetimeDays) * Self.secondsPerDay,
        recentFailures: failures.recentCount(now: now), unexaminedFailures: failures.unexaminedCount,
        isLocked: failures.isLocked)
    }
  }
}
