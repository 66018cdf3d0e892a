// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, section 5.2.3.7: one subpacket, known or not.

/// A signature subpacket.
public struct Subpacket: Hashable, Sendable {
  public let type: SubpacketType
  /// Whether who does not know it must treat the signature as invalid.
  public let isCritical: Bool
  /// What stands behind the type octet.
  public let body: [UInt8]
  /// What `body` means; nil for a type that this engine does not know.
  public let content: Content?

  /// What the known types say, in the registry's order.
  public enum Content: Hashable, Sendable {
    case signatureCreationTime(Timestamp)
    /// Seconds after the creation of the signature; 0 is never.
    case signatureExpirationTime(seconds: UInt32)
    case exportableCertification(Bool)
    case trustSignature(level: UInt8, amount: UInt8)
    case regularExpression
    case revocable(Bool)
    /// Seconds after the creation of the key; 0 is never.
    case keyExpirationTime(seconds: UInt32)
    case preferredSymmetricAlgorithms([SymmetricAlgorithm])
    case revocationKey(RevocationKey)
    case issuerKeyID(KeyID)
    case notation(Notation)
    case preferredHashAlgorithms([HashAlgorithm])
    case preferredCompressionAlgorithms([CompressionAlgorithm])
    case keyServerPreferences([UInt8])
    case preferredKeyServer([UInt8])
    case primaryUserID(Bool)
    case policyURI([UInt8])
    case keyFlags(KeyFlags)
    case signersUserID([UInt8])
    case reasonForRevocation(RevocationReason)
    case features(Features)
    case signatureTarget
    /// Elsewhere in memory: else every subpacket would have room for a signature.
    indirect case embeddedSignature(Signature)
    case issuerFingerprint(Fingerprint)
    case intendedRecipientFingerprint(Fingerprint)
    case preferredAEADCiphersuites([AEADCiphersuite])
  }
}

/// Who may revoke a key besides its owner (section 5.2.3.23); read only.
public struct RevocationKey: Hashable, Sendable {
  public let isSensitive: Bool
  public let algorithm: PublicKeyAlgorithm
  public let fingerprint: Fingerprint
}

/// A notation (section 5.2.3.24).
public struct Notation: Hashable, Sendable {
  public let isHumanReadable: Bool
  public let name: [UInt8]
  public let value: [UInt8]

  public init(isHumanReadable: Bool, name: [UInt8], value: [UInt8]) {
    self.isHumanReadable = isHumanReadable
    self.name = name
    self.value = value
  }
}

/// A pair of cipher and AEAD algorithm that a recipient can read (section 5.2.3.15).
public struct AEADCiphersuite: Hashable, Sendable {
  public let cipher: SymmetricAlgorithm
  public let aead: AEADAlgorithm

  public init(_ cipher: SymmetricAlgorithm, _ aead: AEADAlgorithm) {
    self.cipher = cipher
    self.aead = aead
  }
}
