// SPDX-License-Identifier: Apache-2.0
//
// The one file of a coffer: how it comes to be, who may write, and what is compared before it is believed.

import Foundation
import GRDB
import Storage
import TemporaryHomes
import Testing

@Suite("Database file")
struct DatabaseFileTests {
  let home: TemporaryHome

  init() throws { home = try TemporaryHome() }

  private var path: String { home.path + "/" + DatabaseFile.name }

  @Test("A new coffer is filled before it appears, and reads the same when opened again")
  func creation() throws {
    #expect(!DatabaseFile.exists(home: home.path))
    let file = try DatabaseFile.create(home: home.path) { file in
      #expect(!DatabaseFile.exists(home: home.path))
      try file.write {
        _ = try $0.execute("INSERT INTO keybag (only, record) VALUES (1, ?)", .bytes(Data([1, 2])))
      }
    }
    #expect(DatabaseFile.exists(home: home.path))
    #expect(try record(file) == Data([1, 2]))
    file.close()
    #expect(try record(DatabaseFile.open(home: home.path)) == Data([1, 2]))
    #expect(try DatabaseFile.open(home: home.path).integrityFindings().isEmpty)
  }

  private func record(_ file: DatabaseFile) throws -> Data? {
    try file.read { try $0.firstRow("SELECT record FROM keybag") { try $0.bytes(0) } }
  }

  @Test("What a crash left of a creation is swept by the next one")
  func leftovers() throws {
    try FileManager.default.createDirectory(atPath: home.path, withIntermediateDirectories: true)
    for ending in ["", "-wal", "-shm"] {
      try Data("left".utf8).write(to: URL(filePath: path + ".new-1f" + ending))
    }
    let file = try DatabaseFile.create(home: home.path) { _ in }
    let names = try FileManager.default.contentsOfDirectory(atPath: home.path)
    #expect(!names.contains { $0.contains(".new") })
    file.close()
  }

  @Test("A second creation is refused and changes nothing")
  func secondCreation() throws {
    try DatabaseFile.create(home: home.path) { _ in }.close()
    let before = try Data(contentsOf: URL(filePath: path))
    #expect(throws: StorageError.alreadyExists) { try DatabaseFile.create(home: home.path) { _ in } }
    #expect(try Data(contentsOf: URL(filePath: path)) == before)
  }

