// SPDX-License-Identifier: Apache-2.0
//
// The trash: a removed message keeps its rows for 30 days, sealed as they were, and leaves every list, search and export
// at once (Specs/vault.md, "Marks").

public import MessageFormats
public import Primitives
public import Storage

extension Vault {
  /// Days for which a removed message is kept.
  public static let trashDays = 30

  /// Moves a message to the trash.
  ///
  /// - Parameters:
  ///   - id: the message.
  ///   - alongside: what else is written in the same transaction. What it throws undoes all of it.
  /// - Throws: `VaultError.messageNotFound`, once the vault's count has confirmed it; `.messageInTrash`.
  public func remove(
    _ id: MessageID, alongside: (borrowing Transaction) throws -> Void = { _ in }
  ) throws {
    try write { transaction, state, keys in
      let row = try Self.shownRow(of: id, transaction, state, keys)
      var hash = keys.rowHash()
      let now = try Self.timeOfRemoval(clock.now(), transaction)
      try mark(row, RowMark(id, .removed, since: now), &state, &hash, keys, transaction)
      try alongside(transaction)
    }
  }

  /// Puts a message back where it was before it was removed.
  /// - Throws: `VaultError.notInTrash`, once the vault's count has confirmed it.
  public func putBack(
    _ id: MessageID, alongside: (borrowing Transaction) throws -> Void = { _ in }
  ) throws {
    // As long as a list shows it, it comes back.
    try write(keepsExpired: true) { transaction, state, keys in
      let row = try Self.removedRow(of: id, transaction, state, keys)
      var hash = keys.rowHash()
      // Another device may have stored a version meanwhile.
      for number in try MessageRow.numbers(of: id, .shown, transaction) {
        let other = try MessageRow.row(number, of: id, transaction)
        try mark(other, RowMark(id, .replaced, since: clock.now()), &state, &hash, keys, transaction)
      }
      try mark(row, RowMark(id, .shown), &state, &hash, keys, transaction)
      try alongside(transaction)
    }
  }

  /// Lends the metadata of every message in the trash to `body`, the last removed first; false stops.
  ///
  /// - Parameter body: gets when it was removed, in seconds since 1970, UTC; and the bytes of its content.
  /// - Returns: the identifiers of messages that do not open.
  /// - Throws: `VaultError.corrupt` when the file was changed.
  public func listTrash(
    _ body: (_ id: MessageID, _ metadata: MessageMetadata, _ removed: Int64, _ byteCount: Int) throws -> Bool
  ) throws -> [MessageID] {
    var opener = MessageOpener(try keys())
    var unreadable: [MessageID] = []
    var entries: [(id: MessageID, metadata: MessageMetadata, removed: Int64, byteCount: Int)] = []
    try read { transaction, state, keys in
      guard try Self.digestOfMarks(transaction, keys) == state.rows.marks else { throw VaultError.corrupt }
      opener.keys = keys
      for number in try MessageRow.numbers(.removed, transaction) {
        try MessageRow.forEach(in: number...number, transaction) { row, box in
          do {
            try opener.open(row, box) { metadata, _, content in
              entries.append((row.message, metadata, row.mark?.since ?? 0, content.byteCount))
            }
          } catch VaultError.dataTampered(let id), VaultError.decryptionFailed(let id, _) {
            unreadable.append(id)
          }
          return true
        }
      }
    }
    for entry in entries {
      guard try body(entry.id, entry.metadata, entry.removed, entry.byteCount) else { break }
    }
    try recordFailures(unreadable)
    return unreadable
  }

  /// Erases messages of the trash with all their versions. Their rows are overwritten in the file.
  ///
  /// - Parameters:
  ///   - ids: the messages.
  ///   - alongside: what else is written in the same transaction. What it throws undoes all of it.
  /// - Throws: `VaultError.notInTrash`, once the vault's count has confirmed it; then nothing is erased.
  public func eraseRemoved(
    _ ids: [MessageID], alongside: (borrowing Transaction) throws -> Void = { _ in }
  ) throws {
    try write(keepsExpired: true) { transaction, state, keys in
      for id in ids {
        _ = try Self.removedRow(of: id, transaction, state, keys)
        try Self.erase(id, &state, keys, transaction)
      }
      try alongside(transaction)
    }
    // Their pages are in the log as well.
    _ = try? file.truncateLog()
  }

  /// Erases what has been in the trash for ``trashDays``; part of every change of the vault. A clock may be wrong once: an
  /// earlier change must have come after those days, too.
  static func eraseExpired(
    now: Int64, _ state: inout VaultState, _ keys: VaultKeys, _ transaction: borrowing Transaction
  ) throws {
    if state.removedCount == 0 { return }
    let last = try max(timeOfNewestRow(transaction), timeOfNewestMark(transaction))
    for id in try removedMessages(before: min(now, last) - Int64(trashDays) * secondsPerDay, transaction) {
      try erase(id, &state, keys, transaction)
    }
  }

  /// When something is removed: no earlier than the newest message was stored, whatever the clock says. A machine without
  /// a battery begins years ago.
  static func timeOfRemoval(_ now: Int64, _ transaction: borrowing Transaction) throws -> Int64 {
    try max(now, timeOfNewestRow(transaction))
  }

  private static func timeOfNewestRow(_ transaction: borrowing Transaction) throws -> Int64 {
    try transaction.firstRow("SELECT timestamp FROM messages ORDER BY number DESC LIMIT 1") {
      try $0.integer(0)
    } ?? 0
  }

  private static func timeOfNewestMark(_ transaction: borrowing Transaction) throws -> Int64 {
    try transaction.firstRow("SELECT ifnull(max(since), 0) FROM messages WHERE message <> x''") {
      try $0.integer(0)
    } ?? 0
  }

  // MARK: Steps

  private static func removedRow(
    of id: MessageID, _ transaction: borrowing Transaction, _ state: VaultState, _ keys: VaultKeys
  ) throws -> MessageRow {
    let numbers = try MessageRow.numbers(of: id, .removed, transaction)
    if numbers.isEmpty {
      throw try isComplete(transaction, state, keys) ? VaultError.notInTrash : .corrupt
    }
    guard numbers.count == 1 else { throw VaultError.corrupt }
    return try MessageRow.row(numbers[0], of: id, transaction)
  }

  /// The messages that were removed no later than a moment.
  static func removedMessages(
    before moment: Int64, _ transaction: borrowing Transaction
  ) throws -> [MessageID] {
    var messages: [MessageID] = []
    try transaction.forEachRow(
      "SELECT message FROM messages WHERE message <> x'' AND standing = 2 AND since <= ?", .integer(moment)
    ) { row in
      messages.append(try row.identifier(0))
      return true
    }
    return messages
  }

  /// Deletes every row of a message in the trash.
  private static func erase(
    _ id: MessageID, _ state: inout VaultState, _ keys: VaultKeys, _ transaction: borrowing Transaction
  ) throws {
    var hash = keys.rowHash()
    var rowCount = 0
    try transaction.forEachRow(
      "SELECT id, message, standing, since FROM messages WHERE message = ? AND message <> x''", id.column
    ) { row in
      let mark = try RowMark(row, from: 1)
      hash.remove(try row.identifier(0), mark, from: &state.rows)
      if mark?.standing == .replaced { state.replacedCount -= 1 }
      rowCount += 1
      return true
    }
    state.removedCount -= 1
    let deleted = try transaction.execute(
      "DELETE FROM messages WHERE message = ? AND message <> x''", id.column)
    guard deleted == rowCount else { throw VaultError.corrupt }
  }
}
