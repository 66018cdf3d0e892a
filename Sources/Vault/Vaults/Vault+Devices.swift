// SPDX-License-Identifier: Apache-2.0
//
// What synchronisation asks of a vault: which rows it has, their frames, and to take rows of other devices.

internal import Primitives
internal import Secrets
package import Storage

extension Vault {
  /// The digest of all rows and their standing, which changes with any of them.
  package func rowsDigest() throws -> [UInt8] { try read { _, state, _ in state.rows.bytes } }

  /// Hands every row to `body`, in the order of their numbers, without opening it.
  /// - Returns: ``rowsDigest()``. Before it returns, nobody knows that the rows are complete.
  /// - Throws: `VaultError.corrupt` when they are not.
  package func forEachRow(_ body: (VersionRow) throws -> Void) throws -> [UInt8] {
    try read { transaction, state, keys in
      var hash = keys.rowHash()
      var digest = RowDigest()
      try transaction.forEachRow(
        "SELECT id, message, standing, since, timestamp FROM messages NOT INDEXED ORDER BY number"
      ) { row in
        let id = try row.identifier(0)
        let mark = try RowMark(row, from: 1)
        hash.add(id, mark, to: &digest)
        try body(
          VersionRow(
            id: id, message: mark?.message ?? id, standing: mark?.standing ?? .shown, stored: row.integer(4)))
        return true
      }
      guard digest == state.rows else { throw VaultError.corrupt }
      return state.rows.bytes
    }
  }

  /// Opens rows, and lends the frame of each to `body`, until it answers false.
  /// - Returns: those of them that are not here, or do not open.
  package func withFrames(
    _ rows: [MessageID], _ body: (MessageID, RawSpan) throws -> Bool
  ) throws -> [MessageID] {
    try read { transaction, _, keys in
      var opener = MessageOpener(keys)
      var missing: [MessageID] = []
      var goesOn = true
      for id in rows where goesOn {
        guard let number = try MessageRow.number(ofRow: id, transaction) else {
          missing.append(id)
          continue
        }
        try MessageRow.forEach(in: number...number, transaction) { row, box in
          do {
            goesOn = try opener.openFrame(row, box) { try body(id, $0) }
          } catch VaultError.dataTampered, VaultError.decryptionFailed {
            missing.append(id)
          }
          return false
        }
      }
      return missing
    }
  }

  /// The rows of these names that are here.
  package func rows(named ids: [MessageID]) throws -> [MessageID: VersionRow] {
    try read { transaction, _, _ in
      var rows: [MessageID: VersionRow] = [:]
      for id in ids {
        rows[id] = try transaction.firstRow(
          "SELECT message, standing, since, timestamp FROM messages WHERE id = ?", id.column
        ) {
          let mark = try RowMark($0, from: 0)
          return VersionRow(
            id: id, message: mark?.message ?? id, standing: mark?.standing ?? .shown,
            stored: try $0.integer(3))
        }
      }
      return rows
    }
  }

  /// All rows of these messages, in the order in which they were stored.
  package func rows(ofMessages messages: some Collection<MessageID>) throws -> [MessageID: [VersionRow]] {
    try read { transaction, _, _ in
      var rows: [MessageID: [VersionRow]] = [:]
      for message in messages {
        try transaction.forEachRow(
          """
          SELECT id, message, standing, since, timestamp, number FROM messages WHERE id = ?1 AND message = x''
          UNION ALL
          SELECT id, message, standing, since, timestamp, number FROM messages WHERE message = ?1 AND message <> x''
          ORDER BY number
          """, message.column
        ) { row in
          rows[message, default: []].append(
            VersionRow(
              id: try row.identifier(0), message: message,
              standing: try RowMark(row, from: 1)?.standing ?? .shown,
              stored: try row.integer(4)))
          return true
        }
      }
      return rows
    }
  }

  /// Makes changes of other devices, in this order, as one transaction.
  ///
  /// - Parameters:
  ///   - changes: rows to insert are not here, and their frames are of those rows.
  ///   - alongside: what else is written in the same transaction. What it throws undoes all of it.
  /// - Returns: ``rowsDigest()`` after it.
  package func apply(
    _ changes: [RowChange], alongside: (borrowing Transaction, _ digest: [UInt8]) throws -> Void
  ) throws -> [UInt8] {
    var sealer = MessageSealer(pause: clock.pause)
    let now = clock.now()
    // A message that comes back may have been in the trash for longer than it is kept there.
    return try write(keepsExpired: true) { transaction, state, keys in
      var hash = keys.rowHash()
      for change in changes {
        switch change {
        case .insert(let row, let frame):
          try frame.withBytes { frame in
            try sealer.insert(
              state.nextNumber(), row, frame: frame, keyVersion: state.currentVersion,
              key: keys.key(state.currentVersion), transaction)
          }
          hash.add(row.id, row.id == row.message ? nil : RowMark(row.message, .shown), to: &state.rows)
          hash.addShown(row.id, to: &state.shown)
        case .set(let id, let standing):
          let row = try Self.row(id, transaction)
          guard row.standing != standing else { continue }
          let time = standing == .removed ? try Self.timeOfRemoval(now, transaction) : now
          let mark = RowMark(row.message, standing, since: standing == .shown ? 0 : time)
          try self.mark(row, mark, &state, &hash, keys, transaction)
        }
      }
      try Self.checkShown(changes, transaction)
      try alongside(transaction, state.rows.bytes)
      return state.rows.bytes
    }
  }

  /// Of no message that these changes are about may two rows be shown.
  private static func checkShown(_ changes: [RowChange], _ transaction: borrowing Transaction) throws {
    var messages: Set<MessageID> = []
    for change in changes {
      switch change {
      case .insert(let row, _): messages.insert(row.message)
      case .set(let id, _): messages.insert(try row(id, transaction).message)
      }
    }
    for message in messages {
      let count = try transaction.firstRow(
        """
        SELECT (SELECT count(*) FROM messages WHERE id = ?1 AND message = x'')
          + (SELECT count(*) FROM messages WHERE message = ?1 AND message <> x'' AND standing = 0)
        """, message.column
      ) { try $0.integer(0) }
      guard count ?? 0 <= 1 else { throw VaultError.corrupt }
    }
  }

  private static func row(_ id: MessageID, _ transaction: borrowing Transaction) throws -> MessageRow {
    guard let number = try MessageRow.number(ofRow: id, transaction) else { throw VaultError.corrupt }
    var found: MessageRow?
    try MessageRow.forEach(in: number...number, transaction) { row, _ in
      found = row
      return false
    }
    guard let found, found.id == id else { throw VaultError.corrupt }
    return found
  }
}

extension RowDigest {
  /// Count and sum of the rows, and of their marks.
  fileprivate var bytes: [UInt8] {
    var bytes: [UInt8] = []
    for digest in [identifiers, marks] {
      bytes.append(bigEndian: Int64(digest.count))
      bytes += digest.sum
    }
    return bytes
  }
}
