// SPDX-License-Identifier: Apache-2.0
//
// Typed items of the keychain: strings, the device's state, and what they cost (tests 9 to 11 and 16
// to 22).

import Foundation
import Keychains
import NumberedItemStores
import Primitives
import PrivateBus
import Secrets
import Testing

@Suite("Keychain values, on every store", .serialized, .keyringMayDie)
struct KeychainValueTests {
  private static let state = DeviceState(
    deviceId: "2F1B3C4D-0000-4000-8000-000000000001", attestationKeyId: "key",
    attestationLevel: .secureEnclave, hasLidar: true, deviceModel: "A model",
    registeredAt: Date(timeIntervalSince1970: 1_700_000_000))

  @Test("9. The device's state comes back the same", arguments: Store.allCases)
  func deviceState(store: Store) throws {
    let service = try store.make().service()
    try service.saveDeviceState(Self.state)
    #expect(try service.loadDeviceState() == Self.state)
    let json = try String(decoding: service.require(forKey: "rial.device.state"), as: UTF8.self)
    #expect(json.contains(#""registeredAt":"2023-11-14T22:13:20Z""#))
    #expect(json.contains(#""attestationLevel":"secure_enclave""#))
  }

  @Test("10. DeviceStateUpdate: what registration fills in later is kept", arguments: Store.allCases)
  func deviceStateUpdate(store: Store) throws {
    let service = try store.make().service()
    var state = DeviceState(deviceId: UUID().uuidString, deviceModel: "A model")
    try service.saveDeviceState(state)
    #expect(try service.loadDeviceState() == state)
    state.attestationKeyId = "key"
    state.registeredAt = Date(timeIntervalSince1970: 1)
    try service.saveDeviceState(state)
    #expect(try service.loadDeviceState() == state)
  }

  @Test("11. A state that cannot be is not saved", arguments: Store.allCases)
  func deviceStateChecked(store: Store) throws {
    let service = try store.make().service()
    var impossible = [Self.state, Self.state, Self.state]
    impossible[0].deviceId = "no UUID"
    impossible[1].attestationKeyId = nil
    impossible[2].deviceModel = ""
    for state in impossible {
      #expect(throws: KeychainError.encodingFailed) { try service.saveDeviceState(state) }
    }
    #expect(try service.loadDeviceState() == nil)
  }

  @Test(
    "16, 17. CorruptedJSON_ThrowsError, PartialData: a state that is not whole is an error",
    arguments: Store.allCases)
  func corruptedJSONThrowsError(store: Store) throws {
    let service = try store.make().service()
    try service.saveDeviceState(Self.state)
    let whole = try service.require(forKey: "rial.device.state")
    let texts = [Data("{ not json".utf8), Data("{}".utf8), Data(), Data([0xFF, 0xFE]), whole.dropLast(1)]
    for data in texts {
      try service.save(data, forKey: "rial.device.state")
      #expect(throws: KeychainError.decodingFailed) { try service.loadDeviceState() }
    }
  }

  @Test("A string comes back the same, and bytes that are none are an error", arguments: Store.allCases)
  func strings(store: Store) throws {
    let service = try store.make().service()
    for text in ["", "plain", "\u{E9}\u{1F511}\0"] {
      try service.saveString(text, forKey: KeychainService.Account.attestationKeyId)
      #expect(try service.loadString(forKey: KeychainService.Account.attestationKeyId) == text)
    }
    try service.save(Data([0xC3]), forKey: "text")
    #expect(throws: KeychainError.decodingFailed) { try service.loadString(forKey: "text") }
  }

  // MARK: Integration (18, 19)

  @Test("18. EncryptStoreLoadDecrypt: a stored key opens what it sealed", arguments: Store.allCases)
  func encryptStoreLoadDecrypt(store: Store) throws {
    let shelf = try store.make()
    let key = CryptoService.generateKey()
    let sealed = try CryptoService.encrypt(Data("hello".utf8), using: key)
    try shelf.service().saveSymmetricKey(key, forKey: "key")
    guard let loaded = try shelf.service().loadSymmetricKey(forKey: "key") else {
      Issue.record("the key is gone")
      return
    }
    #expect(try CryptoService.decrypt(sealed, using: loaded) == Data("hello".utf8))
  }

  @Test("19. Items of all kinds live side by side", arguments: Store.allCases)
  func sideBySide(store: Store) throws {
    let service = try store.make().service()
    let key = SymmetricKey()
    try service.saveSymmetricKey(key, forKey: "key")
    try service.saveString("text", forKey: "text")
    try service.saveDeviceState(Self.state)
    try service.save(Data([1]), forKey: "data", accessibility: .whenUnlockedThisDeviceOnly)
    #expect(try service.accounts() == ["data", "key", "rial.device.state", "text"])
    #expect(try service.loadString(forKey: "text") == "text")
    #expect(try service.loadDeviceState() == Self.state)
  }

  // MARK: Costs (20 to 22)

  /// Seconds are for `scripts/bench vault`. Here the calls of a store are counted, for fifteen times the same: the later
  /// times cost no more than the first two.
  private func expectSteady(_ body: (KeychainService) throws -> Void) throws {
    let store = NumberedItemStore()
    let keychain = JournallingKeychain(store: store, coffer: UUID()) {}
    let service = Shelf(keychain: keychain, home: nil, file: nil).service()
    try service.prepare()
    var costs: [Int] = []
    for _ in 0..<15 {
      let before = store.callCount
      try body(service)
      costs.append(store.callCount - before)
    }
    let first = try #require(costs.prefix(2).max())
    #expect(first > 0 && first < 20 && costs.allSatisfy { $0 <= first }, "\(costs)")
  }

  @Test("20. Saving costs the same few calls each time")
  func saveCost() throws { try expectSteady { try $0.save(Data(count: 1024), forKey: "one") } }

  @Test("21. Loading costs the same few calls each time")
  func loadCost() throws {
    try expectSteady { service in
      if try service.load(forKey: "one") == nil { try service.save(Data(count: 1024), forKey: "one") }
      #expect(try service.load(forKey: "one") == Data(count: 1024))
    }
  }

  @Test("22. A symmetric key's round trip costs the same few calls each time")
  func keyCost() throws {
    let key = SymmetricKey()
    try expectSteady { service in
      try service.saveSymmetricKey(key, forKey: "key")
      guard let loaded = try service.loadSymmetricKey(forKey: "key") else {
        Issue.record("the key is gone")
        return
      }
      let isSame = loaded.withBytes { loaded in key.withBytes { constantTimeEqual(loaded, $0) } }
      #expect(isSame)
    }
  }
}
