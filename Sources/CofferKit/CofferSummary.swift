// SPDX-License-Identifier: Apache-2.0
//
// What can be told of a coffer without opening it.

internal import Foundation
public import Keychains
internal import Storage

/// Facts about a locked coffer. The slots carry a digest against accidents; the count of rows is what the
/// file says, and is confirmed only by opening.
public struct CofferSummary: Sendable {
  public let home: String
  public let slots: [KeySlot]
  public let messageRowCount: Int
  /// Bytes of the database file.
  public let fileByteCount: Int

  /// - Throws: `StorageError`; `KeybagError.corrupt`.
  public init(home: String) throws {
    let file = try DatabaseFile.open(home: home)
    defer { file.close() }
    let (slots, count) = try file.read { transaction in
      let count = try transaction.firstRow("SELECT count(id) FROM messages") { try $0.integer(0) }
      return (try Keybag.load(transaction).slots, count ?? 0)
    }
    self.home = home
    self.slots = slots
    messageRowCount = Int(count)
    let attributes = try? FileManager.default.attributesOfItem(atPath: home + "/" + DatabaseFile.name)
    fileByteCount = (attributes?[.size] as? Int) ?? 0
  }
}
