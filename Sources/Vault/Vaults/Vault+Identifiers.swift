// SPDX-License-Identifier: Apache-2.0

public import Primitives
internal import Storage

extension Vault {
  /// The identifiers that end with these hexadecimal digits, in any case; nothing is opened.
  ///
  /// The identifiers of rows are not sealed (Specs/vault.md); opening a message proves that it has the one it is under.
  /// - Parameters:
  ///   - tail: hexadecimal digits alone.
  ///   - limit: at most this many.
  public func identifiers(endingWith tail: String, limit: Int) throws -> [MessageID] {
    guard !tail.isEmpty, tail.allSatisfy(\.isHexDigit) else { return [] }
    return try read { transaction, _, _ in
      var found: [MessageID] = []
      try transaction.forEachRow(
        "SELECT id FROM messages WHERE hex(id) LIKE ? ORDER BY number DESC LIMIT ?", .text("%\(tail)"),
        .integer(Int64(limit))
      ) { row in
        guard let id = try row.withBytes(0, { MessageID($0) }) else {
          throw StorageError.corrupt(part: .record)
        }
        found.append(id)
        return true
      }
      return found
    }
  }
}
