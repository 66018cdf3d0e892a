// SPDX-License-Identifier: Apache-2.0

import Foundation
import InMemoryKeychains
import LoggedLines
import Primitives
import Secrets
import Testing

@testable import Keychains

@Suite("Log lines of the keychain")
struct KeychainLogTests {
  private struct Refusing: Keychain {
    func items() throws(KeychainError) -> [SealedItem] { throw .loadFailed(5) }
    func update(
      _ body: (_ current: [SealedItem]) throws(KeychainError) -> [KeychainChange]
    ) throws(KeychainError) { throw .saveFailed(13) }
  }

  @Test("A line has the operation, the fixed text and the native status; no name and no value")
  func lines() async {
    await #expect(processExitsWith: .success) {
      LoggedLines.keep()
      let keys = ClassKeys(
        whenUnlocked: SharedSecretBytes(SecretBytes(zeroed: 32)),
        afterFirstUnlock: SharedSecretBytes(SecretBytes(zeroed: 32)))
      let service = KeychainService(keychain: Refusing(), keys: keys)
      for operation: () throws -> Void in [
        { try service.saveString("the value", forKey: "the name") },
        { _ = try service.load(forKey: "the name") },
        { try service.delete(forKey: "the name") },
      ] {
        do { try operation() } catch is KeychainError {}
      }
      // Nothing is wrong here, so nothing is said.
      let store = InMemoryKeychain()
      let whole = KeychainService(keychain: store, keys: keys)
      try whole.prepare()
      try whole.saveString("the value", forKey: "the name")
      guard try whole.load(forKey: "the name") != nil else { exit(3) }
      let expected = [
        "error app.rial.keychain save failed error=Failed to save item to Keychain (status: 13) status=13",
        "error app.rial.keychain load failed error=Failed to load item from Keychain (status: 5) status=5",
        "error app.rial.keychain delete failed error=Failed to delete item from Keychain (status: 13) status=13",
      ]
      guard LoggedLines.all == expected else {
        print(LoggedLines.all)
        exit(4)
      }
    }
  }
}
