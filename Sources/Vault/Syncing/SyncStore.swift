// SPDX-License-Identifier: Apache-2.0
//
// The rows of synchronisation in the coffer's file (Specs/local-history.md, "Rows"): the objects as they came, the version
// in each row of the vault, and one sealed state, which authenticates both.
//
//   "COFSYN01" (8) ‖ objects: count (8), sum (32) ‖ rows: count (8), sum (32) ‖ last number (8)
//   ‖ digest of the vault's rows: length (1), bytes ‖ last complete run (8) ‖ versions only here (8)
//   ‖ local state

internal import Foundation
internal import Histories
internal import Primitives
internal import Secrets
internal import Storage
internal import Vaults

/// What is sealed.
struct SyncState: Equatable, Sendable {
  var objects = SetDigest()
  var rows = SetDigest()
  /// The highest number of an object's row.
  var lastNumber: Int64 = 0
  /// The digest of the vault's rows when all of them were known to the history; empty if some were not.
  var vaultDigest: [UInt8] = []
  /// When everything was sent and verified last, in seconds since 1970; 0 for never.
  var lastComplete: Int64 = 0
  /// Versions that could not be sent when the rows were compared.
  var onlyHereCount: Int64 = 0
  /// Of the history.
  var local: [UInt8] = []
  /// The beginning of the sealed row, which tells whether another process has written since.
  var seal: [UInt8] = []

  static let sealByteCount = 64

  fileprivate static let magic = Array("COFSYN01".utf8)

  var bytes: [UInt8] {
    var bytes = Self.magic
    for digest in [objects, rows] {
      bytes.append(bigEndian: Int64(digest.count))
      bytes += digest.sum
    }
    bytes.append(bigEndian: lastNumber)
    bytes.append(UInt8(vaultDigest.count))
    bytes += vaultDigest
    bytes.append(bigEndian: lastComplete)
    bytes.append(bigEndian: onlyHereCount)
    return bytes + local
  }

  init() {}

  init?(_ bytes: RawSpan) {
    var cursor = ByteCursor()
    do {
      guard try cursor.readBytes(bytes, count: Self.magic.count) == Self.magic else { return nil }
      for digest in [\SyncState.objects, \SyncState.rows] {
        let count = Int(try cursor.readInt64(bytes))
        self[keyPath: digest] = SetDigest(
          count: count, sum: try cursor.readBytes(bytes, count: SetDigest.sumByteCount))
      }
      lastNumber = try cursor.readInt64(bytes)
      vaultDigest = try cursor.readBytes(bytes, count: Int(try cursor.readByte(bytes)))
      lastComplete = try cursor.readInt64(bytes)
      onlyHereCount = try cursor.readInt64(bytes)
      local = try cursor.readBytes(bytes, count: bytes.byteCount - cursor.offset)
    } catch { return nil }
  }
}

/// Reads and writes the rows.
struct SyncStore {
  private let key: SharedSecretBytes
  private let member: SharedSecretBytes
  private static let context = Array("coffer account state v1".utf8)

  /// - Parameter key: of ``AccountItems/stateKey()``.
  init(key: SharedSecretBytes) {
    self.key = key
    member = SharedSecretBytes(key.withBytes { HKDF.secret(from: $0, info: "coffer account members v1") })
  }

  private var hash: SetHash { SetHash(key: member.withBytes { SecretBytes(copying: $0) }) }

  // MARK: Reading

  /// What is on the disk; nil where no state is.
  /// - Throws: ``SyncError/corrupt`` when rows are missing or changed.
  func load(
    _ transaction: borrowing Transaction, into contents: VaultContents
  ) throws -> (state: SyncState, objects: [StoredObject])? {
    guard let state = try state(transaction) else { return nil }
    var hash = hash
    var sum = SetDigest()
    var objects: [StoredObject] = []
    try transaction.forEachRow(
      "SELECT number, name, applied, written, object FROM syncObjects ORDER BY number"
    ) { row in
      let (number, stored) = try Self.object(row)
      hash.add(Self.member(number, stored).rawSpan, to: &sum)
      objects.append(stored)
      return true
    }
    guard sum == state.objects, let loaded = try loadRows(transaction, into: contents) else {
      throw SyncError.corrupt
    }
    return (loaded, objects)
  }

  /// The same without the objects.
  func loadRows(_ transaction: borrowing Transaction, into contents: VaultContents) throws -> SyncState? {
    guard let state = try state(transaction) else { return nil }
    var hash = hash
    var rows = SetDigest()
    try transaction.forEachRow("SELECT row, message, version, standing FROM syncRows") { row in
      let entry = try SyncRow(row)
      hash.add(entry.member.rawSpan, to: &rows)
      try contents.restore(entry)
      return true
    }
    guard rows == state.rows else { throw SyncError.corrupt }
    return state
  }

  /// The state alone; nil where there is none.
  func state(_ transaction: borrowing Transaction) throws -> SyncState? {
    let sealed = try transaction.firstRow("SELECT sealed FROM syncState") { Array(try $0.bytes(0)) }
    guard let sealed else { return nil }
    let state = SealedValue.read(sealed.rawSpan, key: key, context: Self.context) { SyncState($0) }
    guard var state else { throw SyncError.corrupt }
    state.seal = Array(sealed.prefix(SyncState.sealByteCount))
    return state
  }

