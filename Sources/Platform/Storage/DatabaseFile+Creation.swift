// SPDX-License-Identifier: Apache-2.0
//
// How a coffer comes to be (Specs/storage.md, «Creation»): under a name of chance, and then, complete, under
// its own, which is never taken from another one. The writer's lock is held from the first step to the last.

internal import CSystem
internal import GRDB
internal import Glibc

extension DatabaseFile {
  /// What names of files begin with that belong to a coffer in the making.
  static let unfinishedPrefix = name + ".new"

  /// Makes a coffer file in `home`, lets `populate` fill it, and opens it.
  ///
  /// The directory is made with mode 0700 if it is not there. The file appears under its name only when
  /// `populate` is done, and only if no other has got there first. What fails leaves nothing behind; a crash
  /// leaves at most a temporary file, which the next call removes.
  ///
  /// - Parameter undo: takes back what `populate` has done elsewhere, when no coffer comes of it. The lock is
  ///   still held, and the file may be closed.
  /// - Throws: `StorageError.alreadyExists` when `home` holds a coffer; `.notEmpty` when it holds anything else;
  ///   `.inUse` when another process makes one at this moment; what `populate` throws.
  public static func create(
    home: String, populate: (DatabaseFile) throws -> Void, undo: (DatabaseFile) -> Void = { _ in }
  ) throws -> DatabaseFile {
    try create(home: home, populate: populate, undo: undo, beforeNaming: {})
  }

  /// - Parameter beforeNaming: called when the file is complete and has not got its name yet.
  static func create(
    home: String, populate: (DatabaseFile) throws -> Void, undo: (DatabaseFile) -> Void = { _ in },
    beforeNaming: () throws -> Void
  ) throws -> DatabaseFile {
    // Before anything is written: a folder that is somebody's stays as it is.
    try checkPlace(home: home)
    let lock = WriterLock(path: home + "/" + lockName)
    let madeFolders = try claim(home, lock)
    let path = home + "/" + name
    // Not a name that others could think of, should they not respect the lock.
    let temporary = path + ".new-" + String(UInt64.random(in: .min ... .max), radix: 16)
    var unfinished: DatabaseFile?
    var isNamed = false
    defer {
      if !isNamed {
        if let unfinished {
          undo(unfinished)
          unfinished.closeConnection()
        }
        for ending in ["", "-wal", "-shm"] { unsafe unlink(temporary + ending) }
        giveUp(home, lock, madeFolders)
      }
    }
    try checkPlace(home: home)
    removeUnfinished(home)
    let descriptor = unsafe Glibc.open(
      temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw StorageError(systemError: errno) }
    Glibc.close(descriptor)
    do {
      let file = DatabaseFile(
        home: home, path: temporary, queue: try connect(path: temporary), lock: lock)
      unfinished = file
      try file.write { try Schema.create($0) }
      try populate(file)
      guard try file.truncateLog() else { throw StorageError.full }
      file.closeConnection()
    } catch let error as DatabaseError {
      throw StorageError(error)
    }
    try sync(temporary)
    try beforeNaming()
    try lock.confirm()
    try move(temporary, to: path)
    isNamed = true
    try sync(home)
    return try open(home: home, lock: lock)
  }

  /// Looks whether a coffer can be made in `home`, and writes nothing.
  /// - Throws: `StorageError.alreadyExists` when it holds a coffer; `.notEmpty` when it holds anything else;
  ///   `.notPermitted` when it is no folder, or cannot be read.
  public static func checkPlace(home: String) throws(StorageError) {
    guard let names = names(in: home) else {
      if errno == ENOENT { return }
      throw StorageError(systemError: errno)
    }
    if names.contains(name) { throw .alreadyExists }
    guard names.allSatisfy({ $0 == lockName || $0.hasPrefix(unfinishedPrefix) }) else { throw .notEmpty }
  }

  /// Takes the lock in a folder that is made if need be.
  /// - Returns: the folders that were made, the outermost first.
  private static func claim(_ home: String, _ lock: WriterLock) throws -> [String] {
    var made: [String] = []
    do {
      for _ in 1...claimTries {
        // Another process that gives up takes the folders along that it has made.
        do {
          try makeDirectory(home, &made)
          try lock.acquire()
        } catch StorageError.notFound { continue }
        return made
      }
      throw StorageError.notPermitted
    } catch {
      remove(made)
      throw error
    }
  }

  private static let claimTries = 10

  /// Leaves the place as it was.
  private static func giveUp(_ home: String, _ lock: WriterLock, _ madeFolders: [String]) {
    if !isTaken(home + "/" + name) {
      lock.retract()
      remove(madeFolders)
    }
    lock.release()
  }

  /// Removes those folders, the outermost first, that nothing is in.
  private static func remove(_ folders: [String]) {
    for folder in folders.reversed() { unsafe rmdir(folder) }
  }

  /// Removes what a creation has left that did not come to its end.
  static func removeUnfinished(_ home: String) {
    for name in names(in: home) ?? [] where name.hasPrefix(unfinishedPrefix) {
      unsafe unlink(home + "/" + name)
    }
  }

  /// Gives a file another name, and takes that from nobody.
  private static func move(_ path: String, to target: String) throws {
    if unsafe coffer_rename_new(path, target) == 0 { return }
    // Some file systems cannot do this, and all of those have hard links.
    if errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP, unsafe link(path, target) == 0 {
      unsafe unlink(path)
      return
    }
    throw errno == EEXIST ? StorageError.alreadyExists : StorageError(systemError: errno)
  }
}
