// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, section 5: the registry's order.

/// A packet type ID.
public struct PacketType: RawRepresentable, Hashable, Sendable {
  public let rawValue: UInt8

  public init(rawValue: UInt8) { self.rawValue = rawValue }

  public static let reserved = PacketType(rawValue: 0)
  public static let pkesk = PacketType(rawValue: 1)
  public static let signature = PacketType(rawValue: 2)
  public static let skesk = PacketType(rawValue: 3)
  public static let onePassSignature = PacketType(rawValue: 4)
  public static let secretKey = PacketType(rawValue: 5)
  public static let publicKey = PacketType(rawValue: 6)
  public static let secretSubkey = PacketType(rawValue: 7)
  public static let compressedData = PacketType(rawValue: 8)
  public static let symmetricallyEncryptedData = PacketType(rawValue: 9)
  public static let marker = PacketType(rawValue: 10)
  public static let literalData = PacketType(rawValue: 11)
  public static let trust = PacketType(rawValue: 12)
  public static let userID = PacketType(rawValue: 13)
  public static let publicSubkey = PacketType(rawValue: 14)
  public static let userAttribute = PacketType(rawValue: 17)
  public static let seipd = PacketType(rawValue: 18)
  /// LibrePGP's OCB packet, which is not of the standard.
  public static let ocbEncryptedData = PacketType(rawValue: 20)
  public static let padding = PacketType(rawValue: 21)

  /// Whether the packet may have partial body lengths, and is streamed.
  public var isData: Bool {
    switch self {
    case .compressedData, .symmetricallyEncryptedData, .literalData, .seipd,
      .ocbEncryptedData:
      true
    default: false
    }
  }

  /// Whether a reader that does not know the type must refuse the packet sequence (section 4.3): types 0 to 39.
  public var isCritical: Bool { rawValue < 40 }
}
