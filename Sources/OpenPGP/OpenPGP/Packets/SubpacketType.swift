// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, section 5.2.3.7: the registry's order.

/// A signature subpacket type ID, without the critical bit.
public struct SubpacketType: RawRepresentable, Hashable, Sendable {
  public let rawValue: UInt8

  public init(rawValue: UInt8) { self.rawValue = rawValue }

  public static let signatureCreationTime = SubpacketType(rawValue: 2)
  public static let signatureExpirationTime = SubpacketType(rawValue: 3)
  public static let exportableCertification = SubpacketType(rawValue: 4)
  public static let trustSignature = SubpacketType(rawValue: 5)
  public static let regularExpression = SubpacketType(rawValue: 6)
  public static let revocable = SubpacketType(rawValue: 7)
  public static let keyExpirationTime = SubpacketType(rawValue: 9)
  public static let preferredSymmetricAlgorithms = SubpacketType(rawValue: 11)
  public static let revocationKey = SubpacketType(rawValue: 12)
  public static let issuerKeyID = SubpacketType(rawValue: 16)
  public static let notation = SubpacketType(rawValue: 20)
  public static let preferredHashAlgorithms = SubpacketType(rawValue: 21)
  public static let preferredCompressionAlgorithms = SubpacketType(rawValue: 22)
  public static let keyServerPreferences = SubpacketType(rawValue: 23)
  public static let preferredKeyServer = SubpacketType(rawValue: 24)
  public static let primaryUserID = SubpacketType(rawValue: 25)
  public static let policyURI = SubpacketType(rawValue: 26)
  public static let keyFlags = SubpacketType(rawValue: 27)
  public static let signersUserID = SubpacketType(rawValue: 28)
  public static let reasonForRevocation = SubpacketType(rawValue: 29)
  public static let features = SubpacketType(rawValue: 30)
  public static let signatureTarget = SubpacketType(rawValue: 31)
  public static let embeddedSignature = SubpacketType(rawValue: 32)
  public static let issuerFingerprint = SubpacketType(rawValue: 33)
  public static let intendedRecipientFingerprint = SubpacketType(rawValue: 35)
  public static let preferredAEADCiphersuites = SubpacketType(rawValue: 39)
}
