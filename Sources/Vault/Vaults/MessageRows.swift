// SPDX-License-Identifier: Apache-2.0
//
// Reads and writes rows of the table `messages`.

internal import Foundation
internal import MessageFormats
public import Primitives
internal import Secrets
internal import Storage
internal import Texts

/// Names a message.
public typealias MessageID = RecordID

extension MessageID {
  /// As a column holds it.
  var column: StorageValue {
    .bytes(withBytes { bytes in unsafe bytes.withUnsafeBytes { unsafe Data($0) } })
  }
}

/// The unencrypted columns of a row.
struct MessageRow: Sendable {
  let number: Int64
  let id: MessageID
  let keyVersion: Int
  let timestamp: Int64

  /// - Throws: `StorageError.corrupt` when this is not a row of a message. ``MessageOpener`` refuses an impossible
  ///   time or version, because it can name the message.
  private init(_ row: borrowing StorageRow) throws {
    number = try row.integer(0)
    guard let id = try row.withBytes(1, { MessageID($0) }) else { throw StorageError.corrupt(part: .record) }
    self.id = id
    keyVersion = Int(try row.integer(2))
    timestamp = try row.integer(3)
  }

  /// Lends the rows of these numbers, in their order, each with its box, until `body` answers false.
  /// - Returns: whether every row was seen.
  @discardableResult
  static func forEach(
    in numbers: ClosedRange<Int64>, _ transaction: borrowing Transaction,
    _ body: (MessageRow, RawSpan) throws -> Bool
  ) throws -> Bool {
    try transaction.forEachRow(
      """
      SELECT number, id, keyVersion, timestamp, sealed FROM messages
      WHERE number BETWEEN ? AND ? ORDER BY number
      """, .integer(numbers.lowerBound), .integer(numbers.upperBound)
    ) { row in
      let found = try MessageRow(row)
      return try row.withBytes(4) { try body(found, $0) }
    }
  }

  /// The number of the row with that identifier.
  static func number(of id: MessageID, _ transaction: borrowing Transaction) throws -> Int64? {
    try transaction.firstRow("SELECT number FROM messages WHERE id = ?", id.column) { try $0.integer(0) }
  }

  /// The highest number of a row; 0 when there is none.
  static func lastNumber(_ transaction: borrowing Transaction) throws -> Int64 {
    try transaction.firstRow("SELECT coalesce(max(number), 0) FROM messages") { try $0.integer(0) } ?? 0
  }
}

/// Rows with their boxes, copied out of a transaction, so that the write-ahead log can be emptied while they are
/// opened and shown. Nothing in it is secret.
struct SealedRows {
  /// Enough rows to make the cost of a transaction small.
  static let byteCountLimit = 512 << 10

  private var boxes: [UInt8] = []
  private var rows: [(row: MessageRow, box: Range<Int>)] = []
  private let countLimit: Int

  /// - Parameter countLimit: most rows.
  init(countLimit: Int) { self.countLimit = countLimit }

  var lastNumber: Int64? { rows.last?.row.number }
  var hasRoom: Bool { rows.count < countLimit && boxes.count < Self.byteCountLimit }

  mutating func removeAll() {
    // After one large message, the buffer shrinks again.
    boxes.removeAll(keepingCapacity: boxes.count <= 2 * Self.byteCountLimit)
    rows.removeAll(keepingCapacity: true)
  }

  /// Copies the rows of these numbers, as many as fit.
  /// - Returns: whether these are all.
  mutating func append(_ numbers: ClosedRange<Int64>, _ transaction: borrowing Transaction) throws -> Bool {
    try MessageRow.forEach(in: numbers, transaction) { row, box in
      guard hasRoom else { return false }
      let start = boxes.count
      boxes.append(box)
      rows.append((row, start..<boxes.count))
      return true
    }
  }

  /// Lends every row with its box, until `body` answers false.
  /// - Returns: whether every row was seen.
  func forEach(_ body: (MessageRow, RawSpan) throws -> Bool) rethrows -> Bool {
    for (row, range) in rows {
      guard try body(row, boxes.rawSpan.extracting(range)) else { return false }
    }
    return true
  }
}

/// A message that has been opened, and so authenticated, in its own memory.
struct OpenedMessage: Sendable {
  let metadata: MessageMetadata
  private let frame: SharedSecretBytes
  private let contentOffset: Int

  /// - Returns: nil when this is not a frame.
  init?(frame: consuming SecretBytes) {
    guard let read = frame.withBytes({ MessageFrame.read($0) }) else { return nil }
    metadata = read.metadata
    contentOffset = read.contentOffset
    self.frame = SharedSecretBytes(frame)
  }

  func withContent<R>(_ body: (RawSpan) throws -> R) rethrows -> R {
    try frame.withBytes { try body($0.extracting(droppingFirst: contentOffset)) }
  }
}

/// Opens rows one after the other, reusing its buffers.
struct MessageOpener: ~Copyable {
  var keys: VaultKeys
  private var cipher = MessageCipher()
  private var frame = SecretBytes(zeroed: 4096)

  init(_ keys: VaultKeys) { self.keys = keys }

