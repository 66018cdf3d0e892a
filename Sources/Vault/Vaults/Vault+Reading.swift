// SPDX-License-Identifier: Apache-2.0
//
// Reading messages, one or all. What is lent to a closure has been authenticated; nothing else is.

public import MessageFormats
public import Primitives
internal import Secrets
internal import Storage

extension Vault {
  /// Lends metadata and content of a message.
  ///
  /// - Throws: `VaultError.messageNotFound`, once the vault's count has confirmed it;
  ///   `VaultError.dataTampered`, which the failure monitor has counted.
  public func withMessage<R>(
    _ id: MessageID, _ body: (MessageMetadata, RawSpan) throws -> R
  ) throws -> R {
    do {
      return try read { transaction, state, keys in
        var opener = MessageOpener(keys)
        let found = try id.withBytes { bytes in
          try StorageValue.withBorrowed(bytes) {
            try transaction.firstRow(
              "SELECT number, id, keyVersion, timestamp, sealed FROM messages WHERE id = ?", $0
            ) { row in
              let found = try MessageRow(row)
              // An index that was turned to another row.
              guard found.id == id else { throw VaultError.corrupt }
              return try opener.open(found, row, body)
            }
          }
        }
        guard let found else { throw try Self.confirmMissing(id, transaction, state, keys) }
        return found
      }
    } catch VaultError.dataTampered(let id) {
      try recordFailures([id])
      throw VaultError.dataTampered(id)
    }
  }

  /// Which messages to read, and in which order.
  public struct Selection: Sendable {
    /// Only messages with this tag.
    public var tag: String?
    /// At most this many, of the order that is asked for.
    public var limit: Int?
    /// By their dates, the newest first, and of one date the one that came last; else in the order in which they
    /// came. The first reads twice what it lends: the dates are sealed.
    public var isNewestFirst: Bool

    public init(tag: String? = nil, limit: Int? = nil, isNewestFirst: Bool = true) {
      self.tag = tag
      self.limit = limit
      self.isNewestFirst = isNewestFirst
    }

    /// Every message, in the order in which they came.
    public static let all = Selection(isNewestFirst: false)
  }

  /// Lends every selected message to `body`; false ends the reading.
  ///
  /// A message that does not open is left out, counted by the failure monitor and reported at the end;
  /// the others are read. The identifiers of all rows are compared with the vault's count: what has
  /// vanished is corruption, not absence.
  /// - Returns: the identifiers of messages that do not open.
  /// - Throws: `VaultError.corrupt` after the last message, when a row has vanished or appeared.
  public func forEachMessage(
    _ selection: Selection = .all,
    _ body: (MessageID, MessageMetadata, RawSpan) throws -> Bool
  ) throws -> [MessageID] {
    try forEachMessage(selection, choosing: { _, _ in true }, body)
  }

  /// The same for those that `isWanted` chooses; it sees each message once, in the order in which they came.
  public func forEachMessage(
    _ selection: Selection, choosing isWanted: (MessageMetadata, RawSpan) throws -> Bool,
    _ body: (MessageID, MessageMetadata, RawSpan) throws -> Bool
  ) throws -> [MessageID] {
    var unreadable: [MessageID] = []
    var isCorrupt = false
    try read { transaction, state, keys in
      var opener = MessageOpener(keys)
      var hash = keys.memberHash()
      var seen = SetDigest()
      var left = selection.limit ?? Int.max
      // Two numbers for each that is wanted, and nothing of what it says.
      var places: [(date: Int64, number: Int64)] = []
      func visit(_ source: borrowing StorageRow) throws -> Bool {
        let row = try MessageRow(source)
        guard left > 0 || selection.isNewestFirst else { return false }
        row.id.withBytes { hash.add($0, to: &seen) }
        do {
          return try opener.open(row, source) { metadata, content in
            if let tag = selection.tag, !metadata.tags.contains(tag) { return true }
            guard try isWanted(metadata, content) else { return true }
            if selection.isNewestFirst {
              places.append((metadata.date, row.number))
              return true
            }
            left -= 1
            return try body(row.id, metadata, content)
          }
        } catch VaultError.dataTampered(let id) {
          unreadable.append(id)
          return true
        }
      }
      let sawAll = try transaction.forEachRow(
        "SELECT number, id, keyVersion, timestamp, sealed FROM messages ORDER BY number", body: visit)
      places.sort { $0 > $1 }
      for place in places.prefix(left) {
        let goesOn = try transaction.firstRow(
          "SELECT number, id, keyVersion, timestamp, sealed FROM messages WHERE number = ?",
          .integer(place.number)
        ) { source in
          let row = try MessageRow(source)
          return try opener.open(row, source) { try body(row.id, $0, $1) }
        }
        guard goesOn == true else { break }
      }
      isCorrupt =
        try Self.digestOfIndex(transaction, keys) != state.messages || (sawAll && seen != state.messages)
    }
    try recordFailures(unreadable)
    if isCorrupt { throw VaultError.corrupt }
    return unreadable
  }

  /// Whether the rows are those that the state counts: read from the table and from its index.
  static func isComplete(
    _ transaction: borrowing Transaction, _ state: VaultState, _ keys: VaultKeys
  ) throws -> Bool {
    var hash = keys.memberHash()
    var ofTable = SetDigest()
    try transaction.forEachRow("SELECT id FROM messages NOT INDEXED ORDER BY number") { row in
      try row.withBytes(0) { hash.add($0, to: &ofTable) }
      return true
    }
    return try ofTable == state.messages && digestOfIndex(transaction, keys) == state.messages
  }

  private static func digestOfIndex(
    _ transaction: borrowing Transaction, _ keys: VaultKeys
  ) throws -> SetDigest {
    var hash = keys.memberHash()
    var digest = SetDigest()
    try transaction.forEachRow("SELECT id FROM messages ORDER BY id") { row in
      try row.withBytes(0) { hash.add($0, to: &digest) }
      return true
    }
    return digest
  }

  /// The error for an identifier that was not found: missing, or corrupt when the count says otherwise.
  static func confirmMissing(
    _ id: MessageID, _ transaction: borrowing Transaction, _ state: VaultState, _ keys: VaultKeys
  ) throws -> VaultError {
    try isComplete(transaction, state, keys) ? .messageNotFound : .corrupt
  }
}

extension Vault {
  /// Compares the rows with the vault's count, without opening them. A row under a version that was retired was put
  /// back from before a rotation.
  /// - Throws: `VaultError.corrupt`.
  public func checkCount() throws {
    try read { transaction, state, keys in
      let retired = state.keys.filter { $0.retired != nil }.map(\.version)
      guard try Self.isComplete(transaction, state, keys),
        try Self.usedVersions(transaction).isDisjoint(with: retired)
      else { throw VaultError.corrupt }
    }
  }

  /// Opens every message and tells which do not open. The failure monitor is not told: an examination
  /// that finds much damage must not lock the vault that it examines.
  public func unreadableMessages(progress: (_ done: Int, _ total: Int) -> Void) throws -> [MessageID] {
    var unreadable: [MessageID] = []
    try read { transaction, state, keys in
      var opener = MessageOpener(keys)
      var done = 0
      try transaction.forEachRow(
        "SELECT number, id, keyVersion, timestamp, sealed FROM messages ORDER BY number"
      ) { source in
        let row = try MessageRow(source)
        do {
          try opener.open(row, source) { _, _ in }
        } catch VaultError.dataTampered(let id) {
          unreadable.append(id)
        }
        done += 1
        if done % 1_000 == 0 { progress(done, state.messages.count) }
        return true
      }
    }
    return unreadable
  }
}
