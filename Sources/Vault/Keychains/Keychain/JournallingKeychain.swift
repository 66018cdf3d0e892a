// SPDX-License-Identifier: Apache-2.0
//
// Atomic batches over a store that has none (Specs/keychain.md, "Stores without transactions"): new rows are
// staged beside the old ones, and then one record, the next manifest, makes them the keychain. After any
// interruption the store holds the whole batch or nothing of it; the next batch removes the leftovers.

public import Foundation
public import Storage
internal import Synchronization

/// A keychain in an ``ItemStore``.
public final class JournallingKeychain: Keychain {
  /// Bytes that the rows of a keychain may have together. The services hold values in memory that cannot be
  /// paged out and write a whole file with each change; a batch has the old rows and the new ones side by side,
  /// and they still fit into one message of D-Bus (64 MiB an array).
  public static let byteLimit = 16 << 20

  private let store: any ItemStore
  private let coffer: UUID
  private let claimWriting: @Sendable () throws(StorageError) -> Void
  /// The writer's lock keeps other processes out, and this other threads.
  private let turn: Turn

  /// Opens nothing yet.
  /// - Parameters:
  ///   - store: holds the records of this coffer and no others.
  ///   - coffer: identifies the coffer, for its whole life; every record contains it.
  ///   - claimWriting: takes the coffer's writer lock, if it is not held already.
  public init(
    store: any ItemStore, coffer: UUID, claimWriting: @escaping @Sendable () throws(StorageError) -> Void
  ) {
    self.store = store
    self.coffer = coffer
    self.claimWriting = claimWriting
    turn = Turn.ofCoffer(coffer)
  }

  /// Every item, at one moment.
  /// - Throws: `KeychainError.invalidData` unless the records are those of a keychain; `.locked` while some
  ///   may be hidden; `.serviceUnavailable`.
  public func items() throws(KeychainError) -> [SealedItem] {
    try state(store.open { .loadFailed($0) }).items
  }

  /// Makes all the changes, or none. See ``Keychain``.
  ///
  /// When this throws an error of the store, the change may have happened or not, as a whole.
  public func update(
    _ body: (_ current: [SealedItem]) throws(KeychainError) -> [KeychainChange]
  ) throws(KeychainError) {
    try turn.writing.withLock { _ throws(KeychainError) in
      do throws(StorageError) { try claimWriting() } catch { throw .storage(error) }
      let session = try store.open { .saveFailed($0) }
      let current = try state(session)
      let rows = current.rows(after: try body(current.items), coffer: coffer)
      guard rows != current.rows else { return }
      guard JournalState.byteCount(rows) <= Self.byteLimit else {
        throw .storage(.full)
      }
      try flip(to: rows, from: try begun(current, session), session)
    }
  }

  /// Removes every record of the coffer from the store; it is not an error if there is none. An interruption
  /// leaves a corrupt keychain; repeat the call.
  public func remove() throws(KeychainError) {
    try turn.writing.withLock { _ throws(KeychainError) in
      do throws(StorageError) { try claimWriting() } catch { throw .storage(error) }
      let session = try store.open { .deleteFailed($0) }
      for record in try session.records() { try session.remove(record.place) }
      try session.synchronise()
    }
  }

  // MARK: The steps of a batch

  /// Removes the leftovers of an interrupted batch.
  /// - Returns: the manifest to go on from.
  private func begun(
    _ current: JournalState, _ session: any ItemStoreSession
  ) throws(KeychainError) -> JournalManifest {
    // The records listed here may not be on the disk yet. Removals and new rows must not become durable
    // before them.
    try session.synchronise()
    if let manifest = current.manifest {
      sweep(current.leftovers, session)
      return manifest
    }
    for place in current.leftovers { try session.remove(place) }
    if !current.leftovers.isEmpty { try session.synchronise() }
    // Rows without a manifest are damage, so there is one before the first row.
    let first = JournalManifest(revision: 1, rows: [])
    try add(first, session)
    return first
  }

  private func flip(
    to rows: [JournalRow], from current: JournalManifest, _ session: any ItemStoreSession
  ) throws(KeychainError) {
    guard current.revision < .max else { throw .invalidData }
    let former = Set(current.rows)
    let staged = rows.filter { !former.contains($0.digest) }
    for row in staged { try session.add(row.bytes) }
    if !staged.isEmpty {
      try session.synchronise()
      let seen = try state(session)
      guard seen.manifest == current, staged.allSatisfy({ seen.digests.contains($0.digest) })
      else { throw Self.notKept }
    }
    let after = try add(
      JournalManifest(revision: current.revision + 1, rows: rows.map(\.digest)), session)
    // The batch has happened; leftovers are removed now or by the next batch. The former manifest is removed
    // first, so that damage of the new one is an error and does not bring the old rows back.
    sweep(after.leftovers, session)
    try? session.synchronise()
  }

  /// Adds a manifest, and checks that it has become the valid one.
  @discardableResult
  private func add(
    _ manifest: JournalManifest, _ session: any ItemStoreSession
  ) throws(KeychainError) -> JournalState {
    try session.add(manifest.bytes(coffer: coffer))
    try session.synchronise()
    let after = try state(session)
    guard after.manifest == manifest else { throw Self.notKept }
    return after
  }

  private func sweep(_ leftovers: [StoredRecord.Place], _ session: any ItemStoreSession) {
    for place in leftovers { try? session.remove(place) }
  }

  private func state(_ session: any ItemStoreSession) throws(KeychainError) -> JournalState {
    try JournalState(session.records(), coffer: coffer)
  }

  /// One for all keychains of a coffer that are open in this process: unlike a database, the store below cannot
  /// tell two of them apart.
  private final class Turn: Sendable {
    let writing = Mutex<Void>(())

    private static let ofCoffers = Mutex<[UUID: Turn]>([:])

    static func ofCoffer(_ coffer: UUID) -> Turn {
      ofCoffers.withLock { turns in
        let turn = turns[coffer] ?? Turn()
        turns[coffer] = turn
        return turn
      }
    }
  }

  /// The store did not keep what was added.
  private static let notKept = KeychainError.saveFailed(-EIO)
}
