// SPDX-License-Identifier: Apache-2.0
//
// What a vault knows about itself, sealed in one row and changed in the same transaction as the messages
// (Specs/vault.md, «State»):
//
//   version 1 (1) ‖ revision (8) ‖ current key version (4) ‖ highest key version (4)
//   ‖ messages (8) ‖ sum (32)
//   ‖ rotation: target (4, 0 for none) ‖ phase (1) ‖ last row done (8)
//   ‖ key count (2) ‖ keys: version (4) ‖ created (8) ‖ retired (8, 0 while in use)

internal import Foundation
internal import Primitives
internal import Secrets
internal import Storage

struct VaultState: Equatable {
  struct Key: Equatable {
    var version: Int
    /// Seconds since 1970, UTC.
    var created: Int64
    /// When another version took its place; nil while it is in use.
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
  /// The highest version that ever was: none is given twice, also after its key is deleted.
  var highestVersion: Int
  var messages = SetDigest()
  var rotation: Rotation?
  var keys: [Key]

  func key(_ version: Int) -> Key? { keys.first { $0.version == version } }

  mutating func setRetired(_ version: Int, at time: Int64?) {
    for index in keys.indices where keys[index].version == version { keys[index].retired = time }
  }

  // MARK: The row

  /// - Throws: `VaultError.corrupt` when the row is gone or not what was sealed.
  static func load(_ transaction: borrowing Transaction, key: SharedSecretBytes) throws -> VaultState {
    try VaultRow.state.load(transaction, key: key) { VaultState(bytes: $0) }
  }

  /// Writes the state, as the next revision.
  mutating func save(_ transaction: borrowing Transaction, key: SharedSecretBytes) throws {
    revision += 1
    try VaultRow.state.save(bytes, transaction, key: key)
  }

  // MARK: Bytes

  var bytes: [UInt8] {
    var bytes: [UInt8] = [1]
    bytes.append(bigEndian: revision)
    bytes.append(bigEndian: UInt32(currentVersion))
    bytes.append(bigEndian: UInt32(highestVersion))
    bytes.append(bigEndian: Int64(messages.count))
    bytes += messages.sum
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

  private init?(bytes: RawSpan) {
    var cursor = ByteCursor()
    do {
      guard try cursor.readByte(bytes) == 1 else { return nil }
      revision = try cursor.readInt64(bytes)
      currentVersion = try cursor.readUInt32(bytes)
      highestVersion = try cursor.readUInt32(bytes)
      let count = Int(try cursor.readInt64(bytes))
      messages = SetDigest(count: count, sum: try cursor.readBytes(bytes, count: SetDigest.sumByteCount))
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
      guard cursor.isAtEnd(of: bytes) else { return nil }
    } catch {
      return nil
    }
  }
}
