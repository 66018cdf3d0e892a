// SPDX-License-Identifier: Apache-2.0
//
// The one SQLite file of a coffer, `coffer.db`, and its promises: write-ahead log, a sync for every
// commit, one writer, readers never blocked, deleted rows overwritten, mode 0600 in a directory of mode
// 0700. A new file appears under its name complete or not at all.
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

  /// The directory that holds the coffer.
  public let home: String

  /// The large values beside the database.
  public var blobs: BlobFiles { BlobFiles(home: home) }

  /// The database's own path; another than the usual one while a coffer is being made.
  var path: String { queue.path }

  private let queue: DatabaseQueue
  private let writerLock: WriterLock
  /// What watches the parts, once there are keys.
  let binding = Mutex<(any PartBinding)?>(nil)
  /// Whether the name of the write-ahead log is certain to survive.
  private let isLogNamed = Mutex(false)

  // MARK: Create and open

  /// Makes a coffer file in `home`, lets `populate` fill it, and opens it.
  ///
  /// The directory is made with mode 0700 if it is not there. The file appears under its name only when
  /// `populate` is done; a crash leaves at most a temporary file, which the next call removes.
  /// - Throws: `StorageError.alreadyExists` when `home` holds a coffer; what `populate` throws.
  public static func create(
    home: String, populate: (DatabaseFile) throws -> Void
  ) throws -> DatabaseFile {
    try makeDirectory(home)
    let lock = WriterLock(path: home + "/" + lockName)
    try lock.acquire()
    let path = home + "/" + name
    guard unsafe access(path, F_OK) != 0 else { throw StorageError.alreadyExists }
    let temporary = path + ".new"
    let files = ["", "-wal", "-shm"].map { temporary + $0 }
    for file in files { unsafe unlink(file) }
    var isComplete = false
    defer { if !isComplete { for file in files { unsafe unlink(file) } } }

    let descriptor = unsafe Glibc.open(temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw errno == ENOSPC ? StorageError.full : .notPermitted }
    Glibc.close(descriptor)
    do {
      let file = DatabaseFile(home: home, queue: try connect(path: temporary), lock: lock)
      try file.write { try Schema.create($0) }
      try populate(file)
      guard try file.truncateLog() else { throw StorageError.full }
      file.close()
    } catch let error as DatabaseError {
      throw StorageError(error)
    }
    try sync(temporary)
    guard unsafe rename(temporary, path) == 0 else { throw StorageError.inputOutput(code: errno) }
    isComplete = true
    try sync(home)
    return try open(home: home, lock: lock)
  }

  /// Opens the coffer in `home`: the header and the schema are compared with what they must be.
  public static func open(home: String) throws -> DatabaseFile {
    try open(home: home, lock: WriterLock(path: home + "/" + lockName))
  }

  /// Whether `home` holds a coffer.
  public static func exists(home: String) -> Bool { unsafe access(home + "/" + name, F_OK) == 0 }

  private static func open(home: String, lock: WriterLock) throws -> DatabaseFile {
    let path = home + "/" + name
    try FileHeader(path: path).check(knownFormat: Schema.version)
    try checkLog(path: path)
    do {
      let file = DatabaseFile(home: home, queue: try connect(path: path), lock: lock)
      try file.read(Schema.check)
      return file
    } catch let error as DatabaseError {
      throw StorageError(error)
    }
  }

  private init(home: String, queue: DatabaseQueue, lock: WriterLock) {
    self.home = home
    self.queue = queue
    writerLock = lock
  }

  /// Moves the write-ahead log into the file and closes it. Optional: a coffer that is not closed is
  /// as safe, and the next one to open it does this work.
  public func close() {
    try? queue.close()
    writerLock.release()
  }

  // MARK: Transactions

  /// Runs `body` on one consistent state of the file; writers go on meanwhile.
  public func read<R>(_ body: (borrowing Transaction) throws -> R) throws -> R {
    do {
      return try queue.read { try body(Transaction(db: $0)) }
    } catch let error as DatabaseError {
      throw StorageError(error, systemErrno: systemErrno())
    }
  }

  /// Runs `body` as one transaction: all of it is on the disk when this returns, or nothing is.
  ///
  /// - Throws: `StorageError.inUse` while another process writes; what `body` throws, after undoing.
  public func write<R>(_ body: (borrowing Transaction) throws -> R) throws -> R {
    try writerLock.acquire()
    try nameLog()
    do {
      return try queue.inDatabase { db in
        var result: R?
        try db.inTransaction(.immediate) {
          result = try body(Transaction(db: db))
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

  /// Makes the log's name durable before the first commit that is in it. SQLite does the same, and goes on when
  /// the disk refuses; the commit would then vanish with the name.
  private func nameLog() throws {
    try isLogNamed.withLock { isNamed in
      if isNamed { return }
      try Self.sync(home)
      isNamed = true
    }
  }

  /// Takes the writer's lock now, before work that would be lost without it.
  public func claimWriting() throws(StorageError) { try writerLock.acquire() }

  /// Overwrites the write-ahead log with zeros and empties it, so that what was deleted or replaced is not
  /// left in it.
  ///
  /// - Returns: false when a reader of another process still needs the log, or there is no room to move it
  ///   into the file. Whoever closes the coffer last removes it then.
  @discardableResult
  public func truncateLog() throws -> Bool {
    do {
      return try queue.inDatabase { db in
        // From here on readers use the file alone, and the log holds nothing that is not in it.
        guard try Self.checkpoint(db, "RESTART") else { return false }
        Self.overwrite(path + "-wal")
        return try Self.checkpoint(db, "TRUNCATE")
      }
    } catch let error as DatabaseError {
      let sorted = StorageError(error, systemErrno: systemErrno())
      if sorted == .full { return false }
      throw sorted
    }
  }

  /// SQLite tells in a row, not by an error, that a reader stands in the way.
  private static func checkpoint(_ db: Database, _ mode: StaticString) throws -> Bool {
    try Int.fetchOne(db, sql: "PRAGMA wal_checkpoint(\(mode))") == 0
  }

  /// Zeros over the whole of a file. Best effort: a device may keep the old blocks all the same.
  ///
  /// The beginning is on the disk before the rest is touched. A log without its header is no log; one whose
  /// end alone was lost would be played back, older pages over newer ones.
  static func overwrite(_ path: String) {
    let descriptor = unsafe Glibc.open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else { return }
    defer { Glibc.close(descriptor) }
    let end = lseek(descriptor, 0, SEEK_END)
    guard writeZeros(descriptor, 0..<min(end, logHeaderByteCount)), fsync(descriptor) == 0 else { return }
    _ = writeZeros(descriptor, min(end, logHeaderByteCount)..<end)
    fsync(descriptor)
  }

  /// SQLite, «The Write-Ahead Log», section 4: magic, version, salts and checksum.
  private static let logHeaderByteCount = 32

  private static func writeZeros(_ descriptor: Int32, _ range: Range<Int>) -> Bool {
    let zeros = [UInt8](repeating: 0, count: 1 << 16)
    var offset = range.lowerBound
    while offset < range.upperBound {
      let written = unsafe zeros.withUnsafeBytes {
        unsafe pwrite(descriptor, $0.baseAddress, min($0.count, range.upperBound - offset), offset)
      }
      if written < 0, errno == EINTR { continue }
      guard written > 0 else { return false }
      offset += written
    }
    return true
  }

  /// Overwrites and removes every file of the coffer in `home`, and the directory if nothing else is in it.
  /// - Throws: `StorageError.notPermitted` when one is still there afterwards.
  package static func destroy(home: String) throws {
    let path = home + "/" + name
    let files = ["-wal", "-shm", ".new", ".new-wal", ".new-shm", ""].map { path + $0 }
    for file in files { overwrite(file) }
    // The database goes last: while it is there, somebody who was interrupted can try again.
    try BlobFiles(home: home).destroy()
    for file in files where unsafe unlink(file) != 0 && errno != ENOENT { throw StorageError.notPermitted }
    try sync(home)
    unsafe unlink(home + "/" + lockName)
    unsafe rmdir(home)
  }

  /// Reads every page and compares every index with its table; the findings are SQLite's words.
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

  private static func connect(path: String) throws -> DatabaseQueue {
    var configuration = Configuration()
    // The writer's lock comes first; this is for the moment in which a reader recovers a log.
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
    return try DatabaseQueue(path: path, configuration: configuration)
  }

  /// Holds the inner pages of a coffer of a million messages.
  private static let cacheKiB = 16 << 10
}
