// SPDX-License-Identifier: Apache-2.0
//
// What the errors of PostgreSQL mean for us, by their codes (its manual, appendix A). Their texts are never
// read: they have names in them.

internal import CourierProtocol
internal import Glibc
internal import Remotes

/// Why a request was not carried out, once.
enum PostgreSQLFailure {
  /// - Parameter isKnown: whether the server has answered before.
  static func attempt<Answer>(
    _ error: PostgreSQLTransportError, isKnown: Bool
  ) -> CourierAttempt<Answer> {
    switch error {
    case .unreachable: isKnown ? .passing(.serviceUnreachable) : .lasting(.serviceUnreachable)
    case .interrupted: .passing(.serviceUnreachable)
    case .untrusted: .lasting(.untrusted)
    case .invalid: .lasting(.invalidAnswer)
    case .refused(let state, let constraint): attempt(state: state, constraint: constraint)
    }
  }

  private static func attempt<Answer>(state: String, constraint: String?) -> CourierAttempt<Answer> {
    switch (state, state.prefix(2)) {
    // A body with another hash than it had here was torn on the way.
    case ("23514", _) where constraint == "body_has_hash": .passing(.serviceUnreachable)
    case ("23514", _) where constraint == "name_has_hash" || constraint == "name_is_ours":
      .lasting(.refused(.name))
    case ("23514", _) where constraint == "body_is_short": .lasting(.refused(.tooLarge))
    // A wrong password, no right to connect, no right to the table, a row of another role.
    case (_, "28"), ("42501", _): .lasting(.refused(.permission))
    // A standby, or a database that is closed for writing.
    case ("25006", _): .lasting(.refused(.readOnly))
    // No database, schema, table, column, function or role of that name.
    case ("3D000", _), ("3F000", _), ("42P01", _), ("42703", _), ("42883", _), ("42704", _):
      .lasting(.refused(.unprepared))
    // The disk, or a limit that somebody has set.
    case ("53100", _), ("53400", _): .lasting(.full)
    // Damaged pages, and errors of the disk.
    case (_, "XX") where state != "XX000", ("58030", _): .lasting(.inputOutput(code: EIO))
    // Connections, memory, a server that starts or ends, crossed transactions, a statement that took too
    // long.
    case (_, "08"), (_, "53"), (_, "57"), (_, "40"), ("55P03", _): .passing(.serviceUnreachable)
    default: .lasting(.invalidAnswer)
    }
  }
}
