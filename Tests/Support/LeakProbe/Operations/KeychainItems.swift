// SPDX-License-Identifier: Apache-2.0
//
// Keychain items: one at a time, in batches, and when a batch or an item fails.

import CofferKit
import InMemoryKeychains
import Keychains
import Primitives
import Secrets

extension Operation {
  static let keychainItems = [
    Operation("save and load a keychain item") { workspace in
      try workspace.withKeychain { keychain in
        let item = workspace.bytes("item", count: 64)
        try keychain.save(item, forKey: "item")
        guard let loaded = try keychain.loadSecret(forKey: "item") else { throw Unexpected("no item") }
        try expect(loaded.isEqual(to: item), "the item is what was saved")
      }
    },
    Operation("replace and delete a keychain item") { workspace in
      try workspace.withKeychain { keychain in
        try keychain.save(workspace.bytes("item", count: 64), forKey: "item")
        try keychain.save(
          workspace.bytes("new item", count: 64), forKey: "item", accessibility: .whenUnlockedThisDeviceOnly)
        try keychain.delete(forKey: "item")
        try expect(try keychain.loadSecret(forKey: "item") == nil, "the item is gone")
      }
    },
    Operation("save and load a symmetric key") { workspace in
      try workspace.withKeychain { keychain in
        let key = SymmetricKey()
        key.withBytes { SecretReport.tell("key", $0) }
        try keychain.saveSymmetricKey(key, forKey: "key")
        guard let loaded = try keychain.loadSymmetricKey(forKey: "key") else { throw Unexpected("no key") }
        try expect(loaded.isEqual(to: key), "the key is what was saved")
      }
    },
    Operation("a batch of keychain items") { workspace in
      try workspace.withKeychain { keychain in
        try keychain.apply([
          .save(
            SharedSecretBytes(workspace.bytes("first item", count: 64)), account: "batch.1",
            accessibility: .whenUnlockedThisDeviceOnly),
          .save(
            SharedSecretBytes(workspace.bytes("second item", count: 32)), account: "batch.2",
            accessibility: .whenUnlockedThisDeviceOnly),
          .delete(account: "batch.3"),
        ])
        let found = try keychain.secrets(in: .whenUnlockedThisDeviceOnly) { $0.hasPrefix("batch.") }
        try expect(found.count == 2, "both items are there")
      }
    },
    Operation("a batch of keychain items that fails") { workspace in
      try workspace.withKeychain { keychain in
        let first = SharedSecretBytes(workspace.bytes("first item", count: 64))
        try expectThrow("a name that no item can have") {
          try keychain.apply([
            .save(first, account: "batch.1", accessibility: .afterFirstUnlockThisDeviceOnly),
            .save(first, account: "", accessibility: .afterFirstUnlockThisDeviceOnly),
          ])
        }
        try expectThrow("a class that is locked") {
          let locked = KeychainService(
            keychain: InMemoryKeychain(), keys: ClassKeys(whenUnlocked: nil, afterFirstUnlock: nil))
          try locked.apply([
            .save(first, account: "batch.1", accessibility: .whenUnlockedThisDeviceOnly)
          ])
        }
      }
    },
    Operation("load a damaged keychain item") { workspace in
      let passphrase = try workspace.passphrase()
      try workspace.makeCoffer(passphrase)
      try workspace.withCoffer(passphrase) {
        try $0.keychain.save(workspace.bytes("item", count: 64), forKey: "item")
      }
      try workspace.damageItem("item")
      try workspace.withCoffer(passphrase) { coffer in
        try expectThrow("a damaged item") { _ = try coffer.keychain.loadSecret(forKey: "item") }
      }
    },
  ]
}

extension Workspace {
  /// Opens the coffer for `body`, and closes it.
  @inline(never)
  func withCoffer(_ passphrase: borrowing Passphrase, _ body: (Coffer) throws -> Void) throws {
    let coffer = try open(passphrase)
    defer { coffer.close() }
    try body(coffer)
  }

  /// Makes a coffer and lends its keychain.
  @inline(never)
  fileprivate func withKeychain(_ body: (KeychainService) throws -> Void) throws {
    let passphrase = try passphrase()
    try makeCoffer(passphrase)
    try withCoffer(passphrase) { try body($0.keychain) }
  }
}
