// SPDX-License-Identifier: Apache-2.0
//
// A row of the table `syncRows` (Specs/local-history.md, "Rows"): which version of the account's history a row of the vault,
// a capture or a label is.

internal import Histories
internal import Primitives
internal import Storage
internal import Vaults

/// A row of the table `syncRows`.
struct SyncRow {
  let row: RecordID
  /// The message, or the capture.
  let record: RecordID
  let version: Version
  /// As of `RowStanding`, or of ``KnownCapture/Kind``; -1 for a content that no vault can store.
  let standing: Int64

  init(_ row: MessageID, _ known: KnownRow) {
    self.row = row
    record = known.message
    version = known.version
    standing = known.standing?.rawValue ?? -1
  }

  init(_ known: KnownCapture) {
    row = known.record
    record = known.capture
    version = known.version
    standing = known.kind.rawValue
  }

  /// row, message, version, standing
  /// - Throws: ``SyncError/corrupt``
  init(_ columns: borrowing StorageRow) throws {
    func id(_ column: Int32) throws -> RecordID {
      guard let id = try columns.withBytes(column, { RecordID($0) }) else { throw SyncError.corrupt }
      return id
    }
    guard let version = Version(bytes: Array(try columns.bytes(2))) else { throw SyncError.corrupt }
    (row, record, self.version) = (try id(0), try id(1), version)
    standing = try columns.integer(3)
  }

  var member: [UInt8] {
    var bytes: [UInt8] = [2]
    row.withBytes { bytes.append($0) }
    record.withBytes { bytes.append($0) }
    bytes += version.bytes
    bytes.append(bigEndian: standing)
    return bytes
  }
}

extension VaultContents {
  /// - Throws: ``SyncError/corrupt``
  func restore(_ entry: SyncRow) throws {
    if let kind = KnownCapture.Kind(rawValue: entry.standing) {
      captures.restore(KnownCapture(kind: kind, capture: entry.record, version: entry.version))
      return
    }
    let standing = RowStanding(rawValue: entry.standing)
    guard standing != nil || entry.standing == -1 else { throw SyncError.corrupt }
    restore(entry.row, KnownRow(message: entry.record, version: entry.version, standing: standing))
  }
}

extension Version {
  /// lamport (8) ‖ tag (16)
  var bytes: [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(bigEndian: lamport)
    return bytes + tag.bytes
  }

  fileprivate init?(bytes: [UInt8]) {
    guard bytes.count == 24, let tag = Identifier<VersionKind>(bytes[8...]) else { return nil }
    self.init(lamport: bytes[..<8].reduce(0) { $0 << 8 | UInt64($1) }, tag: tag)
  }
}
