// SPDX-License-Identifier: Apache-2.0
//
// Times as the formats write them: RFC 3339 in UTC with whole seconds.

internal import Texts

/// Seconds since 1970 as RFC 3339 text and back.
public enum Timestamp {
  /// From 0000-01-01T00:00:00Z to 9999-12-31T23:59:59Z: the years of four digits.
  public static let representable = CivilTime.representable
  /// `YYYY-MM-DDTHH:MM:SSZ`.
  public static let byteCount = RFC3339.byteCount

  /// `YYYY-MM-DDTHH:MM:SSZ`. A value outside of ``representable`` is written as the nearest inside.
  public static func format(_ seconds: Int64) -> String { RFC3339.format(seconds) }

  /// Writes the ``byteCount`` ASCII bytes of ``format(_:)`` to the start of `bytes`; nothing is allocated.
  public static func write(_ seconds: Int64, into bytes: inout MutableRawSpan) {
    RFC3339.write(seconds, into: &bytes)
  }

  /// The seconds that an RFC 3339 `date-time` names (section 5.6); nil when it is not valid.
  ///
  /// Any offset is accepted, a fraction is dropped, and second 60 is the first of the next minute.
  public static func parse(_ text: some StringProtocol) -> Int64? { RFC3339.parse(text) }

  /// The seconds that an RFC 3339 `date-time` names (section 5.6); nil when it is not valid.
  public static func parse(_ text: RawSpan) -> Int64? { RFC3339.parse(text) }
}
