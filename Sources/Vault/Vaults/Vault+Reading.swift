// SPDX-License-Identifier: Apache-2.0
//
// Reading one message or all. Only authenticated data is lent to a closure. It is lent after the transaction that read
// it, so that printing it, or waiting for a pipe, does not keep a transaction open.

public import MessageFormats
public import Primitives
internal import Secrets
internal import Storage

extension Vault {
  /// Lends metadata and content of a message.
  ///
  /// - Throws: `VaultError.messageNotFound`, once the vault's count has confirmed it; `.messageInTrash`;
  ///   `VaultError.dataTampered` or `.decryptionFailed`, which the failure monitor has counted.
  public func withMessage<R>(
    _ id: MessageID, _ body: (MessageMetadata, RawSpan) throws -> R
  ) throws -> R {
    let message = try opened(id)
    return try message.withContent { try body(message.metadata, $0) }
  }

  /// Opens the row that is shown for a message, into memory of its own.
  func opened(_ id: MessageID) throws -> OpenedMessage {
    try countingFailures {
      try read { transaction, state, keys in
        guard let number = try MessageRow.number(of: id, transaction) else {
          throw try Self.confirmMissing(id, transaction, state, keys)
        }
        return try Self.open(number, of: id, transaction, keys)
      }
    }
  }

  /// Opens one row of a message.
  /// - Throws: `VaultError.corrupt` when the index points to a row of another message.
  static func open(
    _ number: Int64, of message: MessageID, _ transaction: borrowing Transaction, _ keys: VaultKeys
  ) throws -> OpenedMessage {
    var opener = MessageOpener(keys)
    var opened: OpenedMessage?
    try MessageRow.forEach(in: number...number, transaction) { row, box in
      if row.message == message { opened = try opener.openAlone(row, box) }
      return false
    }
    guard let opened else { throw VaultError.corrupt }
    return opened
  }

  /// Has the failure monitor count a message that does not open.
  func countingFailures<R>(_ body: () throws -> R) throws -> R {
    do {
      return try body()
    } catch let error as VaultError {
      if let id = error.unreadableMessage { try recordFailures([id]) }
      throw error
    }
  }

  /// Lends every message to `body`, in the order in which they were added; false stops.
  ///
  /// The messages are those that are in the vault when this begins, except those removed meanwhile. A message that
  /// does not open is left out, counted by the failure monitor and reported at the end; the others are read. The
  /// identifiers of all rows are compared with the vault's count: if rows have been removed from the file, this
  /// throws and does not report fewer messages.
  /// - Parameters:
  ///   - tag: only messages with this tag.
  ///   - body: sees each message.
  /// - Returns: the identifiers of messages that do not open.
  /// - Throws: `VaultError.corrupt` after the last message, when a row was removed from or inserted into the file.
  public func forEachMessage(
    tag: String? = nil, _ body: (MessageID, MessageMetadata, RawSpan) throws -> Bool
  ) throws -> [MessageID] {
    let walk = try walk { row, metadata, _, content in
      if let tag, !metadata.tags.contains(tag) { return true }
      return try body(row.message, metadata, content)
    }
    return try conclude(walk)
  }

  /// Which messages to list.
  public struct Selection: Sendable {
    /// Only messages with this tag.
    public var tag: String?
    /// At most this many.
    public var limit: Int?
    /// What they are sorted by.
    public var order: Order
    /// Whether the last of that order comes first.
    public var isReversed: Bool

    /// All messages, the newest date first, unless you say otherwise.
    public init(tag: String? = nil, limit: Int? = nil, order: Order = .date, isReversed: Bool = false) {
      self.tag = tag
      self.limit = limit
      self.order = order
      self.isReversed = isReversed
    }
  }

  /// What messages are sorted by.
  public enum Order: String, CaseIterable, Sendable {
    /// Their date, the newest first.
    case date
    /// When they were stored, the last first.
    case stored
    /// Their title, from A to Z, without regard to case and accents.
    case title
    /// The bytes of their content, the largest first.
    case size
  }

