// SPDX-License-Identifier: Apache-2.0
//
// Records as generic passwords in the keychain of an Apple device. All records of a coffer have the same
// service; the account is random. They stay on the device: they are not synchronised, and a backup cannot be
// restored to another device.
//
// Not run on Linux: `scripts/check-apple` compiles it there against declarations of the few calls that it
// makes (Tests/Support/AppleDeclarations).

#if canImport(Security)
  public import Foundation
  internal import Primitives
  internal import Security

  /// The records of one coffer in the data protection keychain; for a ``JournallingKeychain``.
  public struct AppleKeychainItems: ItemStore {
    private let coffer: UUID

    /// - Parameter coffer: tells the items of this coffer from those of others; the same for its whole life.
    public init(coffer: UUID) { self.coffer = coffer }

    /// - Throws: nothing; the keychain is always there, and each call asks it.
    public func open(
      _ failure: @escaping @Sendable (Int32) -> KeychainError
    ) throws(KeychainError) -> any ItemStoreSession {
      Session(service: Self.service(coffer.uuidString.lowercased()), failure: failure)
    }

    private static func service(_ part: String) -> String { "\(KeychainService.serviceName).\(part)" }

    private struct Session: ItemStoreSession {
      let service: String
      let failure: @Sendable (Int32) -> KeychainError

      func records() throws(KeychainError) -> [StoredRecord] {
        let query = Query(service)
        query.set(kSecMatchLimit, kSecMatchLimitAll)
        query.set(kSecReturnAttributes, NSNumber(value: true))
        query.set(kSecReturnData, NSNumber(value: true))
        var result: CFTypeRef? = nil
        let status = unsafe SecItemCopyMatching(query.dictionary, &result)
        if status == errSecItemNotFound {
          try requireUnlocked()
          return []
        }
        try require(status)
        guard let found = result as? NSArray else { throw failure(errSecDecode) }
        var records: [StoredRecord] = []
        for element in found {
          guard let item = element as? NSDictionary, let account = item[kSecAttrAccount] as? String,
            let value = item[kSecValueData] as? Data
          else { throw failure(errSecDecode) }
          records.append(StoredRecord(place: StoredRecord.Place(account), bytes: Array(value)))
        }
        return records
      }

      func add(_ bytes: [UInt8]) throws(KeychainError) { try add(bytes, service) }

      func remove(_ place: StoredRecord.Place) throws(KeychainError) { try remove(place, service) }

      /// Does nothing: each call returns after its change is committed.
      func synchronise() throws(KeychainError) {}

      /// Before the first unlock of the device a search may find nothing, but nothing can be added either.
      private func requireUnlocked() throws(KeychainError) {
        let service = AppleKeychainItems.service("lock")
        try remove(add([], service), service)
      }

      @discardableResult
      private func add(_ bytes: [UInt8], _ service: String) throws(KeychainError) -> StoredRecord.Place {
        let place = StoredRecord.Place(Hexadecimal.text(SystemRandom.publicBytes(count: 16)))
        let item = Query(service)
        item.set(kSecAttrAccount, NSString(string: place.name))
        item.set(kSecAttrLabel, NSString(string: "Coffer keychain"))
        // Both classes of items are sealed under keys of their own; this is the weaker of the two.
        item.set(kSecAttrAccessible, kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly)
        item.set(kSecValueData, NSData(data: Data(bytes)))
        try require(SecItemAdd(item.dictionary, nil))
        return place
      }

      private func remove(_ place: StoredRecord.Place, _ service: String) throws(KeychainError) {
        let query = Query(service)
        query.set(kSecAttrAccount, NSString(string: place.name))
        try require(SecItemDelete(query.dictionary))
      }

      private func require(_ status: OSStatus) throws(KeychainError) {
        switch status {
        case errSecSuccess: return
        case errSecInteractionNotAllowed: throw .locked
        case errSecNotAvailable: throw .serviceUnavailable
        default: throw failure(status)
        }
      }
    }

    /// The query of a call: items of one service, on this device alone.
    private struct Query {
      private let values = NSMutableDictionary()

      init(_ service: String) {
        set(kSecClass, kSecClassGenericPassword)
        set(kSecAttrService, NSString(string: service))
        set(kSecAttrSynchronizable, NSNumber(value: false))
        set(kSecUseDataProtectionKeychain, NSNumber(value: true))
      }

      var dictionary: CFDictionary { values as CFDictionary }

      func set(_ key: CFString, _ value: AnyObject) { values[key as NSString] = value }
    }
  }
#endif
