// SPDX-License-Identifier: Apache-2.0
//
// What every keychain store must do. Some tests carry numbers, which only keep them in order.

import Foundation
import Keychains
import Primitives
import PrivateBus
import Secrets
import Testing

@Suite("Keychain service, on every store", .keyringMayDie)
struct KeychainServiceTests {
  private let value = Data("a value".utf8)

  // MARK: Basic (1 to 5)

  @Test("1. What was saved is loaded", arguments: Store.allCases)
  func saveLoad(store: Store) throws {
    let service = try store.make().service()
    try service.save(value, forKey: "one")
    #expect(try service.load(forKey: "one") == value)
    #expect(try service.require(forKey: "one") == value)
    #expect(try service.accounts() == ["one"])
  }

  @Test("2. A missing item is nil, and itemNotFound only where one is required", arguments: Store.allCases)
  func missing(store: Store) throws {
    let service = try store.make().service()
    #expect(try service.load(forKey: "none") == nil)
    #expect(throws: KeychainError.itemNotFound) { try service.require(forKey: "none") }
    #expect(try service.loadString(forKey: "none") == nil)
    #expect(try service.loadDeviceState() == nil)
    let hasKey = try service.loadSymmetricKey(forKey: "none") != nil
    #expect(!hasKey)
  }

  @Test("3. A deleted item is gone, and deleting it again succeeds", arguments: Store.allCases)
  func delete(store: Store) throws {
    let service = try store.make().service()
    try service.save(value, forKey: "one")
    try service.save(value, forKey: "two")
    try service.delete(forKey: "one")
    try service.delete(forKey: "one")
    #expect(try service.load(forKey: "one") == nil)
    #expect(try service.accounts() == ["two"])
  }

  @Test("4. DuplicateKey_UpdatesItem: saving again replaces", arguments: Store.allCases)
  func duplicateKeyUpdatesItem(store: Store) throws {
    let service = try store.make().service()
    try service.save(value, forKey: "one")
    try service.save(Data("another".utf8), forKey: "one")
    #expect(try service.load(forKey: "one") == Data("another".utf8))
    #expect(try service.accounts() == ["one"])
  }

