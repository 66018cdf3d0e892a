// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, section 10.1: transferable public keys, by what belongs to what.

/// A certificate: a primary key, and what its holder and others say about it.
public struct Certificate: Hashable, Sendable {
  /// A user ID, user attribute or subkey with the signatures behind it, of everybody, as they came.
  public struct Component<Packet: Hashable & Sendable>: Hashable, Sendable {
    public let packet: Packet
    public var signatures: [Signature]
  }

  public let primaryKey: PublicKey
  /// Direct-key signatures and revocations of the key.
  public var signatures: [Signature]
  public var userIDs: [Component<UserID>]
  public var userAttributes: [Component<UserAttribute>]
  public var subkeys: [Component<PublicKey>]

  public var fingerprint: Fingerprint { primaryKey.fingerprint }

  /// All certificates in a sequence of packets (several may follow each other).
  static func readAll(_ source: any ByteSource) throws(OpenPGPError) -> [Certificate] {
    preconditionFailure("not built yet")
  }

  /// Writes the packets in canonical order.
  public func write(to sink: any ByteSink) throws(OpenPGPError) { preconditionFailure("not built yet") }
}

/// A certificate with its secret keys (section 10.2).
public struct TransferableSecretKey: Sendable {
  public var certificate: Certificate
  /// By the fingerprint of the key or subkey.
  public var secrets: [Fingerprint: SecretKey]

  static func readAll(_ source: any ByteSource) throws(OpenPGPError) -> [TransferableSecretKey] {
    preconditionFailure("not built yet")
  }

  public func write(to sink: any ByteSink) throws(OpenPGPError) { preconditionFailure("not built yet") }
}

/// What a certificate says at a time, under a policy: every self-signature is checked here, once.
public struct CertificateView: Sendable {
  /// Why a key or user ID cannot be used.
  public enum Problem: Hashable, Sendable {
    /// No valid signature of the holder binds it.
    case notBound
    case notYetValid
    case expired
    /// Hard, or soft and before the time of the view.
    case revoked(RevocationReason?)
    case refused(Policy.Rule)
  }

  /// The primary key or a subkey.
  public struct Key: Sendable {
    public let publicKey: PublicKey
    public let isPrimary: Bool
    public let flags: KeyFlags
    public let expirationTime: Timestamp?
    /// Nil when the key may be used for what its flags say.
    public let problem: Problem?
  }

  public struct BoundUserID: Sendable {
    public let userID: UserID
    public let isPrimary: Bool
    public let problem: Problem?
  }

  public let certificate: Certificate
  /// Of the certificate as a whole; then no key of it can be used.
  public let problem: Problem?
  /// The primary key first.
  public let keys: [Key]
  public let userIDs: [BoundUserID]
  public let features: Features
  public let preferredHashAlgorithms: [HashAlgorithm]
  public let preferredSymmetricAlgorithms: [SymmetricAlgorithm]
  public let preferredAEADCiphersuites: [AEADCiphersuite]

  /// - Parameters:
  ///   - time: when what the certificate says counts: now to encrypt and sign, the signature's creation to
  ///     verify.
  ///   - now: today, for hard revocations that were made since. They end everything.
  public init(_ certificate: Certificate, at time: Timestamp, now: Timestamp, policy: Policy) {
    preconditionFailure("not built yet")
  }

  /// The keys that messages may be encrypted to.
  /// - Throws: ``OpenPGPError/noEncryptionKey``, or ``OpenPGPError/refused(_:)`` when a rule is why.
  public func encryptionKeys(for purpose: KeyFlags) throws(OpenPGPError) -> [PublicKey] {
    preconditionFailure("not built yet")
  }
}
