// SPDX-License-Identifier: Apache-2.0
//
// The two tables of the framework (Specs/storage.md). Other files seal or authenticate everything in them.

internal import Foundation
internal import Storage

/// One row of `protectedDomains`.
struct DomainRow: Equatable {
  var wrappedKey: [UInt8]
  var payload: [UInt8]
}

/// The content of the tables at one moment.
struct StoredImage: Equatable {
  var record: [UInt8]?
  /// Those requested rows that exist.
  var rows: [ProtectedDomain: DomainRow] = [:]

  /// Reads the registry, and the rows of `domains`. Rows that the registry does not know have no meaning, so
  /// they are never listed (PD-20).
  static func read(
    _ file: DatabaseFile, _ domains: some Sequence<ProtectedDomain>
  ) throws(ProtectedDataError) -> StoredImage {
    try ProtectedDataError.sorting { try file.read { try read($0, domains) } }
  }

  fileprivate static func read(
    _ transaction: borrowing Transaction, _ domains: some Sequence<ProtectedDomain>
  ) throws -> StoredImage {
    var image = StoredImage()
    image.record = try transaction.firstRow("SELECT record FROM protectedRegistry") {
      Array(try $0.bytes(0))
    }
    for domain in domains {
      image.rows[domain] = try transaction.firstRow(
        "SELECT wrappedKey, payload FROM protectedDomains WHERE domain = ?", number(domain)
      ) { row in DomainRow(wrappedKey: Array(try row.bytes(0)), payload: Array(try row.bytes(1))) }
    }
    return image
  }

  fileprivate static func number(_ domain: ProtectedDomain) -> StorageValue {
    .integer(Int64(domain.rawValue))
  }
}

/// One transaction on the two tables.
struct StoredChange {
  enum RowChange {
    case write(DomainRow)
    case delete
  }

  /// The present content that the change expects; nil to delete everything first.
  var former: StoredImage?
  /// The new registry; nil to keep it.
  var record: [UInt8]?
  var rows: [ProtectedDomain: RowChange] = [:]

  /// - Throws: `.storage(.inUse)` when the present content is not ``former``.
  func apply(to file: DatabaseFile) throws(ProtectedDataError) {
    try ProtectedDataError.sorting {
      // The ledger detects older rows; a damaged row must not block changes of the others.
      try file.write(.protectedData, verifies: false) { transaction in
        if let former {
          let now = try StoredImage.read(transaction, rows.keys)
          guard now.record == former.record, rows.keys.allSatisfy({ now.rows[$0] == former.rows[$0] })
          else { throw StorageError.inUse }
        } else {
          try transaction.execute("DELETE FROM protectedRegistry")
          try transaction.execute("DELETE FROM protectedDomains")
        }
        if let record {
          try transaction.execute(
            """
            INSERT INTO protectedRegistry (only, record) VALUES (1, ?)
            ON CONFLICT DO UPDATE SET record = excluded.record
            """, .bytes(Data(record)))
        }
        for (domain, change) in rows { try Self.apply(change, domain, transaction) }
      }
    }
  }

  private static func apply(
    _ change: RowChange, _ domain: ProtectedDomain, _ transaction: borrowing Transaction
  ) throws {
    switch change {
    case .delete:
      try transaction.execute("DELETE FROM protectedDomains WHERE domain = ?", StoredImage.number(domain))
    case .write(let row):
      try transaction.execute(
        """
        INSERT INTO protectedDomains (domain, wrappedKey, payload) VALUES (?, ?, ?)
        ON CONFLICT DO UPDATE SET wrappedKey = excluded.wrappedKey, payload = excluded.payload
        """, StoredImage.number(domain), .bytes(Data(row.wrappedKey)), .bytes(Data(row.payload)))
    }
  }
}
