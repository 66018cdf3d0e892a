// SPDX-License-Identifier: Apache-2.0
//
// Brings a key up to date with this release: what it says its holder can read, the hash of its
// self-signatures, and subkeys for what it cannot do. A key that is up to date comes back unchanged. The
// primary key binds new subkeys; those that sign confirm the binding (RFC 9580, sections 5.2.1.8 and
// 5.2.1.9).

public import Secrets

/// An update of a secret key.
public struct KeyUpdate: Sendable {
  /// When the new signatures and subkeys are made.
  public var time: Timestamp
  /// Which algorithms are good enough.
  public var policy: Policy
  /// Whether no subkey to encrypt to is added.
  public var isSigningOnly = false
  /// Whether subkeys are added for what the certificate has no usable key for.
  public var addsCapabilities = true
  /// Whether subkeys that the policy refuses are revoked, as superseded.
  public var revokesRefusedKeys = false

  /// An update that adds what is missing and revokes nothing.
  public init(time: Timestamp, policy: Policy) {
    self.time = time
    self.policy = policy
  }

  /// The key as it should be.
  /// - Throws: ``OpenPGPError/refused(_:)`` when the primary key is refused by a rule,
  ///   ``OpenPGPError/keyCannot(_:)`` when it is revoked, expired or not here, ``OpenPGPError/keyIsLocked``.
  public func apply(
    to key: TransferableSecretKey, passwords: [SharedSecretBytes]
  ) throws(OpenPGPError) -> TransferableSecretKey {
    let valid = ValidCertificate(key.certificate, at: time, now: time, policy: policy)
    switch valid.problem {
    case nil: break
    case .refused(let rule): throw .refused(rule)
    default: throw .keyCannot(.certify)
    }
    let primary = try key.opened(key.certificate.fingerprint, for: .certify, passwords: passwords)
    var refreshed = key
    if !isUpToDate(valid) {
      refreshed.certificate = try valid.reissuingPrimaryKeySignatures(by: primary.key, Self.refreshing(valid))
    }
    if revokesRefusedKeys { try revokeRefusedKeys(of: valid, in: &refreshed, by: primary.key) }
    if addsCapabilities { try addCapabilities(to: &refreshed, valid, primary) }
    return refreshed
  }

  /// Whether the self-signatures that count say what ours say, under a hash that is good today.
  private func isUpToDate(_ valid: ValidCertificate) -> Bool {
    let version = valid.certificate.primaryKey.version
    var selfSignatures = [valid.directKeySignature]
    if version == 4 { selfSignatures += valid.userIDs.filter { $0.problem == nil }.map(\.selfSignature) }
    let change = Self.refreshing(valid)
    return selfSignatures.compactMap(\.self).allSatisfy { selfSignature in
      let subpackets = selfSignature.hashedArea.subpackets
      return policy.refusal(hash: selfSignature.hash, for: .document, at: time) == nil
        && Set(change(subpackets)) == Set(subpackets)
    }
  }

  /// Replaces what a self-signature says about messages to the holder by what we say. A certificate of
  /// version 4 keeps what it promises beyond that: it may have good reason to.
  private static func refreshing(_ valid: ValidCertificate) -> ([Subpacket]) -> [Subpacket] {
    let version = valid.certificate.primaryKey.version
    var preferences = KeyPreferences.subpackets(version: version)
    var replaced = KeyPreferences.types
    if version == 4 && valid.features.contains(.seipdVersion2) {
      preferences.removeAll { $0.type == .features }
      preferences.append(Subpacket(.features([.seipdVersion1, .seipdVersion2])))
      replaced.remove(.preferredAEADCiphersuites)
    }
    let (added, types) = (preferences, replaced)
    return { subpackets in subpackets.filter { !types.contains($0.type) } + added }
  }

  private func revokeRefusedKeys(
    of valid: ValidCertificate, in key: inout TransferableSecretKey, by primary: UnlockedKey
  ) throws(OpenPGPError) {
    for subkey in valid.keys where !subkey.isPrimary {
      guard policy.refusal(key: subkey.publicKey) != nil, subkey.selfSignature != nil else { continue }
      if case .revoked = subkey.problem { continue }
      key.certificate = try key.certificate.revoking(
        .subkey(subkey.publicKey.fingerprint), reason: RevocationReason(.superseded), at: time, by: primary)
    }
  }

