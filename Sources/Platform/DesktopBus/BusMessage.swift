// SPDX-License-Identifier: Apache-2.0

/// What came back from a call, or with a signal: decoded, and independent of the connection.
public struct BusMessage: Equatable, Sendable {
  /// The unique name of who sent it, such as `:1.7`, or `org.freedesktop.DBus`. The bus vouches for it.
  public let sender: String
  /// The values in order.
  public let values: [BusValue]

  /// The value at a place.
  /// - Throws: `BusError.malformed` when there are fewer.
  public func value(_ index: Int) throws(BusError) -> BusValue {
    guard values.indices.contains(index) else { throw .malformed }
    return values[index]
  }
}
