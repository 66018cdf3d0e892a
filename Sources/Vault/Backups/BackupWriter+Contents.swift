// SPDX-License-Identifier: Apache-2.0
//
// Rows and blobs, as they are stored: sealed by the modules that they belong to.

public import Keychains
internal import Primitives
internal import Secrets
public import Storage

extension BackupWriter {
  /// Bytes of all rows that ``appendRows(_:keychain:)`` would write, about.
  public static func rowByteCount(_ transaction: borrowing Transaction) throws -> Int {
    var sum = 0
    for table in BackupTable.allCases {
      sum += try transaction.firstRow(table.size) { Int(try $0.integer(0)) } ?? 0
    }
    return sum
  }

  /// Writes the rows of every table.
  /// - Parameter keychain: the items of a keychain that is not in the file; nil when it is.
  public mutating func appendRows(
    _ transaction: borrowing Transaction, keychain items: [SealedItem]?
  ) throws {
    for table in BackupTable.allCases {
      if table == .keychain, let items {
        for item in items.sorted(by: { $0.account.utf8.lexicographicallyPrecedes($1.account.utf8) }) {
          try append(item)
        }
      } else {
        try appendRows(of: table, transaction)
      }
    }
  }

  private mutating func appendRows(
    of table: BackupTable, _ transaction: borrowing Transaction
  ) throws {
    let columns = table.columns
    // A closure that does not escape may change the writer, but a row is lent to it as well.
    try transaction.forEachRow(table.selection) { row in
      var fields = [table.rawValue]
      let last = Int32(columns.count - 1)
      for (index, column) in columns.dropLast().enumerated() {
        try Self.append(column, Int32(index), row, to: &fields)
      }
      try row.withBytes(last) { bytes in
        fields.append(bigEndian: UInt64(bytes.byteCount))
        try begin(.row, byteCount: fields.count + bytes.byteCount)
        try append(fields.rawSpan)
        try append(bytes)
      }
      return true
    }
  }

  private static func append(
    _ column: BackupTable.Column, _ index: Int32, _ row: borrowing StorageRow, to fields: inout [UInt8]
  ) throws {
    switch column {
    case .integer: fields.append(bigEndian: try row.integer(index))
    case .text:
      let text = Array(try row.text(index).utf8)
      fields.append(bigEndian: UInt32(text.count))
      fields += text
    case .blob:
      let bytes = Array(try row.bytes(index))
      fields.append(bigEndian: UInt64(bytes.count))
      fields += bytes
    }
  }

  private mutating func append(_ item: SealedItem) throws {
    var fields = [BackupTable.keychain.rawValue]
    fields.append(bigEndian: UInt32(item.account.utf8.count))
    fields += item.account.utf8
    fields.append(bigEndian: Int64(item.accessibility.rawValue))
    fields.append(bigEndian: UInt64(item.sealed.count))
    fields += item.sealed
    try append(.row, fields.rawSpan)
  }

  /// Writes a blob: its name, then its content.
  /// - Throws: `StorageError.corrupt` when it is gone or becomes shorter meanwhile.
  public mutating func append(_ name: BlobName, from blobs: BlobFiles) throws {
    var reader = try blobs.open(name)
    var left = try reader.byteCount()
    try begin(.blob, byteCount: BlobName.byteCount + left)
    try append(name.bytes.rawSpan)
    var buffer = [UInt8](repeating: 0, count: BackupChunks.byteCount)
    while left > 0 {
      let found = min(try buffer.withMutableRawSpan { try reader.read(into: &$0) }, left)
      guard found > 0 else { throw StorageError.corrupt(part: .record) }
      try append(buffer.rawSpan.extracting(first: found))
      left -= found
    }
  }
}
