// SPDX-License-Identifier: Apache-2.0
//
// Adding messages.

public import MessageFormats
public import Primitives
public import Secrets
public import Storage

/// The limits of a batch; it ends at the first that is reached.
package struct BatchLimits: Sendable {
  /// A sync costs as much as sealing a hundred messages, which is little compared with thousands.
  package var messageCount: Int
  /// Limits the write-ahead log, and how much an interruption undoes.
  package var byteCount = 8 << 20
  /// How many bytes of metadata a list keeps; the rest is read twice.
  package var keptByteCount: Int

  package static let standard = BatchLimits()

  package init(messageCount: Int = 4_000, keptByteCount: Int = 8 << 20) {
    self.messageCount = messageCount
    self.keptByteCount = keptByteCount
  }
}

extension Vault {
  /// Stores a message; it is on the disk when this returns.
  ///
  /// - Parameters:
  ///   - content: at most `MessageLimits.messageByteCount` bytes.
  ///   - metadata: stored with it.
  ///   - alongside: what else is written in the same transaction. What it throws undoes all of it.
  /// - Returns: its identifier.
  /// - Throws: `VaultError.messageTooLarge`, `.metadataOutOfBounds`; `StorageError.inUse`, `.full`.
  public func add(
    _ content: borrowing SecretBytes, metadata: MessageMetadata,
    alongside: (borrowing Transaction) throws -> Void = { _ in }
  ) throws -> MessageID {
    var sealer = MessageSealer(pause: clock.pause)
    let now = clock.now()
    return try content.withBytes { content in
      try write { transaction, state, keys in
        var hash = keys.rowHash()
        let id = try sealer.insert(
          state.nextNumber(), metadata, content, timestamp: now, keyVersion: state.currentVersion,
          key: keys.key(state.currentVersion), transaction)
        hash.add(id, nil, to: &state.rows)
        hash.addShown(id, to: &state.shown)
        try alongside(transaction)
        return id
      }
    }
  }

  /// The progress of an import.
  public struct ImportProgress: Sendable {
    /// Messages that are on the disk.
    public var importedCount = 0
    /// Entries that the vault had already, or that came before in the source.
    public var alreadyThereCount = 0
    /// The reasons why entries of the source were skipped.
    public var skipped: [MessageFormatError] = []
    /// How far the source was read.
    public var source: SourceProgress
  }

  /// Stores every message of a source, in batches that are each durable.
  ///
  /// - Parameters:
  ///   - source: is read to its end.
  ///   - tags: given to every message besides its own.
  ///   - allowsDuplicates: whether to store what the vault has already. If not, it is read from end to end first. A
  ///     mail is there if one with the same bytes is; another message, if one with the same content, title, type and
  ///     date is. Tags do not count, nor messages in the trash.
  ///   - committed: called with the identifiers of a batch once it is on the disk, and now and then without any;
  ///     false stops the import.
  /// - Returns: what was done. Entries that are malformed or too large are skipped and reported.
  /// - Throws: the error that ended the import. `committed` has been called for everything that is stored. When the
  ///   source fails, its messages up to the failure are stored first.
  @discardableResult
  public func importMessages<Source: MessageSource & ~Copyable>(
    from source: inout Source, tags: [String] = [], allowsDuplicates: Bool = true,
    committed: (_ ids: [MessageID], _ progress: ImportProgress) throws -> Bool
  ) throws -> ImportProgress {
    var progress = ImportProgress(source: source.progress)
    var known: KnownMessages?
    if !allowsDuplicates {
      known = try knownMessages { try committed([], progress) }
      if known == nil { return progress }
    }
    var sealer = MessageSealer(pause: clock.pause)
    var isAtEnd = false
    var goesOn = true
    var failure: MessageFormatError?
    var indexing = ImportIndexing(self)
    // Of an import that is ended early too.
    defer { try? indexing.name() }
    while goesOn && !isAtEnd {
      var ids: [MessageID] = []
      let now = clock.now()
      try write { transaction, state, keys in
        var hash = keys.rowHash()
        let version = state.currentVersion
        let key = try keys.key(version)
        var byteCount = 0
        var entryCount = 0
        while !isAtEnd, entryCount < batch.messageCount, byteCount < batch.byteCount {
          do {
            isAtEnd = try !source.next { metadata, content in
              var metadata = metadata
              for tag in tags where !metadata.tags.contains(tag) { metadata.tags.append(tag) }
              byteCount += content.byteCount
              entryCount += 1
              let digest = known?.digest(of: metadata, content)
              if let digest, known?.contains(digest) == true {
                progress.alreadyThereCount += 1
                return
              }
              let id = try sealer.insert(
                state.nextNumber(), metadata, content, timestamp: now, keyVersion: version, key: key,
                transaction)
              hash.add(id, nil, to: &state.rows)
              hash.addShown(id, to: &state.shown)
              ids.append(id)
              if let digest { known?.insert(digest) }
            }
          } catch let error as MessageFormatError {
            if error.concernsOneEntry {
              progress.skipped.append(error)
            } else {
              failure = error
              isAtEnd = true
            }
          } catch VaultError.metadataOutOfBounds {
            progress.skipped.append(.metadataOutOfBounds("title, tags, type or date"))
          } catch VaultError.messageTooLarge(let limit) {
            progress.skipped.append(.messageTooLarge(byteCount: limit + 1, limit: limit))
          }
        }
      }
      progress.importedCount += ids.count
      progress.source = source.progress
      goesOn = try committed(ids, progress)
      if goesOn { indexing.add(ids.count) }
    }
    if goesOn { indexing.finish() }
    if let failure { throw failure }
    return progress
  }
}
