// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, section 5.2.1: the registry's order.

/// What a signature is over and says.
public struct SignatureType: RawRepresentable, Hashable, Sendable {
  public let rawValue: UInt8

  public init(rawValue: UInt8) { self.rawValue = rawValue }

  public static let binary = SignatureType(rawValue: 0x00)
  public static let text = SignatureType(rawValue: 0x01)
  public static let standalone = SignatureType(rawValue: 0x02)
  public static let genericCertification = SignatureType(rawValue: 0x10)
  public static let personaCertification = SignatureType(rawValue: 0x11)
  public static let casualCertification = SignatureType(rawValue: 0x12)
  public static let positiveCertification = SignatureType(rawValue: 0x13)
  public static let subkeyBinding = SignatureType(rawValue: 0x18)
  public static let primaryKeyBinding = SignatureType(rawValue: 0x19)
  public static let directKey = SignatureType(rawValue: 0x1F)
  public static let keyRevocation = SignatureType(rawValue: 0x20)
  public static let subkeyRevocation = SignatureType(rawValue: 0x28)
  public static let certificationRevocation = SignatureType(rawValue: 0x30)
  public static let timestamp = SignatureType(rawValue: 0x40)
  public static let thirdPartyConfirmation = SignatureType(rawValue: 0x50)

  /// Whether it certifies a user ID or user attribute: 0x10 to 0x13.
  public var isCertification: Bool { (0x10...0x13).contains(rawValue) }
  /// Whether it is over a document.
  public var isOverDocument: Bool { self == .binary || self == .text }
}
