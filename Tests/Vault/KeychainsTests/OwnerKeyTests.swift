// SPDX-License-Identifier: Apache-2.0
//
// The key that every slot gives to the person and that is never handed on.

import InMemoryKeychains
import Keychains
import Primitives
import Secrets
import Testing

@Suite("The owner key")
struct OwnerKeyTests {
  @Test("It stays the same when a passphrase is changed and slots come and go")
  func lasting() throws {
    var (keybag, unlocked) = try Keybag.create(passphrase("one"), kdf: cheapPBKDF2, now: 1)
    let owner = try exposed(unlocked)
    let first = keybag.slots[0].id
    try keybag.addSlot(recoveryPhrase(7), kdf: .seed, keys: unlocked.keys, now: 2)
    let byPhrase = try keybag.unlock(recoveryPhrase(7))
    #expect(try exposed(byPhrase) == owner)
    // What a slot gave is enough for the next change.
    try keybag.replaceSlot(
      first, by: passphrase("two"), kdf: cheapArgon2id(), keys: byPhrase.keys, now: 3)
    try keybag.removeSlot(byPhrase.slot.id, keys: byPhrase.keys)
    #expect(try exposed(read(keybag.record()).unlock(passphrase("two"))) == owner)
  }

  @Test("Every coffer has its own")
  func fresh() throws {
    let (_, one) = try Keybag.create(passphrase("same"), kdf: cheapPBKDF2, now: 1)
    let (_, two) = try Keybag.create(passphrase("same"), kdf: cheapPBKDF2, now: 1)
    #expect(try exposed(one) != exposed(two))
  }

  @Test(
    "Neither what is handed on nor what is left while locked has it, nor keys that somebody puts together")
  func dropped() throws {
    let (_, unlocked) = try Keybag.create(passphrase("one"), kdf: cheapPBKDF2, now: 1)
    let keys = unlocked.keys
    #expect(keys.owner != nil)
    #expect(keys.locked().owner == nil)
    let handedOn = keys.withoutOwner()
    #expect(handedOn.owner == nil)
    #expect(handedOn.whenUnlocked === keys.whenUnlocked)
    #expect(handedOn.afterFirstUnlock === keys.afterFirstUnlock)
    #expect(
      ClassKeys(whenUnlocked: keys.whenUnlocked, afterFirstUnlock: keys.afterFirstUnlock).owner == nil)
  }

  @Test("Without it the keys of a coffer are valid, and no slot changes")
  func handedOn() throws {
    var (keybag, unlocked) = try Keybag.create(passphrase("one"), kdf: cheapPBKDF2, now: 1)
    try keybag.addSlot(passphrase("two"), kdf: cheapPBKDF2, keys: unlocked.keys, now: 2)
    let before = keybag
    let id = keybag.slots[0].id
    let keys = unlocked.keys.withoutOwner()
    #expect(throws: Never.self) { try keybag.validate(keys) }
    #expect(throws: KeybagError.wrongSecret) {
      try keybag.addSlot(recoveryPhrase(1), kdf: .seed, keys: keys, now: 3)
    }
    #expect(throws: KeybagError.wrongSecret) { try keybag.removeSlot(id, keys: keys) }
    #expect(throws: KeybagError.wrongSecret) {
      try keybag.replaceSlot(id, by: recoveryPhrase(1), kdf: .seed, keys: keys, now: 3)
    }
    #expect(keybag == before)
  }

  @Test("A keychain service does not keep it")
  func notKept() throws {
    weak var owner: SharedSecretBytes?
    let service = try {
      let (_, unlocked) = try Keybag.create(passphrase("one"), kdf: cheapPBKDF2, now: 1)
      owner = unlocked.keys.owner
      #expect(owner != nil)
      return KeychainService(keychain: InMemoryKeychain(), keys: unlocked.keys)
    }()
    #expect(owner == nil)
    // The class keys are still there.
    #expect(throws: Never.self) { try service.prepare() }
  }

  private func exposed(_ unlocked: Keybag.Unlocked) throws -> [UInt8] {
    let owner = try #require(unlocked.keys.owner)
    #expect(owner.count == 32)
    return owner.withBytes { $0.withUnsafeBytes { Array($0) } }
  }
}
