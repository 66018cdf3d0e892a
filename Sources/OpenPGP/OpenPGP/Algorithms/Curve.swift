// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, section 9.2: curves of ECDSA, ECDH and EdDSALegacy by their object identifiers.

/// A curve by its object identifier; an unknown one is a value like any other.
public struct Curve: Hashable, Sendable {
  /// The identifier's octets in DER, without type and length; 1 to 254 of them.
  public let objectIdentifier: [UInt8]

  public init(objectIdentifier: [UInt8]) { self.objectIdentifier = objectIdentifier }

  public static let p256 = Curve(objectIdentifier: [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07])
  public static let p384 = Curve(objectIdentifier: [0x2B, 0x81, 0x04, 0x00, 0x22])
  public static let p521 = Curve(objectIdentifier: [0x2B, 0x81, 0x04, 0x00, 0x23])
  public static let brainpoolP256r1 = Curve(objectIdentifier: [
    0x2B, 0x24, 0x03, 0x03, 0x02, 0x08, 0x01, 0x01, 0x07,
  ])
  public static let brainpoolP384r1 = Curve(objectIdentifier: [
    0x2B, 0x24, 0x03, 0x03, 0x02, 0x08, 0x01, 0x01, 0x0B,
  ])
  public static let brainpoolP512r1 = Curve(objectIdentifier: [
    0x2B, 0x24, 0x03, 0x03, 0x02, 0x08, 0x01, 0x01, 0x0D,
  ])
  public static let ed25519Legacy = Curve(objectIdentifier: [
    0x2B, 0x06, 0x01, 0x04, 0x01, 0xDA, 0x47, 0x0F, 0x01,
  ])
  public static let curve25519Legacy = Curve(objectIdentifier: [
    0x2B, 0x06, 0x01, 0x04, 0x01, 0x97, 0x55, 0x01, 0x05, 0x01,
  ])

  /// Octets of a field element or scalar; nil for an unknown curve.
  public var fieldByteCount: Int? {
    switch self {
    case .p256, .brainpoolP256r1, .ed25519Legacy, .curve25519Legacy: 32
    case .p384, .brainpoolP384r1: 48
    case .brainpoolP512r1: 64
    case .p521: 66
    default: nil
    }
  }
}
