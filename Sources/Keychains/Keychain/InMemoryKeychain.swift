// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import Synchronization

/// A keychain that ends with the process: for tests and for the tutorial's sandbox.
public final class InMemoryKeychain: Keychain {
  private let stored = Mutex<[String: SealedItem]>([:])

  public init() {}

  public func items() throws(KeychainError) -> [SealedItem] {
    stored.withLock { $0.values.sorted { $0.account < $1.account } }
  }

  public func update(
    _ body: (_ current: [SealedItem]) throws(KeychainError) -> [KeychainChange]
  ) throws(KeychainError) {
    try stored.withLock { stored throws(KeychainError) in
      for change in try body(stored.values.sorted { $0.account < $1.account }) {
        switch change {
        case .set(let item): stored[item.account] = item
        case .delete(let account): stored[account] = nil
        }
      }
    }
  }
}
