// SPDX-License-Identifier: Apache-2.0

internal import CPostgreSQL
internal import Glibc
internal import PostgreSQLRemotes

/// The owner of a result of libpq.
@safe
struct LibpqResult: ~Copyable {
  private let result: OpaquePointer

  /// Takes a result over; nil where there is none.
  init?(_ result: OpaquePointer?) {
    guard let result = unsafe result else { return nil }
    unsafe self.result = unsafe result
  }

  deinit { unsafe PQclear(result) }

  /// Whether the statement was carried out.
  var isGood: Bool {
    let status = unsafe PQresultStatus(result)
    return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK || status == PGRES_SINGLE_TUPLE
  }

  /// Whether it is of a kind that our statements have. After others, such as those of COPY, an answer need not end.
  var isExpected: Bool { unsafe isGood || PQresultStatus(result) == PGRES_FATAL_ERROR }

  /// Why it was not.
  var error: PostgreSQLTransportError {
    // Errors without a code are libpq's own: the connection is gone.
    guard let state = field(coffer_pq_sqlstate), state.utf8.count == 5 else { return .interrupted }
    return .refused(state: state, constraint: field(coffer_pq_constraint))
  }

  /// The values, in binary format.
  func rows() -> [[[UInt8]?]] {
    let (rowCount, columnCount) = unsafe (PQntuples(result), PQnfields(result))
    return (0..<rowCount).map { row in (0..<columnCount).map { column in value(row, column) } }
  }

  private func value(_ row: Int32, _ column: Int32) -> [UInt8]? {
    guard unsafe PQgetisnull(result, row, column) == 0 else { return nil }
    let count = unsafe Int(PQgetlength(result, row, column))
    guard count > 0, let start = unsafe PQgetvalue(result, row, column) else { return [] }
    return unsafe [UInt8](UnsafeRawBufferPointer(start: start, count: count))
  }

  private func field(_ code: Int32) -> String? {
    unsafe PQresultErrorField(result, code).map { unsafe String(cString: $0) }
  }
}
