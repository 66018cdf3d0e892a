// SPDX-License-Identifier: Apache-2.0
//
// Transactions on one part of the file, which the binding record watches, and detection of a log that does
// not belong to the file (Specs/binding.md). Without a binding, as before the coffer is open, a part is not
// watched.

internal import GRDBSQLite
internal import Glibc
internal import Synchronization

extension DatabaseFile {
  /// Watches every part from now on.
  public func bind(_ binding: any PartBinding) { self.binding.withLock { $0 = binding } }

  /// Runs `body` on one consistent state of the file, in which `part` has the state that was stored last.
  /// - Throws: `StorageError.outdated`.
  public func read<R>(_ part: BoundPart, _ body: (borrowing Transaction) throws -> R) throws -> R {
    let binding = binding.withLock { $0 }
    return try read { transaction in
      try binding?.verify(part, transaction)
      return try body(transaction)
    }
  }

  /// Runs `body` as one transaction that may change `part`, and no other.
  ///
  /// - Parameter verifies: whether the part must have the state that was stored last; false for callers that
  ///   check it in another way.
  /// - Throws: `StorageError.outdated`, and what ``write(_:)`` throws.
  public func write<R>(
    _ part: BoundPart, verifies: Bool = true, _ body: (borrowing Transaction) throws -> R
  ) throws -> R {
    let binding = binding.withLock { $0 }
    return try write { transaction in
      if verifies { try binding?.verify(part, transaction) }
      let result = try body(transaction)
      try binding?.record(part, transaction)
      return result
    }
  }

  /// Runs `body`, which may change `part`, within a transaction that is under way on another part of this file.
  /// - Throws: `StorageError.outdated`, before `body`.
  public func join<R>(
    _ part: BoundPart, _ transaction: borrowing Transaction, _ body: (borrowing Transaction) throws -> R
  ) throws -> R {
    let binding = binding.withLock { $0 }
    try binding?.verify(part, transaction)
    let result = try body(transaction)
    try binding?.record(part, transaction)
    return result
  }

  /// Compares every part with what was recorded.
  /// - Returns: the parts that do not have the state that was stored last.
  public func outdatedParts() throws -> [BoundPart] {
    try BoundPart.allCases.filter { part in
      do {
        try read(part) { _ in }
        return false
      } catch StorageError.outdated {
        return true
      }
    }
  }
}

// MARK: The log

extension DatabaseFile {
  /// Checks that the write-ahead log beside the file at `path` continues the file.
  ///
  /// The binding record counts every change. Everything in the file was in a log before, so a log that
  /// belongs to the file never leads to a lower count than the file has without it. A log with a lower count
  /// is an old one: SQLite would write its pages over newer ones. Both counts are read without writing to
  /// file or log.
  /// - Throws: `StorageError.staleLog`.
  static func refuseStaleLog(path: String) throws(StorageError) {
    var status = stat()
    guard unsafe lstat(path + "-wal", &status) == 0, status.st_size > 0 else { return }
    // Another process may be moving its log into the file at this moment.
    for _ in 0..<3 {
      guard case .count(let alone) = revision(path: path, "immutable=1") else { return }
      switch revision(path: path, "mode=ro") {
      case .count(let withLog): guard withLog < alone else { return }
      case .unknown: return
      // Do not connect SQLite to it: closing the file would move these pages into it.
      case .damaged: throw .corrupt(part: .page)
      }
    }
    throw .staleLog
  }

  /// How often the binding record was changed.
  private enum Revision {
    case count(UInt64)
    /// Another process keeps us from reading it.
    case unknown
    /// No record. In the file without its log, a crash while the log was moved may have left a page that is
    /// half old and half new; the log repairs it.
    case damaged
  }

  private static func revision(path: String, _ mode: String) -> Revision {
    var database: OpaquePointer?
    defer { unsafe sqlite3_close_v2(database) }
    let flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOFOLLOW
    guard unsafe sqlite3_open_v2(uri(path, mode), &database, flags, nil) == SQLITE_OK
    else { return .unknown }
    unsafe sqlite3_busy_timeout(database, 2_000)
    var statement: OpaquePointer?
    defer { unsafe sqlite3_finalize(statement) }
    var result = unsafe sqlite3_prepare_v2(database, "SELECT record FROM binding", -1, &statement, nil)
    if result == SQLITE_OK { result = unsafe sqlite3_step(statement) }
    switch result {
    case SQLITE_ROW: break
    case SQLITE_BUSY, SQLITE_LOCKED, SQLITE_CANTOPEN, SQLITE_PERM, SQLITE_READONLY, SQLITE_IOERR:
      return .unknown
    default: return .damaged
    }
    guard let start = unsafe sqlite3_column_blob(statement, 0) else { return .damaged }
    let count = unsafe Int(sqlite3_column_bytes(statement, 0))
    let bytes = unsafe Array(UnsafeRawBufferPointer(start: start, count: count))
    // The count is at both ends of the row, and the two are equal in a complete page.
    guard bytes.count >= 16, bytes.prefix(8) == bytes.suffix(8) else { return .damaged }
    return .count(bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) })
  }
}
