// SPDX-License-Identifier: Apache-2.0
//
// Vault keys in memory: until the first use that comes more than 300 seconds after the last,
// or eight hours after the first; no timer runs. After that, and after `clear()`, they come from the keychain again, which may be locked by then.

internal import Secrets
internal import Synchronization

/// Keeps the keys of a vault for a while.
final class VaultKeyCache: Sendable {
  /// Seconds after the last use.
  static let idleLimitSeconds: Int64 = 300
  /// Seconds after the first key was loaded.
  static let absoluteLimitSeconds: Int64 = 8 * 3_600

  private struct Content {
    var keys: [String: SharedSecretBytes] = [:]
    var firstLoaded: Int64 = 0
    var lastUsed: Int64 = 0
  }

  private let content = Mutex(Content())
  private let uptime: @Sendable () -> Int64

  init(uptime: @escaping @Sendable () -> Int64) { self.uptime = uptime }

  /// The key of that name, from memory or by `load`.
  func key(
    _ name: String, load: () throws(VaultError) -> SecretBytes
  ) throws(VaultError) -> SharedSecretBytes {
    let now = uptime()
    let cached = content.withLock { content -> SharedSecretBytes? in
      let isFresh =
        now - content.lastUsed < Self.idleLimitSeconds
        && now - content.firstLoaded < Self.absoluteLimitSeconds
      if !isFresh { content = Content() }
      if content.keys.isEmpty { content.firstLoaded = now }
      content.lastUsed = now
      return content.keys[name]
    }
    if let cached { return cached }
    let key = SharedSecretBytes(try load())
    content.withLock { $0.keys[name] = key }
    return key
  }

  /// Drops every key; the memory is erased with the last reference.
  func clear() { content.withLock { $0 = Content() } }
}
