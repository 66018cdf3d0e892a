// SPDX-License-Identifier: Apache-2.0
//
// Records as items of the desktop's Secret Service (freedesktop.org Secret Storage specification, draft 0.2).
// All records of a coffer have the same attributes: what a record is stands in its bytes. Every process of the
// same user can read an unlocked collection, so only sealed values go there, and the plain transport is enough.
//
// Each operation has a connection of its own, so that a daemon that was started anew is nothing special, and
// nothing stays open.

#if SecretService
  internal import DesktopBus
  internal import Foundation

  /// The records of one coffer in the default collection.
  struct SecretServiceItems: ItemStore {
    let coffer: UUID
    let bus: BusConnection.Bus

    func open(
      _ failure: @escaping @Sendable (Int32) -> KeychainError
    ) throws(KeychainError) -> any ItemStoreSession {
      Session(client: try SecretServiceClient(bus, failure: failure), attributes: attributes)
    }

    private struct Session: ItemStoreSession {
      let client: SecretServiceClient
      let attributes: [String: String]

      func records() throws(KeychainError) -> [StoredRecord] { try client.records(attributes) }

      func add(_ bytes: [UInt8]) throws(KeychainError) {
        try client.create(label: "Coffer keychain", attributes: attributes, value: bytes)
      }

      func remove(_ place: StoredRecord.Place) throws(KeychainError) { try client.delete(place.name) }

      /// The service has no call for this: it answers a change when its file is written, and promises no more.
      func synchronise() throws(KeychainError) {}
    }

    /// What the items are found by; everybody on the session's bus can read these.
    private var attributes: [String: String] {
      [
        "application": "coffer", "coffer": coffer.uuidString.lowercased(),
        "account": KeychainService.serviceName, "class": "record", "xdg:schema": "app.rial.keychain.Record",
      ]
    }
  }
#endif
