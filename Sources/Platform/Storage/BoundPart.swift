// SPDX-License-Identifier: Apache-2.0
//
// The parts of a coffer's file, and the rows of each that are bound (Specs/binding.md). Every part has one or
// two rows, its anchors, that change with anything in it and authenticate the rest. One sealed record holds a
// digest of the anchors of every part, which shows when a part was put back to an earlier state.

internal import GRDBSQLite

/// A part of the coffer's file that changes independently of the others. The numbers are stored.
public enum BoundPart: UInt8, CaseIterable, Sendable {
  /// The keybag: who can open the coffer.
  case slots = 1
  /// The indexes of all keychain items.
  case keychain = 2
  /// The vault's state and its failure log.
  case messages = 3
  /// The state of all captures.
  case captures = 4
  /// The registry of protected data and every domain. Reading a domain uses the ledger in the keychain, which
  /// tells one damaged domain from the others; this record serves the check of the whole file.
  case protectedData = 5
  /// The state of the account of several devices. It authenticates the objects and the rows of synchronisation.
  case account = 6
}

/// Knows which state of each part was stored last. The implementation needs keys, so a higher layer supplies
/// it.
public protocol PartBinding: Sendable {
  /// Compares a part, as this transaction sees it, with what was recorded.
  /// - Throws: `StorageError.outdated`; `.corrupt` when there is no record.
  func verify(_ part: BoundPart, _ transaction: borrowing Transaction) throws

  /// Records a part as it is now, in the transaction that changed it.
  func record(_ part: BoundPart, _ transaction: borrowing Transaction) throws
}

extension Transaction {
  /// Hands the anchors of a part to `body`, in an unambiguous encoding: for each row its name and its
  /// content, each after its length (8). If the part has no rows yet, `body` is not called.
  public func forEachAnchor(of part: BoundPart, _ body: (RawSpan) -> Void) throws {
    switch part {
    case .slots:
      try anchors("SELECT 1, record FROM keybag", body)
    case .keychain:
      try anchors(
        "SELECT account, sealed FROM keychain WHERE account GLOB 'app.rial.keychain.index.*' ORDER BY account",
        body)
    case .messages:
      // Not the search record: the state says which one belongs to it, and without one every answer is the same.
      try anchors("SELECT part, sealed FROM vault WHERE part <> 3 ORDER BY part", body)
    case .captures:
      try anchors("SELECT 1, sealed FROM captureState", body)
    case .account:
      try anchors("SELECT only, sealed FROM syncState", body)
    case .protectedData:
      try anchors("SELECT 0, record FROM protectedRegistry", body)
      try anchors("SELECT domain, wrappedKey FROM protectedDomains ORDER BY domain", body)
      try anchors("SELECT domain, payload FROM protectedDomains ORDER BY domain", body)
    }
  }

  /// Rows of a name and a content.
  private func anchors(_ sql: StaticString, _ body: (RawSpan) -> Void) throws {
    try forEachRow(sql) { row in
      // A name is an integer or a text; SQLite gives the digits of an integer as text.
      let name = try row.name(0)
      Self.lend(name.utf8.count, body)
      unsafe body(Array(name.utf8).span.bytes)
      try row.withBytes(1) { content in
        Self.lend(content.byteCount, body)
        body(content)
      }
      return true
    }
  }

  private static func lend(_ count: Int, _ body: (RawSpan) -> Void) {
    let bytes = (0..<8).map { UInt8(truncatingIfNeeded: UInt64(count) >> (56 - 8 * $0)) }
    unsafe body(bytes.span.bytes)
  }
}

extension StorageRow {
  /// An integer in decimal digits, or a text.
  fileprivate func name(_ column: Int32) throws -> String {
    do { return try text(column) } catch { return String(try integer(column)) }
  }
}
