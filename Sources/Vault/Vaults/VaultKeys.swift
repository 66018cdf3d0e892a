// SPDX-License-Identifier: Apache-2.0
//
// The keys of a vault: where they are in the keychain, how they are loaded, and how long they stay in memory. They are
// used for at most 300 seconds after the last use and eight hours after the first; no timer runs, the next use checks.
// After that, and after `clear()`, they are loaded again from the keychain, which may be locked by then. All keys are
// loaded at once, because the keychain is always read as a whole.

internal import Keychains
internal import Primitives
internal import Secrets
internal import Synchronization

/// The keys of a vault, as they were in the keychain at one moment.
struct VaultKeys: Sendable {
  /// Seals the vault's state. It is not rotated, because it protects only counts.
  let state: SharedSecretBytes
  /// The vault key of each version.
  let versions: [Int: SharedSecretBytes]
  /// For the digest of identifiers.
  let member: SharedSecretBytes

  init(state: SharedSecretBytes, versions: [Int: SharedSecretBytes]) {
    self.state = state
    self.versions = versions
    member = SharedSecretBytes(state.withBytes { HKDF.secret(from: $0, info: "coffer vault members v1") })
  }

  func covers(_ state: VaultState) -> Bool { state.keys.allSatisfy { versions[$0.version] != nil } }

  func rowHash() -> RowHash { RowHash(SetHash(key: member.withBytes { SecretBytes(copying: $0) })) }

  func key(_ version: Int) throws(VaultError) -> SharedSecretBytes {
    guard let key = versions[version] else { throw .corrupt }
    return key
  }
}

/// Keeps the keys of a vault for a while.
final class VaultKeyCache: Sendable {
  /// Seconds after the last use.
  static let idleLimitSeconds: Int64 = 300
  /// Seconds after the keys were loaded.
  static let absoluteLimitSeconds: Int64 = 8 * 3_600

  private struct Content {
    var keys: VaultKeys
    var loaded: Int64
    var lastUsed: Int64
  }

  private let content = Mutex<Content?>(nil)
  private let uptime: @Sendable () -> Int64

  init(uptime: @escaping @Sendable () -> Int64) { self.uptime = uptime }

  /// The keys, from memory or by `load`.
  func keys(load: () throws(VaultError) -> VaultKeys) throws(VaultError) -> VaultKeys {
    let now = uptime()
    let cached = content.withLock { content -> VaultKeys? in
      guard let found = content, now - found.lastUsed < Self.idleLimitSeconds,
        now - found.loaded < Self.absoluteLimitSeconds
      else {
        content = nil
        return nil
      }
      content?.lastUsed = now
      return found.keys
    }
    if let cached { return cached }
    let keys = try load()
    content.withLock { $0 = Content(keys: keys, loaded: now, lastUsed: now) }
    return keys
  }

  /// Drops every key; the memory is erased with the last reference.
  func clear() { content.withLock { $0 = nil } }
}

extension Vault {
  private static let stateKeyName = "vault.state_key"
  private static let keyNamePrefix = "vault.master_key.v"

  private static func keyName(_ version: Int) -> String { "\(keyNamePrefix)\(version)" }

  private static func version(ofKeyNamed name: String) -> Int? {
    guard name.hasPrefix(keyNamePrefix), let version = Int(name.dropFirst(keyNamePrefix.count)),
      keyName(version) == name
    else { return nil }
    return version
  }

  /// All keys of the vault.
  /// - Throws: `VaultError.corrupt` without a state key; `.keychainAccessDenied`, `.keychainNotAvailable`.
  func keys() throws(VaultError) -> VaultKeys {
    try cache.keys { () throws(VaultError) -> VaultKeys in
      try RetryRule.apply(pause: clock.pause) { () throws(VaultError) -> VaultKeys in try loadKeys() }
    }
  }

  private func loadKeys() throws(VaultError) -> VaultKeys {
    let found: [String: SharedSecretBytes]
    do throws(KeychainError) {
      found = try keychain.secrets(in: .whenUnlockedThisDeviceOnly) {
        $0 == Self.stateKeyName || Self.version(ofKeyNamed: $0) != nil
      }
    } catch {
      if error == .locked { throw .keychainAccessDenied }
      throw error.isDamage ? .corrupt : .keychainNotAvailable(error)
    }
    guard let state = found[Self.stateKeyName] else { throw .corrupt }
    var versions: [Int: SharedSecretBytes] = [:]
    for (name, key) in found {
      if let version = Self.version(ofKeyNamed: name) { versions[version] = key }
    }
    return VaultKeys(state: state, versions: versions)
  }

  /// Makes the keys of a new vault: the state key, and version 1 of the vault key.
  func saveFirstKeys() throws {
    try saveNewKey(Self.stateKeyName)
    try saveNewKey(Self.keyName(1))
  }

  func saveNewVaultKey(_ version: Int) throws { try saveNewKey(Self.keyName(version)) }

  /// - Throws: `KeychainError.duplicateItem` rather than replace a key that may be needed.
  private func saveNewKey(_ name: String) throws {
    let key = SystemRandom.secretBytes(count: SymmetricKey.byteCount)
    try keychain.create(key, forKey: name, accessibility: .whenUnlockedThisDeviceOnly)
    cache.clear()
  }

  func deleteVaultKey(_ version: Int) throws {
    try keychain.delete(forKey: Self.keyName(version))
    cache.clear()
  }

  /// The versions whose keys the keychain holds, of whatever class.
  func storedKeyVersions() throws -> [Int] {
    try keychain.accounts().compactMap(Self.version(ofKeyNamed:))
  }
}
