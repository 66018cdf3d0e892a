// SPDX-License-Identifier: Apache-2.0
//
// The one SQLite file of a coffer, `coffer.db`, and its promises: write-ahead log, a sync for every commit,
// one writer, readers never blocked, deleted rows overwritten, mode 0600 in a directory of mode 0700. A new
// file appears under its name complete or not at all.
//
// Tests make any write, sync or allocation of space fail one layer below: they register an SQLite VFS
// of their own (Tests/Support/CFaultVFS) as the default one.

internal import GRDB
internal import GRDBSQLite
internal import Glibc
internal import Synchronization

/// An open coffer file.
public final class DatabaseFile: Sendable {
  /// The database's name in the home directory.
  public static let name = "coffer.db"
  /// The writer's lock beside it.
  public static let lockName = "coffer.lock"

  /// Where it is.
  let place: Place

  /// The directory that holds the coffer; nil for one in memory.
  public var home: String? { if case .folder(let folder) = place { folder.home } else { nil } }

  /// The large values beside the database; none in memory.
  public var blobs: BlobFiles { BlobFiles(home: home) }

  /// The segments of the search index.
  public var searchFiles: BlobFiles { BlobFiles(home: home, place: .search) }

  private let queue: DatabaseQueue
  /// Watches the parts, once there are keys.
  let binding = Mutex<(any PartBinding)?>(nil)
  /// Whether the name of the write-ahead log is durable.
  private let isLogNamed = Mutex(false)

  /// Where a coffer file is.
  enum Place {
    /// On a disk.
    case folder(Folder)
    /// In this process alone. Nothing below leads from here to a path: there is no name to lock, to synchronise or
    /// to remove.
    case memory
  }

  /// The directory of a coffer, and its lock.
  struct Folder {
    let home: String
    /// The database's own path; another than the usual one while a coffer is being made.
    let path: String
    let lock: WriterLock
  }

  // MARK: Open and close

  /// Opens the coffer in `home`: the header and the schema are compared with the known ones.
  public static func open(home: String) throws -> DatabaseFile {
    try open(home: home, lock: WriterLock(path: home + "/" + lockName))
  }

  /// Whether `home` holds a coffer, or something in its place.
  public static func exists(home: String) -> Bool { isTaken(home + "/" + name) }

  static func open(home: String, lock: WriterLock) throws -> DatabaseFile {
    let path = home + "/" + name
    let format = try FileHeader(path: path).check(knownFormat: Schema.version)
    try checkLog(of: path)
    try refuseStaleLog(path: path)
    let isReadOnly = isReadOnlyMedium(home)
    do {
      let queue = try connect(path: path, isImmutable: isReadOnly && !isTaken(path + "-wal"))
      let file = DatabaseFile(.folder(Folder(home: home, path: path, lock: lock)), queue: queue)
      if format < Schema.version { try file.migrate(from: format) }
      try file.read(Schema.check)
      return file
    } catch let error as DatabaseError {
      let sorted = StorageError(error)
      throw isReadOnly && sorted == .notPermitted ? .readOnly : sorted
    } catch StorageError.notPermitted where isReadOnly {
      throw StorageError.readOnly
    }
  }

  init(_ place: Place, queue: DatabaseQueue) {
    self.place = place
    self.queue = queue
  }

  /// Brings a file of an earlier format to this one. Where nobody can write now, one that can be read stays as it is.
  private func migrate(from format: Int) throws {
    do { try withWriting { try write(Schema.migrate) } } catch let error as StorageError {
      guard format >= Schema.readableFormat, [.inUse, .readOnly, .notPermitted].contains(error) else {
        throw error
      }
    }
  }

  /// Moves the write-ahead log into the file and closes it. Optional: a coffer that is not closed is as safe,
  /// and the next process that opens it does this work. A coffer in memory stays until its last reference goes.
  public func close() {
    guard case .folder(let folder) = place else { return }
    closeConnection()
    folder.lock.release()
  }

  /// Moves the write-ahead log into the file and closes it; the writer's lock is kept.
  func closeConnection() { try? queue.close() }

