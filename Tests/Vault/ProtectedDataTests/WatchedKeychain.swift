// SPDX-License-Identifier: Apache-2.0

import Keychains
import Synchronization

/// A keychain that counts, and that can be made to fail or to be looked at between two steps.
final class WatchedKeychain: Keychain {
  private struct State {
    var readCount = 0
    var updateCount = 0
    var error: KeychainError?
    var failingUpdate: Int?
    var observer: (@Sendable () -> Void)?
  }

  private let inner: any Keychain
  private let state = Mutex(State())

  init(_ inner: any Keychain) { self.inner = inner }

  var readCount: Int { state.withLock { $0.readCount } }
  var updateCount: Int { state.withLock { $0.updateCount } }

  /// Everything fails from now on; nil ends that.
  func fail(_ error: KeychainError?) { state.withLock { $0.error = error } }

  /// The update after `count` more of them fails, once.
  func failUpdate(after count: Int) { state.withLock { $0.failingUpdate = $0.updateCount + count } }

  /// Called before and after every update.
  func observe(_ observer: (@Sendable () -> Void)?) { state.withLock { $0.observer = observer } }

  func items() throws(KeychainError) -> [SealedItem] {
    let error = state.withLock { state in
      state.readCount += 1
      return state.error
    }
    if let error { throw error }
    return try inner.items()
  }

  func update(_ body: ([SealedItem]) throws(KeychainError) -> [KeychainChange]) throws(KeychainError) {
    let (error, observer) = state.withLock { state in
      let fails = state.failingUpdate == state.updateCount
      state.updateCount += 1
      return (state.error ?? (fails ? .saveFailed(5) : nil), state.observer)
    }
    observer?()
    if let error { throw error }
    try inner.update(body)
    observer?()
  }
}
