// SPDX-License-Identifier: Apache-2.0
//
// The keybag's one row.

internal import Foundation
public import Storage

extension Keybag {
  /// Reads the keybag of a coffer.
  /// - Throws: `KeybagError.corrupt` also when the row is gone: every coffer has one.
  public static func load(_ transaction: borrowing Transaction) throws -> Keybag {
    let keybag = try transaction.firstRow("SELECT record FROM keybag") { row in
      try row.withBytes(0) { bytes throws(KeybagError) in try Keybag(record: bytes) }
    }
    guard let keybag else { throw KeybagError.corrupt }
    return keybag
  }

  /// Writes the keybag in place of the former.
  public func save(_ transaction: borrowing Transaction) throws {
    try transaction.execute(
      "INSERT INTO keybag (only, record) VALUES (1, ?) ON CONFLICT DO UPDATE SET record = excluded.record",
      .bytes(Data(record())))
  }
}
