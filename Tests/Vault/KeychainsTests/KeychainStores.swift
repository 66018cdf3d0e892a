// SPDX-License-Identifier: Apache-2.0
//
// The stores that the keychain's suites run on: every suite that takes a `Store` runs once for each.

import InMemoryKeychains
import NumberedItemStores
import Foundation
import Keychains
import Primitives
import PrivateBus
import Secrets
import Storage
import TemporaryHomes

/// A kind of keychain store.
enum Store: String, CaseIterable, Sendable {
  case file, memory, journal, secretService

  /// Those that this build and this machine have.
  static let allCases: [Store] = {
    #if SecretService
      PrivateBus.isAvailable ? [.file, .memory, .journal, .secretService] : [.file, .memory, .journal]
    #else
      [.file, .memory, .journal]
    #endif
  }()

  /// An empty keychain that has been prepared, and its class keys.
  func make() throws -> Shelf {
    let shelf = try makeUnprepared()
    try shelf.service().prepare()
    return shelf
  }

  func makeUnprepared() throws -> Shelf {
    switch self {
    case .memory: return Shelf(keychain: InMemoryKeychain(), home: nil, file: nil)
    case .file:
      let home = try TemporaryHome()
      let file = try DatabaseFile.create(home: home.path) { _ in }
      let kept = KeptKeychain(keychain: FileKeychain(file), home: home)
      return Shelf(keychain: kept, home: home, file: file)
    case .journal:
      let keychain = JournallingKeychain(store: NumberedItemStore(), coffer: UUID()) {}
      return Shelf(keychain: keychain, home: nil, file: nil)
    case .secretService:
      #if SecretService
        let home = try TemporaryHome()
        let file = try DatabaseFile.create(home: home.path) { _ in }
        let bus = try PrivateBus()
        try bus.startKeyring()
        let keychain = SecretServiceKeychain(coffer: UUID(), file: file, bus: .address(bus.address))
        let kept = KeptKeychain(keychain: KeychainOnBus(keychain: keychain, bus: bus), home: home)
        return Shelf(keychain: kept, home: home, file: file)
      #else
        throw KeychainError.serviceUnavailable
      #endif
    }
  }
}

/// A store and two class keys.
struct Shelf: Sendable {
  let keychain: any Keychain
  let home: TemporaryHome?
  let file: DatabaseFile?
  let keys = ClassKeys(
    whenUnlocked: SharedSecretBytes(SystemRandom.secretBytes(count: 32)),
    afterFirstUnlock: SharedSecretBytes(SystemRandom.secretBytes(count: 32)))

  func service() -> KeychainService { KeychainService(keychain: keychain, keys: keys) }
  /// As after the screen was locked.
  func lockedService() -> KeychainService { KeychainService(keychain: keychain, keys: keys.locked()) }

  func item(_ account: String) throws -> SealedItem? {
    try keychain.items().first { $0.account == account }
  }

  /// Writes behind the service's back.
  func tamper(_ changes: KeychainChange...) throws {
    try keychain.update { _ in changes }
  }
}

/// A keychain, and the folder that its coffer is in: nothing is written to a coffer that is gone.
private struct KeptKeychain: Keychain {
  let keychain: any Keychain
  let home: TemporaryHome

  func items() throws(KeychainError) -> [SealedItem] { try keychain.items() }

  func update(
    _ body: (_ current: [SealedItem]) throws(KeychainError) -> [KeychainChange]
  ) throws(KeychainError) {
    try keychain.update(body)
  }
}

#if SecretService
  /// A keychain, and the bus that its service is on.
  private struct KeychainOnBus: Keychain {
    let keychain: SecretServiceKeychain
    let bus: PrivateBus

    func items() throws(KeychainError) -> [SealedItem] { try keychain.items() }

    func update(
      _ body: (_ current: [SealedItem]) throws(KeychainError) -> [KeychainChange]
    ) throws(KeychainError) {
      try keychain.update(body)
    }
  }
#endif
