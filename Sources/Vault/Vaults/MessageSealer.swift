// SPDX-License-Identifier: Apache-2.0
//
// Seals messages as rows of the table `messages`.

internal import Foundation
internal import MessageFormats
internal import Primitives
internal import Secrets
internal import Storage

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
  /// - Parameter number: of the row.
  /// - Throws: `VaultError.encryptionFailed` after the second failure; `.messageTooLarge`, `.metadataOutOfBounds`.
  mutating func insert(
    _ number: Int64, _ metadata: MessageMetadata, _ content: RawSpan, timestamp: Int64, keyVersion: Int,
    key: SharedSecretBytes,
    _ transaction: borrowing Transaction
  ) throws -> MessageID {
    let id = MessageID()
    try sealFrame(id, metadata, nil, content, timestamp, keyVersion, key)
    try insertBox(number, id, of: id, timestamp, keyVersion, transaction)
    return id
  }

  /// Stores a version of a message, which is the one shown from now on.
  /// - Throws: as ``insert(_:_:_:timestamp:keyVersion:key:_:)``.
  mutating func insert(
    _ number: Int64, _ metadata: MessageMetadata, _ edition: FrameEdition, _ content: RawSpan,
    timestamp: Int64, keyVersion: Int, key: SharedSecretBytes, _ transaction: borrowing Transaction
  ) throws -> MessageID {
    let id = MessageID()
    try sealFrame(id, metadata, edition, content, timestamp, keyVersion, key)
    try insertBox(number, id, of: edition.message, timestamp, keyVersion, transaction)
    return id
  }

  /// Stores a row that another device of the same user stored, with the frame and the names that it has there.
  /// - Throws: `VaultError.encryptionFailed` after the second failure.
  mutating func insert(
    _ number: Int64, _ row: VersionRow, frame: RawSpan, keyVersion: Int, key: SharedSecretBytes,
    _ transaction: borrowing Transaction
  ) throws {
    try sealCopy(of: frame, row.id, timestamp: row.stored, keyVersion: keyVersion, key: key)
    try insertBox(number, row.id, of: row.message, row.stored, keyVersion, transaction)
  }

  /// Writes the box as a new row. The first version of a message names no other.
  private func insertBox(
    _ number: Int64, _ id: MessageID, of message: MessageID, _ timestamp: Int64, _ keyVersion: Int,
    _ transaction: borrowing Transaction
  ) throws {
    try box.withBytes { box in
      _ = try transaction.execute(
        "INSERT INTO messages (number, id, message, keyVersion, timestamp, sealed) VALUES (?, ?, ?, ?, ?, ?)",
        .integer(number), id.column, id == message ? .bytes(Data()) : message.column,
        .integer(Int64(keyVersion)), .integer(timestamp), lending: box)
    }
  }

  private mutating func sealFrame(
    _ id: MessageID, _ metadata: MessageMetadata, _ edition: FrameEdition?, _ content: RawSpan,
    _ timestamp: Int64, _ keyVersion: Int, _ key: SharedSecretBytes
  ) throws(VaultError) {
    try RetryRule.apply(pause: pause) { () throws(VaultError) in
      try box.setFrame(metadata, edition: edition, content)
      try seal(id, timestamp: timestamp, keyVersion: keyVersion, key: key)
    }
  }

  /// Seals a frame with another version of the key, in place.
  mutating func reseal(
    _ row: MessageRow, frame: RawSpan, keyVersion: Int, key: SharedSecretBytes,
    _ transaction: borrowing Transaction
  ) throws {
    try sealCopy(of: frame, row.id, timestamp: row.timestamp, keyVersion: keyVersion, key: key)
    try box.withBytes { box in
      _ = try transaction.execute(
        "UPDATE messages SET keyVersion = ?1, sealed = ?3 WHERE number = ?2",
        .integer(Int64(keyVersion)), .integer(row.number), lending: box)
    }
  }

  /// Seals a frame that is whole already.
  private mutating func sealCopy(
    of frame: RawSpan, _ id: MessageID, timestamp: Int64, keyVersion: Int, key: SharedSecretBytes
  ) throws(VaultError) {
    try RetryRule.apply(pause: pause) { () throws(VaultError) in
      box.reserve(frame.byteCount)
      box.withFrame { $0.copy(frame, to: 0) }
      try seal(id, timestamp: timestamp, keyVersion: keyVersion, key: key)
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
