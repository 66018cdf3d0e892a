// SPDX-License-Identifier: Apache-2.0
//
// The one way into the file: a transaction together with the vault's state and every key that the state
// names. Keys come from the keychain, which may live in the same file, so they are fetched before the
// transaction begins.

internal import Primitives
internal import Secrets
internal import Storage

/// The keys of a vault, fetched.
struct VaultKeys: Sendable {
  let state: SharedSecretBytes
  let versions: [Int: SharedSecretBytes]
  /// For the digest of identifiers.
  let member: SharedSecretBytes

  func covers(_ state: VaultState) -> Bool { state.keys.allSatisfy { versions[$0.version] != nil } }

  func memberHash() -> SetHash { SetHash(key: member.withBytes { SecretBytes(copying: $0) }) }

  func key(_ version: Int) throws(VaultError) -> SharedSecretBytes {
    guard let key = versions[version] else { throw .corrupt }
    return key
  }
}

extension Vault {
  /// Runs `body` on one consistent state of the vault. Inside `body` the vault is not to be called.
  func read<R>(
    _ body: (borrowing Transaction, VaultState, VaultKeys) throws -> R
  ) throws -> R {
    while true {
      let keys = try fetchKeys()
      let result = try file.read(.messages) { transaction -> R? in
        let state = try VaultState.load(transaction, key: keys.state)
        // Another process may have begun a rotation since the keys were fetched.
        guard keys.covers(state) else { return nil }
        return try body(transaction, state, keys)
      }
      if let result { return result }
    }
  }

  /// Runs `body` as one transaction, at whose end the state it leaves is stored. Inside `body` the vault is
  /// not to be called.
  func write<R>(
    _ body: (borrowing Transaction, inout VaultState, VaultKeys) throws -> R
  ) throws -> R {
    // From here no other process writes, so the keys that are fetched stay those of the state.
    try file.claimWriting()
    let keys = try fetchKeys()
    return try file.write(.messages) { transaction in
      var state = try VaultState.load(transaction, key: keys.state)
      guard keys.covers(state) else { throw VaultError.corrupt }
      let before = state
      let result = try body(transaction, &state, keys)
      if state != before { try state.save(transaction, key: keys.state) }
      return result
    }
  }

  private func fetchKeys() throws -> VaultKeys {
    let stateKey = try stateKey()
    let (state, failures) = try file.read(.messages) {
      (try VaultState.load($0, key: stateKey), try FailureLog.load($0, key: stateKey))
    }
    guard !failures.isLocked else { throw VaultError.lockedAfterFailures }
    var versions: [Int: SharedSecretBytes] = [:]
    for key in state.keys { versions[key.version] = try vaultKey(key.version) }
    let member = stateKey.withBytes { HKDF.secret(from: $0, info: "coffer vault members v1") }
    return VaultKeys(state: stateKey, versions: versions, member: SharedSecretBytes(member))
  }
}
