// SPDX-License-Identifier: Apache-2.0
//
// The end of a coffer: the keys that an agent keeps and the slots go first, which makes every other byte
// unreadable; then what a Secret Service has, and the files.

internal import Agent
internal import Keychains
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
  ///
  /// - Returns: what is left outside of the coffer's folder.
  /// - Throws: `StorageError.notFound`; `.inUse`; `.notPermitted` when a file could not be removed.
  public static func erase(home: String, machine: Machine = Machine()) throws -> Remains {
    guard DatabaseFile.exists(home: home) else { throw StorageError.notFound }
    var remains = Remains()
    let exports = UnfinishedExports(home: home)
    exports.removeLeftovers()
    // An agent that hangs must not keep anybody from erasing.
    do { _ = try AgentSession(home: home).end() } catch { remains.agent = true }
    do {
      let file = try DatabaseFile.open(home: home)
      // Held until the files are gone.
      defer { file.close() }
      let keybag = try? file.read(Keybag.load)
      let counter = (try? file.read(FileBinding.counterHandle)) ?? nil
      try file.write { transaction in
        try transaction.execute("UPDATE keybag SET record = zeroblob(length(record))")
        try transaction.execute("DELETE FROM keybag")
        try transaction.execute("DELETE FROM keychain")
      }
      try file.truncateLog()
      if let keybag, !keybag.removeForeignKeychain(file) { remains.secretServiceItem = true }
      if let counter, !RollbackCounter.delete(handle: counter, machine: machine) { remains.counter = true }
      remains.exports = exports.forget()
      try file.destroy()
    } catch StorageError.corrupt, StorageError.foreignLog, StorageError.unknownFormat, StorageError.foreign {
      // A damaged file is erased all the same.
      remains.exports = exports.forget()
      try DatabaseFile.destroy(home: home)
    }
    return remains
  }

  /// What an erasure could not reach.
  public struct Remains: Equatable, Sendable {
    /// An agent that does not answer may still have the keys, which open older copies of the file.
    public var agent = false
    /// The items in a Secret Service that is locked or does not answer; nothing can read them any more.
    public var secretServiceItem = false
    /// The counter in a chip that did not answer, or whose owner has a password; it takes room there.
    public var counter = false
    /// What killed exports left where it could not be removed; plain content.
    public var exports: [String] = []
  }
}
