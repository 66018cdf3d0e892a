// SPDX-License-Identifier: Apache-2.0
//
// The worked examples of Specs/keybag.md and Specs/keychain.md, read from the pages: they pin the bytes.

import Foundation
import InMemoryKeychains
import Keychains
import Primitives
import Secrets
import SpecExamples
import Testing

@Suite("Worked examples of the specifications")
struct WorkedExampleTests {
  @Test("The keybag of the example opens by each of its slots, and gives its bytes again")
  func keybag() throws {
    let example = try SpecExample(page: "keybag.md")
    let record = try example.bytes("record")
    let keybag = try read(record)
    #expect(keybag.record() == record)
    #expect(keybag.generation == 3)
    let costs = try Argon2idParameters(memoryKiB: 64, passes: 1, lanes: 1)
    #expect(keybag.slots.map(\.kdf) == [.pbkdf2(iterations: 1000), .argon2id(costs), .seed])
    #expect(keybag.slots.map(\.label) == ["desk", nil, "in the safe"])
    #expect(keybag.slots.map(\.created) == [1_767_225_600, 1_767_225_601, 1_767_225_602])
    let expected =
      try example.bytes("when-unlocked-key") + example.bytes("after-first-unlock-key")
      + example.bytes("owner-key")
    for (index, name) in ["passphrase-1", "passphrase-2"].enumerated() {
      let unlocked = try keybag.unlock(passphrase(example.text(name)))
      #expect(unlocked.keys.exposed == expected)
      #expect(unlocked.slot == keybag.slots[index])
    }
    let words = Array(try example.text("recovery-phrase").utf8)
    let phrase = try RecoveryPhrase(words: words.span.bytes)
    #expect(try keybag.unlock(SlotCredential(phrase)).keys.exposed == expected)
  }

  @Test("The keychain of the example opens with the keys of the example's keybag")
  func keychain() throws {
    let bag = try SpecExample(page: "keybag.md")
    let example = try SpecExample(page: "keychain.md")
    let keys = try read(bag.bytes("record")).unlock(passphrase(bag.text("passphrase-1"))).keys
    let name = try example.text("name")
    let sealed = [
      SealedItem(
        account: name, accessibility: .afterFirstUnlockThisDeviceOnly,
        sealed: Data(try example.bytes("sealed-item"))),
      SealedItem(
        account: "app.rial.keychain.index.2", accessibility: .afterFirstUnlockThisDeviceOnly,
        sealed: Data(try example.bytes("sealed-index"))),
    ]
    let store = InMemoryKeychain()
    try store.update { _ in sealed.map { .set($0) } }
    let service = KeychainService(keychain: store, keys: keys.locked())
    #expect(try service.load(forKey: name) == Data(try example.text("value").utf8))
    #expect(try service.accounts() == [name])
    try store.update { _ in [.delete(account: name)] }
    #expect(throws: KeychainError.invalidData) { try service.load(forKey: name) }
  }
}
