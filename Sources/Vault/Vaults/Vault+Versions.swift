// SPDX-License-Identifier: Apache-2.0
//
// Versions of messages (Specs/vault.md, "Frame" and "Marks"). An edit stores a row of its own, under a key of its own,
// and marks the former one as replaced; both in one transaction. Nothing is overwritten: each version can be read and
// restored until the message is erased.

public import MessageFormats
public import Primitives
public import Secrets
public import Storage

extension Vault {
  /// What an edit did.
  public struct Edit: Sendable, Equatable {
    /// The number of the version that is shown now.
    public let number: Int
    /// Whether the message was edited elsewhere since `base` was read. That version is kept as well.
    public let isBeside: Bool
  }

  /// Lends the version that is shown, and its content.
  /// - Throws: as ``withMessage(_:_:)``.
  public func withVersion<R>(
    _ id: MessageID, _ body: (MessageVersion, RawSpan) throws -> R
  ) throws -> R {
    let message = try opened(id)
    return try message.withContent { try body(message.version, $0) }
  }

  /// Lends an earlier version, or the one that is shown, by its number.
  /// - Throws: `VaultError.versionNotFound`; else as ``withMessage(_:_:)``.
  public func withVersion<R>(
    _ id: MessageID, number: Int, _ body: (MessageVersion, RawSpan) throws -> R
  ) throws -> R {
    let (versions, unreadableCount) = try history(id)
    guard let wanted = versions.last(where: { $0.number == number }) else {
      // It may be one of those.
      if unreadableCount > 0 { throw VaultError.dataTampered(id) }
      throw VaultError.versionNotFound
    }
    let message = try countingFailures {
      try read { transaction, _, keys in
        let row = try MessageRow.number(ofRow: wanted.id.row, transaction)
        guard let row else { throw VaultError.corrupt }
        return try Self.open(row, of: id, transaction, keys)
      }
    }
    return try message.withContent { try body(message.version, $0) }
  }

  /// The versions of a message.
  ///
  /// - Returns: the versions, in the order of their numbers; and how many do not open.
  /// - Throws: `VaultError.messageNotFound`, `.messageInTrash`, `.corrupt`.
  public func history(_ id: MessageID) throws -> (versions: [MessageVersion], unreadableCount: Int) {
    var unreadableCount = 0
    var versions: [MessageVersion] = []
    try read { transaction, state, keys in
      guard try Self.digestOfMarks(transaction, keys) == state.rows.marks else { throw VaultError.corrupt }
      guard let shown = try MessageRow.number(of: id, transaction) else {
        throw try Self.confirmMissing(id, transaction, state, keys)
      }
      var opener = MessageOpener(keys)
      for number in try MessageRow.numbers(of: id, .replaced, transaction) + [shown] {
        try MessageRow.forEach(in: number...number, transaction) { row, box in
          guard row.message == id else { throw VaultError.corrupt }
          do {
            versions.append(try opener.version(row, box))
          } catch VaultError.dataTampered, VaultError.decryptionFailed {
            unreadableCount += 1
          }
          return false
        }
      }
    }
    if unreadableCount > 0 { try recordFailures([id]) }
    return (Self.numbered(versions), unreadableCount)
  }

  /// The versions in the order of their numbers. Two devices may have given one number to two versions: the later stored
  /// one gets the next.
  private static func numbered(_ versions: [MessageVersion]) -> [MessageVersion] {
    var last = 0
    return versions.sorted { ($0.number, $0.stored, $0.id.row) < ($1.number, $1.stored, $1.id.row) }.map {
      version in
      last = max(version.number, last + 1)
      return version.with(number: last)
    }
  }

