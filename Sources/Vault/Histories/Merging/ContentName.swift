// SPDX-License-Identifier: Apache-2.0
//
// Names of versions, and of what they hold. A content that no pack has room for is in several parts, each of which is an
// entry of some pack; any other content is one part.

public import Primitives

/// A version of a record.
public struct RecordVersion: Hashable, Comparable, Sendable {
  public let record: RecordID
  public let version: Version

  public init(record: RecordID, version: Version) {
    self.record = record
    self.version = version
  }

  public static func < (left: Self, right: Self) -> Bool {
    left.version == right.version
      ? left.record < right.record : left.version < right.version
  }
}

/// A part of the content of a version.
public struct ContentName: Hashable, Comparable, Sendable {
  public let version: RecordVersion
  /// From 0.
  public let part: UInt16

  public init(_ version: RecordVersion, part: UInt16 = 0) {
    self.version = version
    self.part = part
  }

  public init(record: RecordID, version: Version, part: UInt16 = 0) {
    self.init(RecordVersion(record: record, version: version), part: part)
  }

  public static func < (left: Self, right: Self) -> Bool {
    left.version == right.version ? left.part < right.part : left.version < right.version
  }
}
