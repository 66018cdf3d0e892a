// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, section 5.2.3.31.

/// Why a key or a user ID was revoked.
public struct RevocationReason: Hashable, Sendable {
  public let code: Code
  /// Text for people, UTF-8 by the standard and unchecked here.
  public let text: [UInt8]

  public init(_ code: Code, text: [UInt8] = []) {
    self.code = code
    self.text = text
  }

  /// The registry's order.
  public struct Code: RawRepresentable, Hashable, Sendable {
    public let rawValue: UInt8

    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let none = Code(rawValue: 0)
    public static let superseded = Code(rawValue: 1)
    public static let compromised = Code(rawValue: 2)
    public static let retired = Code(rawValue: 3)
    public static let userIDInvalid = Code(rawValue: 32)
  }

  /// Whether only signatures made later are worthless: superseded and retired keys, user IDs given up. All
  /// other reasons, unknown ones and none at all put everything in doubt.
  public var isSoft: Bool { [.superseded, .retired, .userIDInvalid].contains(code) }
}
