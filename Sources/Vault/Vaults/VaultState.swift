// SPDX-License-Identifier: Apache-2.0
//
// The state of a vault, sealed in one row and changed in the same transaction as the messages (Specs/vault.md,
// "State"):
//
//   version 1 (1) ‖ revision (8) ‖ current key version (4) ‖ highest key version (4)
//   ‖ rows (8) ‖ sum (32) ‖ marks (8) ‖ sum of marks (32) ‖ replaced (8) ‖ removed (8)
//   ‖ highest row number (8) ‖ search revision (8) ‖ sum of shown rows (32)
//   ‖ rotation: target (4, 0 for none) ‖ phase (1) ‖ last row done (8)
//   ‖ key count (2) ‖ keys: version (4) ‖ created (8) ‖ retired (8, 0 while in use)
//
// and the rows of the table `vault`: one sealed value each, under the state key.

internal import Foundation
internal import Primitives
internal import Secrets
internal import Storage
internal import Synchronization

struct VaultState: Equatable {
  struct Key: Equatable {
    var version: Int
    /// Seconds since 1970, UTC.
    var created: Int64
    /// When another version replaced it; nil while it is in use.
    var retired: Int64?
  }

  struct Rotation: Equatable {
    enum Phase: UInt8 { case resealing = 1, readingBack = 2 }
    var target: Int
    var phase: Phase
    /// Every row up to this number is done.
    var lastRow: Int64
  }

  var revision: Int64 = 0
  /// New messages are sealed under this version.
  var currentVersion: Int
  /// The highest version ever used. No number is used twice, not even after its key is deleted.
  var highestVersion: Int
  var rows = RowDigest()
  /// Rows that hold an earlier version of a message.
  var replacedCount = 0
  /// Messages in the trash, which is as many rows.
  var removedCount = 0
  /// The highest number that a row ever had. No number is given twice: what the search index knows of a number stays
  /// true of that row alone.
  var highestNumber: Int64 = 0
  /// The revision of the search record that belongs to this state.
  var searchRevision: Int64 = 0
  /// The rows that are shown.
  var shown = SetDigest()
  var rotation: Rotation?
  var keys: [Key]

  /// Messages that lists show.
  var messageCount: Int { rows.identifiers.count - replacedCount - removedCount }

  /// The number of a new row.
  /// - Throws: `VaultError.corrupt` when there is none left: no vault counts so far.
  mutating func nextNumber() throws(VaultError) -> Int64 {
    let (next, isOver) = highestNumber.addingReportingOverflow(1)
    guard !isOver else { throw .corrupt }
    highestNumber = next
    return next
  }

  func key(_ version: Int) -> Key? { keys.first { $0.version == version } }

  mutating func setRetired(_ version: Int, at time: Int64?) {
    for index in keys.indices where keys[index].version == version { keys[index].retired = time }
  }

  // MARK: Bytes

  var bytes: [UInt8] {
    var bytes: [UInt8] = [1]
    bytes.append(bigEndian: revision)
    bytes.append(bigEndian: UInt32(currentVersion))
    bytes.append(bigEndian: UInt32(highestVersion))
    for digest in [rows.identifiers, rows.marks] {
      bytes.append(bigEndian: Int64(digest.count))
      bytes += digest.sum
    }
    bytes.append(bigEndian: Int64(replacedCount))
    bytes.append(bigEndian: Int64(removedCount))
    bytes.append(bigEndian: highestNumber)
    bytes.append(bigEndian: searchRevision)
    bytes += shown.sum
    bytes.append(bigEndian: UInt32(rotation?.target ?? 0))
    bytes.append(rotation?.phase.rawValue ?? 0)
    bytes.append(bigEndian: rotation?.lastRow ?? 0)
    bytes.append(bigEndian: UInt16(keys.count))
    for key in keys {
      bytes.append(bigEndian: UInt32(key.version))
      bytes.append(bigEndian: key.created)
      bytes.append(bigEndian: key.retired ?? 0)
    }
    return bytes
  }

  init(currentVersion: Int, keys: [Key]) {
    self.currentVersion = currentVersion
    highestVersion = currentVersion
    self.keys = keys
  }

