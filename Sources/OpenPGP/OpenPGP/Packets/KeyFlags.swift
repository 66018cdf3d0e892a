// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, section 5.2.3.29.

/// What a key may be used for.
public struct KeyFlags: OptionSet, Hashable, Sendable {
  public let rawValue: UInt16

  public init(rawValue: UInt16) { self.rawValue = rawValue }

  public static let certify = KeyFlags(rawValue: 0x01)
  public static let sign = KeyFlags(rawValue: 0x02)
  public static let encryptCommunications = KeyFlags(rawValue: 0x04)
  public static let encryptStorage = KeyFlags(rawValue: 0x08)
  public static let split = KeyFlags(rawValue: 0x10)
  public static let authenticate = KeyFlags(rawValue: 0x20)
  public static let group = KeyFlags(rawValue: 0x80)

  /// The first octet of the field is the lowest.
  init(bytes: [UInt8]) {
    let low = UInt16(bytes.first ?? 0)
    let high = UInt16(bytes.count > 1 ? bytes[1] : 0)
    rawValue = high << 8 | low
  }

  /// One octet, or two when the second has a flag.
  var bytes: [UInt8] {
    let low = UInt8(truncatingIfNeeded: rawValue)
    let high = UInt8(truncatingIfNeeded: rawValue >> 8)
    return high == 0 ? [low] : [low, high]
  }
}
