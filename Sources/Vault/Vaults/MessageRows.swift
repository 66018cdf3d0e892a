// SPDX-License-Identifier: Apache-2.0
//
// Reads and writes rows of the table `messages`.

internal import Foundation
public import Primitives
internal import Secrets
package import Storage

/// Names a message.
public typealias MessageID = RecordID

extension MessageID {
  /// As a column holds it.
  package var column: StorageValue {
    .bytes(withBytes { bytes in unsafe bytes.withUnsafeBytes { unsafe Data($0) } })
  }
}

/// The unencrypted columns of a row.
struct MessageRow: Sendable {
  let number: Int64
  let id: MessageID
  let mark: RowMark?
  let keyVersion: Int
  let timestamp: Int64

  /// The message that this is a version of, as lists name it.
  var message: MessageID { mark?.message ?? id }

  var standing: RowMark.Standing { mark?.standing ?? .shown }

  /// - Throws: `StorageError.corrupt` when this is not a row of a message. ``MessageOpener`` refuses an impossible
  ///   time or version, because it can name the message.
  private init(_ row: borrowing StorageRow) throws {
    number = try row.integer(0)
    id = try row.identifier(1)
    mark = try RowMark(row, from: 2)
    keyVersion = Int(try row.integer(5))
    timestamp = try row.integer(6)
  }

  /// Lends the rows of these numbers, in their order, each with its box, until `body` answers false.
  /// - Returns: whether every row was seen.
  @discardableResult
  static func forEach(
    in numbers: ClosedRange<Int64>, _ transaction: borrowing Transaction,
    _ body: (MessageRow, RawSpan) throws -> Bool
  ) throws -> Bool {
    try transaction.forEachRow(
      """
      SELECT number, id, message, standing, since, keyVersion, timestamp, sealed FROM messages
      WHERE number BETWEEN ? AND ? ORDER BY number
      """, .integer(numbers.lowerBound), .integer(numbers.upperBound)
    ) { row in
      let found = try MessageRow(row)
      return try row.withBytes(7) { try body(found, $0) }
    }
  }

  /// The number of the row that is shown for a message.
  /// - Throws: `VaultError.messageInTrash`; `.corrupt` when several are.
  static func number(of message: MessageID, _ transaction: borrowing Transaction) throws -> Int64? {
    let own = try transaction.firstRow(
      "SELECT number FROM messages WHERE id = ? AND message = x''", message.column
    ) { try $0.integer(0) }
    if let own { return own }
    let shown = try numbers(of: message, .shown, transaction)
    guard shown.count <= 1 else { throw VaultError.corrupt }
    if shown.isEmpty, try !numbers(of: message, .removed, transaction).isEmpty {
      throw VaultError.messageInTrash
    }
    return shown.first
  }

  /// A row of a message, by its number.
  /// - Throws: `VaultError.corrupt` when the index points to a row of another message.
  static func row(
    _ number: Int64, of message: MessageID, _ transaction: borrowing Transaction
  ) throws -> MessageRow {
    var found: MessageRow?
    try forEach(in: number...number, transaction) { row, _ in
      found = row
      return false
    }
    guard let found, found.message == message else { throw VaultError.corrupt }
    return found
  }

  /// The number of the row of that name, whatever its standing; nil when there is none.
  static func number(ofRow id: MessageID, _ transaction: borrowing Transaction) throws -> Int64? {
    try transaction.firstRow("SELECT number FROM messages WHERE id = ?", id.column) { try $0.integer(0) }
  }

  /// The numbers of a message's marked rows of one standing.
  static func numbers(
    of message: MessageID, _ standing: RowMark.Standing, _ transaction: borrowing Transaction
  ) throws -> [Int64] {
    var numbers: [Int64] = []
    try transaction.forEachRow(
      "SELECT number FROM messages WHERE message = ? AND message <> x'' AND standing = ? ORDER BY number",
      message.column, .integer(standing.rawValue)
    ) { row in
      numbers.append(try row.integer(0))
      return true
    }
    return numbers
  }

  /// The numbers of all marked rows of one standing, the last that got it first.
  static func numbers(
    _ standing: RowMark.Standing, _ transaction: borrowing Transaction
  ) throws -> [Int64] {
    var numbers: [Int64] = []
    try transaction.forEachRow(
      "SELECT number FROM messages WHERE message <> x'' AND standing = ? ORDER BY since DESC, number DESC",
      .integer(standing.rawValue)
    ) { row in
      numbers.append(try row.integer(0))
      return true
    }
    return numbers
  }

  /// The highest number of a row; 0 when there is none.
  static func lastNumber(_ transaction: borrowing Transaction) throws -> Int64 {
    try transaction.firstRow("SELECT coalesce(max(number), 0) FROM messages") { try $0.integer(0) } ?? 0
  }
}

/// Rows with their boxes, copied out of a transaction, so that the write-ahead log can be emptied while they are
/// opened and shown. Nothing in it is secret.
struct SealedRows {
  /// Enough rows to make the cost of a transaction small.
  static let usualByteCount = 512 << 10

  private var boxes: [UInt8] = []
  private var rows: [(row: MessageRow, box: Range<Int>)] = []
  private let countLimit: Int
  private let byteCountLimit: Int

  /// - Parameters:
  ///   - countLimit: most rows.
  ///   - byteCountLimit: bytes of boxes, after which there is no room for another.
  init(countLimit: Int, byteCountLimit: Int = usualByteCount) {
    self.countLimit = countLimit
    self.byteCountLimit = byteCountLimit
  }

  var count: Int { rows.count }
  var lastNumber: Int64? { rows.last?.row.number }
  var hasRoom: Bool { rows.count < countLimit && boxes.count < byteCountLimit }

  mutating func removeAll() {
    // After one large message, the buffer shrinks again.
    boxes.removeAll(keepingCapacity: boxes.count <= 2 * byteCountLimit)
    rows.removeAll(keepingCapacity: true)
  }

  /// Copies the rows of these numbers, as many as fit.
  /// - Returns: whether these are all.
  mutating func append(_ numbers: ClosedRange<Int64>, _ transaction: borrowing Transaction) throws -> Bool {
    try MessageRow.forEach(in: numbers, transaction) { row, box in
      guard hasRoom else { return false }
      let start = boxes.count
      boxes.append(box)
      rows.append((row, start..<boxes.count))
      return true
    }
  }

  /// Lends every row with its box, until `body` answers false.
  /// - Returns: whether every row was seen.
  func forEach(_ body: (MessageRow, RawSpan) throws -> Bool) rethrows -> Bool {
    for (row, range) in rows {
      guard try body(row, boxes.rawSpan.extracting(range)) else { return false }
    }
    return true
  }
}
