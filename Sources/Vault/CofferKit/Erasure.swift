// SPDX-License-Identifier: Apache-2.0
//
// Erasing a coffer: first the agent's keys and the slots, which makes every other byte unreadable; then the items in
// the Secret Service, and the files.

internal import Agent
internal import Glibc
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
  /// Destroys the coffer in `home`, damaged or not. The slots are erased first, which makes everything else
  /// unreadable; then every byte is overwritten and the files are removed.
  ///
  /// - Returns: the remains outside of the coffer's folder.
  /// - Throws: `StorageError.notFound`; `.inUse`; `.notPermitted` when a file could not be removed.
  public static func erase(home: String, machine: Machine = Machine()) throws -> Remains {
    guard DatabaseFile.exists(home: home) else { throw StorageError.notFound }
    var remains = Remains()
    let exports = UnfinishedExports(home: home)
    exports.removeLeftovers()
    // An agent that does not answer must not prevent erasing.
    do { _ = try AgentSession(home: home, variables: machine.agentVariables).end() } catch {
      remains.agent = true
    }
    do {
      let file = try DatabaseFile.open(home: home)
      // Held until the files are gone.
      defer { file.close() }
      let keybag = try? file.read(Keybag.load)
      // Asked before the file loses what it knows of it.
      remains.isSecretServiceAnothers = keybag?.isServiceKeychainAnothers(file) == true
      let counter: [UInt8]?
      do { counter = try file.read(FileBinding.counterHandle) } catch {
        counter = nil
        remains.isCounterUnknown = true
      }
      try file.write { transaction in
        try transaction.execute("UPDATE keybag SET record = zeroblob(length(record))")
        try transaction.execute("DELETE FROM keybag")
        try transaction.execute("DELETE FROM keychain")
      }
      try file.truncateLog()
      if remains.isSecretServiceAnothers {
        // They are left to the copy that needs them.
      } else if let keybag {
        remains.secretServiceItem = !keybag.removeServiceKeychain(file)
      } else {
        remains.isSecretServiceUnknown = true
      }
      if let counter, !RollbackCounter.delete(handle: counter, machine: machine) { remains.counter = true }
      try file.destroy()
    } catch StorageError.corrupt, StorageError.staleLog, StorageError.unknownFormat, StorageError.placeTaken {
      // A damaged file is erased too. It cannot say what it has in the chip or the Secret Service.
      remains.isCounterUnknown = true
      remains.isSecretServiceUnknown = true
      try DatabaseFile.destroy(home: home)
    }
    // Only now, because an interrupted erasure can be repeated until the files are gone, and needs the notes.
    remains.exports = exports.forget()
    unsafe rmdir(home)
    return remains
  }

  /// The remains that an erasure could not reach.
  public struct Remains: Equatable, Sendable {
    /// An agent that does not answer may still have the keys, which open older copies of the file.
    public var agent = false
    /// The items in a Secret Service that is locked or does not answer; nothing can decrypt them any more.
    public var secretServiceItem = false
    /// The items in the Secret Service are not in the state that this file knows: a copy of the coffer has written them,
    /// and they were left to it.
    public var isSecretServiceAnothers = false
    /// The counter in a chip that did not answer, or whose owner hierarchy has a password.
    public var counter = false
    /// The file was too damaged to say whether a Secret Service has items of the coffer.
    public var isSecretServiceUnknown = false
    /// The file was too damaged to say whether a chip has a counter of the coffer.
    public var isCounterUnknown = false
    /// Paths where killed exports may have left plaintext that could not be removed.
    public var exports: [String] = []
  }
}
