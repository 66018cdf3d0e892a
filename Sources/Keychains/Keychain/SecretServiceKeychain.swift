// SPDX-License-Identifier: Apache-2.0
//
// A keychain in the desktop's Secret Service (freedesktop.org Secret Storage specification, draft 0.2):
// GNOME Keyring, KWallet, KeePassXC. Every process of the same user can read an unlocked collection, so only
// sealed values go there, and the plain transport is enough.
//
// The service knows no transactions. The whole keychain is therefore the value of one item, and a batch
// replaces that value; the coffer's own writer lock keeps other writers out. Each operation has a connection
// of its own, so that a daemon that was started anew is nothing special, and nothing stays open.

#if SecretService
  public import DesktopBus
  public import Foundation
  public import Storage
  internal import Synchronization

  /// Sealed items in the default collection of the Secret Service.
  public final class SecretServiceKeychain: Keychain {
    /// Bytes that a keychain may have in this store. The daemon holds values in locked memory and writes its
    /// whole file with each change; D-Bus brokers take messages of at least this size.
    public static let byteLimit = 16 << 20

    private let bus: BusConnection.Bus
    private let coffer: UUID
    private let file: DatabaseFile
    /// The writer's lock keeps other processes out, and this other threads.
    private let writing = Mutex<Void>(())

    /// Opens nothing yet.
    /// - Parameters:
    ///   - coffer: tells the items of this coffer from those of others; the same for its whole life.
    ///   - file: the coffer's file, whose writer lock every change takes.
    ///   - bus: where the service is, for tests.
    public init(coffer: UUID, file: DatabaseFile, bus: BusConnection.Bus = .session) {
      self.coffer = coffer
      self.file = file
      self.bus = bus
    }

    /// Every item, as of one moment.
    /// - Throws: `KeychainError.locked` while the collection is: then nothing is known to be missing.
    ///   `.serviceUnavailable` without a service or a default collection.
    public func items() throws(KeychainError) -> [SealedItem] {
      try snapshot(SecretServiceClient(bus, failure: KeychainError.loadFailed)).items
    }

    /// Replaces the keychain by what it is after the changes. See ``Keychain``.
    ///
    /// Never asks anybody to unlock. When this throws `.saveFailed` for a time-out, the change may have
    /// happened or not, as a whole.
    public func update(
      _ body: (_ current: [SealedItem]) throws(KeychainError) -> [KeychainChange]
    ) throws(KeychainError) {
      try writing.withLock { _ throws(KeychainError) in
        do throws(StorageError) { try file.claimWriting() } catch { throw .saveFailed(error.status) }
        let client = try SecretServiceClient(bus, failure: KeychainError.saveFailed)
        let current = try snapshot(client)
        let changes = try body(current.items)
        guard !changes.isEmpty else { return }
        let bytes = try current.applying(changes).bytes(coffer: coffer)
        guard bytes.count <= Self.byteLimit else { throw .saveFailed(StorageError.full.status) }
        try client.replace(label: "Coffer keychain", attributes: attributes, value: bytes)
      }
    }

    /// Asks the service to unlock the collection; it may show a dialogue. The only call that does.
    /// - Parameter timeout: how long the person may take.
    /// - Throws: `KeychainError.locked` when it was dismissed, or nobody answered.
    public func unlock(timeout: Duration) throws(KeychainError) {
      try SecretServiceClient(bus, failure: KeychainError.loadFailed).unlock(timeout: timeout)
    }

    /// Removes the keychain from the service; none there is as good.
    public func remove() throws(KeychainError) {
      try writing.withLock { _ throws(KeychainError) in
        do throws(StorageError) { try file.claimWriting() } catch { throw .deleteFailed(error.status) }
        let client = try SecretServiceClient(bus, failure: KeychainError.deleteFailed)
        for item in try client.items(attributes) { try client.delete(item) }
      }
    }

    /// Several items of these attributes are not ours to make, but a service may leave one behind: the
    /// highest revision counts, and any that cannot be read is damage.
    private func snapshot(_ client: SecretServiceClient) throws(KeychainError) -> KeychainSnapshot {
      var newest = KeychainSnapshot()
      for item in try client.items(attributes) {
        let found = try KeychainSnapshot(client.value(of: item, limit: Self.byteLimit), coffer: coffer)
        guard found.revision != newest.revision || found == newest else { throw .invalidData }
        if found.revision > newest.revision { newest = found }
      }
      return newest
    }

    /// What the item is found by; everybody on the session's bus can read these.
    private var attributes: [String: String] {
      [
        "application": "coffer", "coffer": coffer.uuidString.lowercased(),
        "account": KeychainService.serviceName, "class": "snapshot",
        "xdg:schema": "app.rial.keychain.Snapshot",
      ]
    }
  }
#endif
