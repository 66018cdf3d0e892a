// SPDX-License-Identifier: Apache-2.0
//
// A table of PostgreSQL as a remote (`RemotePolicy.postgreSQL`): one statement for each request. The server
// compares each body with its hash before it takes it.

package import CourierProtocol
internal import Primitives
package import Remotes
internal import Secrets

/// The rows of one role in the table `coffer.object`.
package struct PostgreSQLRemote: PagedRemote {
  private let account: [UInt8]
  private let transport: any PostgreSQLTransport
  private let retries: CourierRetries
  private let acquaintance = CourierAcquaintance()

  /// - Parameter account: the role, as in the place.
  package init(account: String, transport: any PostgreSQLTransport, retries: CourierRetries) {
    self.account = Array(account.utf8)
    self.transport = transport
    self.retries = retries
  }

  /// A page of a list. It goes on after the last name, so nothing is open at the server between pages.
  package func page(_ folder: String, continuation: String) throws(RemoteError) -> CourierPage {
    let none = CourierPage(objects: [], time: nil, continuation: "")
    guard RemoteName.parts(ofFolder: folder) != nil else { return none }
    // In rising order of bytes, the names in a folder are those between "folder/" and "folder0"; all names
    // are before "{", which comes after "z".
    let after = continuation.isEmpty ? (folder.isEmpty ? "" : folder + "/") : continuation
    let rows = try rows(.list, [Array(after.utf8), Array((folder.isEmpty ? "{" : folder + "0").utf8)])
    // Without any object there is one row, with the time alone.
    guard rows.allSatisfy({ $0.count == 4 && ($0[1] != nil || rows.count == 1) }), let first = rows.first,
      let time = Self.number(first[0])
    else { throw .invalidAnswer }
    var objects: [RemoteObject] = []
    for row in rows.prefix(CourierPage.objectCountLimit) where row[1] != nil {
      guard let name = Self.text(row[1]), let length = Self.number(row[2]), let date = Self.number(row[3]),
        objects.last.map({ $0.name < name }) ?? true, name > after
      else { throw .invalidAnswer }
      // Somebody else's row.
      guard RemoteName(name) != nil else { continue }
      objects.append(RemoteObject(name: name, byteCount: Int(length), date: date))
    }
    guard rows.count > CourierPage.objectCountLimit else {
      return CourierPage(objects: objects, time: time, continuation: "")
    }
    guard let last = Self.text(rows[CourierPage.objectCountLimit - 1][1]),
      last.utf8.count <= CourierRequest.continuationByteCountLimit
    else { throw .invalidAnswer }
    return CourierPage(objects: objects, time: time, continuation: last)
  }

  /// Reads an object, or a part of it.
  package func get(_ name: String, range: Range<Int>?) throws(RemoteError) -> [UInt8]? {
    guard RemoteName(name) != nil else { return nil }
    let limit = RemoteObject.byteCountLimit
    let part = range ?? 0..<limit
    let start = min(part.lowerBound, limit)
    let rows = try rows(
      .get, [Array(name.utf8), Self.integer(start + 1), Self.integer(min(part.count, limit))])
    guard let row = rows.first else { return nil }
    guard let bytes = row.first ?? nil, bytes.count <= part.count else { throw .invalidAnswer }
    return bytes
  }

  /// Writes an object; the server compares its bytes with the hash.
  package func put(_ name: String, _ bytes: [UInt8]) throws(RemoteError) {
    guard RemoteName(name) != nil else { throw .refused(.name) }
    guard bytes.count <= RemoteObject.byteCountLimit else { throw .refused(.tooLarge) }
    _ = try rows(.put, [Array(name.utf8), SHA256.hash(bytes.rawSpan), bytes])
  }

  /// How many bytes an object has.
  package func stat(_ name: String) throws(RemoteError) -> Int? {
    guard RemoteName(name) != nil else { return nil }
    guard let row = try rows(.stat, [Array(name.utf8)]).first else { return nil }
    guard let length = row.first.flatMap(Self.number) else { throw .invalidAnswer }
    return Int(length)
  }

  /// Deletes an object. A role without that right is refused.
  package func delete(_ name: String) throws(RemoteError) {
    guard RemoteName(name) != nil else { return }
    _ = try rows(.delete, [Array(name.utf8)])
  }

  private func rows(
    _ statement: PostgreSQLStatement, _ parameters: [[UInt8]]
  ) throws(RemoteError) -> [[[UInt8]?]] {
    try retries.answer { () -> CourierAttempt<[[[UInt8]?]]> in
      do throws(PostgreSQLTransportError) {
        let rows = try transport.rows(statement, [account] + parameters)
        acquaintance.make()
        return .answered(rows)
      } catch {
        if case .refused = error { acquaintance.make() }
        return PostgreSQLFailure.attempt(error, isKnown: acquaintance.isMade)
      }
    }
  }

  // MARK: Binary format

  private static func integer(_ value: Int) -> [UInt8] {
    let value = UInt32(truncatingIfNeeded: value)
    return (0..<4).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
  }

  /// A number of 4 or 8 bytes, not below zero.
  private static func number(_ bytes: [UInt8]?) -> UInt64? {
    guard let bytes, bytes.count == 4 || bytes.count == 8, bytes[0] < 0x80 else { return nil }
    return bytes.reduce(0) { $0 << 8 | UInt64($1) }
  }

  private static func text(_ bytes: [UInt8]?) -> String? {
    bytes.flatMap { String(validating: $0, as: UTF8.self) }
  }
}