  init?(bytes: RawSpan) {
    var cursor = ByteCursor()
    do {
      guard try cursor.readByte(bytes) == 1 else { return nil }
      revision = try cursor.readInt64(bytes)
      currentVersion = try cursor.readUInt32(bytes)
      highestVersion = try cursor.readUInt32(bytes)
      rows.identifiers = try Self.digest(bytes, &cursor)
      rows.marks = try Self.digest(bytes, &cursor)
      replacedCount = Int(try cursor.readInt64(bytes))
      removedCount = Int(try cursor.readInt64(bytes))
      highestNumber = try cursor.readInt64(bytes)
      searchRevision = try cursor.readInt64(bytes)
      let shownSum = try cursor.readBytes(bytes, count: SetDigest.sumByteCount)
      let target = try cursor.readUInt32(bytes)
      let phase = Rotation.Phase(rawValue: try cursor.readByte(bytes))
      let lastRow = try cursor.readInt64(bytes)
      rotation = phase.map { Rotation(target: target, phase: $0, lastRow: lastRow) }
      keys = []
      for _ in 0..<(try cursor.readUInt16(bytes)) {
        let version = try cursor.readUInt32(bytes)
        let created = try cursor.readInt64(bytes)
        let retired = try cursor.readInt64(bytes)
        keys.append(Key(version: version, created: created, retired: retired == 0 ? nil : retired))
      }
      shown = SetDigest(count: messageCount, sum: shownSum)
      guard cursor.isAtEnd(of: bytes) else { return nil }
    } catch {
      return nil
    }
  }

  private static func digest(
    _ bytes: RawSpan, _ cursor: inout ByteCursor
  ) throws(TruncatedField) -> SetDigest {
    let count = Int(try cursor.readInt64(bytes))
    return SetDigest(count: count, sum: try cursor.readBytes(bytes, count: SetDigest.sumByteCount))
  }
}

/// One row of the table `vault`.
///
/// A row that has not changed since it was last unsealed is not unsealed again: its bytes are compared. So a
/// command unseals each row once, however many transactions it needs, and still sees what another process
/// has changed.
final class VaultRow<Value: Sendable>: Sendable {
  private struct Known {
    var sealed: [UInt8] = []
    var value: Value?
    var unsealCount = 0
  }

  private let part: Int64
  /// Binds a value to its row.
  private let context: [UInt8]
  private let read: @Sendable (RawSpan) -> Value?
  private let known = Mutex(Known())

  init(part: Int64, context: String, read: @escaping @Sendable (RawSpan) -> Value?) {
    self.part = part
    self.context = Array(context.utf8)
    self.read = read
  }

  /// The value as it was last unsealed or saved.
  var lastValue: Value? { known.withLock { $0.value } }

  /// How often the row was unsealed.
  var unsealCount: Int { known.withLock { $0.unsealCount } }

  /// The row's value, as this transaction sees it.
  /// - Throws: `VaultError.corrupt` when the row is gone or not what was sealed: for a row that every vault has.
  func load(_ transaction: borrowing Transaction, key: SharedSecretBytes) throws -> Value {
    guard case .value(let value) = try find(transaction, key: key) else { throw VaultError.corrupt }
    return value
  }

  /// What a row may be.
  enum Found {
    case missing
    /// Not what was sealed.
    case damaged
    case value(Value)
  }

  /// The row, as this transaction sees it.
  func find(_ transaction: borrowing Transaction, key: SharedSecretBytes) throws -> Found {
    let sealed = try transaction.firstRow("SELECT sealed FROM vault WHERE part = ?", .integer(part)) {
      Array(try $0.bytes(0))
    }
    guard let sealed else { return .missing }
    if let value = known.withLock({ $0.sealed == sealed ? $0.value : nil }) { return .value(value) }
    let value = SealedValue.read(sealed.rawSpan, key: key, context: context, read)
    guard let value else { return .damaged }
    known.withLock { $0 = Known(sealed: sealed, value: value, unsealCount: $0.unsealCount + 1) }
    return .value(value)
  }

  /// Seals a value into the row; `bytes` are its own.
  func save(
    _ value: Value, bytes: [UInt8], _ transaction: borrowing Transaction, key: SharedSecretBytes
  ) throws {
    var sealer = SealedValue()
    let sealed = key.withBytes { sealer.seal(bytes.rawSpan, key: $0, context: context) }
    try transaction.execute(
      "INSERT INTO vault (part, sealed) VALUES (?, ?) ON CONFLICT DO UPDATE SET sealed = excluded.sealed",
      .integer(part), .bytes(Data(sealed)))
    // If the transaction is undone, the bytes in the file are others, and are unsealed again.
    known.withLock { $0 = Known(sealed: sealed, value: value, unsealCount: $0.unsealCount) }
  }
}

extension VaultRow<VaultState> {
  convenience init() {
    self.init(part: 1, context: "coffer vault state v1") { VaultState(bytes: $0) }
  }

  /// Writes the state, as the next revision.
  func save(_ state: VaultState, _ transaction: borrowing Transaction, key: SharedSecretBytes) throws {
    var next = state
    next.revision += 1
    try save(next, bytes: next.bytes, transaction, key: key)
  }
}

extension VaultRow<FailureLog> {
  convenience init() {
    self.init(part: 2, context: "coffer vault failures v1") { FailureLog(bytes: $0) }
  }

  func save(_ failures: FailureLog, _ transaction: borrowing Transaction, key: SharedSecretBytes) throws {
    try save(failures, bytes: failures.bytes, transaction, key: key)
  }
}