  /// Stores a new version of a message; it is on the disk when this returns.
  ///
  /// - Parameters:
  ///   - id: the message.
  ///   - base: the version that was edited. If another was stored since, both are kept, and this one is shown. Nil
  ///     replaces the version that is shown, even if it does not open.
  ///   - content: at most `MessageLimits.messageByteCount` bytes.
  ///   - metadata: stored with it.
  ///   - alongside: what else is written in the same transaction. What it throws undoes all of it.
  /// - Throws: `VaultError.messageTooLarge`, `.metadataOutOfBounds`; else as ``withMessage(_:_:)``.
  public func edit(
    _ id: MessageID, from base: VersionID?, to content: borrowing SecretBytes, metadata: MessageMetadata,
    alongside: (borrowing Transaction) throws -> Void = { _ in }
  ) throws -> Edit {
    var sealer = MessageSealer(pause: clock.pause)
    let now = clock.now()
    return try countingFailures {
      try content.withBytes { content in
        try write { transaction, state, keys in
          let former = try Self.shownRow(of: id, transaction, state, keys)
          let number = try Self.lastNumber(former, transaction, keys, isNeeded: base != nil) + 1
          let seen = base?.row ?? former.id
          let edition = FrameEdition(message: id, number: number, replaced: [seen])
          let row = try sealer.insert(
            state.nextNumber(), metadata, edition, content, timestamp: now,
            keyVersion: state.currentVersion, key: keys.key(state.currentVersion), transaction)
          var hash = keys.rowHash()
          hash.add(row, RowMark(id, .shown), to: &state.rows)
          hash.addShown(row, to: &state.shown)
          try mark(former, RowMark(id, .replaced, since: now), &state, &hash, keys, transaction)
          try alongside(transaction)
          return Edit(number: number, isBeside: seen != former.id)
        }
      }
    }
  }

  /// Makes an earlier version the one that is shown, as a new version.
  /// - Throws: `VaultError.versionNotFound`; else as ``edit(_:from:to:metadata:alongside:)``.
  public func restore(
    _ id: MessageID, number: Int, alongside: (borrowing Transaction) throws -> Void = { _ in }
  ) throws -> Edit {
    try withVersion(id, number: number) { version, content in
      try edit(
        id, from: nil, to: SecretBytes(copying: content), metadata: version.metadata, alongside: alongside)
    }
  }

  /// The row that is shown for a message.
  static func shownRow(
    of id: MessageID, _ transaction: borrowing Transaction, _ state: VaultState, _ keys: VaultKeys
  ) throws -> MessageRow {
    guard let number = try MessageRow.number(of: id, transaction) else {
      throw try confirmMissing(id, transaction, state, keys)
    }
    return try MessageRow.row(number, of: id, transaction)
  }

  /// The highest number of a message's versions: that of the one that is shown, or as many as there are, since a version
  /// of another device may be shown under an earlier number.
  /// - Parameter isNeeded: whether the version that is shown must open.
  private static func lastNumber(
    _ shown: MessageRow, _ transaction: borrowing Transaction, _ keys: VaultKeys, isNeeded: Bool
  ) throws -> Int {
    let count = 1 + (try MessageRow.numbers(of: shown.message, .replaced, transaction).count)
    do {
      return max(count, try open(shown.number, of: shown.message, transaction, keys).version.number)
    } catch VaultError.dataTampered where !isNeeded, VaultError.decryptionFailed where !isNeeded {
      return count
    }
  }

  /// Gives a row another mark, and counts it. A row that is shown again gets a new number, as if it were new.
  func mark(
    _ row: MessageRow, _ mark: RowMark, _ state: inout VaultState, _ hash: inout RowHash, _ keys: VaultKeys,
    _ transaction: borrowing Transaction
  ) throws {
    var number = row.number
    switch (row.standing, mark.standing) {
    case (.shown, .replaced), (.shown, .removed):
      try leaveIndex(row, &state, &hash, keys, transaction)
      hash.removeShown(row.id, from: &state.shown)
    case (.replaced, .shown), (.removed, .shown):
      hash.addShown(row.id, to: &state.shown)
      number = try state.nextNumber()
    default: break
    }
    _ = try transaction.execute(
      "UPDATE messages SET number = ?, message = ?, standing = ?, since = ? WHERE number = ?",
      .integer(number), mark.message.column, .integer(mark.standing.rawValue), .integer(mark.since),
      .integer(row.number))
    hash.change(row.id, from: row.mark, to: mark, in: &state.rows)
    state.count(row.standing, by: -1)
    state.count(mark.standing, by: 1)
  }
}

extension VaultState {
  fileprivate mutating func count(_ standing: RowMark.Standing, by difference: Int) {
    switch standing {
    case .shown: break
    case .replaced: replacedCount += difference
    case .removed: removedCount += difference
    }
  }
}
