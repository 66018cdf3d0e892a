// SPDX-License-Identifier: Apache-2.0
//
// How long vault keys stay in memory, and what happens when the keychain is locked or away afterwards.

import Foundation
import Keychains
import Secrets
import Synchronization
import Testing

@testable import Vaults

/// A cache that counts how often its keys are loaded.
private final class CountedCache {
  let time = TestClock()
  let cache: VaultKeyCache
  private let loads = Atomic<Int>(0)

  init() { cache = VaultKeyCache(uptime: time.clock.uptime) }

  /// Asks for the keys.
  /// - Returns: how often they have been loaded so far.
  func use() throws -> Int {
    _ = try cache.keys { () throws(VaultError) -> VaultKeys in
      loads.add(1, ordering: .relaxed)
      return VaultKeys(state: secret(0), versions: [:])
    }
    return loads.load(ordering: .relaxed)
  }
}

@Suite("Keys of a vault in memory")
struct KeyCacheTests {
  @Test("A key is kept for 300 seconds after its last use")
  func idle() throws {
    let counted = CountedCache()
    let time = counted.time
    #expect(try counted.use() == 1)
    for _ in 0..<10 {
      time.advance(299)
      #expect(try counted.use() == 1)
    }
    time.advance(300)
    #expect(try counted.use() == 2)
    counted.cache.clear()
    #expect(try counted.use() == 3)
  }

  @Test("A key is kept for eight hours at most, however often it is used")
  func absolute() throws {
    let counted = CountedCache()
    let time = counted.time
    #expect(try counted.use() == 1)
    for _ in 0..<143 {
      time.advance(200)
      #expect(try counted.use() == 1)
    }
    time.advance(200)
    #expect(try counted.use() == 2)
  }

  @Test("A locked keychain refuses a vault whose keys are no longer in memory")
  func lockedKeychain() throws {
    let fixture = try VaultFixture()
    try fixture.vault.add("x")
    let locked = KeychainService(keychain: fixture.keychain, keys: fixture.keys.locked())
    expectError("KEYCHAIN_ACCESS_DENIED") {
      try Vault.open(file: fixture.file, keychain: locked, isAuthenticated: true, clock: fixture.time.clock)
    }
    let vault = Vault(file: fixture.file, keychain: locked, clock: fixture.time.clock)
    expectError("KEYCHAIN_ACCESS_DENIED") { try vault.texts() }
    #expect(fixture.time.pauses.withLock { $0 } == [])
  }

  @Test("A keychain that is away is asked again with growing pauses, and may come back")
  func keychainAway() throws {
    let fixture = try VaultFixture()
    try fixture.vault.add("x")
    let hook = HookedKeychain(fixture.keychain)
    let vault = Vault(
      file: fixture.file, keychain: KeychainService(keychain: hook, keys: fixture.keys),
      clock: fixture.time.clock)
    hook.failures.store(3, ordering: .relaxed)
    #expect(try vault.texts() == ["x"])
    #expect(fixture.time.pauses.withLock { $0 } == [1, 2, 4])
    vault.clearCache()
    hook.failures.store(100, ordering: .relaxed)
    expectError("KEYCHAIN_NOT_AVAILABLE") { try vault.texts() }
    #expect(fixture.time.pauses.withLock { $0 } == [1, 2, 4, 1, 2, 4, 8])
  }
}
