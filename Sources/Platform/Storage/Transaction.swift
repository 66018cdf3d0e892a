// SPDX-License-Identifier: Apache-2.0
//
// The operations inside of a transaction: run fixed statements, and read rows whose bytes are lent, not
// copied.

internal import GRDB
internal import GRDBSQLite

public import struct Foundation.Data

/// A value bound to a statement.
public enum StorageValue: Sendable {
  /// A 64-bit integer, signed.
  case integer(Int64)
  /// UTF-8.
  case text(String)
  /// A blob.
  case bytes(Data)

  /// Lends bytes to a statement without copying them; do not keep the value after `body`.
  fileprivate static func withBorrowed<R>(
    _ bytes: borrowing RawSpan, _ body: (StorageValue) throws -> R
  ) rethrows -> R {
    unsafe try bytes.withUnsafeBytes { bytes in
      let data = unsafe bytes.baseAddress.map {
        unsafe Data(
          bytesNoCopy: UnsafeMutableRawPointer(mutating: $0), count: bytes.count, deallocator: .none)
      }
      return try body(.bytes(data ?? Data()))
    }
  }
}

/// One row of an answer, valid inside the closure it was handed to.
@safe
public struct StorageRow: ~Copyable {
  fileprivate let statement: OpaquePointer

  /// The integer in a column.
  /// - Throws: `StorageError.corrupt` when the column holds something else.
  public func integer(_ column: Int32) throws(StorageError) -> Int64 {
    guard unsafe sqlite3_column_type(statement, column) == SQLITE_INTEGER else {
      throw .corrupt(part: .record)
    }
    return unsafe sqlite3_column_int64(statement, column)
  }

  /// The text in a column.
  /// - Throws: `StorageError.corrupt` when the column holds something else, or is not UTF-8.
  public func text(_ column: Int32) throws(StorageError) -> String {
    guard unsafe sqlite3_column_type(statement, column) == SQLITE_TEXT,
      let start = unsafe sqlite3_column_text(statement, column)
    else { throw .corrupt(part: .record) }
    let count = unsafe Int(sqlite3_column_bytes(statement, column))
    guard let text = unsafe String(validating: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
    else { throw .corrupt(part: .record) }
    return text
  }

  /// Lends the bytes in a column.
  /// - Throws: `StorageError.corrupt` when the column holds something else.
  public func withBytes<R: ~Copyable, E: Error>(
    _ column: Int32, _ body: (RawSpan) throws(E) -> R
  ) throws -> R {
    guard unsafe sqlite3_column_type(statement, column) == SQLITE_BLOB else {
      throw StorageError.corrupt(part: .record)
    }
    let start = unsafe sqlite3_column_blob(statement, column)
    let count = unsafe Int(sqlite3_column_bytes(statement, column))
    let bytes = unsafe UnsafeRawBufferPointer(start: start, count: count)
    return unsafe try body(bytes.bytes)
  }

  /// The bytes in a column, copied.
  public func bytes(_ column: Int32) throws -> Data {
    try withBytes(column) { bytes in unsafe bytes.withUnsafeBytes { unsafe Data($0) } }
  }
}

/// A transaction on the one file. Statements are literals: no value is ever spliced into SQL.
public struct Transaction: ~Copyable {
  let db: Database

  /// Runs a statement that gives no rows.
  /// - Returns: how many rows it changed.
  @discardableResult
  public func execute(_ sql: StaticString, _ values: StorageValue...) throws -> Int {
    try run(sql, values)
  }

  /// The same, with a list of values.
  @discardableResult
  public func execute(_ sql: StaticString, values: [StorageValue]) throws -> Int { try run(sql, values) }

  /// The same, with bytes for the last parameter, lent without copying them.
  @discardableResult
  public func execute(
    _ sql: StaticString, _ values: StorageValue..., lending bytes: RawSpan
  ) throws -> Int {
    try StorageValue.withBorrowed(bytes) { try run(sql, values + [$0]) }
  }

  private func run(_ sql: StaticString, _ values: [StorageValue]) throws -> Int {
    do {
      let statement = try db.cachedStatement(sql: sql.description)
      try statement.execute(arguments: StatementArguments(values.map(\.databaseValue)))
      return db.changesCount
    } catch let error as DatabaseError {
      throw storageError(error)
    }
  }

  /// Hands every row to `body` until it answers false.
  /// - Returns: whether every row was seen.
  @discardableResult
  public func forEachRow(
    _ sql: StaticString, _ values: StorageValue..., body: (borrowing StorageRow) throws -> Bool
  ) throws -> Bool {
    do {
      let statement = try db.cachedStatement(sql: sql.description)
      let rows = try Row.fetchCursor(statement, arguments: StatementArguments(values.map(\.databaseValue)))
      while try rows.next() != nil {
        guard try body(unsafe StorageRow(statement: statement.sqliteStatement)) else { return false }
      }
      return true
    } catch let error as DatabaseError {
      throw storageError(error)
    }
  }

  /// Hands the first row to `body`; nil when there is none.
  public func firstRow<R>(
    _ sql: StaticString, _ values: StorageValue..., body: (borrowing StorageRow) throws -> R
  ) throws -> R? {
    var result: R?
    do {
      let statement = try db.cachedStatement(sql: sql.description)
      let rows = try Row.fetchCursor(statement, arguments: StatementArguments(values.map(\.databaseValue)))
      if try rows.next() != nil {
        result = try body(unsafe StorageRow(statement: statement.sqliteStatement))
      }
    } catch let error as DatabaseError {
      throw storageError(error)
    }
    return result
  }

  private func storageError(_ error: DatabaseError) -> StorageError {
    StorageError(error, systemErrno: unsafe sqlite3_system_errno(db.sqliteConnection))
  }
}

extension StorageValue {
  fileprivate var databaseValue: any DatabaseValueConvertible {
    switch self {
    case .integer(let value): value
    case .text(let value): value
    case .bytes(let value): value
    }
  }
}
