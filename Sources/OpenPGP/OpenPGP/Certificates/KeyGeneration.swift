// SPDX-License-Identifier: Apache-2.0
//
// New keys, and everything that their holder has to say about them (RFC 9580, sections 5.2.3.10, 5.2.3.14 to
// 5.2.3.17, 5.2.3.32 and 10.1). Version 6 says it in a direct-key signature; version 4 on every user ID, by
// convention, and in a direct-key signature only if there is no user ID.
//
// Senders go by what a certificate says, so a profile never promises more than the software it is meant for
// can read.

public import Secrets

/// A new key to be made.
public struct KeyGeneration: Sendable {
  /// The algorithms of the keys, and the features that they promise.
  public var profile: KeyProfile
  /// The first is the primary one; of equal ones one is made. There may be none.
  public var userIDs: [UserID]
  /// Whether there is no subkey to encrypt to.
  public var isSigningOnly = false
  /// Whether a key of a profile without algorithms of RFC 9980 gets a second subkey to encrypt to, ML-KEM-768 with
  /// X25519. Programs that do not know it go on with the first.
  public var addsPostQuantumSubkey = false
  /// The creation time of all keys and signatures.
  public var creationTime: Timestamp
  /// Seconds after creation at which the key expires; nil is never.
  public var validitySeconds: UInt32?

  /// A key of this profile, with an encryption subkey and without an end.
  public init(_ profile: KeyProfile, userIDs: [UserID], creationTime: Timestamp) {
    self.profile = profile
    self.userIDs = userIDs
    self.creationTime = creationTime
  }

  /// Makes the key.
  /// - Parameter password: locks all its secret keys; without it they are in the clear.
  /// - Throws: ``OpenPGPError/notEnoughMemory(neededByteCount:availableByteCount:)`` when locking takes more
  ///   than there is.
  public func generate(password: SharedSecretBytes? = nil) throws(OpenPGPError) -> TransferableSecretKey {
    let primary = try UnlockedKey.generate(
      profile.signing, version: profile.version, creationTime: creationTime)
    var certificate = Certificate(primaryKey: primary.publicKey)
    if profile.version == 6 || userIDs.isEmpty {
      certificate.signatures = [try directKeySignature(by: primary)]
    }
    for userID in userIDs where !certificate.userIDs.contains(where: { $0.packet == userID }) {
      let signature = try certification(of: userID, isFirst: certificate.userIDs.isEmpty, by: primary)
      certificate.userIDs.append(Certificate.Component(userID, signatures: [signature]))
    }
    var key = TransferableSecretKey(certificate: certificate, secrets: [:])
    key.secrets[primary.publicKey.fingerprint] = try primary.secretKey(password: password, isSubkey: false)
    if !isSigningOnly {
      let addition = SubkeyAddition(
        algorithm: profile.encryption, flags: [.encryptCommunications, .encryptStorage], time: creationTime)
      try key.add(addition, by: primary, password: password)
    }
    if addsPostQuantumSubkey, !isSigningOnly, !primary.publicKey.algorithm.isPostQuantum {
      try key.add(.postQuantum(at: creationTime, fitting: profile), by: primary, password: password)
    }
    return key
  }

  private func directKeySignature(by primary: UnlockedKey) throws(OpenPGPError) -> Signature {
    let builder = SignatureBuilder(type: .directKey, creationTime: creationTime, subpackets: facts)
    return try builder.sign(.directKey(primary.publicKey), with: primary)
  }

  private func certification(
    of userID: UserID, isFirst: Bool, by primary: UnlockedKey
  ) throws(OpenPGPError) -> Signature {
    var builder = SignatureBuilder(type: .positiveCertification, creationTime: creationTime)
    if profile.version == 4 { builder.subpackets = facts }
    if isFirst { builder.subpackets.append(Subpacket(.primaryUserID(true))) }
    return try builder.sign(.userID(primary.publicKey, userID), with: primary)
  }

  private var facts: [Subpacket] {
    var facts = [Subpacket(.keyFlags([.certify, .sign]))]
    if let validitySeconds { facts.append(Subpacket(.keyExpirationTime(seconds: validitySeconds))) }
    return facts + KeyPreferences.subpackets(version: profile.version)
  }
}