  /// Opens the box of a row and lends the metadata, the head of the frame that holds them, and the content.
  ///
  /// - Throws: `VaultError.dataTampered` when row, box and key do not match; `.decryptionFailed` when the box is too
  ///   short to be one, or decryption fails for another reason.
  mutating func open<R>(
    _ row: MessageRow, _ box: RawSpan,
    _ body: (_ metadata: MessageMetadata, _ head: RawSpan, _ content: RawSpan) throws -> R
  ) throws -> R {
    try openFrame(row, box) { frame in
      guard let read = MessageFrame.read(frame) else { throw VaultError.dataTampered(row.id) }
      return try body(
        read.metadata, frame.extracting(first: read.contentOffset),
        frame.extracting(droppingFirst: read.contentOffset))
    }
  }

  /// Opens the box of a row into its own memory, which outlives the transaction.
  mutating func openAlone(_ row: MessageRow, _ box: RawSpan) throws(VaultError) -> OpenedMessage {
    let count = try open(row, box)
    var taken = SecretBytes(zeroed: 0)
    swap(&taken, &frame)
    taken.shorten(to: count)
    guard let opened = OpenedMessage(frame: taken) else { throw .dataTampered(row.id) }
    return opened
  }

  /// Opens the box of a row and lends the frame as a whole.
  mutating func openFrame<R>(
    _ row: MessageRow, _ box: RawSpan, _ body: (RawSpan) throws -> R
  ) throws -> R {
    let count = try open(row, box)
    return try frame.withBytes { try body($0.extracting(first: count)) }
  }

  /// - Returns: bytes of the frame.
  private mutating func open(_ row: MessageRow, _ box: RawSpan) throws(VaultError) -> Int {
    guard let key = keys.versions[row.keyVersion] else { throw .dataTampered(row.id) }
    guard CivilTime.representable.contains(row.timestamp) else { throw .dataTampered(row.id) }
    let count = box.byteCount - MessageCipher.overheadByteCount
    guard count >= 0 else {
      throw .decryptionFailed(row.id, underlying: CryptoError.decryptionFailed)
    }
    if count > frame.count { frame = SecretBytes(zeroed: max(count, min(2 * frame.count, 1 << 20))) }
    do throws(CryptoError) {
      try frame.withMutableBytes { frame throws(CryptoError) in
        var frame = frame._mutatingExtracting(first: count)
        try key.withBytes { key throws(CryptoError) in
          try cipher.open(
            box, id: row.id, timestamp: row.timestamp, keyVersion: row.keyVersion, vaultKey: key,
            into: &frame)
        }
      }
    } catch {
      guard error == .authenticationFailed else {
        throw .decryptionFailed(row.id, underlying: error)
      }
      throw .dataTampered(row.id)
    }
    return count
  }
}

/// Seals messages and writes them as rows one after the other, reusing its buffers.
struct MessageSealer: ~Copyable {
  private var cipher: MessageCipher
  private var box = MessageBox()
  private let pause: (Int) -> Void

  /// - Parameters:
  ///   - pause: waits for a number of seconds, before an encryption that failed is tried once more.
  ///   - cipher: the cipher; tests bring their own.
  init(pause: @escaping (Int) -> Void, cipher: consuming MessageCipher = MessageCipher()) {
    self.pause = pause
    self.cipher = cipher
  }

  /// Stores a new message.
  /// - Throws: `VaultError.encryptionFailed` after the second failure; `.messageTooLarge`, `.metadataOutOfBounds`.
  mutating func insert(
    _ metadata: MessageMetadata, _ content: RawSpan, timestamp: Int64, keyVersion: Int,
    key: SharedSecretBytes,
    _ transaction: borrowing Transaction
  ) throws -> MessageID {
    let id = MessageID()
    try RetryRule.apply(pause: pause) { () throws(VaultError) in
      try box.setFrame(metadata, content)
      try seal(id, timestamp: timestamp, keyVersion: keyVersion, key: key)
    }
    try box.withBytes { box in
      _ = try transaction.execute(
        "INSERT INTO messages (id, keyVersion, timestamp, sealed) VALUES (?, ?, ?, ?)",
        id.column, .integer(Int64(keyVersion)), .integer(timestamp), lending: box)
    }
    return id
  }

  /// Seals a frame with another version of the key, in place.
  mutating func reseal(
    _ row: MessageRow, frame: RawSpan, keyVersion: Int, key: SharedSecretBytes,
    _ transaction: borrowing Transaction
  ) throws {
    try RetryRule.apply(pause: pause) { () throws(VaultError) in
      box.reserve(frame.byteCount)
      box.withFrame { $0.copy(frame, to: 0) }
      try seal(row.id, timestamp: row.timestamp, keyVersion: keyVersion, key: key)
    }
    try box.withBytes { box in
      _ = try transaction.execute(
        "UPDATE messages SET keyVersion = ?1, sealed = ?3 WHERE number = ?2",
        .integer(Int64(keyVersion)), .integer(row.number), lending: box)
    }
  }

  private mutating func seal(
    _ id: MessageID, timestamp: Int64, keyVersion: Int, key: SharedSecretBytes
  ) throws(VaultError) {
    do {
      try box.withMutableBytes { box throws(CryptoError) in
        try key.withBytes { key throws(CryptoError) in
          try cipher.seal(&box, id: id, timestamp: timestamp, keyVersion: keyVersion, vaultKey: key)
        }
      }
    } catch {
      throw .encryptionFailed
    }
  }
}
