// SPDX-License-Identifier: Apache-2.0
//
// A secret that is replaced by what is made of it, in one step: the keychain is read once, and nobody writes in
// between. Where the items are in the coffer's file, the step may be part of a transaction that is under way.

public import Secrets
public import Storage

extension KeychainService {
  /// Replaces the secret of that name by what `change` makes of it; it keeps its class.
  /// - Throws: `KeychainError.invalidData` also when there is no such item; what `change` throws.
  public func replaceSecret(
    forKey account: String, by change: (RawSpan) throws(KeychainError) -> SecretBytes
  ) throws(KeychainError) {
    try self.change("replace") { [self] current throws(KeychainError) in
      try replacement(of: account, current, change)
    }
  }

  /// The same within a transaction on the coffer's file.
  ///
  /// - Returns: false, and nothing is done, when the items are not in that file.
  /// - Throws: `KeychainError` as above, or `StorageError.outdated`, before anything is written; any other
  ///   `StorageError` when it could not be written, and then the transaction must be undone.
  public func replaceSecret(
    forKey account: String, in transaction: borrowing Transaction,
    by change: (RawSpan) throws(KeychainError) -> SecretBytes
  ) throws -> Bool {
    guard let keychain = keychain as? FileKeychain else { return false }
    try keychain.update(in: transaction) { current throws(KeychainError) in
      try replacement(of: account, current, change)
    }
    return true
  }

  private func replacement(
    of account: String, _ current: [SealedItem], _ change: (RawSpan) throws(KeychainError) -> SecretBytes
  ) throws(KeychainError) -> [KeychainChange] {
    guard let item = current.first(where: { $0.isNamed(account) && !$0.isIndex }) else { throw .invalidData }
    let former = try Self.open(item, key(item.accessibility))
    let next = try former.withBytes { former throws(KeychainError) in try change(former) }
    let sealed = try next.withBytes { next throws(KeychainError) in
      try seal(next, account, item.accessibility)
    }
    return try batch([.set(sealed)], current)
  }
}