/// A kind of new key.
public enum KeyProfile: Sendable, CaseIterable {
  /// Version 4, Ed25519 and Curve25519 in their old form: what GnuPG reads. It promises version 1 of encrypted
  /// data alone, since GnuPG cannot read version 2, and nothing of LibrePGP's.
  case universal
  /// Version 6, Ed448 and X448, version 2 of encrypted data, OCB before GCM.
  case advanced
  /// Version 4, RSA with 3,072 bits: for software that knows RFC 4880 and no curves.
  case rfc4880
  /// Version 6, Ed25519 and X25519: the algorithms that RFC 9580 demands of everybody.
  case rfc9580
  /// Version 6, ML-DSA-65 with Ed25519 and ML-KEM-768 with X25519: the algorithms that RFC 9980 demands of everybody.
  case postQuantum
  /// Version 6, ML-DSA-87 with Ed448 and ML-KEM-1024 with X448.
  case postQuantumHigh
  /// Version 6, SLH-DSA-SHAKE-128s and ML-KEM-768 with X25519: signatures that rest on a hash alone.
  case hashBased128s
  /// The same with SLH-DSA-SHAKE-128f: faster to sign, twice as large.
  case hashBased128f
  /// Version 6, SLH-DSA-SHAKE-256s and ML-KEM-1024 with X448.
  case hashBased256s

  /// Of the keys.
  public var version: UInt8 {
    switch self {
    case .universal, .rfc4880: 4
    default: 6
    }
  }

  /// Of the primary key, which certifies and signs. A signing subkey of its own would pay where the primary
  /// key lies in a safe; where both lie in one place it is one secret more to keep and two signatures more
  /// for everybody to verify.
  var signing: KeyAlgorithm {
    switch self {
    case .universal: .eddsaLegacy
    case .advanced: .ed448
    case .rfc4880: .rsa(bitCount: Self.modulusBitCount)
    case .rfc9580: .ed25519
    case .postQuantum: .compositeSignature(.mldsa65Ed25519)
    case .postQuantumHigh: .compositeSignature(.mldsa87Ed448)
    case .hashBased128s: .hashBasedSignature(.slhdsa128s)
    case .hashBased128f: .hashBasedSignature(.slhdsa128f)
    case .hashBased256s: .hashBasedSignature(.slhdsa256s)
    }
  }

  /// Of the subkey that messages are encrypted to.
  var encryption: KeyAlgorithm {
    switch self {
    case .universal: .curve25519Legacy
    case .advanced: .x448
    case .rfc4880: .rsa(bitCount: Self.modulusBitCount)
    case .rfc9580: .x25519
    case .postQuantum, .hashBased128s, .hashBased128f: .compositeKEM(.mlkem768X25519)
    case .postQuantumHigh, .hashBased256s: .compositeKEM(.mlkem1024X448)
    }
  }

  /// RFC 9580, section 12.4: new RSA keys have 3,072 bits at least.
  private static let modulusBitCount = 3072
}

extension SecretKeyProtection.Profile {
  /// How a key of this version is locked: version 4 goes to GnuPG, which has no Argon2.
  static func forKey(version: UInt8) -> SecretKeyProtection.Profile { version == 6 ? .advanced : .universal }
}

/// What our certificates say about messages to their holder.
enum KeyPreferences {
  /// Subpackets of the self-signature that speaks for the certificate.
  static func subpackets(version: UInt8) -> [Subpacket] {
    var contents: [Subpacket.Content] = [
      .preferredSymmetricAlgorithms([.aes256, .aes192, .aes128]),
      .preferredHashAlgorithms([.sha512, .sha256]),
      // Compression is never asked for: it saves little and tells much about the text.
      .preferredCompressionAlgorithms([.uncompressed]),
      .features(features(version: version)),
    ]
    if version == 6 {
      contents.append(
        .preferredAEADCiphersuites([AEADCiphersuite(.aes256, .ocb), AEADCiphersuite(.aes256, .gcm)]))
    }
    return contents.map { Subpacket($0) }
  }

  static func features(version: UInt8) -> Features {
    version == 6 ? [.seipdVersion1, .seipdVersion2] : .seipdVersion1
  }

  /// The types that ``subpackets(version:)`` may have.
  static let types: Set<SubpacketType> = [
    .preferredSymmetricAlgorithms, .preferredHashAlgorithms, .preferredCompressionAlgorithms, .features,
    .preferredAEADCiphersuites,
  ]
}