  /// Lends the metadata of every selected message to `body`, in the order of the selection; of equals, the last added
  /// comes first. False stops.
  ///
  /// What they are sorted by is encrypted, so every message is opened before the first is lent. The metadata of the chosen messages
  /// is kept until then, up to a few MiB; the others are opened again. Otherwise like ``forEachMessage(tag:_:)``.
  /// - Parameters:
  ///   - selection: which messages.
  ///   - isWanted: chooses among them; called once for each, in the order in which they were added.
  ///   - body: called for each that was chosen.
  public func list(
    _ selection: Selection = Selection(),
    choosing isWanted: (MessageMetadata, RawSpan) throws -> Bool = { _, _ in true },
    _ body: (MessageID, MessageMetadata) throws -> Bool
  ) throws -> [MessageID] {
    var list = SortedList(selection, byteCountLimit: batch.keptByteCount)
    var walk = try walk { row, metadata, head, content in
      if let tag = selection.tag, !metadata.tags.contains(tag) { return true }
      if try isWanted(metadata, content) {
        list.append(row, metadata, head: head, contentByteCount: content.byteCount)
      }
      return true
    }
    var rest = list.sorted()
    var goesOn = true
    while goesOn, let place = rest.first {
      if let (id, metadata) = list.metadata(place) {
        goesOn = try body(id, metadata)
        rest.removeFirst()
      } else {
        goesOn = try reopen(&rest, &walk.unreadable, body)
      }
    }
    return try conclude(walk)
  }

  /// Opens the first of the messages in `rest` again, and those after it that were not kept either.
  /// - Returns: whether `body` wants more.
  private func reopen(
    _ rest: inout ArraySlice<SortedList.Place>, _ unreadable: inout [MessageID],
    _ body: (MessageID, MessageMetadata) throws -> Bool
  ) throws -> Bool {
    var sealed = sealedRows()
    var opener = MessageOpener(try keys())
    try read { transaction, _, keys in
      opener.keys = keys
      repeat {
        let number = rest.removeFirst().number
        _ = try sealed.append(number...number, transaction)
      } while sealed.hasRoom && rest.first.map { !$0.isKept } ?? false
    }
    return try sealed.forEach { row, box in
      do {
        return try opener.open(row, box) { metadata, _, _ in try body(row.message, metadata) }
      } catch VaultError.dataTampered(let id), VaultError.decryptionFailed(let id, _) {
        unreadable.append(id)
        return true
      }
    }
  }

  // MARK: Steps

  /// The result of opening every message.
  struct Walk {
    var unreadable: [MessageID] = []
    /// Whether the rows are those that the state counts.
    var isComplete = true
  }

  func sealedRows() -> SealedRows { SealedRows(countLimit: batch.messageCount) }

  /// Opens every row of these standings in the order in which they were added, and lends it until `visit` returns false.
  ///
  /// The rows are copied out batch by batch, and opened after the transaction.
  func walk(
    including standings: Set<RowMark.Standing> = [.shown],
    _ visit: (MessageRow, MessageMetadata, _ head: RawSpan, _ content: RawSpan) throws -> Bool
  ) throws -> Walk {
    var walk = Walk()
    var sealed = sealedRows()
    var opener = MessageOpener(try keys())
    var hash = opener.keys.rowHash()
    var seen = RowDigest()
    var first: (state: VaultState, lastNumber: Int64)?
    var next = Int64.min
    var isAtEnd = false
    var goesOn = true
    while goesOn && !isAtEnd {
      sealed.removeAll()
      try read { transaction, state, keys in
        opener.keys = keys
        let last = try first?.lastNumber ?? MessageRow.lastNumber(transaction)
        if first == nil { first = (state, last) }
        isAtEnd = try next > last || sealed.append(next...last, transaction)
      }
      goesOn = try sealed.forEach { row, box in
        hash.add(row.id, row.mark, to: &seen)
        guard standings.contains(row.standing) else { return true }
        do {
          return try opener.open(row, box) { try visit(row, $0, $1, $2) }
        } catch VaultError.dataTampered(let id), VaultError.decryptionFailed(let id, _) {
          walk.unreadable.append(id)
          return true
        }
      }
      // The last number there is has none after it.
      guard let last = sealed.lastNumber, last < Int64.max else { break }
      next = last + 1
    }
    walk.isComplete = try read { transaction, state, keys in
      guard try Self.digestOfIndexes(transaction, keys) == state.rows else { return false }
      // The digest of the rows means nothing if not all were read, or if another process has written meanwhile.
      guard goesOn else { return true }
      let rows = try state == first?.state ? seen : Self.digestOfTable(transaction, keys)
      return rows == state.rows
    }
    return walk
  }

  func conclude(_ walk: Walk) throws -> [MessageID] {
    try recordFailures(walk.unreadable)
    guard walk.isComplete else { throw VaultError.corrupt }
    return walk.unreadable
  }
}
