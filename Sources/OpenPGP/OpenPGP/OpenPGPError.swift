// SPDX-License-Identifier: Apache-2.0
//
// The one error of the engine. Malformed, unsupported, refused by policy, not authentic, locked and missing
// are different answers. None carries a user id, a fingerprint, plaintext or key material.

/// Why something of OpenPGP was not done.
///
/// A later version may add cases: outside this package a `switch` needs `@unknown default`.
@nonexhaustive
public enum OpenPGPError: Error, Equatable, Sendable {
  /// The bytes are not what RFC 9580 describes.
  case malformed(Malformation)
  /// Well-formed, and of a version or an algorithm that this engine does not have.
  case unsupported(Unsupported)
  /// The policy forbids it; the rule says which.
  case refused(Policy.Rule)
  /// An authentication tag, a modification detection code or a checksum does not match.
  case notAuthentic
  /// No key, password or session key that was given opens the message.
  case noKeyFits
  /// The secret key is protected, and no password that was given opens it.
  case keyIsLocked
  /// A password was asked for, and this one is wrong.
  case wrongPassword
  /// A secret key cannot do what it was asked to (wrong use, only its public half, not its own algorithm).
  case keyCannot(KeyUse)
  /// A certificate has no key that may be used to encrypt to it now.
  case noEncryptionKey
  /// The message promised text, and it is not UTF-8.
  case notText
  /// The input is larger, deeper or costlier than a limit of ``Limits`` allows.
  case overLimit(Limits.Name)
  /// Argon2 would take more memory than this machine can give (PG-16).
  case notEnoughMemory(neededByteCount: Int, availableByteCount: Int)
  /// The caller's source or sink failed; the number is that of the system.
  case inputOutput(errno: Int32)
  /// The second reading differs from the first: somebody changed the file meanwhile.
  case inputChanged
  /// The cryptographic library refused what should not fail.
  case internalFailure

  /// What a secret key can be asked to do.
  public enum KeyUse: Sendable { case certify, sign, decrypt }

  /// What is wrong with malformed bytes.
  @nonexhaustive
  public enum Malformation: Equatable, Sendable {
    /// Fewer octets than a field needs.
    case truncated
    /// Octets after the last field.
    case trailingOctets
    /// A packet header, or a marker packet that is not one.
    case packetHeader
    /// A partial or indeterminate length where the standard allows none, or a first part that is too short.
    case partialLength
    /// A multiprecision integer whose bit count is not that of its first octet.
    case multiprecisionInteger
    /// A signature subpacket.
    case subpacket
    /// A string-to-key specifier.
    case stringToKey
    /// A signature packet.
    case signature
    /// The fields of a public key.
    case publicKey
    /// The fields of a secret key.
    case secretKey
    /// A packet with a session key, or the key in it.
    case sessionKey
    /// Compressed data.
    case compressedData
    /// The header of encrypted data.
    case encryptedData
    /// Armor, or what should be armor.
    case armor
    /// A cleartext signed message.
    case cleartextSignature
    /// Packets in an order that a message does not have (section 10.3).
    case messageStructure
    /// Packets in an order that a certificate or key does not have (section 10.1, 10.2).
    case certificateStructure
    /// Secret keys where certificates are expected: they are not read, so that nobody gets used to giving them
    /// away.
    case secretKeyAsCertificate
    /// Certificates where secret keys are expected.
    case certificateAsSecretKey
  }

  /// What is not supported.
  @nonexhaustive
  public enum Unsupported: Equatable, Sendable {
    /// A critical packet type, by its number.
    case packetType(UInt8)
    /// A version of a packet.
    case packetVersion(PacketType, UInt8)
    /// A public-key algorithm, by its number.
    case publicKeyAlgorithm(UInt8)
    /// A cipher, by its number.
    case symmetricAlgorithm(UInt8)
    /// An AEAD algorithm, by its number.
    case aeadAlgorithm(UInt8)
    /// A hash, by its number.
    case hashAlgorithm(UInt8)
    /// A compression, by its number.
    case compressionAlgorithm(UInt8)
    /// A string-to-key type, by its number.
    case stringToKey(UInt8)
    /// A curve.
    case curve
  }
}
