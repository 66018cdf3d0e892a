// SPDX-License-Identifier: Apache-2.0
//
// Whether the rows in the file are those that the state counts, in the standing that it gives them: read from the
// table and from its indexes, so that no answer relies on an index that was changed.

public import Primitives
internal import Storage

extension Vault {
  /// Compares the table and its indexes with the state.
  static func isComplete(
    _ transaction: borrowing Transaction, _ state: VaultState, _ keys: VaultKeys
  ) throws -> Bool {
    try digestOfTable(transaction, keys) == state.rows && digestOfIndexes(transaction, keys) == state.rows
  }

  static func digestOfTable(
    _ transaction: borrowing Transaction, _ keys: VaultKeys
  ) throws -> RowDigest {
    var hash = keys.rowHash()
    var digest = RowDigest()
    try transaction.forEachRow(
      "SELECT id, message, standing, since FROM messages NOT INDEXED ORDER BY number"
    ) { row in
      hash.add(try row.identifier(0), try RowMark(row, from: 1), to: &digest)
      return true
    }
    return digest
  }

  static func digestOfIndexes(
    _ transaction: borrowing Transaction, _ keys: VaultKeys
  ) throws -> RowDigest {
    var hash = keys.rowHash()
    var digest = RowDigest()
    try transaction.forEachRow("SELECT id FROM messages ORDER BY id") { row in
      hash.add(try row.identifier(0), nil, to: &digest)
      return true
    }
    digest.marks = try digestOfMarks(transaction, keys)
    return digest
  }

  /// The digest of the index of marks alone, which is short.
  static func digestOfMarks(
    _ transaction: borrowing Transaction, _ keys: VaultKeys
  ) throws -> SetDigest {
    var hash = keys.rowHash()
    var marks = SetDigest()
    try transaction.forEachRow(
      "SELECT id, message, standing, since FROM messages INDEXED BY markedMessages WHERE message <> x''"
    ) { row in
      guard let mark = try RowMark(row, from: 1) else { throw VaultError.corrupt }
      hash.add(mark, of: try row.identifier(0), to: &marks)
      return true
    }
    return marks
  }

  /// The error for an identifier that was not found: not found, or corrupt if the rows do not match the count.
  static func confirmMissing(
    _ id: MessageID, _ transaction: borrowing Transaction, _ state: VaultState, _ keys: VaultKeys
  ) throws -> VaultError {
    try isComplete(transaction, state, keys) ? .messageNotFound : .corrupt
  }

  /// Compares how many rows the file has with the vault's count, whatever they are: fast even where there are many.
  /// - Throws: `VaultError.corrupt`.
  public func checkCount() throws {
    try read { transaction, state, _ in
      let count = try transaction.firstRow("SELECT count(id) FROM messages") { try $0.integer(0) }
      guard count == Int64(state.rows.identifiers.count) else { throw VaultError.corrupt }
    }
  }

  /// Compares which rows the file has, and their standing, with the vault's state, without opening them. A row with a
  /// retired key version was restored from before a rotation.
  /// - Throws: `VaultError.corrupt`.
  public func checkRows() throws {
    try read { transaction, state, keys in
      let retired = state.keys.filter { $0.retired != nil }.map(\.version)
      guard try Self.isComplete(transaction, state, keys),
        try Self.usedVersions(transaction).isDisjoint(with: retired)
      else { throw VaultError.corrupt }
    }
  }

  /// Opens every message, earlier versions and the trash too, and returns those that do not open. The failure monitor does not count them: an examination
  /// that finds much damage must not lock the vault.
  public func unreadableMessages(progress: (_ done: Int, _ total: Int) -> Void) throws -> [MessageID] {
    let total = try read { _, state, _ in state.rows.identifiers.count }
    var done = 0
    return try walk(including: RowMark.Standing.all) { _, _, _, _ in
      done += 1
      if done % 1_000 == 0 { progress(done, total) }
      return true
    }.unreadable
  }
}
