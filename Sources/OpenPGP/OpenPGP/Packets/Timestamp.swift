// SPDX-License-Identifier: Apache-2.0

/// A time as packets hold it: whole seconds since 1970, in 32 bits (RFC 9580, section 3.5).
public struct Timestamp: Hashable, Comparable, Sendable {
  public let secondsSince1970: UInt32

  public init(secondsSince1970: UInt32) { self.secondsSince1970 = secondsSince1970 }

  /// This time and so many seconds; the last moment of the format when it does not reach so far.
  public func adding(seconds: UInt32) -> Timestamp {
    let (sum, overflow) = secondsSince1970.addingReportingOverflow(seconds)
    return Timestamp(secondsSince1970: overflow ? .max : sum)
  }

  public static func < (left: Timestamp, right: Timestamp) -> Bool {
    left.secondsSince1970 < right.secondsSince1970
  }
}
