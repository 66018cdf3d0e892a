// SPDX-License-Identifier: Apache-2.0
//
// Operations on the messages of an open coffer, with their entries in the audit log. When messages fail to open, the
// user is told in the audit log and after each command, until an examination has named them. Reading leaves no entry:
// for that, use ``Coffer/vault``.

public import MessageFormats
public import Primitives
public import Secrets
public import Vaults

extension Coffer {
  /// Stores a message; it is on the disk when this returns.
  ///
  /// - Returns: its identifier.
  /// - Throws: `VaultError.messageTooLarge`, `.metadataOutOfBounds`; `StorageError.inUse`, `.full`.
  public func addMessage(
    _ content: borrowing SecretBytes, metadata: MessageMetadata
  ) throws -> MessageID {
    try auditing(.messagesAdded) { try vault.add(content, metadata: metadata, alongside: $0) }
  }

  /// Stores a new version of a message; it is on the disk when this returns. See `Vault.edit`.
  public func editMessage(
    _ id: MessageID, from base: VersionID, to content: borrowing SecretBytes, metadata: MessageMetadata
  ) throws -> Vault.Edit {
    try auditing(.messagesEdited) {
      try vault.edit(id, from: base, to: content, metadata: metadata, alongside: $0)
    }
  }

  /// Makes an earlier version the one that is shown, as a new version. See `Vault.restore`.
  public func restoreMessage(_ id: MessageID, number: Int) throws -> Vault.Edit {
    try auditing(.messagesEdited) { try vault.restore(id, number: number, alongside: $0) }
  }

  /// Moves a message to the trash.
  /// - Throws: `VaultError.messageNotFound`, once the vault's count has confirmed it; `.messageInTrash`.
  public func removeMessage(_ id: MessageID) throws {
    try auditing(.messagesRemoved) { try vault.remove(id, alongside: $0) }
  }

  /// Takes a message out of the trash.
  /// - Throws: `VaultError.notInTrash`, once the vault's count has confirmed it.
  public func putBackMessage(_ id: MessageID) throws {
    try auditing(.messagesPutBack) { try vault.putBack(id, alongside: $0) }
  }

  /// Erases messages of the trash with all their versions.
  ///
  /// - Parameter ids: the messages, of which there is at least one.
  /// - Throws: `VaultError.notInTrash`, once the vault's count has confirmed it; then nothing is erased.
  public func eraseMessages(_ ids: [MessageID]) throws {
    try auditing(.messagesErased, count: ids.count) { try vault.eraseRemoved(ids, alongside: $0) }
  }

  /// Stores every message of a source, in batches that are each durable. However it ends, the audit log has an
  /// entry for those that were stored. See `Vault.importMessages`.
  @discardableResult
  public func importMessages<Source: MessageSource & ~Copyable>(
    from source: inout Source, tags: [String] = [], allowsDuplicates: Bool = true,
    committed: (_ ids: [MessageID], _ progress: Vault.ImportProgress) throws -> Bool
  ) throws -> Vault.ImportProgress {
    var count = 0
    defer { if count > 0 { audit(.messagesAdded, count: count) } }
    return try vault.importMessages(from: &source, tags: tags, allowsDuplicates: allowsDuplicates) {
      ids, progress in
      count = progress.importedCount
      return try committed(ids, progress)
    }
  }

  /// The result of an export.
  public struct MessageExport: Sendable {
    /// Messages that were written.
    public var count = 0
    /// Messages that do not open, and were left out.
    public var unreadable: [MessageID] = []
  }

  /// Writes every message to a sink, in the order in which they were added, and finishes the sink.
  ///
  /// - Parameters:
  ///   - sink: where they go.
  ///   - tag: only messages with this tag.
  ///   - progress: called before each message with the number of messages written; false stops.
  /// - Returns: nil when it was stopped; the sink is not finished then.
  /// - Throws: `VaultError.corrupt` when a row was removed or inserted; the sink's errors.
  public func exportMessages<Sink: MessageSink & ~Copyable>(
    to sink: inout Sink, tag: String? = nil, progress: (Int) -> Bool
  ) throws -> MessageExport? {
    var export = MessageExport()
    var isStopped = false
    export.unreadable = try vault.forEachMessage(tag: tag) { id, metadata, content in
      guard progress(export.count) else {
        isStopped = true
        return false
      }
      try sink.append(id: id.description, metadata, content)
      export.count += 1
      return true
    }
    guard !isStopped, progress(export.count) else { return nil }
    try sink.finish()
    audit(.messagesExported, count: export.count)
    return export
  }

  // MARK: The vault key

  /// Encrypts every message with a new key, or continues a rotation that was interrupted.
  ///
  /// - Parameters:
  ///   - onlyResumes: whether only to continue an interrupted rotation.
  ///   - progress: false stops after the batch; finished batches stay.
  /// - Returns: nil when it was stopped.
  /// - Throws: `VaultError.noRotationUnderWay`.
  public func rotateVaultKey(
    onlyResumes: Bool = false, progress: (Vault.RotationProgress) throws -> Bool
  ) throws -> Vault.RotationReport? {
    let report = try onlyResumes ? vault.resumeRotation(progress: progress) : vault.rotate(progress: progress)
    if let report { audit(.keyRotated, count: report.readableCount) }
    return report
  }

  /// Goes back to the key that was retired last.
  ///
  /// - Returns: nil when it was stopped.
  /// - Throws: `VaultError.nothingToRollBack`.
  public func rollBackVaultKey(
    progress: (Vault.RotationProgress) throws -> Bool
  ) throws -> Vault.RotationReport? {
    let report = try vault.rollBack(progress: progress)
    if let report { audit(.keyRolledBack, count: report.readableCount) }
    return report
  }

  // MARK: Failures

  /// Calls `listener` when so many messages have failed to open that a warning is due or the vault locks, after
  /// the entry in the audit log. The second argument is their number. Replaces an earlier listener.
  public func listenForFailures(_ listener: @escaping @Sendable (Vault.Alarm, Int) -> Void) {
    vault.listenForAlarms { [weak self] alarm, count in
      switch alarm {
      case .none: break
      case .warning: self?.audit(.failuresWarned, count: count)
      case .locked: self?.audit(.vaultLocked, count: count)
      }
      listener(alarm, count)
    }
  }
}
