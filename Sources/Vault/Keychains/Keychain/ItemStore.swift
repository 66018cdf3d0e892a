// SPDX-License-Identifier: Apache-2.0
//
// The interface between a journalling keychain and its store: records can be added, listed and removed one at
// a time. Nothing is ever replaced, so a record is unchanged since it was added, or gone.

/// A store of records that knows no transactions: a service of the desktop or of the system.
///
/// It holds the records of one coffer and does not understand them.
public protocol ItemStore: Sendable {
  /// Opens the store for one operation.
  /// - Parameter failure: makes the error of that operation from a native code of the store.
  /// - Throws: `KeychainError.serviceUnavailable`.
  func open(
    _ failure: @escaping @Sendable (Int32) -> KeychainError
  ) throws(KeychainError) -> any ItemStoreSession
}

/// An open store. It belongs to one thread, and ends with the last reference.
public protocol ItemStoreSession {
  /// Every record of the coffer at one moment, in any order.
  ///
  /// A record that exists when the listing begins must be in it, even if a writer adds and removes others
  /// meanwhile.
  /// - Throws: `KeychainError.locked` when there may be records that are hidden.
  func records() throws(KeychainError) -> [StoredRecord]

  /// Adds a record. When this throws, the record may be there, or not, or in part.
  func add(_ bytes: [UInt8]) throws(KeychainError)

  /// Removes a record; may throw when there is none.
  func remove(_ place: StoredRecord.Place) throws(KeychainError)

  /// Makes everything durable that anybody has added or removed before, as far as the store can promise that.
  func synchronise() throws(KeychainError)
}

/// A record in an ``ItemStore``.
public struct StoredRecord: Equatable, Sendable {
  /// The place of a record: the store's name for it, as long as it exists.
  public struct Place: Hashable, Sendable {
    /// The store's name for the record, which means nothing elsewhere.
    public let name: String

    /// A place by its name in the store.
    public init(_ name: String) { self.name = name }
  }

  /// Where the record is.
  public let place: Place
  /// The bytes as they were added.
  public let bytes: [UInt8]

  /// A record as the store lists it.
  public init(place: Place, bytes: [UInt8]) {
    self.place = place
    self.bytes = bytes
  }
}
