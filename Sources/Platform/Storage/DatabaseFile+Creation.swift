// SPDX-License-Identifier: Apache-2.0
//
// How a coffer is made (Specs/storage.md, "Creation, and what a crash leaves"): first under a random name,
// then, when it is complete, under its own name, which never replaces another file. The writer's lock is held from
// the first step to the last.

internal import CSystem
internal import GRDB
internal import Glibc

extension DatabaseFile {
  /// The prefix of file names of a coffer that is not complete yet.
  static let unfinishedPrefix = name + ".new"

  /// Makes a coffer file in `home`, lets `populate` fill it, and opens it.
  ///
  /// The directory is made with mode 0700 if it is not there. The file appears under its name only when
  /// `populate` is done, and only if no other process was faster. A failure leaves nothing; a crash leaves at
  /// most a temporary file, which the next call removes.
  ///
  /// - Parameter undo: undoes what `populate` did elsewhere, if the creation fails. The lock is still held,
  ///   and the file may be closed.
  /// - Throws: `StorageError.alreadyExists` when `home` holds a coffer; `.notEmpty` when it holds anything else;
  ///   `.inUse` when another process makes one at this moment; what `populate` throws.
  public static func create(
    home: String, populate: (DatabaseFile) throws -> Void, undo: (DatabaseFile) -> Void = { _ in }
  ) throws -> DatabaseFile {
    try create(home: home, populate: populate, undo: undo, beforeNaming: {})
  }

  /// - Parameters:
  ///   - lockPatienceMilliseconds: how long to wait for another process that makes one.
  ///   - beforeNaming: called when the file is complete, before it gets its name.
  static func create(
    home: String, populate: (DatabaseFile) throws -> Void, undo: (DatabaseFile) -> Void = { _ in },
    lockPatienceMilliseconds: Int = WriterLock.patienceMilliseconds, beforeNaming: () throws -> Void
  ) throws -> DatabaseFile {
    // Before anything is written: a folder with other contents stays as it is.
    try checkPlace(home: home)
    let lock = WriterLock(
      path: home + "/" + lockName, patienceMilliseconds: lockPatienceMilliseconds)
    let madeFolders = try claim(home, lock)
    let path = home + "/" + name
    // A random name: others that ignore the lock cannot guess it.
    let temporary = path + ".new-" + String(UInt64.random(in: .min ... .max), radix: 16)
    var unfinished: DatabaseFile?
    var isNamed = false
    defer {
      if !isNamed {
        if let unfinished {
          undo(unfinished)
          unfinished.closeConnection()
        }
        try? removeUnfinishedBlobs(home)
        for ending in [blobsMark, "", "-wal", "-shm"] { unsafe unlink(temporary + ending) }
        giveUp(home, lock, madeFolders)
      }
    }
    try checkPlace(home: home)
    try removeUnfinishedBlobs(home)
    removeUnfinished(home)
    let descriptor = unsafe Glibc.open(
      temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw StorageError(systemError: errno) }
    Glibc.close(descriptor)
    do {
      let file = DatabaseFile(
        .folder(Folder(home: home, path: temporary, lock: lock)), queue: try connect(path: temporary))
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
    // Only now: until the file's own name is durable, the mark says whose the blobs are.
    unsafe unlink(temporary + blobsMark)
    return try open(home: home, lock: lock)
  }

  /// Checks that a coffer can be made in `home`; writes nothing.
  /// - Throws: `StorageError.alreadyExists` when it holds a coffer; `.notEmpty` when it holds anything else;
  ///   `.notPermitted` when it is not a folder, or cannot be read.
  public static func checkPlace(home: String) throws(StorageError) {
    guard let names = names(in: home) else {
      if errno == ENOENT { return }
      throw StorageError(systemError: errno)
    }
    if names.contains(name) { throw .alreadyExists }
    let isAllowed = names.allSatisfy { name in
      name == lockName || name.hasPrefix(unfinishedPrefix)
        || name == BlobFiles.folderName && hasUnfinishedBlobs(names)
    }
    guard isAllowed else { throw .notEmpty }
  }

  /// Takes the lock in a folder that is made if need be.
  /// - Returns: the folders that were made, the outermost first.
  private static func claim(_ home: String, _ lock: WriterLock) throws -> [String] {
    var made: [String] = []
    do {
      for _ in 1...claimTries {
        // Another process that gives up also removes the folders that it made.
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

  /// Undoes the creation.
  private static func giveUp(_ home: String, _ lock: WriterLock, _ madeFolders: [String]) {
    if !isTaken(home + "/" + name) {
      lock.retract()
      remove(madeFolders)
    }
    lock.release()
  }

  /// Removes those of these folders that are empty; they are listed with the outermost first.
  private static func remove(_ folders: [String]) {
    for folder in folders.reversed() { unsafe rmdir(folder) }
  }

  // MARK: Blobs of a file that is being made

  /// The ending of a file beside a coffer that is being made. While both are there, the blobs belong to it, and are
  /// removed with it.
  private static let blobsMark = ".blobs"

  /// Says that the blobs written from now on belong to this file, which is being made. Call it before the first.
  /// - Throws: `StorageError.placeTaken` when there is a folder of that name already.
  package func claimBlobs() throws {
    guard case .folder(let folder) = place else { return }
    let (home, path) = (folder.home, folder.path)
    precondition(path != home + "/" + Self.name, "a finished coffer's blobs are named by its rows")
    guard !Self.isTaken(home + "/" + BlobFiles.folderName) else { throw StorageError.placeTaken(.blobs) }
    let descriptor = unsafe Glibc.open(
      path + Self.blobsMark, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw StorageError(systemError: errno) }
    Glibc.close(descriptor)
    try Self.sync(home)
  }

  /// Whether the folder of blobs was left by a creation that was interrupted.
  private static func hasUnfinishedBlobs(_ names: [String]) -> Bool {
    names.contains { name in
      name.hasPrefix(unfinishedPrefix) && name.hasSuffix(blobsMark)
        && names.contains(String(name.dropLast(blobsMark.count)))
    }
  }

  /// Removes the blobs of a creation that was interrupted; before ``removeUnfinished(_:)``, which removes the mark.
  /// - Throws: `StorageError.notPermitted` when one is still there afterwards.
  private static func removeUnfinishedBlobs(_ home: String) throws {
    let names = names(in: home) ?? []
    guard !names.contains(name), hasUnfinishedBlobs(names) else { return }
    try BlobFiles(home: home).destroy()
    for name in names where name.hasPrefix(unfinishedPrefix) && name.hasSuffix(blobsMark) {
      unsafe unlink(home + "/" + name)
    }
    try sync(home)
  }

  /// Removes the files of a creation that was interrupted.
  static func removeUnfinished(_ home: String) {
    for name in names(in: home) ?? [] where name.hasPrefix(unfinishedPrefix) {
      unsafe unlink(home + "/" + name)
    }
  }

  /// Renames a file; fails if the new name is taken.
  private static func move(_ path: String, to target: String) throws {
    if unsafe coffer_rename_new(path, target) == 0 { return }
    // Some file systems cannot do this, but they have hard links.
    if errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP, unsafe link(path, target) == 0 {
      unsafe unlink(path)
      return
    }
    throw errno == EEXIST ? StorageError.alreadyExists : StorageError(systemError: errno)
  }
}
