// SPDX-License-Identifier: Apache-2.0
//
// PostgreSQL by libpq. A connection is kept and used again; each request under way has its own.

internal import CourierProtocol
internal import PostgreSQLRemotes
internal import Remotes
internal import Synchronization

/// Carries statements to the database of a place.
final class LibpqTransport: PostgreSQLTransport {
  private let place: PostgreSQLPlace
  private let stallSeconds: Int
  private let idle = Mutex<[LibpqConnection]>([])
  private let hasGivenUp = Atomic(false)

  /// Whether a login was given up that still computes. The process is to end then.
  var mustEnd: Bool { hasGivenUp.load(ordering: .acquiring) }

  init(_ place: PostgreSQLPlace, _ limits: CourierLimits) {
    self.place = place
    stallSeconds = Int(limits.stallSeconds)
  }

  func rows(
    _ statement: PostgreSQLStatement, _ parameters: [[UInt8]]
  ) throws(PostgreSQLTransportError) -> [[[UInt8]?]] {
    if let kept = idle.withLock({ $0.popLast() }) {
      do throws(PostgreSQLTransportError) { return try rows(statement, parameters, on: kept) } catch {
        // The server may have ended it, and all others, long ago.
        guard error == .interrupted || error.isEnd else { throw error }
        idle.withLock { $0 = [] }
      }
    }
    return try rows(statement, parameters, on: connection())
  }

  private func connection() throws(PostgreSQLTransportError) -> LibpqConnection {
    guard !mustEnd, let made = Login.connection(place, stallSeconds: stallSeconds) else {
      hasGivenUp.store(true, ordering: .releasing)
      // Not repeated.
      throw .invalid
    }
    return try made.get()
  }

  /// - Parameter connection: is kept if it can be used again.
  private func rows(
    _ statement: PostgreSQLStatement, _ parameters: [[UInt8]], on connection: LibpqConnection
  ) throws(PostgreSQLTransportError) -> [[[UInt8]?]] {
    do throws(PostgreSQLTransportError) {
      let rows = try connection.rows(statement, parameters)
      idle.withLock { $0.append(connection) }
      return rows
    } catch {
      if case .refused = error, !error.isEnd { idle.withLock { $0.append(connection) } }
      throw error
    }
  }
}

extension PostgreSQLTransportError {
  /// Whether the server has ended the connection with it: it goes down, say.
  fileprivate var isEnd: Bool {
    if case .refused(let state, _) = self { state.hasPrefix("57P") } else { false }
  }
}
