// SPDX-License-Identifier: Apache-2.0
//
// New user IDs and subkeys of a key that exists (RFC 9580, sections 5.2.1.4 to 5.2.1.9). In version 4 what a new user
// ID says about the key is what the key says already; in version 6 the direct-key signature says it alone.

internal import Secrets

extension ValidCertificate {
  /// The certificate with one more user ID that its holder claims. One that was revoked is claimed again.
  /// - Parameter signer: the primary key. The new signature is made at ``ValidCertificate/time``.
  /// - Throws: ``OpenPGPError/keyCannot(_:)`` when `signer` is another key or the certificate has a problem; what
  ///   signing throws.
  public func addingUserID(_ userID: UserID, by signer: any Signer) throws(OpenPGPError) -> Certificate {
    guard signer.publicKey == certificate.primaryKey, problem == nil else { throw .keyCannot(.certify) }
    var builder = SignatureBuilder(type: .positiveCertification, creationTime: time)
    if certificate.primaryKey.version == 4 {
      let model = userIDs.first(where: \.isPrimary)?.selfSignature ?? directKeySignature
      let repeated: Set<SubpacketType> = KeyPreferences.types.union([
        .keyFlags, .keyExpirationTime, .keyReplacement,
      ])
      builder.subpackets = (model?.hashedArea.subpackets ?? []).filter { repeated.contains($0.type) }
    }
    let signature = try builder.sign(.userID(certificate.primaryKey, userID), with: signer)
    var changed = certificate
    if !changed.userIDs.contains(where: { $0.packet == userID }) {
      changed.userIDs.append(Certificate.Component(userID))
    }
    return changed.adding(signature, to: .userID(userID))
  }
}

extension TransferableSecretKey {
  /// The use of a new subkey.
  public enum SubkeyUse: Sendable, CaseIterable {
    /// For messages to the holder.
    case encrypt
    /// For messages to the holder, with ML-KEM and ECDH (RFC 9980): what the profile of the key has, else ML-KEM-768
    /// with X25519.
    case encryptPostQuantum
    /// For signatures over documents.
    case sign
  }

  /// Makes a subkey and binds it; its algorithm fits the primary key, unless its use says more. It ends with the primary key.
  /// - Parameters:
  ///   - time: of its creation and its binding.
  ///   - primary: the primary key.
  /// - Returns: the fingerprint of the subkey.
  /// - Throws: what making and signing throw.
  @discardableResult
  public mutating func addSubkey(
    for use: SubkeyUse, at time: Timestamp, by primary: UnlockedKey
  ) throws(OpenPGPError) -> Fingerprint {
    let profile = KeyUpdate.profile(for: primary.publicKey)
    let addition =
      switch use {
      case .encrypt:
        SubkeyAddition(
          algorithm: profile.encryption, flags: [.encryptCommunications, .encryptStorage], time: time)
      case .encryptPostQuantum: SubkeyAddition.postQuantum(at: time, fitting: profile)
      case .sign: SubkeyAddition(algorithm: profile.signing, flags: .sign, time: time)
      }
    return try add(addition, by: primary, password: nil)
  }

  /// Takes over what another copy of the key says, and the secret parts that are not here.
  /// - Returns: the keys and subkeys whose secret parts are new.
  /// - Precondition: both are of the same primary key.
  public mutating func merge(_ other: TransferableSecretKey) -> [Fingerprint] {
    certificate = certificate.merging(other.certificate)
    let new = other.secrets.filter { !hasSecret(of: $0.key) && other.hasSecret(of: $0.key) }
    secrets.merge(new) { $1 }
    return Array(new.keys)
  }

  /// Whether the secret part of a key or subkey is here, protected or not, and not on a card or elsewhere.
  public func hasSecret(of fingerprint: Fingerprint) -> Bool {
    guard let secret = secrets[fingerprint] else { return false }
    if case .unknown = secret.protection { return false }
    return true
  }
}
