// SPDX-License-Identifier: Apache-2.0
//
// The keybag as its users see it: slots are made, opened, added, replaced and removed.

import Foundation
import Keychains
import Testing

@testable import Primitives

@Suite("Keybag")
struct KeybagTests {
  @Test("A record reads back as the keybag it was made from, and gives the same bytes again")
  func roundTrip() throws {
    var (keybag, unlocked) = try Keybag.create(passphrase("one"), kdf: cheapPBKDF2, now: 1_700_000_000)
    try keybag.addSlot(recoveryPhrase(7), label: "safe", kdf: .seed, keys: unlocked.keys, now: -1)
    try keybag.addSlot(passphrase("two"), kdf: cheapArgon2id(), keys: unlocked.keys, now: 5)
    let record = keybag.record()
    #expect(record.count == 30 + 3 * 229 + 4 + 64)
    let again = try read(record)
    #expect(again == keybag)
    #expect(again.record() == record)
    #expect(again.generation == 3)
    #expect(again.slots.map(\.kind) == [.passphrase, .recoveryPhrase, .passphrase])
    #expect(again.slots.map(\.kdf) == [cheapPBKDF2, .seed, try cheapArgon2id()])
    #expect(again.slots.map(\.created) == [1_700_000_000, -1, 5])
    #expect(again.slots.map(\.label) == [nil, "safe", nil])
  }

  @Test("Every slot gives the same two class keys and owner key, and says which slot it was")
  func sameKeys() throws {
    var (keybag, unlocked) = try Keybag.create(passphrase("one"), kdf: cheapPBKDF2, now: 1)
    try keybag.addSlot(passphrase("two"), kdf: cheapArgon2id(), keys: unlocked.keys, now: 2)
    try keybag.addSlot(recoveryPhrase(7), kdf: .seed, keys: unlocked.keys, now: 3)
    let keys = unlocked.keys.exposed
    #expect(keys.count == 96)
    #expect(Set([keys[..<32], keys[32..<64], keys[64...]]).count == 3)
    let stored = try read(keybag.record())
    let opened = [
      try stored.unlock(passphrase("one")), try stored.unlock(passphrase("two")),
      try stored.unlock(recoveryPhrase(7)),
    ]
    for (index, one) in opened.enumerated() {
      #expect(one.keys.exposed == keys)
      #expect(one.slot == stored.slots[index])
    }
  }

  @Test("Two keybags have nothing in common, even with one passphrase")
  func fresh() throws {
    let (one, first) = try Keybag.create(passphrase("same"), kdf: cheapPBKDF2, now: 1)
    let (two, second) = try Keybag.create(passphrase("same"), kdf: cheapPBKDF2, now: 1)
    #expect(one.slots[0].id != two.slots[0].id)
    #expect(first.keys.exposed != second.keys.exposed)
  }

  @Test("A wrong secret is wrong, and a kind that has no slot is not there")
  func wrongSecret() throws {
    var (keybag, unlocked) = try Keybag.create(passphrase("one"), kdf: cheapPBKDF2, now: 1)
    #expect(throws: KeybagError.wrongSecret) { try keybag.unlock(passphrase("One")) }
    #expect(throws: KeybagError.noSuchSlot) { try keybag.unlock(recoveryPhrase(7)) }
    try keybag.addSlot(recoveryPhrase(7), kdf: .seed, keys: unlocked.keys, now: 1)
    #expect(throws: KeybagError.wrongSecret) { try keybag.unlock(recoveryPhrase(8)) }
  }

