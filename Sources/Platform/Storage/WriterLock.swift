// SPDX-License-Identifier: Apache-2.0
//
// One writer at a time across processes. An advisory lock (flock) on a file beside the database, taken with
// the first write and held until the coffer is closed, so that a command of many transactions (an import, a
// rotation) is the only writer from its first to its last. Readers never ask for it.
//
// The lock is on a file, which others find by its name. If the file is removed, the next writer makes and
// locks a new one. The holder of a lock therefore checks, again and again, that the name still leads to its
// file.

internal import Glibc
internal import Synchronization

final class WriterLock: Sendable {
  /// Long enough for two commands of a script that overlap for a moment; too short to wait for a long import.
  static let patienceMilliseconds = 1_000

  private struct Held {
    let descriptor: Int32
    /// Whether taking the lock made the file.
    let isNew: Bool
    /// When it was taken, by the clock that dates the files beside it.
    let time: FileTime
  }

  private let path: String
  private let patienceMilliseconds: Int
  private let held = Mutex<Held?>(nil)

  /// - Parameter patienceMilliseconds: how long to wait for another process.
  init(path: String, patienceMilliseconds: Int = patienceMilliseconds) {
    self.path = path
    self.patienceMilliseconds = patienceMilliseconds
  }

  deinit { release() }

  /// Lets others write.
  func release() {
    held.withLock { held in
      if let held { close(held.descriptor) }
      held = nil
    }
  }

  /// Takes the lock, or finds that it is held already by this coffer.
  /// - Throws: `StorageError.inUse` when another process holds it for longer than we wait, or our file is no
  ///   longer the lock; `.notFound` without a folder; `.placeTaken` when something else has its name.
  func acquire() throws(StorageError) {
    try held.withLock { held throws(StorageError) in
      if let held { return try confirm(held) }
      var waited = 0
      while true {
        let (descriptor, isNew) = try opened()
        let isLocked = flock(descriptor, LOCK_EX | LOCK_NB) == 0
        let code = errno
        if isLocked, isNamed(descriptor) {
          held = Held(descriptor: descriptor, isNew: isNew, time: Self.touch(descriptor))
          return
        }
        close(descriptor)
        guard isLocked || code == EWOULDBLOCK || code == EINTR else { throw .inputOutput(code: code) }
        guard waited < patienceMilliseconds else { throw .inUse }
        usleep(20_000)
        waited += 20
      }
    }
  }

  /// Checks that we hold the lock that others wait for.
  /// - Throws: `StorageError.inUse` when its file was removed or replaced: another process may be writing.
  func confirm() throws(StorageError) {
    try held.withLock { held throws(StorageError) in
      guard let held else { throw .inUse }
      try confirm(held)
    }
  }

  private func confirm(_ held: Held) throws(StorageError) {
    guard isNamed(held.descriptor) else { throw .inUse }
  }

  /// When the lock was taken; nil while it is not.
  var time: FileTime? { held.withLock { $0?.time } }

  /// Removes the file, if taking the lock made it; the lock itself is kept. A process that waits for it then
  /// finds that its file was removed.
  func retract() {
    held.withLock { held in
      if let held, held.isNew, isNamed(held.descriptor) { unsafe unlink(path) }
    }
  }

  /// Removes the file, even if it existed before; the lock itself is kept.
  func removeFile() {
    held.withLock { held in
      if let held, isNamed(held.descriptor) { unsafe unlink(path) }
    }
  }

  private func opened() throws(StorageError) -> (descriptor: Int32, isNew: Bool) {
    while true {
      if let descriptor = try DatabaseFile.openFile(path, O_RDWR, as: .lock) { return (descriptor, false) }
      let made = unsafe open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
      if made >= 0 { return (made, true) }
      // Another process was quicker.
      if errno == EEXIST { continue }
      throw errno == ENOENT || errno == ENOTDIR ? .notFound : StorageError(systemError: errno)
    }
  }

  /// Whether the path leads to the file of a descriptor.
  private func isNamed(_ descriptor: Int32) -> Bool {
    var (named, open) = (stat(), stat())
    guard unsafe lstat(path, &named) == 0, unsafe fstat(descriptor, &open) == 0 else { return false }
    return named.st_dev == open.st_dev && named.st_ino == open.st_ino
  }

  /// Sets a file's date to now.
  private static func touch(_ descriptor: Int32) -> FileTime {
    futimens(descriptor, nil)
    var status = stat()
    unsafe fstat(descriptor, &status)
    return FileTime(status.st_mtim)
  }
}

/// When a file was last written, as the file system has it.
struct FileTime: Comparable {
  private let seconds: Int
  private let nanoseconds: Int

  init(_ time: timespec) {
    seconds = time.tv_sec
    nanoseconds = time.tv_nsec
  }

  static func < (one: FileTime, other: FileTime) -> Bool {
    (one.seconds, one.nanoseconds) < (other.seconds, other.nanoseconds)
  }
}
