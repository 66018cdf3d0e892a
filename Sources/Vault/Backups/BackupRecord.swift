// SPDX-License-Identifier: Apache-2.0
//
// The records that the body of a backup is made of (Specs/backup.md, "Records"): each is kind (1) ‖ length (8) ‖
// content. Their kinds never descend, so a reader always knows what can still come.

internal import Primitives

/// The kind of a record. The numbers are stored.
public enum BackupRecordKind: UInt8, Sendable, CaseIterable {
  /// The first: ``BackupAbout``.
  case about = 1
  /// A row of a table.
  case row = 2
  /// A blob: its name, then its content.
  case blob = 3
  /// The content of a domain of protected data.
  case domain = 4
  /// A private part, sealed once more under a key that only the owner has.
  case privatePart = 5
  /// The last: how many records were before it.
  case end = 6
}

/// What a backup says of itself: made (8) ‖ bytes of rows and blobs (8) ‖ has private parts (1).
public struct BackupAbout: Equatable, Sendable {
  /// When it was made; seconds since 1970, UTC.
  public let made: Int64
  /// Bytes that its rows and blobs will take, about.
  public let byteCount: Int
  /// Whether the private parts of the identities are in it.
  public let hasPrivateParts: Bool

  static let byteCount = 17

  /// What a new backup says.
  public init(made: Int64, byteCount: Int, hasPrivateParts: Bool) {
    self.made = made
    self.byteCount = byteCount
    self.hasPrivateParts = hasPrivateParts
  }

  var bytes: [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(bigEndian: made)
    bytes.append(bigEndian: Int64(byteCount))
    return bytes + [hasPrivateParts ? 1 : 0]
  }

  /// - Throws: `BackupError.damaged`.
  init(_ bytes: RawSpan) throws(BackupError) {
    var cursor = ByteCursor()
    do {
      made = try cursor.readInt64(bytes)
      let count = try cursor.readInt64(bytes)
      let flag = try cursor.readByte(bytes)
      guard count >= 0, flag <= 1, cursor.isAtEnd(of: bytes) else { throw BackupError.damaged }
      byteCount = Int(count)
      hasPrivateParts = flag == 1
    } catch { throw .damaged }
  }
}

/// A table whose rows are in a backup. The numbers are stored.
///
/// A row is the table's number (1), then its columns: an integer has 8 bytes; a text its length (4) and UTF-8; a
/// blob its length (8) and bytes.
enum BackupTable: UInt8, CaseIterable {
  case keychain = 1
  case vault = 2
  case messages = 3
  case captures = 4
  case captureParts = 5
  case captureState = 6

  enum Column { case integer, text, blob }

  /// In the order of `selection`; the last is a blob.
  var columns: [Column] {
    switch self {
    case .keychain: [.text, .integer, .blob]
    case .vault: [.integer, .blob]
    case .messages: [.integer, .blob, .blob, .integer, .integer, .integer, .integer, .blob]
    case .captures: [.integer, .blob, .blob, .blob, .blob]
    case .captureParts: [.integer, .integer, .blob]
    case .captureState: [.integer, .blob]
    }
  }

  var selection: StaticString {
    switch self {
    case .keychain: "SELECT account, accessibility, sealed FROM keychain ORDER BY account"
    // Without the search record: segments are not in a backup.
    case .vault: "SELECT part, sealed FROM vault WHERE part <> 3 ORDER BY part"
    case .messages:
      "SELECT number, id, message, standing, since, keyVersion, timestamp, sealed FROM messages ORDER BY number"
    case .captures: "SELECT number, id, mark, record, queue FROM captures ORDER BY number"
    case .captureParts: "SELECT capture, part, sealed FROM captureParts ORDER BY capture, part"
    case .captureState: "SELECT only, sealed FROM captureState"
    }
  }

  var insertion: StaticString {
    switch self {
    case .keychain: "INSERT INTO keychain (account, accessibility, sealed) VALUES (?, ?, ?)"
    case .vault: "INSERT INTO vault (part, sealed) VALUES (?, ?)"
    case .messages:
      """
      INSERT INTO messages (number, id, message, standing, since, keyVersion, timestamp, sealed)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?)
      """
    case .captures: "INSERT INTO captures (number, id, mark, record, queue) VALUES (?, ?, ?, ?, ?)"
    case .captureParts: "INSERT INTO captureParts (capture, part, sealed) VALUES (?, ?, ?)"
    case .captureState: "INSERT INTO captureState (only, sealed) VALUES (?, ?)"
    }
  }

  /// Bytes of its large columns.
  var size: StaticString {
    switch self {
    case .keychain: "SELECT coalesce(sum(length(sealed)), 0) FROM keychain"
    case .vault: "SELECT coalesce(sum(length(sealed)), 0) FROM vault WHERE part <> 3"
    case .messages: "SELECT coalesce(sum(64 + length(sealed)), 0) FROM messages"
    case .captures: "SELECT coalesce(sum(96 + length(record) + length(queue)), 0) FROM captures"
    case .captureParts: "SELECT coalesce(sum(length(sealed)), 0) FROM captureParts"
    case .captureState: "SELECT coalesce(sum(length(sealed)), 0) FROM captureState"
    }
  }
}
