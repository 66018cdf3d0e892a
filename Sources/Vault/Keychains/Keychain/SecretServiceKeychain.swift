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
    ///   - coffer: tells the items of this coffer from those of others; the same for its whole life.
    ///   - file: the coffer's file, whose writer lock every change takes.
    ///   - bus: where the service is, for tests.
    public init(coffer: UUID, file: DatabaseFile, bus: BusConnection.Bus = .session) {
      keychain = JournallingKeychain(store: SecretServiceItems(coffer: coffer, bus: bus), coffer: coffer) {
        () throws(StorageError) in try file.claimWriting()
      }
      self.bus = bus
    }

    /// Every item, as of one moment.
    /// - Throws: `KeychainError.serviceLocked` while the collection is: then nothing is known to be missing.
    ///   `.serviceUnavailable` without a service or a default collection.
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
    /// - Parameter timeout: how long the person may take.
    /// - Throws: `KeychainError.serviceLocked` when it was dismissed, or nobody answered.
    public func unlock(timeout: Duration) throws(KeychainError) {
      try SecretServiceClient(bus, failure: KeychainError.loadFailed).unlock(timeout: timeout)
    }

    /// Removes the keychain from the service; none there is as good.
    public func remove() throws(KeychainError) { try keychain.remove() }
  }
#endif
