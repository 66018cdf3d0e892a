// SPDX-License-Identifier: Apache-2.0

#if SecretService
  public import DesktopBus
  public import Foundation
  public import Storage

  /// Sealed items in the default collection of the desktop's Secret Service: GNOME Keyring, KWallet, KeePassXC.
  ///
  /// The service knows no transactions; a ``JournallingKeychain`` over it makes the batches atomic.
  public struct SecretServiceKeychain: Keychain {
    private let keychain: JournallingKeychain
    private let bus: BusConnection.Bus

    /// Opens nothing yet.
    /// - Parameters:
    ///   - coffer: identifies this coffer's items, for its whole life.
    ///   - file: the coffer's file, whose writer lock every change takes.
    ///   - bus: where the service is, for tests.
    public init(coffer: UUID, file: DatabaseFile, bus: BusConnection.Bus = .session) {
      keychain = JournallingKeychain(store: SecretServiceItems(coffer: coffer, bus: bus), coffer: coffer) {
        () throws(StorageError) in try file.claimWriting()
      }
      self.bus = bus
    }

    /// Every item, at one moment.
    /// - Throws: `KeychainError.serviceLocked` while the collection is locked: then it is not known which
    ///   items are missing. `.serviceUnavailable` without a service or a default collection.
    public func items() throws(KeychainError) -> [SealedItem] { try keychain.items() }

    /// Makes all the changes, or none. See ``Keychain``.
    ///
    /// Never asks anybody to unlock. When this throws an error of the service, the change may have happened or
    /// not, as a whole.
    public func update(
      _ body: (_ current: [SealedItem]) throws(KeychainError) -> [KeychainChange]
    ) throws(KeychainError) {
      try keychain.update(body)
    }

    /// Asks the service to unlock the collection; it may show a dialogue. The only call that does.
    /// - Parameter timeout: how long the user may take.
    /// - Throws: `KeychainError.serviceLocked` when it was dismissed, or nobody answered.
    public func unlock(timeout: Duration) throws(KeychainError) {
      try SecretServiceClient(bus, failure: KeychainError.loadFailed).unlock(timeout: timeout)
    }

    /// Removes the keychain from the service; it is not an error if there is none.
    public func remove() throws(KeychainError) { try keychain.remove() }
  }

  // Records as items of the desktop's Secret Service (freedesktop.org Secret Storage specification, draft
  // 0.2). All records of a coffer have the same attributes: the kind of a record is in its bytes. Every
  // process of the same user can read an unlocked collection, so only sealed values go there, and the plain
  // transport is enough.
  //
  // Each operation has its own connection, so a restarted daemon makes no difference, and nothing stays open.

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

      /// Does nothing: the service answers a change after it has written its file, and promises no more.
      func synchronise() throws(KeychainError) {}
    }

    /// The attributes to find the items by; everybody on the session's bus can read them.
    private var attributes: [String: String] {
      [
        "application": "coffer", "coffer": coffer.uuidString.lowercased(),
        "account": KeychainService.serviceName, "class": "record", "xdg:schema": "app.rial.keychain.Record",
      ]
    }
  }
#endif