  // MARK: Transactions

  /// Runs `body` on one consistent state of the file; writers go on meanwhile.
  public func read<R>(_ body: (borrowing Transaction) throws -> R) throws -> R {
    do {
      return try queue.read { try body(Transaction(db: $0)) }
    } catch let error as DatabaseError {
      throw StorageError(error, systemErrno: systemErrno())
    }
  }

  /// Runs `body` as one transaction: when this returns, all of it is on the disk; otherwise nothing is.
  ///
  /// - Throws: `StorageError.inUse` while another process writes, or could write because the lock's file or
  ///   the database was replaced; `.notFound` when the database is gone; what `body` throws, after undoing.
  public func write<R>(_ body: (borrowing Transaction) throws -> R) throws -> R {
    try claimWriting()
    try nameLog()
    do {
      return try queue.inDatabase { db in
        var result: R?
        try db.inTransaction(.immediate) {
          result = try body(Transaction(db: db))
          try confirmPlace(db)
          return .commit
        }
        // The closure ran to its end, so the result is there.
        guard let result else { throw StorageError.corrupt(part: .page) }
        return result
      }
    } catch let error as DatabaseError {
      throw StorageError(error, systemErrno: systemErrno())
    }
  }

  /// Makes the log's name durable before the first commit that is in it. SQLite does the same, but goes on if
  /// the disk refuses; the commit could then be lost with the name.
  private func nameLog() throws {
    guard case .folder(let folder) = place else { return }
    try isLogNamed.withLock { isNamed in
      if isNamed { return }
      try Self.sync(folder.home)
      isNamed = true
    }
  }

  /// Checks that this is still the only writer of the coffer at its path. In a transaction that writes,
  /// SQLite keeps other writers out, so the answer holds until its end: another writer waits, and then sees
  /// what was committed.
  private func confirmPlace(_ db: Database) throws {
    guard case .folder(let folder) = place else { return }
    try folder.lock.confirm()
    var hasMoved: Int32 = 0
    let answer = unsafe sqlite3_file_control(
      db.sqliteConnection, nil, SQLITE_FCNTL_HAS_MOVED, &hasMoved)
    guard answer != SQLITE_OK || hasMoved == 0 else {
      throw Self.isTaken(folder.path) ? StorageError.inUse : .notFound
    }
  }

  /// Takes the writer's lock now, before work that would be lost without it.
  public func claimWriting() throws(StorageError) {
    if case .folder(let folder) = place { try folder.lock.acquire() }
  }

  /// Runs `body` with the writer's lock, and lets others write afterwards, unless this coffer held the lock before.
  /// - Parameter tries: how often to wait for another process, about a second each time.
  /// - Throws: `StorageError.inUse` while another process writes; what `body` throws.
  public func withWriting<R>(tries: Int = 1, _ body: () throws -> R) throws -> R {
    guard case .folder(let folder) = place, folder.lock.time == nil else { return try body() }
    for attempt in 1...tries {
      do throws(StorageError) {
        try folder.lock.acquire()
        break
      } catch {
        guard error == .inUse, attempt < tries else { throw error }
      }
    }
    defer { folder.lock.release() }
    return try body()
  }

  /// Removes the blobs that no row names, except those written since this file took the lock.
  /// - Parameter named: the blobs that rows name now.
  public func sweepBlobs(except named: Set<BlobName>) throws { try sweep(blobs, except: named) }

  /// Removes the segments that no record names, except those written since this file took the lock.
  /// - Parameter named: the segments that the record names now.
  public func sweepSearchFiles(except named: Set<BlobName>) throws { try sweep(searchFiles, except: named) }

  private func sweep(_ files: BlobFiles, except named: Set<BlobName>) throws {
    guard case .folder(let folder) = place else { return }
    try folder.lock.acquire()
    guard let time = folder.lock.time else { throw StorageError.inUse }
    try files.sweep(except: named, writtenBy: time)
  }

