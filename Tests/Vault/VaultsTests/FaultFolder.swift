// SPDX-License-Identifier: Apache-2.0
//
// The coffer of one run with faults, and what its messages must be afterwards. Every use opens the file
// anew, as every command does.

import Foundation
import Keychains
import MessageFormats
import Primitives
import Secrets
import Storage
import TemporaryHomes
import Testing

@testable import Vaults

final class FaultFolder {
  let home: TemporaryHome
  let keys = ClassKeys(whenUnlocked: secret(0x33), afterFirstUnlock: secret(0x44))
  private let time = TestClock()
  private var acknowledged: Set<String> = []
  /// Messages that may be there although their storing was not acknowledged.
  var mayAppear: [String] = []
  /// Messages that may be gone although their removal was not acknowledged.
  var mayVanish: [String] = []
  var isItemSaved = false

  init() throws { home = try TemporaryHome() }

  func create(messages: Int = 0) throws {
    let keys = keys
    let clock = time.clock
    let file = try DatabaseFile.create(home: home.path) { file in
      let service = KeychainService(keychain: FileKeychain(file), keys: keys)
      try service.prepare()
      _ = try Vault.create(file: file, keychain: service, clock: clock)
    }
    let vault = vault(file)
    for number in 0..<messages { try vault.add("\(number + 1)") }
    acknowledge((0..<messages).map { "\($0 + 1)" })
    file.close()
  }

  func open() throws -> (DatabaseFile, Vault) {
    let file = try DatabaseFile.open(home: home.path)
    return (file, vault(file))
  }

  private func vault(_ file: DatabaseFile) -> Vault {
    Vault(
      file: file, keychain: KeychainService(keychain: FileKeychain(file), keys: keys), clock: time.clock,
      batch: BatchLimits(messageCount: 3))
  }

  func acknowledge(_ texts: [String]) { acknowledged.formUnion(texts) }
  func acknowledge(removed text: String) { acknowledged.remove(text) }

  /// Opens the coffer without faults and compares: whole, complete, and every acknowledged message there.
  func check(_ after: (FaultFolder, Vault) throws -> Void) throws {
    for turn in 1...2 {
      let (file, vault) = try open()
      #expect(try file.integrityFindings() == [])
      try vault.checkRows()
      var texts: Set<String> = []
      let unreadable = try vault.forEachMessage { _, _, content in
        texts.insert(String(decoding: array(content), as: UTF8.self))
        return true
      }
      #expect(unreadable.isEmpty)
      #expect(texts.isSuperset(of: acknowledged.subtracting(mayVanish)))
      #expect(texts.isSubset(of: acknowledged.union(mayAppear)))
      if turn == 1 { try after(self, vault) }
    }
  }
}
