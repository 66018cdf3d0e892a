// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, sections 5.2.3.10 and 10.1: new keys, with all that their holder has to say of them. Version 6 says
// it in a direct-key signature; version 4 on every user ID, by convention, and in a direct-key signature only
// when there is none.

public import Secrets

/// A new key to be made.
public struct KeyGeneration: Sendable {
  public var profile: KeyProfile
  /// The first is the primary one; of equal ones one is made. There may be none.
  public var userIDs: [UserID]
  /// Whether there is no subkey to encrypt to.
  public var isSigningOnly = false
  public var creationTime: Timestamp
  /// Seconds after creation at which the key expires; nil is never.
  public var validitySeconds: UInt32?

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
