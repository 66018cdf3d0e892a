// SPDX-License-Identifier: Apache-2.0
//
// The rows of the table `messages`: what is written to one and read from one.

internal import MessageFormats
internal import Primitives
internal import Secrets
internal import Storage

/// What a row holds in the clear.
struct MessageRow: Sendable {
  let number: Int64
  let id: MessageID
  let keyVersion: Int
  let timestamp: Int64

  /// - Throws: `StorageError.corrupt` when this is no row of a message. A time or version that cannot be one
  ///   that was written is for ``MessageOpener`` to refuse, which knows whose it is.
  init(_ row: borrowing StorageRow) throws {
    number = try row.integer(0)
    guard let id = try row.withBytes(1, { MessageID($0) }) else { throw StorageError.corrupt(part: .record) }
    self.id = id
    keyVersion = Int(try row.integer(2))
    timestamp = try row.integer(3)
  }
}

/// Opens rows, one after the other, in the same buffers.
struct MessageOpener: ~Copyable {
  let keys: VaultKeys
  private var cipher = MessageCipher()
  private var frame = SecretBytes(zeroed: 4096)

  init(_ keys: VaultKeys) { self.keys = keys }

  /// Opens the box of a row and lends metadata and content.
  ///
  /// - Throws: `VaultError.dataTampered` when row, box and key do not fit together.
  mutating func open<R>(
    _ row: MessageRow, _ source: borrowing StorageRow,
    _ body: (MessageMetadata, RawSpan) throws -> R
  ) throws -> R {
    guard let key = keys.versions[row.keyVersion] else { throw VaultError.dataTampered(row.id) }
    let count = try source.withBytes(4) { box throws(VaultError) in
      try open(row, box, key)
    }
    return try frame.withBytes { frame in
      let frame = frame.extracting(first: count)
      guard let read = MessageFrame.read(frame) else { throw VaultError.dataTampered(row.id) }
      return try body(read.metadata, frame.extracting(droppingFirst: read.contentOffset))
    }
  }

  /// Opens the box of a row and lends the frame as a whole.
  mutating func openFrame<R>(
    _ row: MessageRow, _ source: borrowing StorageRow, _ body: (RawSpan) throws -> R
  ) throws -> R {
    guard let key = keys.versions[row.keyVersion] else { throw VaultError.dataTampered(row.id) }
    let count = try source.withBytes(4) { box throws(VaultError) in
      try open(row, box, key)
    }
    return try frame.withBytes { try body($0.extracting(first: count)) }
  }

  private mutating func open(
    _ row: MessageRow, _ box: RawSpan, _ key: SharedSecretBytes
  ) throws(VaultError) -> Int {
    let count = box.byteCount - MessageCipher.overheadByteCount
    guard count >= 0, Timestamp.representable.contains(row.timestamp) else { throw .dataTampered(row.id) }
    if count > frame.count { frame = SecretBytes(zeroed: max(count, min(2 * frame.count, 1 << 20))) }
    do {
      try frame.withMutableBytes { frame throws(CryptoError) in
        var frame = frame._mutatingExtracting(first: count)
        try key.withBytes { key throws(CryptoError) in
          try cipher.open(
            box, id: row.id, timestamp: row.timestamp, keyVersion: row.keyVersion, vaultKey: key,
            into: &frame)
        }
      }
    } catch {
      throw .dataTampered(row.id)
    }
    return count
  }
}

/// Seals messages and writes them as rows, one after the other, in the same buffers.
struct MessageSealer: ~Copyable {
  private var cipher = MessageCipher()
  private var box = MessageBox()

  /// Stores a new message.
  mutating func insert(
    _ metadata: MessageMetadata, _ content: RawSpan, timestamp: Int64, keyVersion: Int,
    key: SharedSecretBytes,
    _ transaction: borrowing Transaction
  ) throws -> MessageID {
    let id = MessageID()
    try box.setFrame(metadata, content)
    try seal(id, timestamp: timestamp, keyVersion: keyVersion, key: key)
    try id.withBytes { id in
      try StorageValue.withBorrowed(id) { id in
        try box.withBytes { box in
          _ = try StorageValue.withBorrowed(box) { box in
            try transaction.execute(
              "INSERT INTO messages (id, keyVersion, timestamp, sealed) VALUES (?, ?, ?, ?)",
              id, .integer(Int64(keyVersion)), .integer(timestamp), box)
          }
        }
      }
    }
    return id
  }

  /// Puts a frame under another version of the key, where it stands.
  mutating func reseal(
    _ row: MessageRow, frame: RawSpan, keyVersion: Int, key: SharedSecretBytes,
    _ transaction: borrowing Transaction
  ) throws {
    box.reserve(frame.byteCount)
    box.withFrame { $0.copy(frame, to: 0) }
    try seal(row.id, timestamp: row.timestamp, keyVersion: keyVersion, key: key)
    try box.withBytes { box in
      _ = try StorageValue.withBorrowed(box) { box in
        try transaction.execute(
          "UPDATE messages SET keyVersion = ?, sealed = ? WHERE number = ?",
          .integer(Int64(keyVersion)), box, .integer(row.number))
      }
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