  @Test("A slot that was removed or replaced opens no more, and the generation counts each change")
  func changes() throws {
    var (keybag, unlocked) = try Keybag.create(passphrase("one"), kdf: cheapPBKDF2, now: 1)
    #expect(keybag.generation == 1)
    let second = try keybag.addSlot(passphrase("two"), kdf: cheapPBKDF2, keys: unlocked.keys, now: 2)
    #expect(keybag.generation == 2)
    let first = keybag.slots[0].id
    let third = try keybag.replaceSlot(
      first, by: passphrase("three"), kdf: cheapPBKDF2, keys: unlocked.keys, now: 3)
    #expect(keybag.generation == 3)
    #expect(keybag.slots.map(\.id) == [third.id, second.id])
    #expect(throws: KeybagError.wrongSecret) { try keybag.unlock(passphrase("one")) }
    #expect(try keybag.unlock(passphrase("three")).keys.exposed == unlocked.keys.exposed)
    try keybag.removeSlot(second.id, keys: unlocked.keys)
    #expect(keybag.generation == 4)
    #expect(throws: KeybagError.wrongSecret) { try keybag.unlock(passphrase("two")) }
    #expect(try read(keybag.record()).unlock(passphrase("three")).keys.exposed == unlocked.keys.exposed)
  }

  @Test("The last slot stays, and a slot that is not there can be neither removed nor replaced")
  func refusals() throws {
    var (keybag, unlocked) = try Keybag.create(passphrase("one"), kdf: cheapPBKDF2, now: 1)
    let before = keybag
    let id = keybag.slots[0].id
    #expect(throws: KeybagError.lastSlot) { try keybag.removeSlot(id, keys: unlocked.keys) }
    #expect(throws: KeybagError.noSuchSlot) { try keybag.removeSlot(UUID(), keys: unlocked.keys) }
    #expect(throws: KeybagError.noSuchSlot) {
      try keybag.replaceSlot(
        UUID(), by: passphrase("two"), kdf: cheapPBKDF2, keys: unlocked.keys, now: 1)
    }
    #expect(keybag == before)
  }

  @Test("A keybag holds sixteen slots and no more")
  func slotLimit() throws {
    var (keybag, unlocked) = try Keybag.create(recoveryPhrase(0), kdf: .seed, now: 1)
    for seed in 1..<UInt8(Keybag.slotLimit) {
      try keybag.addSlot(recoveryPhrase(seed), kdf: .seed, keys: unlocked.keys, now: 1)
    }
    #expect(throws: KeybagError.tooManySlots(limit: 16)) {
      try keybag.addSlot(recoveryPhrase(16), kdf: .seed, keys: unlocked.keys, now: 1)
    }
    #expect(keybag.slots.count == 16)
    #expect(keybag.generation == 16)
    #expect(try read(keybag.record()).unlock(recoveryPhrase(15)).keys.exposed == unlocked.keys.exposed)
  }

  @Test("While the coffer is locked no slot changes, nor with the keys of another coffer")
  func needsKeys() throws {
    var (keybag, unlocked) = try Keybag.create(passphrase("one"), kdf: cheapPBKDF2, now: 1)
    let (_, other) = try Keybag.create(passphrase("one"), kdf: cheapPBKDF2, now: 1)
    let before = keybag
    let id = keybag.slots[0].id
    for (keys, error) in [(unlocked.keys.locked(), KeybagError.wrongSecret), (other.keys, .corrupt)] {
      #expect(throws: error) { try keybag.addSlot(recoveryPhrase(1), kdf: .seed, keys: keys, now: 1) }
      #expect(throws: error) { try keybag.removeSlot(id, keys: keys) }
      #expect(throws: error) {
        try keybag.replaceSlot(id, by: recoveryPhrase(1), kdf: .seed, keys: keys, now: 1)
      }
    }
    #expect(keybag == before)
  }

  @Test("Locking keeps the key of the first unlock alone")
  func locking() throws {
    let (_, unlocked) = try Keybag.create(passphrase("one"), kdf: cheapPBKDF2, now: 1)
    let locked = unlocked.keys.locked()
    #expect(locked.key(for: .whenUnlockedThisDeviceOnly) == nil)
    #expect(locked.key(for: .afterFirstUnlockThisDeviceOnly) === unlocked.keys.afterFirstUnlock)
  }
}
