// SPDX-License-Identifier: Apache-2.0
//
// One writer at a time across processes. An advisory lock (flock) on a file beside the database, taken
// with the first write and held until the coffer is closed, so that a command of many transactions
// (an import, a rotation) is alone from its first to its last. Readers never ask for it.

internal import Glibc
internal import Synchronization

final class WriterLock: Sendable {
  /// Two commands of a script may overlap for a moment; a long import may not be waited for.
  static let patienceMilliseconds = 1_000

  private let path: String
  private let descriptor = Mutex<Int32>(-1)

  init(path: String) { self.path = path }

  deinit { release() }

  /// Lets others write.
  func release() {
    descriptor.withLock { descriptor in
      if descriptor >= 0 { close(descriptor) }
      descriptor = -1
    }
  }

  /// Takes the lock, or finds that it is held already by this coffer.
  /// - Throws: `StorageError.inUse` when another process keeps it longer than our patience.
  func acquire() throws(StorageError) {
    try descriptor.withLock { descriptor throws(StorageError) in
      if descriptor >= 0 { return }
      let opened = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
      guard opened >= 0 else { throw errno == ENOSPC ? .full : .notPermitted }
      var waited = 0
      while flock(opened, LOCK_EX | LOCK_NB) != 0 {
        guard errno == EWOULDBLOCK || errno == EINTR, waited < Self.patienceMilliseconds else {
          close(opened)
          throw .inUse
        }
        usleep(20_000)
        waited += 20
      }
      descriptor = opened
    }
  }
}