  /// Overwrites the write-ahead log with zeros and empties it, so that it keeps no deleted or replaced data.
  ///
  /// - Returns: false when a reader of another process still needs the log, or there is no room to move it
  ///   into the file. The last process that closes the coffer removes it then.
  @discardableResult
  public func truncateLog() throws -> Bool {
    guard case .folder(let folder) = place else { return true }
    try folder.lock.acquire()
    do {
      return try queue.inDatabase { db in
        // From here on readers use only the file, and everything in the log is in it.
        guard try Self.checkpoint(db, "RESTART") else { return false }
        try db.inTransaction(.immediate) {
          // A writer that ignores our lock may have begun a new log.
          try confirmPlace(db)
          Self.overwrite(folder.path + "-wal")
          return .rollback
        }
        return try Self.checkpoint(db, "TRUNCATE")
      }
    } catch let error as DatabaseError {
      let sorted = StorageError(error, systemErrno: systemErrno())
      if sorted == .full { return false }
      throw sorted
    }
  }

  /// SQLite reports a reader that blocks this in a row, not by an error.
  private static func checkpoint(_ db: Database, _ mode: StaticString) throws -> Bool {
    try Int.fetchOne(db, sql: "PRAGMA wal_checkpoint(\(mode))") == 0
  }

  /// Reads every page and compares every index with its table; the findings are SQLite's texts.
  public func integrityFindings() throws -> [String] {
    do {
      let lines = try queue.read { try String.fetchAll($0, sql: "PRAGMA integrity_check") }
      return lines == ["ok"] ? [] : lines
    } catch let error as DatabaseError {
      let sorted = StorageError(error)
      guard case .corrupt = sorted else { throw sorted }
      return ["the file cannot be read to its end"]
    }
  }

  /// Names a setting of the connection, for tests that ask whether the promises above are kept.
  package func pragma(_ name: StaticString) throws -> String? {
    try queue.inDatabase { try String.fetchOne($0, sql: "PRAGMA \(name)") }
  }

  private func systemErrno() -> Int32 {
    queue.inDatabase { unsafe sqlite3_system_errno($0.sqliteConnection) }
  }

  // MARK: Connection

  /// - Parameter isImmutable: whether nobody writes to the medium. SQLite then reads the file without the log's
  ///   index, for which there would be no room.
  static func connect(path: String, isImmutable: Bool = false) throws -> DatabaseQueue {
    var configuration = Configuration()
    configuration.readonly = isImmutable
    // The writer's lock keeps writers apart; this wait is for a reader that recovers a log.
    configuration.busyMode = .timeout(2)
    configuration.prepareDatabase { db in
      // GRDB's own `journalMode` would set `synchronous` to NORMAL after this.
      for pragma in [
        "page_size = \(FileHeader.pageByteCount)", "journal_mode = WAL", "synchronous = FULL",
        "secure_delete = ON", "temp_store = MEMORY", "trusted_schema = OFF", "cell_size_check = ON",
        "cache_size = -\(cacheKiB)", "mmap_size = 0",
      ] {
        do {
          try db.execute(sql: "PRAGMA " + pragma)
        } catch let error as DatabaseError {
          // Entering the log mode makes two files, for which a full disk may have no room.
          throw StorageError(error, systemErrno: unsafe sqlite3_system_errno(db.sqliteConnection))
        }
      }
    }
    let name = isImmutable ? uri(path, "immutable=1") : path
    return try DatabaseQueue(path: name, configuration: configuration)
  }

  /// A file's name with one parameter, as SQLite wants it (SQLite, "Uniform Resource Identifiers").
  static func uri(_ path: String, _ parameter: String) -> String {
    let escaped = path.utf8.map { byte in
      let isPlain =
        UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte || UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte
        || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte || byte == UInt8(ascii: "/")
      let digits = String(byte, radix: 16)
      return isPlain ? String(UnicodeScalar(byte)) : digits.count < 2 ? "%0" + digits : "%" + digits
    }
    return "file:" + escaped.joined() + "?" + parameter
  }

  /// Holds the inner pages of a coffer of a million messages.
  private static let cacheKiB = 16 << 10
}
