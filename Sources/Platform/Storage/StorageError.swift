// SPDX-License-Identifier: Apache-2.0

internal import GRDB
internal import Glibc

/// The errors of a coffer's files.
///
/// "Missing", "in use", "full" and "corrupt" are different answers, because the user does something different
/// about each.
@nonexhaustive
public enum StorageError: Error, Equatable, Sendable {
  /// There is no coffer at this place.
  case notFound
  /// There is one already.
  case alreadyExists
  /// The folder for a new coffer holds something else.
  case notEmpty
  /// Another process is writing.
  case inUse
  /// The disk, a quota or the memory is full; acknowledged changes are safe.
  case full
  /// The files cannot be read or written by this user.
  case notPermitted
  /// The files are on a medium that cannot be written.
  case readOnly
  /// A link, a pipe, a device or a folder has the name of a file; or a link, or a folder of another user's,
  /// in that of the folder for blobs or of the search index. It was not touched.
  case placeTaken(Place)
  /// The device failed to read or write.
  case inputOutput(code: Int32)
  /// The file does not hold what was written; `part` says where this was noticed.
  case corrupt(part: StaticPart)
  /// This part does not have the state that was stored last: it was damaged, or put back to an earlier state.
  case outdated(BoundPart)
  /// The whole file was put back to an earlier state: the counter in the machine's chip is ahead of it.
  case earlierState
  /// The write-ahead log beside the file is older than the file. Nothing was read from it.
  case staleLog
  /// A format of another program version, or damage to the version field.
  case unknownFormat(found: Int, known: Int)

  /// Where corruption was noticed: never a name or a value of the user's.
  public enum StaticPart: String, Sendable {
    /// The header, the schema, a page, a record, a count of rows, or the binding record.
    case header, schema, page, record, count, binding
  }

  /// The files of a coffer, by their names in its folder.
  public enum Place: String, Sendable {
    /// The database file.
    case database = "coffer.db"
    /// SQLite's write-ahead log.
    case log = "coffer.db-wal"
    /// SQLite's index of the write-ahead log, shared between processes.
    case logIndex = "coffer.db-shm"
    /// The file that writers lock.
    case lock = "coffer.lock"
    /// The folder of blobs.
    case blobs = "blobs"
    /// The folder of the search index.
    case search = "search"
  }

  /// The extended SQLite result code of this error, for logs and texts only.
  public var status: Int32 {
    switch self {
    case .notFound: ResultCode.SQLITE_CANTOPEN.rawValue
    case .alreadyExists, .notEmpty: ResultCode.SQLITE_CONSTRAINT.rawValue
    case .inUse: ResultCode.SQLITE_BUSY.rawValue
    case .full: ResultCode.SQLITE_FULL.rawValue
    case .notPermitted: ResultCode.SQLITE_PERM.rawValue
    case .readOnly: ResultCode.SQLITE_READONLY.rawValue
    case .inputOutput(let code): code
    case .corrupt, .outdated, .earlierState, .staleLog, .placeTaken: ResultCode.SQLITE_CORRUPT.rawValue
    case .unknownFormat: ResultCode.SQLITE_NOTADB.rawValue
    }
  }

  /// Whether the files are damaged: trying again, or on another machine, does not help.
  public var isDamage: Bool {
    switch self {
    case .corrupt, .outdated, .earlierState, .staleLog, .unknownFormat, .placeTaken: true
    default: false
    }
  }

  /// Sorts an `errno` of the files beside the database.
  init(systemError code: Int32) {
    switch code {
    case ENOSPC, EDQUOT, EFBIG, ENOMEM: self = .full
    case EACCES, EPERM, ELOOP, ENOTDIR: self = .notPermitted
    case EROFS: self = .readOnly
    default: self = .inputOutput(code: code)
    }
  }

  /// Sorts an error of SQLite.
  ///
  /// Every statement in Coffer is fixed, and the schema is compared when the file is opened; so a statement
  /// that does not compile, or a constraint that fails, means a damaged file.
  init(_ error: DatabaseError, systemErrno: Int32 = 0) {
    let noSpace = systemErrno == ENOSPC || systemErrno == EDQUOT || systemErrno == EFBIG
    switch error.resultCode {
    case .SQLITE_BUSY, .SQLITE_LOCKED, .SQLITE_PROTOCOL: self = .inUse
    case .SQLITE_FULL, .SQLITE_NOMEM: self = .full
    // The header of the file was read before, so the missing file is another one, or the directory.
    case .SQLITE_CANTOPEN: self = noSpace ? .full : .notPermitted
    case .SQLITE_PERM, .SQLITE_READONLY, .SQLITE_AUTH: self = .notPermitted
    case .SQLITE_IOERR:
      switch error.extendedResultCode {
      case .SQLITE_IOERR_SHORT_READ: self = .corrupt(part: .page)
      // The second code: the log's index could not be given its size.
      case .SQLITE_IOERR_NOMEM, .SQLITE_IOERR_SHMSIZE: self = .full
      default: self = noSpace ? .full : .inputOutput(code: error.extendedResultCode.rawValue)
      }
    case .SQLITE_TOOBIG, .SQLITE_MISUSE, .SQLITE_INTERRUPT, .SQLITE_ABORT, .SQLITE_NOLFS:
      self = .inputOutput(code: error.extendedResultCode.rawValue)
    default: self = .corrupt(part: .page)
    }
  }
}
