// SPDX-License-Identifier: Apache-2.0
//
// Several items at once: all of a batch is stored, or nothing of it.

public import Secrets

/// One step of a batch of secrets.
public enum SecretChange: Sendable {
  /// Saves the secret in place of any other of that name.
  case save(SharedSecretBytes, account: String, accessibility: AccessibilityClass)
  /// Deletes the item of that name; it is not an error if there is none.
  case delete(account: String)
}

extension KeychainService {
  /// Makes all the changes, or none of them, in their order.
  ///
  /// - Throws: `KeychainError.invalidData` for a name that no item can have, or when the items are not those
  ///   that were stored; `.locked`; `.saveFailed`.
  public func apply(_ changes: [SecretChange]) throws(KeychainError) {
    var sealed: [KeychainChange] = []
    for step in changes {
      switch step {
      case .save(let secret, let account, let accessibility):
        let item = try secret.withBytes { secret throws(KeychainError) in
          try seal(secret, account, accessibility)
        }
        sealed.append(.set(item))
      case .delete(let account):
        guard Self.isPossible(account) else { throw .invalidData }
        sealed.append(.delete(account: account))
      }
    }
    let steps = sealed
    try change("apply") { [self] current throws(KeychainError) in
      try batch(steps, current)
    }
  }

  /// The secrets of one class whose names `isWanted`, at one moment, by name.
  public func secrets(
    in accessibility: AccessibilityClass, where isWanted: (String) -> Bool
  ) throws(KeychainError) -> [String: SharedSecretBytes] {
    do throws(KeychainError) {
      let key = try key(accessibility)
      let items = try keychain.items()
      try checkIndex(items, accessibility)
      var found: [String: SharedSecretBytes] = [:]
      for item in items where item.accessibility == accessibility && !item.isIndex && isWanted(item.account) {
        found[item.account] = SharedSecretBytes(try Self.open(item, key))
      }
      return found
    } catch {
      throw logged(error, "load")
    }
  }

  /// Every item as it is stored, the indexes too, after comparing the items with the indexes: for a backup.
  public func sealedItems() throws(KeychainError) -> [SealedItem] {
    let items = try keychain.items()
    for accessibility in AccessibilityClass.allCases { try checkIndex(items, accessibility) }
    return items
  }
}
