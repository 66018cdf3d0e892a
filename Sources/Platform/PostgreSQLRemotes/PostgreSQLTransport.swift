// SPDX-License-Identifier: Apache-2.0
//
// What PostgreSQL as a remote needs of the network. The courier has libpq for it, tests have what they like.

/// One statement with its parameters, which the server prepares once a connection. All values are in binary
/// format.
package enum PostgreSQLStatement: String, CaseIterable, Sendable {
  /// account, names after, names before → server's time (8), name, length (4), date (8); one row without a
  /// name where there is no object.
  case list
  /// account, name, first byte from 1 (4), count of bytes (4) → bytes.
  case get
  /// account, name, hash, body → nothing.
  case put
  /// account, name → length (4).
  case stat
  /// account, name → nothing.
  case delete

  /// Rows of a list, at most: one more than a page has.
  package static let rowCountLimit = 1_001

  /// The newest row of one name.
  private static let newest = """
    FROM coffer.object WHERE account = quote_ident($1::text)::regrole AND name = $2::text
    ORDER BY number DESC LIMIT 1
    """

  /// Times are seconds since 1970.
  package var sql: String {
    switch self {
    case .list:
      """
      SELECT floor(extract(epoch FROM clock_timestamp()))::bigint, name, length, date
      FROM (SELECT) AS one LEFT JOIN (
        SELECT DISTINCT ON (name) name, octet_length(body) AS length,
          floor(extract(epoch FROM created))::bigint AS date
        FROM coffer.object
        WHERE account = quote_ident($1::text)::regrole AND name > $2::text AND name < $3::text
        ORDER BY name, number DESC LIMIT \(Self.rowCountLimit)) AS found ON true
      ORDER BY name
      """
    case .get: "SELECT substring(body, $3::integer, $4::integer) \(Self.newest)"
    // Where the row is there, it is written again, although its body is the same by its hash. That puts back
    // a body that rotted, and the commit waits for a synchronous standby as a new row does: the row may be
    // one whose first commit did not reach the standby.
    case .put:
      """
      INSERT INTO coffer.object AS there (account, name, hash, body)
      VALUES (quote_ident($1::text)::regrole, $2::text, $3::bytea, $4::bytea)
      ON CONFLICT (account, name, hash) DO UPDATE SET body = excluded.body, number = DEFAULT
      """
    case .stat: "SELECT octet_length(body) \(Self.newest)"
    case .delete:
      "DELETE FROM coffer.object WHERE account = quote_ident($1::text)::regrole AND name = $2::text"
    }
  }
}

/// Why there is no answer.
package enum PostgreSQLTransportError: Error, Equatable, Sendable {
  /// There is no connection to be had.
  case unreachable
  /// A connection broke off, or made no progress for too long.
  case interrupted
  /// The server's key is not the pinned one, or no authority vouches for it.
  case untrusted
  /// What answers does not speak this protocol.
  case invalid
  /// The server says no: its SQLSTATE, of five characters, and the name of the constraint that was violated.
  case refused(state: String, constraint: String?)
}

/// Carries statements to one database. Several threads may ask at once.
package protocol PostgreSQLTransport: Sendable {
  /// Waits for all rows; nil is NULL. A statement is a transaction of its own, and is durable when it is
  /// answered.
  func rows(
    _ statement: PostgreSQLStatement, _ parameters: [[UInt8]]
  ) throws(PostgreSQLTransportError) -> [[[UInt8]?]]
}
