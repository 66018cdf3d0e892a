// SPDX-License-Identifier: Apache-2.0
//
// What rows say besides when their message was edited or removed (Specs/vault.md, "Marks"), and the digests that prove
// that nobody else has changed it.

internal import Primitives
internal import Secrets
internal import Storage

/// What a row is to its message. The numbers are stored.
package enum RowStanding: Int64, CaseIterable, Sendable {
  /// Lists and searches show it.
  case shown = 0
  /// An earlier version.
  case replaced = 1
  /// In the trash.
  case removed = 2

  static let all = Set(allCases)
}

/// The mark of a row; most rows have none.
struct RowMark: Equatable, Sendable {
  typealias Standing = RowStanding

  /// The first version of the message.
  let message: MessageID
  let standing: Standing
  /// When the row got this standing, in seconds since 1970, UTC; 0 for one that is shown.
  let since: Int64

  init(_ message: MessageID, _ standing: Standing, since: Int64 = 0) {
    self.message = message
    self.standing = standing
    self.since = since
  }

  /// Reads the columns `message`, `standing` and `since`, the first of which is `column`.
  /// - Returns: nil for a row without a mark.
  /// - Throws: `VaultError.corrupt` for what no vault writes.
  init?(_ row: borrowing StorageRow, from column: Int32) throws {
    let isMarked = try row.withBytes(column) { $0.byteCount > 0 }
    let standing = try row.integer(column + 1)
    since = try row.integer(column + 2)
    guard isMarked else {
      guard standing == 0, since == 0 else { throw VaultError.corrupt }
      return nil
    }
    guard let standing = Standing(rawValue: standing) else { throw VaultError.corrupt }
    self.standing = standing
    message = try row.identifier(column)
  }
}

extension StorageRow {
  /// - Throws: `StorageError.corrupt` when the column holds something else.
  func identifier(_ column: Int32) throws -> MessageID {
    guard let id = try withBytes(column, { MessageID($0) }) else { throw StorageError.corrupt(part: .record) }
    return id
  }
}

/// The digests of all rows and of their marks.
struct RowDigest: Equatable {
  var identifiers = SetDigest()
  var marks = SetDigest()
}

/// Computes ``RowDigest``s under the member key.
struct RowHash: ~Copyable {
  private var hash: SetHash

  init(_ hash: consuming SetHash) { self.hash = hash }

  /// Adds a row that is not among them.
  mutating func add(_ id: MessageID, _ mark: RowMark?, to digest: inout RowDigest) {
    id.withBytes { hash.add($0, to: &digest.identifiers) }
    if let mark { add(mark, of: id, to: &digest.marks) }
  }

  /// Takes a row out.
  mutating func remove(_ id: MessageID, _ mark: RowMark?, from digest: inout RowDigest) {
    id.withBytes { hash.remove($0, from: &digest.identifiers) }
    if let mark { remove(mark, of: id, from: &digest.marks) }
  }

  /// Adds a row to the digest of those that are shown.
  mutating func addShown(_ id: MessageID, to shown: inout SetDigest) {
    id.withBytes { hash.add($0, to: &shown) }
  }

  /// Takes a row out of the digest of those that are shown.
  mutating func removeShown(_ id: MessageID, from shown: inout SetDigest) {
    id.withBytes { hash.remove($0, from: &shown) }
  }

  /// Gives a row another mark.
  mutating func change(
    _ id: MessageID, from former: RowMark?, to mark: RowMark, in digest: inout RowDigest
  ) {
    if let former { remove(former, of: id, from: &digest.marks) }
    add(mark, of: id, to: &digest.marks)
  }

  /// Adds a mark alone, to a digest of marks.
  mutating func add(_ mark: RowMark, of id: MessageID, to marks: inout SetDigest) {
    hash.add(Self.member(id, mark).rawSpan, to: &marks)
  }

  private mutating func remove(_ mark: RowMark, of id: MessageID, from marks: inout SetDigest) {
    hash.remove(Self.member(id, mark).rawSpan, from: &marks)
  }

  private static func member(_ id: MessageID, _ mark: RowMark) -> [UInt8] {
    var member: [UInt8] = []
    id.withBytes { member.append($0) }
    mark.message.withBytes { member.append($0) }
    member.append(UInt8(mark.standing.rawValue))
    member.append(bigEndian: mark.since)
    return member
  }
}