  @Test("5. Create takes only a name that is free", arguments: Store.allCases)
  func create(store: Store) throws {
    let service = try store.make().service()
    let secret = SecretBytes(copying: [UInt8]("first".utf8).span.bytes)
    let other = SecretBytes(copying: [UInt8]("second".utf8).span.bytes)
    try service.create(secret, forKey: "one")
    do {
      try service.create(other, forKey: "one")
      Issue.record("created twice")
    } catch { #expect(error == .duplicateItem) }
    #expect(try service.load(forKey: "one") == Data("first".utf8))
    let found = try service.requireSecret(forKey: "one").isEqual(to: secret)
    #expect(found)
  }

  // MARK: Symmetric keys (6 to 8)

  @Test("6. A symmetric key comes back the same", arguments: Store.allCases)
  func symmetricKey(store: Store) throws {
    let service = try store.make().service()
    let key = SymmetricKey()
    try service.saveSymmetricKey(key, forKey: KeychainService.Account.captureKey)
    let same = try service.loadSymmetricKey(forKey: "rial.encryption.key")?.isEqual(to: key)
    #expect(same == true)
  }

  @Test("7. InvalidData_ThrowsError: a key of another length is none", arguments: Store.allCases)
  func invalidDataThrowsError(store: Store) throws {
    let service = try store.make().service()
    for count in [0, 16, 31, 33] {
      try service.save(Data(count: count), forKey: "key")
      do {
        _ = try service.loadSymmetricKey(forKey: "key")
        Issue.record("a key of \(count) bytes")
      } catch { #expect(error == .invalidData) }
    }
  }

  @Test("8. Saving another key replaces the first", arguments: Store.allCases)
  func symmetricKeyUpdate(store: Store) throws {
    let service = try store.make().service()
    let first = SymmetricKey()
    let second = SymmetricKey()
    try service.saveSymmetricKey(first, forKey: "key")
    try service.saveSymmetricKey(second, forKey: "key")
    let same = try service.loadSymmetricKey(forKey: "key")?.isEqual(to: second)
    #expect(same == true)
  }

  // MARK: Protection (12)

  @Test("12. Locked is not missing is not damaged", arguments: Store.allCases)
  func protection(store: Store) throws {
    let shelf = try store.make()
    try shelf.service().save(value, forKey: "open", accessibility: .afterFirstUnlockThisDeviceOnly)
    try shelf.service().save(value, forKey: "shut", accessibility: .whenUnlockedThisDeviceOnly)
    let locked = shelf.lockedService()
    #expect(try locked.load(forKey: "open") == value)
    #expect(throws: KeychainError.locked) { try locked.load(forKey: "shut") }
    // The class that is locked may hold it: so neither nil nor itemNotFound.
    #expect(throws: KeychainError.locked) { try locked.load(forKey: "none") }
    #expect(throws: KeychainError.locked) { try locked.require(forKey: "none") }
    #expect(throws: KeychainError.locked) { try locked.delete(forKey: "shut") }
    #expect(throws: KeychainError.locked) {
      try locked.save(Data(), forKey: "new", accessibility: .whenUnlockedThisDeviceOnly)
    }
    // Moving an item out of the locked class would need that class's index.
    #expect(throws: KeychainError.locked) { try locked.save(Data(), forKey: "shut") }
    try locked.save(Data([1]), forKey: "new")
    try locked.delete(forKey: "open")
    #expect(try shelf.service().accounts() == ["new", "shut"])
    let keyless = KeychainService(
      keychain: shelf.keychain, keys: ClassKeys(whenUnlocked: nil, afterFirstUnlock: nil))
    #expect(throws: KeychainError.locked) { try keyless.load(forKey: "new") }
    #expect(throws: KeychainError.locked) { try keyless.load(forKey: "none") }
  }

  @Test("The class is a choice per item, and saving again changes it", arguments: Store.allCases)
  func classChange(store: Store) throws {
    let shelf = try store.make()
    let service = shelf.service()
    try service.save(value, forKey: "one")
    #expect(try shelf.item("one")?.accessibility == .afterFirstUnlockThisDeviceOnly)
    for accessibility in [AccessibilityClass.whenUnlockedThisDeviceOnly, .afterFirstUnlockThisDeviceOnly] {
      try service.save(value, forKey: "one", accessibility: accessibility)
      #expect(try shelf.item("one")?.accessibility == accessibility)
      #expect(try service.load(forKey: "one") == value)
      #expect(try service.load(forKey: "none") == nil)
    }
  }

  // MARK: Edge cases (13 to 15)

  @Test("13. Empty data is stored", arguments: Store.allCases)
  func empty(store: Store) throws {
    let service = try store.make().service()
    try service.save(Data(), forKey: "empty")
    #expect(try service.load(forKey: "empty") == Data())
  }

  @Test("14. One megabyte is stored", arguments: Store.allCases)
  func large(store: Store) throws {
    let service = try store.make().service()
    let data = Data((0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
    try service.save(data, forKey: "large")
    #expect(try service.load(forKey: "large") == data)
  }

  @Test("15. Arbitrary bytes are stored, and a second instance reads them", arguments: Store.allCases)
  func binary(store: Store) throws {
    let shelf = try store.make()
    let data = Data((0...255).map { UInt8($0) } + (0...255).reversed().map { UInt8($0) })
    try shelf.service().save(data, forKey: "binary")
    #expect(try shelf.service().load(forKey: "binary") == data)
  }

  @Test("Names are compared byte for byte, and impossible ones are refused", arguments: Store.allCases)
  func names(store: Store) throws {
    let service = try store.make().service()
    let names = ["\u{E9}", "e\u{301}", "a b", "A b", "\u{1F511}", String(repeating: "n", count: 2000)]
    for (index, name) in names.enumerated() { try service.save(Data([UInt8(index)]), forKey: name) }
    for (index, name) in names.enumerated() {
      #expect(try service.load(forKey: name) == Data([UInt8(index)]))
    }
    try service.delete(forKey: "\u{E9}")
    #expect(try service.load(forKey: "\u{E9}") == nil)
    #expect(try service.load(forKey: "e\u{301}") == Data([1]))
    for name in ["", "\0", "a\0b", "app.rial.keychain.index.1", "app.rial.keychain.index.x"] {
      #expect(throws: KeychainError.invalidData) { try service.save(value, forKey: name) }
      #expect(try service.load(forKey: name) == nil)
      try service.delete(forKey: name)
    }
    #expect(try service.accounts().count == names.count - 1)
  }

  @Test("A keychain is prepared once", arguments: Store.allCases)
  func prepare(store: Store) throws {
    let shelf = try store.makeUnprepared()
    #expect(throws: KeychainError.invalidData) { try shelf.service().load(forKey: "one") }
    #expect(throws: KeychainError.locked) { try shelf.lockedService().prepare() }
    #expect(try shelf.keychain.items().isEmpty)
    try shelf.service().prepare()
    #expect(throws: KeychainError.duplicateItem) { try shelf.service().prepare() }
    #expect(try shelf.service().accounts().isEmpty)
  }

  @Test("The store sees names and no values", arguments: Store.allCases)
  func sealed(store: Store) throws {
    let shelf = try store.make()
    try shelf.service().save(value, forKey: "one")
    #expect(try shelf.keychain.items().allSatisfy { $0.sealed.range(of: value) == nil })
    #expect(try shelf.item("one")?.sealed.count == value.count + SealedValue.overheadByteCount)
  }

  @Test("The texts and the names are those that the requirements fix")
  func wording() {
    #expect(KeychainService.serviceName == "app.rial.keychain")
    #expect(KeychainService.Account.attestationKeyId == "rial.attestation.keyId")
    #expect(KeychainService.Account.deviceId == "rial.device.id")
    #expect(KeychainService.Account.deviceState == "rial.device.state")
    let texts: [(KeychainError, String)] = [
      (.saveFailed(13), "Failed to save item to Keychain (status: 13)"),
      (.loadFailed(5), "Failed to load item from Keychain (status: 5)"),
      (.deleteFailed(5), "Failed to delete item from Keychain (status: 5)"),
      (.itemNotFound, "Keychain item not found"), (.duplicateItem, "Keychain item already exists"),
      (.invalidData, "Keychain data is invalid or corrupted"),
      (.unexpectedError(7), "Unexpected Keychain error (status: 7)"),
    ]
    for (error, text) in texts { #expect(error.localizedDescription == text) }
    for error in [
      KeychainError.encodingFailed, .decodingFailed, .secureEnclaveUnavailable, .locked, .serviceLocked,
      .serviceUnavailable,
    ] {
      #expect(error.errorDescription?.isEmpty == false)
      #expect(error.status == nil)
    }
    #expect(KeychainError.saveFailed(13).status == 13)
  }
}
