// SPDX-License-Identifier: Apache-2.0

import Foundation
import InMemoryKeychains
import Primitives
import Secrets
import Testing

@testable import Keychains

@Suite("Items of a known class, while the other is locked")
struct KeychainClassTests {
  private let store = InMemoryKeychain()
  private let keys = ClassKeys(
    whenUnlocked: SharedSecretBytes(SystemRandom.secretBytes(count: 32)),
    afterFirstUnlock: SharedSecretBytes(SystemRandom.secretBytes(count: 32)))
  private let unlocked: KeychainService
  private let locked: KeychainService

  init() throws {
    unlocked = KeychainService(keychain: store, keys: keys)
    locked = KeychainService(keychain: store, keys: keys.locked())
    try unlocked.prepare()
  }

  @Test("An item is found, and one that is not there is missing, not locked")
  func found() throws {
    try unlocked.save(Data([1]), forKey: "a", accessibility: .afterFirstUnlockThisDeviceOnly)
    #expect(try locked.load(forKey: "a", in: .afterFirstUnlockThisDeviceOnly) == Data([1]))
    #expect(try locked.load(forKey: "b", in: .afterFirstUnlockThisDeviceOnly) == nil)
    // Without the class, the answer is another.
    #expect(throws: KeychainError.locked) { try locked.load(forKey: "b") }
  }

  @Test("A class that is locked says so for every name")
  func lockedClass() throws {
    try unlocked.save(Data([1]), forKey: "a", accessibility: .whenUnlockedThisDeviceOnly)
    for name in ["a", "b"] {
      #expect(throws: KeychainError.locked) { try locked.load(forKey: name, in: .whenUnlockedThisDeviceOnly) }
    }
  }

  @Test("An item of the other class under the name is damage")
  func otherClass() throws {
    try unlocked.save(Data([1]), forKey: "a", accessibility: .whenUnlockedThisDeviceOnly)
    for service in [locked, unlocked] {
      #expect(throws: KeychainError.invalidData) {
        try service.load(forKey: "a", in: .afterFirstUnlockThisDeviceOnly)
      }
    }
  }

  @Test("An item that was taken away is damage, not missing")
  func takenAway() throws {
    try unlocked.save(Data([1]), forKey: "a", accessibility: .afterFirstUnlockThisDeviceOnly)
    try store.update { _ in [.delete(account: "a")] }
    #expect(throws: KeychainError.invalidData) {
      try locked.load(forKey: "a", in: .afterFirstUnlockThisDeviceOnly)
    }
  }
}
