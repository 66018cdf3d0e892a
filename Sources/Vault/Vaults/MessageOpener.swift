// SPDX-License-Identifier: Apache-2.0
//
// Opens rows of the table `messages`.

internal import MessageFormats
internal import Primitives
internal import Secrets
internal import Texts

/// A message that has been opened, and so authenticated, in its own memory.
struct OpenedMessage: Sendable {
  let row: MessageRow
  let metadata: MessageMetadata
  /// Nil for the first version.
  let edition: FrameEdition?
  private let frame: SharedSecretBytes
  private let contentOffset: Int

  /// - Returns: nil when this is not a frame, or not one of this row.
  fileprivate init?(_ row: MessageRow, frame: consuming SecretBytes) {
    guard let read = frame.withBytes({ MessageFrame.read($0) }), read.belongs(to: row) else { return nil }
    self.row = row
    metadata = read.metadata
    edition = read.edition
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
      guard let read = MessageFrame.read(frame), read.belongs(to: row) else {
        throw VaultError.dataTampered(row.message)
      }
      return try body(
        read.metadata, frame.extracting(first: read.contentOffset),
        frame.extracting(droppingFirst: read.contentOffset))
    }
  }

  /// Opens the box of a row, and says which version of a message it is.
  /// - Throws: as ``open(_:_:_:)``.
  mutating func version(_ row: MessageRow, _ box: RawSpan) throws -> MessageVersion {
    try openFrame(row, box) { frame in
      guard let read = MessageFrame.read(frame), read.belongs(to: row) else {
        throw VaultError.dataTampered(row.message)
      }
      return MessageVersion(
        row, read.metadata, read.edition, byteCount: frame.byteCount - read.contentOffset)
    }
  }

  /// Opens the box of a row into its own memory, which outlives the transaction.
  mutating func openAlone(_ row: MessageRow, _ box: RawSpan) throws(VaultError) -> OpenedMessage {
    let count = try open(row, box)
    var taken = SecretBytes(zeroed: 0)
    swap(&taken, &frame)
    taken.shorten(to: count)
    guard let opened = OpenedMessage(row, frame: taken) else { throw .dataTampered(row.message) }
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
    guard let key = keys.versions[row.keyVersion] else { throw .dataTampered(row.message) }
    guard CivilTime.representable.contains(row.timestamp) else { throw .dataTampered(row.message) }
    let count = box.byteCount - MessageCipher.overheadByteCount
    guard count >= 0 else {
      throw .decryptionFailed(row.message, underlying: CryptoError.decryptionFailed)
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
        throw .decryptionFailed(row.message, underlying: error)
      }
      throw .dataTampered(row.message)
    }
    return count
  }
}

extension MessageFrame.Reading {
  /// Whether the row names the message that the frame does.
  fileprivate func belongs(to row: MessageRow) -> Bool {
    guard let edition else { return row.message == row.id }
    return row.message == edition.message && row.id != edition.message
  }
}
