// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import Synchronization

/// A keychain that ends with the process: nothing of it is on a disk. For custody that tries itself out.
public final class InMemoryKeychain: Keychain {
  /// By the bytes of the name.
  private let stored = Mutex<[Data: SealedItem]>([:])

  /// An empty one.
  public init() {}

  /// Every item, in the order of the names' bytes.
  public func items() throws(KeychainError) -> [SealedItem] {
    stored.withLock { Self.items($0) }
  }

  /// Applies what `body` returns, all of it or nothing; see ``Keychain``.
  public func update(
    _ body: (_ current: [SealedItem]) throws(KeychainError) -> [KeychainChange]
  ) throws(KeychainError) {
    try stored.withLock { stored throws(KeychainError) in
      for change in try body(Self.items(stored)) {
        switch change {
        case .set(let item): stored[Data(item.account.utf8)] = item
        case .delete(let account): stored[Data(account.utf8)] = nil
        }
      }
    }
  }

  private static func items(_ stored: [Data: SealedItem]) -> [SealedItem] {
    stored.values.sorted { $0.account.utf8.lexicographicallyPrecedes($1.account.utf8) }
  }
}
