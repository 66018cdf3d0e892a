// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, sections 5.2.3.10 and 10.1: what a certificate says at a time, under a policy. Every statement of
// the holder is checked here, once; those of others cost a look at who they say made them, and no more.

/// What a certificate says at a time, under a policy.
public struct ValidCertificate: Sendable {
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
    /// What it may be used for. A subkey that has not confirmed that it belongs here (section 5.2.1.9) has no
    /// flags for signing, whatever its binding says.
    public let flags: KeyFlags
    /// Its own or that of the primary key, whichever comes first; nil is never.
    public let expirationTime: Timestamp?
    /// Nil when the key may be used for what its flags say.
    public let problem: Problem?
    /// What binds it: of a subkey the binding, of the primary key the newest statement about it.
    let selfSignature: Signature?
  }

  public struct BoundUserID: Sendable {
    public let userID: UserID
    public let isPrimary: Bool
    public let problem: Problem?
    /// The certification by the holder that counts.
    let selfSignature: Signature?
  }

  public let certificate: Certificate
  public let time: Timestamp
  /// Of the certificate as a whole; then no key of it can be used.
  public let problem: Problem?
  /// The primary key first.
  public let keys: [Key]
  public let userIDs: [BoundUserID]
  public let features: Features
  public let preferredHashAlgorithms: [HashAlgorithm]
  public let preferredSymmetricAlgorithms: [SymmetricAlgorithm]
  public let preferredAEADCiphersuites: [AEADCiphersuite]
  /// The direct-key signature that counts.
  let directKeySignature: Signature?
  let policy: Policy
  /// How many signatures were verified to find all this out.
  let verificationCount: Int

  /// - Parameters:
  ///   - time: when what the certificate says counts: now to encrypt and sign, the signature's creation to
  ///     verify.
  ///   - now: today. What the holder has said since counts where there is nothing older.
  ///   - revokers: certificates that may hold a key which the holder has allowed to revoke
  ///     (section 5.2.3.23).
  public init(
    _ certificate: Certificate, at time: Timestamp, now: Timestamp, policy: Policy,
    revokers: [Certificate] = []
  ) {
    var resolver = SelfSignatureResolver(certificate.primaryKey, at: time, now: now, policy: policy)
    let userIDs = resolver.resolveUserIDs(certificate)
    let properties = PrimaryKeyProperties(
      certificate, userIDs: userIDs, revokers: revokers, resolver: &resolver)
    self.certificate = certificate
    self.time = time
    self.policy = policy
    problem = properties.problem
    self.userIDs = userIDs.enumerated().map { index, resolved in
      BoundUserID(
        userID: resolved.userID, isPrimary: index == properties.primaryUserIDIndex,
        problem: resolved.revocation.map { .revoked($0.reason) } ?? resolved.binding.problem,
        selfSignature: resolved.binding.signature)
    }
    let primary = Key(
      publicKey: certificate.primaryKey, isPrimary: true, flags: properties.flags,
      expirationTime: properties.expirationTime, problem: properties.problem,
      selfSignature: properties.newestSelfSignature)
    let revocations = certificate.subkeyRevocations
    keys =
      [primary] + certificate.subkeys.map { resolver.resolve($0, of: properties, revocations: revocations) }
    features = properties.last { if case .features(let features) = $0 { features } else { nil } } ?? []
    preferredHashAlgorithms =
      properties.last { if case .preferredHashAlgorithms(let list) = $0 { list } else { nil } } ?? []
    preferredSymmetricAlgorithms =
      properties.last { if case .preferredSymmetricAlgorithms(let list) = $0 { list } else { nil } } ?? []
    preferredAEADCiphersuites =
      properties.last { if case .preferredAEADCiphersuites(let list) = $0 { list } else { nil } } ?? []
    directKeySignature = properties.directKey.signature
    verificationCount = resolver.verificationCount
  }

  public var primaryKey: Key { keys[0] }

  /// The key of this fingerprint, usable or not.
  public func key(_ fingerprint: Fingerprint) -> Key? {
    keys.first { $0.publicKey.fingerprint == fingerprint }
  }

  /// The user ID that speaks for the certificate.
  public var primaryUserID: UserID? { userIDs.first(where: \.isPrimary)?.userID }
}
