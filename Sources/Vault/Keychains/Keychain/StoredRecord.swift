// SPDX-License-Identifier: Apache-2.0

/// A record in an ``ItemStore``.
public struct StoredRecord: Equatable, Sendable {
  /// Where a record is: the store's own name for it, as long as it is there.
  public struct Place: Hashable, Sendable {
    public let name: String

    public init(_ name: String) { self.name = name }
  }

  public let place: Place
  public let bytes: [UInt8]

  public init(place: Place, bytes: [UInt8]) {
    self.place = place
    self.bytes = bytes
  }
}
