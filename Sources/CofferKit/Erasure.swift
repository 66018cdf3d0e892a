// SPDX-License-Identifier: Apache-2.0
//
// The end of a coffer (D34): the slots are overwritten first, which alone makes every other byte
// unreadable; then the files go.

internal import Foundation
internal import Glibc
internal import Storage

extension Coffer {
  /// Refuses to erase a coffer whose recovery phrase has never been shown to work.
  /// - Throws: `CofferError.recoveryUnproven`.
  public func checkErasable() throws {
    if try settings().lastRecoveryDrill == nil { throw CofferError.recoveryUnproven }
  }
}

/// Destroys coffers.
public enum Erasure {
  /// Destroys the coffer in `home`, open or not, damaged or not.
  /// - Throws: `StorageError.notFound`; `StorageError.inUse`.
  public static func erase(home: String) throws {
    let path = home + "/" + DatabaseFile.name
    guard DatabaseFile.exists(home: home) else { throw StorageError.notFound }
    do {
      let file = try DatabaseFile.open(home: home)
      try file.write { transaction in
        try transaction.execute("UPDATE keybag SET record = zeroblob(length(record))")
        try transaction.execute("DELETE FROM keybag")
        try transaction.execute("DELETE FROM keychain")
      }
      try file.truncateLog()
      file.close()
    } catch StorageError.inUse {
      throw StorageError.inUse
    } catch {
      // A damaged file is erased all the same: its bytes are overwritten as a whole.
    }
    for suffix in ["", "-wal", "-shm"] { overwrite(path + suffix) }
    for suffix in ["", "-wal", "-shm", ".new", ".new-wal", ".new-shm"] { unsafe unlink(path + suffix) }
    unsafe unlink(home + "/" + DatabaseFile.lockName)
    unsafe rmdir(home)
  }

  /// Overwrites the first MiB, where header and slots are; solid-state disks may keep old copies, which is
  /// why the slots hold nothing that opens without a passphrase.
  private static func overwrite(_ path: String) {
    let descriptor = unsafe open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0 else { return }
    let zeros = Data(count: min(Int(status.st_size), 1 << 20))
    unsafe zeros.withUnsafeBytes { unsafe _ = pwrite(descriptor, $0.baseAddress, $0.count, 0) }
    fsync(descriptor)
  }
}
