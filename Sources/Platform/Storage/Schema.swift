// SPDX-License-Identifier: Apache-2.0
//
// Every table of the one file. A change is a new migration at the end of the list; one that has been released
// is never edited. Tables belong to one module each, named above them.

internal import GRDB

enum Schema {
  /// One step, and the objects of `sqlite_schema` that it adds, letter for letter.
  struct Migration {
    let statements: [String]
    /// Kind, name and table of each object, those that SQLite makes by itself included.
    let names: [String]
  }

  static let migrations = [
    Migration(
      statements: [
        // Keychains
        "CREATE TABLE keybag (only INTEGER PRIMARY KEY CHECK (only = 1), record BLOB NOT NULL) STRICT",
        "CREATE TABLE keychain (account TEXT PRIMARY KEY NOT NULL, accessibility INTEGER NOT NULL, "
          + "sealed BLOB NOT NULL) STRICT, WITHOUT ROWID",
        "CREATE TABLE binding (only INTEGER PRIMARY KEY CHECK (only = 1), record BLOB NOT NULL) STRICT",
        // Vaults
        "CREATE TABLE vault (part INTEGER PRIMARY KEY, sealed BLOB NOT NULL) STRICT",
        "CREATE TABLE messages (number INTEGER PRIMARY KEY, id BLOB NOT NULL UNIQUE, "
          + "message BLOB NOT NULL DEFAULT x'', standing INTEGER NOT NULL DEFAULT 0, "
          + "since INTEGER NOT NULL DEFAULT 0, keyVersion INTEGER NOT NULL, timestamp INTEGER NOT NULL, sealed BLOB NOT NULL) STRICT",
        "CREATE INDEX markedMessages ON messages (message, standing, since, id) WHERE message <> x''",
        // Captures
        "CREATE TABLE captures (number INTEGER PRIMARY KEY, id BLOB NOT NULL UNIQUE, mark BLOB NOT NULL, "
          + "record BLOB NOT NULL, queue BLOB NOT NULL) STRICT",
        "CREATE INDEX capturesByMark ON captures (mark)",
        "CREATE TABLE captureParts (capture INTEGER NOT NULL, part INTEGER NOT NULL, sealed BLOB NOT NULL, "
          + "PRIMARY KEY (capture, part)) STRICT, WITHOUT ROWID",
        "CREATE TABLE captureState (only INTEGER PRIMARY KEY CHECK (only = 1), sealed BLOB NOT NULL) STRICT",
        // ProtectedData
        "CREATE TABLE protectedRegistry (only INTEGER PRIMARY KEY CHECK (only = 1), record BLOB NOT NULL) STRICT",
        "CREATE TABLE protectedDomains (domain INTEGER PRIMARY KEY, wrappedKey BLOB NOT NULL, "
          + "payload BLOB NOT NULL) STRICT",
      ],
      names: [
        "table keybag keybag", "table keychain keychain", "table binding binding", "table messages messages",
        "index sqlite_autoindex_messages_1 messages", "index markedMessages messages",
        "table vault vault", "table captures captures",
        "index sqlite_autoindex_captures_1 captures", "index capturesByMark captures",
        "table captureParts captureParts", "table captureState captureState",
        "table protectedRegistry protectedRegistry", "table protectedDomains protectedDomains",
      ]),
    Migration(
      statements: [
        // Syncing
        "CREATE TABLE syncState (only INTEGER PRIMARY KEY CHECK (only = 1), sealed BLOB NOT NULL) STRICT",
        "CREATE TABLE syncObjects (number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, applied INTEGER NOT NULL, "
          + "written INTEGER NOT NULL, object BLOB NOT NULL) STRICT",
        "CREATE TABLE syncRows (row BLOB NOT NULL, version BLOB NOT NULL, message BLOB NOT NULL, "
          + "standing INTEGER NOT NULL, PRIMARY KEY (row, version)) STRICT, WITHOUT ROWID",
      ],
      names: [
        "table syncState syncState", "table syncObjects syncObjects",
        "index sqlite_autoindex_syncObjects_1 syncObjects", "table syncRows syncRows",
      ]),
    Migration(
      statements: [
        // Captures asks whether there are any, of a table that has a row for every message.
        "CREATE INDEX syncCaptures ON syncRows (row) WHERE standing = 16"
      ], names: ["index syncCaptures syncRows"]),
  ]

  /// The format written in the header (`user_version`): how many migrations the file has seen.
  static var version: Int { migrations.count }

  /// The first format that can be read as it is, where it cannot be brought to this one: it lacks an index alone.
  static let readableFormat = 2

  static func create(_ transaction: borrowing Transaction) throws {
    for statement in migrations.flatMap(\.statements) { try transaction.db.execute(sql: statement) }
    try transaction.db.execute(sql: "PRAGMA application_id = \(FileHeader.applicationID)")
    try transaction.db.execute(sql: "PRAGMA user_version = \(version)")
  }

  /// Brings a file of an earlier format to this one. Another process may have done it meanwhile.
  static func migrate(_ transaction: borrowing Transaction) throws {
    let format = try transaction.firstRow("PRAGMA user_version") { Int(try $0.integer(0)) } ?? 0
    guard (1..<version).contains(format) else { return }
    for statement in migrations.dropFirst(format).flatMap(\.statements) {
      try transaction.db.execute(sql: statement)
    }
    try transaction.db.execute(sql: "PRAGMA user_version = \(version)")
  }

  /// Compares the schema in the file with that of its format above: nothing missing, changed or added.
  static func check(_ transaction: borrowing Transaction) throws {
    var statements: [String] = []
    var names: [String] = []
    try transaction.forEachRow("SELECT type, name, tbl_name, coalesce(sql, '') FROM sqlite_schema") { row in
      names.append(try "\(row.text(0)) \(row.text(1)) \(row.text(2))")
      let statement = try row.text(3)
      if !statement.isEmpty { statements.append(statement) }
      return true
    }
    let format = try transaction.firstRow("PRAGMA user_version") { Int(try $0.integer(0)) } ?? 0
    let known = migrations.prefix(max(format, 0))
    guard (readableFormat...version).contains(format),
      statements.sorted() == known.flatMap(\.statements).sorted(),
      names.sorted() == known.flatMap(\.names).sorted()
    else { throw StorageError.corrupt(part: .schema) }
  }
}
