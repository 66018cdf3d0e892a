// SPDX-License-Identifier: Apache-2.0
//
// Overwriting, and the end of a coffer's files.

internal import Glibc

extension DatabaseFile {
  /// Overwrites and removes every file of this coffer, and the directory if nothing else is in it.
  /// - Throws: `StorageError.inUse`; `.notPermitted` when one is still there afterwards.
  package func destroy() throws {
    guard case .folder(let folder) = place else { return }
    try folder.lock.acquire()
    try Self.destroy(folder.home, under: folder.lock)
  }

  /// Overwrites and removes every file of a coffer that does not open.
  /// - Throws: as ``destroy()``.
  package static func destroy(home: String) throws {
    let lock = WriterLock(path: home + "/" + lockName)
    try lock.acquire()
    try destroy(home, under: lock)
  }

  private static func destroy(_ home: String, under lock: WriterLock) throws {
    let path = home + "/" + name
    let files = ["-wal", "-shm", ""].map { path + $0 }
    for file in files { overwrite(file) }
    // The database goes last: while it is there, an interrupted call can be repeated.
    try BlobFiles(home: home).destroy()
    try BlobFiles(home: home, place: .search).destroy()
    removeUnfinished(home)
    for file in files where unsafe unlink(file) != 0 && errno != ENOENT { throw StorageError.notPermitted }
    try sync(home)
    // A process that waits for the lock then finds that its file was removed.
    lock.removeFile()
    unsafe rmdir(home)
  }

  /// Zeros over the whole of a file. Best effort: a device may still keep the old blocks.
  ///
  /// The beginning is on the disk before the rest is overwritten. SQLite ignores a log without its header,
  /// but plays back a log that only lost its end, older pages over newer ones.
  ///
  /// A file that has a second name (a hard link) is left as it is: the other name may be a backup.
  ///
  /// - Parameter folder: the descriptor of the folder that `path` is relative to.
  static func overwrite(_ path: String, in folder: Int32 = AT_FDCWD) {
    guard let opened = try? openFile(path, O_WRONLY, in: folder, as: .database) else { return }
    defer { Glibc.close(opened) }
    guard let status = status(opened), status.st_nlink == 1 else { return }
    let end = Int(status.st_size)
    guard writeZeros(opened, 0..<min(end, logHeaderByteCount)), fsync(opened) == 0 else { return }
    _ = writeZeros(opened, min(end, logHeaderByteCount)..<end)
    fsync(opened)
  }

  /// SQLite, "The Write-Ahead Log", section 4: magic, version, salts and checksum.
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
}