  private func addCapabilities(
    to key: inout TransferableSecretKey, _ valid: ValidCertificate,
    _ primary: (key: UnlockedKey, password: SharedSecretBytes?)
  ) throws(OpenPGPError) {
    let profile = Self.profile(for: primary.key.publicKey)
    let encryption: KeyFlags = [.encryptCommunications, .encryptStorage]
    if (try? valid.signingKeys()) == nil {
      let addition = SubkeyAddition(algorithm: profile.signing, flags: .sign, time: time)
      try key.add(addition, by: primary.key, password: primary.password)
    }
    if !isSigningOnly && (try? valid.encryptionKeys(for: encryption)) == nil {
      let addition = SubkeyAddition(algorithm: profile.encryption, flags: encryption, time: time)
      try key.add(addition, by: primary.key, password: primary.password)
    }
  }

  /// The algorithms of new subkeys of an old key: as strong as the primary key, known to the same software.
  static func profile(for primary: PublicKey) -> KeyProfile {
    switch primary.algorithm {
    case _ where primary.version == 4: primary.algorithm == .rsa ? .rfc4880 : .universal
    case .ed448: .advanced
    case .mldsa65Ed25519: .postQuantum
    case .mldsa87Ed448: .postQuantumHigh
    case .slhdsa128s: .hashBased128s
    case .slhdsa128f: .hashBased128f
    case .slhdsa256s: .hashBased256s
    default: .rfc9580
    }
  }
}

/// A new subkey to be made.
struct SubkeyAddition {
  let algorithm: KeyAlgorithm
  let flags: KeyFlags
  /// Of its creation and its binding.
  let time: Timestamp

  /// A subkey to encrypt to: of the algorithm of the profile, or of the one that keys of both versions may have
  /// (RFC 9980, section 4.3.2).
  static func postQuantum(at time: Timestamp, fitting profile: KeyProfile) -> SubkeyAddition {
    var algorithm = KeyAlgorithm.compositeKEM(.mlkem768X25519)
    if case .compositeKEM = profile.encryption { algorithm = profile.encryption }
    return SubkeyAddition(
      algorithm: algorithm, flags: [.encryptCommunications, .encryptStorage], time: time)
  }
}

extension TransferableSecretKey {
  /// Makes a subkey and binds it.
  /// - Returns: its fingerprint.
  @discardableResult
  mutating func add(
    _ addition: SubkeyAddition, by primary: UnlockedKey, password: SharedSecretBytes?
  ) throws(OpenPGPError) -> Fingerprint {
    let key = try UnlockedKey.generate(
      addition.algorithm, version: primary.publicKey.version, creationTime: addition.time)
    let target = SignedTarget.subkey(primary: primary.publicKey, key.publicKey)
    var binding = SignatureBuilder(type: .subkeyBinding, creationTime: addition.time)
    binding.subpackets = [Subpacket(.keyFlags(addition.flags))]
    if !addition.flags.isDisjoint(with: [.certify, .sign]) {
      let confirmation = SignatureBuilder(type: .primaryKeyBinding, creationTime: addition.time)
      binding.subpackets.append(Subpacket(.embeddedSignature(try confirmation.sign(target, with: key))))
    }
    let signature = try binding.sign(target, with: primary)
    certificate.subkeys.append(Certificate.Component(key.publicKey, signatures: [signature]))
    secrets[key.publicKey.fingerprint] = try key.secretKey(password: password, isSubkey: true)
    return key.publicKey.fingerprint
  }
}

extension UnlockedKey {
  /// The packet of this key, locked when there is a password.
  func secretKey(password: SharedSecretBytes?, isSubkey: Bool) throws(OpenPGPError) -> SecretKey {
    guard let password else { return withoutProtection() }
    let protection = SecretKeyProtection.Profile.forKey(version: publicKey.version)
    return try password.withBytes { (bytes) throws(OpenPGPError) -> SecretKey in
      try locked(password: bytes, with: protection, isSubkey: isSubkey)
    }
  }
}
