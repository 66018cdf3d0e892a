// SPDX-License-Identifier: Apache-2.0
//
// What a journalling keychain needs of the store below it, and no more: records can be added, listed and
// removed one at a time. Nothing is ever replaced, so that a record is what it was when it was added, or gone.

/// A store of records that knows no transactions: a service of the desktop or of the system.
///
/// It holds the records of one coffer and does not understand them.
public protocol ItemStore: Sendable {
  /// Opens the store for one operation.
  /// - Parameter failure: the error of that operation, around a native code of the store.
  /// - Throws: `KeychainError.serviceUnavailable`.
  func open(
    _ failure: @escaping @Sendable (Int32) -> KeychainError
  ) throws(KeychainError) -> any ItemStoreSession
}

/// An open store. It belongs to one thread, and ends with the last reference.
public protocol ItemStoreSession {
  /// Every record of the coffer as of one moment, in any order.
  ///
  /// One moment: a writer that adds and removes meanwhile must not make a record vanish that was there when
  /// the listing was made.
  /// - Throws: `KeychainError.locked` when there may be records that do not show.
  func records() throws(KeychainError) -> [StoredRecord]

  /// Adds a record. When this throws, the record may be there, or not, or in part.
  func add(_ bytes: [UInt8]) throws(KeychainError)

  /// Removes a record; that there is none may be an error.
  func remove(_ place: StoredRecord.Place) throws(KeychainError)

  /// Returns when everything that was added and removed before, by whomever, will outlast a loss of power,
  /// as far as the store can promise that.
  func synchronise() throws(KeychainError)
}

/// A record in an ``ItemStore``.
public struct StoredRecord: Equatable, Sendable {
  /// Where a record is: the store's own name for it, as long as it is there.
  public struct Place: Hashable, Sendable {
    /// The store's name for the record, which means nothing elsewhere.
    public let name: String

    /// A place by its name in the store.
    public init(_ name: String) { self.name = name }
  }

  /// Where the record is.
  public let place: Place
  /// What was added.
  public let bytes: [UInt8]

  /// A record as the store lists it.
  public init(place: Place, bytes: [UInt8]) {
    self.place = place
    self.bytes = bytes
  }
}