  // MARK: Writing

  /// Writes what changed, and the state that belongs to it.
  func save(
    _ state: inout SyncState, objects: [StoredObject], contents: VaultContents,
    _ transaction: borrowing Transaction
  ) throws {
    var hash = hash
    for object in objects {
      // An object that was kept without the key to open it came again.
      try forget(object.name, &state, &hash, transaction)
      state.lastNumber += 1
      let path = object.name.path
      try transaction.execute(
        "INSERT INTO syncObjects (number, name, applied, written, object) VALUES (?, ?, ?, ?, ?)",
        .integer(state.lastNumber), .text(path), .integer(Int64(bitPattern: object.appliedAt)),
        .integer(object.writtenAt.map { Int64(clamping: $0) } ?? -1), lending: object.object.rawSpan)
      hash.add(Self.member(state.lastNumber, object).rawSpan, to: &state.objects)
    }
    for row in contents.changed {
      let entries = contents.entries(of: row).map { SyncRow(row, $0) }
      // To look for former entries takes longer than to write the new one.
      if !contents.new.contains(row) { try remove(row, &state, &hash, transaction) }
      try insert(row, entries, &state, &hash, transaction)
    }
    for record in contents.captures.changed {
      let entries = contents.captures.entries(of: record).map { SyncRow($0) }
      try remove(record, &state, &hash, transaction)
      try insert(record, entries, &state, &hash, transaction)
    }
    var sealer = SealedValue()
    let sealed = key.withBytes { sealer.seal(state.bytes.rawSpan, key: $0, context: Self.context) }
    try transaction.execute(
      "INSERT INTO syncState (only, sealed) VALUES (1, ?) ON CONFLICT DO UPDATE SET sealed = excluded.sealed",
      .bytes(Data(sealed)))
    state.seal = Array(sealed.prefix(SyncState.sealByteCount))
  }

  /// The beginning of the sealed state, which is another one after each change; nil without a state.
  func seal(_ transaction: borrowing Transaction) throws -> [UInt8]? {
    try transaction.firstRow("SELECT substr(sealed, 1, 64) FROM syncState") { Array(try $0.bytes(0)) }
  }

  /// Removes everything: this coffer has no account any more.
  static func erase(_ transaction: borrowing Transaction) throws {
    try transaction.execute("DELETE FROM syncState")
    try transaction.execute("DELETE FROM syncObjects")
    try transaction.execute("DELETE FROM syncRows")
  }

  private func remove(
    _ row: RecordID, _ state: inout SyncState, _ hash: inout SetHash, _ transaction: borrowing Transaction
  ) throws {
    try transaction.forEachRow(
      "SELECT row, message, version, standing FROM syncRows WHERE row = ?", row.column
    ) { former in
      hash.remove(try SyncRow(former).member.rawSpan, from: &state.rows)
      return true
    }
    try transaction.execute("DELETE FROM syncRows WHERE row = ?", row.column)
  }

  private func insert(
    _ row: RecordID, _ entries: [SyncRow], _ state: inout SyncState, _ hash: inout SetHash,
    _ transaction: borrowing Transaction
  ) throws {
    for entry in entries {
      hash.add(entry.member.rawSpan, to: &state.rows)
      try transaction.execute(
        "INSERT INTO syncRows (row, message, version, standing) VALUES (?, ?, ?, ?)", row.column,
        entry.record.column, .bytes(Data(entry.version.bytes)), .integer(entry.standing))
    }
  }

  private func forget(
    _ name: ObjectName, _ state: inout SyncState, _ hash: inout SetHash, _ transaction: borrowing Transaction
  ) throws {
    let former = try transaction.firstRow(
      "SELECT number, name, applied, written, object FROM syncObjects WHERE name = ?", .text(name.path)
    ) { try Self.object($0) }
    guard let former else { return }
    hash.remove(Self.member(former.number, former.stored).rawSpan, from: &state.objects)
    try transaction.execute("DELETE FROM syncObjects WHERE number = ?", .integer(former.number))
  }

  // MARK: Members of the digests

  private static func member(_ number: Int64, _ stored: StoredObject) -> [UInt8] {
    var bytes: [UInt8] = [1]
    bytes.append(bigEndian: number)
    bytes.append(bigEndian: stored.appliedAt)
    bytes.append(bigEndian: stored.writtenAt.map { Int64(clamping: $0) } ?? -1)
    bytes += SHA256.hash(stored.object.rawSpan)
    return bytes + Array(stored.name.path.utf8)
  }

  /// number, name, applied, written, object
  private static func object(_ row: borrowing StorageRow) throws -> (number: Int64, stored: StoredObject) {
    guard let name = ObjectName(path: try row.text(1)) else { throw SyncError.corrupt }
    let written = try row.integer(3)
    return (
      try row.integer(0),
      StoredObject(
        name: name, object: Array(try row.bytes(4)), appliedAt: UInt64(bitPattern: try row.integer(2)),
        writtenAt: written < 0 ? nil : UInt64(written))
    )
  }
}
