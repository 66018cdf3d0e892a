// SPDX-License-Identifier: Apache-2.0

public import Primitives
internal import Storage

extension Vault {
  /// The identifiers of messages that end with these hexadecimal digits, in any case; nothing is opened.
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
        """
        SELECT CASE message WHEN x'' THEN id ELSE message END AS named FROM messages
        WHERE standing = 0 AND hex(named) LIKE ? ORDER BY number DESC LIMIT ?
        """, .text("%\(tail)"), .integer(Int64(limit))
      ) { row in
        found.append(try row.identifier(0))
        return true
      }
      return found
    }
  }
}