  @Test("Only the first of two writers writes; the other reads on")
  func oneWriter() throws {
    let first = try DatabaseFile.create(home: home.path) { _ in }
    let second = try DatabaseFile.open(home: home.path)
    // The lock is kept from the creation until the file goes.
    try first.write { _ = try $0.execute("INSERT INTO vault (part, sealed) VALUES (1, x'00')") }
    #expect(throws: StorageError.inUse) {
      try second.write { _ = try $0.execute("DELETE FROM vault") }
    }
    #expect(throws: StorageError.inUse) { try second.claimWriting() }
    let count = try second.read {
      try $0.firstRow("SELECT count(*) FROM vault") { try $0.integer(0) }
    }
    #expect(count == 1)
    withExtendedLifetime(first) {}
  }

  @Test("When the first writer goes, the next may write")
  func lockReleased() throws {
    do { try DatabaseFile.create(home: home.path) { _ in }.close() }
    try DatabaseFile.open(home: home.path).claimWriting()
  }

  @Test("A transaction that fails leaves nothing")
  func rollback() throws {
    struct Refusal: Error {}
    let file = try DatabaseFile.create(home: home.path) { _ in }
    #expect(throws: Refusal.self) {
      try file.write {
        try $0.execute("INSERT INTO vault (part, sealed) VALUES (1, x'00')")
        throw Refusal()
      }
    }
    let count = try file.read { try $0.firstRow("SELECT count(*) FROM vault") { try $0.integer(0) } }
    #expect(count == 0)
    // A read cannot write.
    #expect(throws: (any Error).self) { try file.read { _ = try $0.execute("DELETE FROM vault") } }
  }

  @Test("The connection is set as the promises need it")
  func pragmas() throws {
    let created = try DatabaseFile.create(home: home.path) { _ in }
    for file in [created, try DatabaseFile.open(home: home.path)] {
      #expect(try file.pragma("journal_mode") == "wal")
      #expect(try file.pragma("synchronous") == "2")
      #expect(try file.pragma("secure_delete") == "1")
      #expect(try file.pragma("foreign_keys") == "1")
      #expect(try file.pragma("trusted_schema") == "0")
      #expect(try file.pragma("cell_size_check") == "1")
      #expect(try file.pragma("temp_store") == "2")
      #expect(try file.pragma("page_size") == "4096")
      #expect(try file.pragma("user_version") == "3")
    }
  }

  @Test("Only the owner may look into the folder or read a file")
  func modes() throws {
    let file = try DatabaseFile.create(home: home.path) { _ in }
    try file.write { _ = try $0.execute("INSERT INTO vault (part, sealed) VALUES (1, x'00')") }
    #expect(try mode(home.path) == 0o700)
    let names = try FileManager.default.contentsOfDirectory(atPath: home.path)
    #expect(Set(names) == ["coffer.db", "coffer.db-wal", "coffer.db-shm", "coffer.lock"])
    for name in names { #expect(try mode(home.path + "/" + name) == 0o600, "\(name)") }
  }

  @Test("A folder that is there and empty becomes private")
  func folderThatWasThere() throws {
    try FileManager.default.createDirectory(
      atPath: home.path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
    try DatabaseFile.create(home: home.path) { _ in }.close()
    #expect(try mode(home.path) == 0o700)
  }

  private func mode(_ path: String) throws -> Int {
    try #require(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
  }

  // MARK: What is compared

  @Test("A change of any byte of a fixed header field is noticed")
  func header() throws {
    try DatabaseFile.create(home: home.path) { _ in }.close()
    let url = URL(filePath: path)
    let whole = try Data(contentsOf: url)
    let fixed = [0..<16, 16..<18, 18..<24, 44..<48, 52..<56, 56..<60, 64..<68, 68..<72, 72..<92]
    for offset in fixed.joined() {
      for mask in [0x01, 0x80] as [UInt8] {
        var changed = whole
        changed[offset] ^= mask
        try changed.write(to: url)
        #expect(throws: StorageError.corrupt(part: .header), "byte \(offset)") {
          try DatabaseFile.open(home: home.path)
        }
      }
    }
    var later = whole
    later[63] = 4
    try later.write(to: url)
    #expect(throws: StorageError.unknownFormat(found: 4, known: 3)) {
      try DatabaseFile.open(home: home.path)
    }
    for count in [0, 1, 99] {
      try whole.prefix(count).write(to: url)
      #expect(throws: StorageError.corrupt(part: .header)) { try DatabaseFile.open(home: home.path) }
    }
    try whole.write(to: url)
    _ = try DatabaseFile.open(home: home.path)
  }

  @Test(
    "A schema with anything missing, changed or added is noticed",
    arguments: [
      "CREATE TABLE more (a)", "CREATE INDEX more ON messages (keyVersion)",
      "CREATE VIEW more AS SELECT * FROM vault",
      "CREATE TRIGGER more AFTER INSERT ON vault BEGIN DELETE FROM keychain; END",
      "DROP TABLE vault", "ALTER TABLE vault ADD COLUMN more ANY", "ALTER TABLE vault RENAME TO more",
    ])
  func schema(change: String) throws {
    try DatabaseFile.create(home: home.path) { _ in }.close()
    do {
      let queue = try DatabaseQueue(path: path)
      try queue.write { try $0.execute(sql: change) }
      try queue.close()
    }
    #expect(throws: StorageError.corrupt(part: .schema)) { try DatabaseFile.open(home: home.path) }
  }

  /// A file as a program of an earlier format made it.
  private func makeOlder(format: Int = 1) throws {
    let file = try DatabaseFile.create(home: home.path) { file in
      try file.write {
        _ = try $0.execute("INSERT INTO keybag (only, record) VALUES (1, ?)", .bytes(Data([1, 2])))
        for standing in [0, 16] as [Int64] where format > 1 {
          _ = try $0.execute(
            "INSERT INTO syncRows (row, version, message, standing) VALUES (?, x'01', x'02', ?)",
            .bytes(Data([UInt8(standing)])), .integer(standing))
        }
      }
    }
    file.close()
    let queue = try DatabaseQueue(path: path)
    try queue.write { db in
      try db.execute(sql: "DROP INDEX syncCaptures")
      for table in ["syncState", "syncObjects", "syncRows"] where format == 1 {
        try db.execute(sql: "DROP TABLE \(table)")
      }
      try db.execute(sql: "PRAGMA user_version = \(format)")
    }
    try queue.close()
  }

  @Test(
    "A file of an earlier format becomes one of this format when it is opened, with all that is in it",
    arguments: [1, 2])
  func migration(format: Int) throws {
    try makeOlder(format: format)
    let file = try DatabaseFile.open(home: home.path)
    #expect(try record(file) == Data([1, 2]))
    #expect(try file.pragma("user_version") == "3")
    let captureCount = try file.read {
      try $0.firstRow("SELECT count(*) FROM syncRows INDEXED BY syncCaptures WHERE standing = 16") {
        try $0.integer(0)
      }
    }
    #expect(captureCount == (format == 1 ? 0 : 1))
    // Others may write: the lock was for the migration alone.
    try DatabaseFile.open(home: home.path).claimWriting()
    file.close()
    #expect(try record(DatabaseFile.open(home: home.path)) == Data([1, 2]))
  }

  @Test("While another process writes, a file of format 1 stays as it is and is said to be in use")
  func migrationInUse() throws {
    try makeOlder()
    let lock = open(home.path + "/" + DatabaseFile.lockName, O_RDWR | O_CREAT, 0o600)
    #expect(flock(lock, LOCK_EX | LOCK_NB) == 0)
    #expect(throws: StorageError.inUse) { try DatabaseFile.open(home: home.path) }
    close(lock)
    #expect(try DatabaseFile.open(home: home.path).pragma("user_version") == "3")
  }

  @Test(
    "While another process writes, a file of format 2 is read as it is, and becomes one of this format later")
  func readAsItIs() throws {
    try makeOlder(format: 2)
    let lock = open(home.path + "/" + DatabaseFile.lockName, O_RDWR | O_CREAT, 0o600)
    #expect(flock(lock, LOCK_EX | LOCK_NB) == 0)
    do {
      let file = try DatabaseFile.open(home: home.path)
      #expect(try record(file) == Data([1, 2]) && file.pragma("user_version") == "2")
      #expect(throws: StorageError.inUse) { try file.write { _ in } }
      file.close()
    }
    close(lock)
    #expect(try DatabaseFile.open(home: home.path).pragma("user_version") == "3")
  }

  @Test(
    "A file that says to be of format 2 and has the index, or of format 3 and lacks it, is damaged",
    arguments: [2, 3])
  func wrongFormat(format: Int) throws {
    try DatabaseFile.create(home: home.path) { _ in }.close()
    let queue = try DatabaseQueue(path: path)
    try queue.write { db in
      if format == 3 { try db.execute(sql: "DROP INDEX syncCaptures") }
      try db.execute(sql: "PRAGMA user_version = \(format)")
    }
    try queue.close()
    #expect(throws: StorageError.corrupt(part: format == 2 ? .page : .schema)) {
      try DatabaseFile.open(home: home.path)
    }
  }

  @Test("A file of format 1 with anything changed is damaged, and so is one that only says to be of format 1")
  func damagedMigration() throws {
    try makeOlder()
    let queue = try DatabaseQueue(path: path)
    try queue.write { try $0.execute(sql: "ALTER TABLE vault ADD COLUMN more ANY") }
    try queue.close()
    #expect(throws: StorageError.corrupt(part: .schema)) { try DatabaseFile.open(home: home.path) }
  }

  @Test("A file that is not a coffer is told from one that is missing")
  func noCoffer() throws {
    #expect(throws: StorageError.notFound) { try DatabaseFile.open(home: home.path) }
    try FileManager.default.createDirectory(atPath: home.path, withIntermediateDirectories: true)
    #expect(throws: StorageError.notFound) { try DatabaseFile.open(home: home.path) }
    try Data(count: 5000).write(to: URL(filePath: path))
    #expect(throws: StorageError.corrupt(part: .header)) { try DatabaseFile.open(home: home.path) }
  }

  @Test("A column of another kind than it should be is a damaged record")
  func columns() throws {
    let file = try DatabaseFile.create(home: home.path) { _ in }
    try file.read { transaction in
      try transaction.firstRow("SELECT 'text', 5, x'00'") { row in
        #expect(throws: StorageError.corrupt(part: .record)) { try row.integer(0) }
        #expect(throws: StorageError.corrupt(part: .record)) { try row.text(1) }
        #expect(throws: StorageError.corrupt(part: .record)) { try row.bytes(1) }
        #expect(throws: StorageError.corrupt(part: .record)) { try row.text(2) }
      }
    }
  }
}
