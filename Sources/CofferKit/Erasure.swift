// SPDX-License-Identifier: Apache-2.0
//
// The end of a coffer (D34): the slots are overwritten first, which alone makes every other byte
// unreadable; then the files go.

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
  /// Destroys the coffer in `home`, damaged or not. The slots go first, which makes everything else
  /// unreadable; then every byte is overwritten and the files are removed.
  /// - Throws: `StorageError.notFound`; `.inUse`; `.notPermitted` when a file could not be removed.
  public static func erase(home: String) throws {
    guard DatabaseFile.exists(home: home) else { throw StorageError.notFound }
    do {
      let file = try DatabaseFile.open(home: home)
      // Held until the files are gone.
      defer { file.close() }
      try file.write { transaction in
        try transaction.execute("UPDATE keybag SET record = zeroblob(length(record))")
        try transaction.execute("DELETE FROM keybag")
        try transaction.execute("DELETE FROM keychain")
      }
      try file.truncateLog()
      try DatabaseFile.destroy(home: home)
    } catch StorageError.corrupt, StorageError.unknownFormat {
      // A damaged file is erased all the same.
      try DatabaseFile.destroy(home: home)
    }
  }
}
