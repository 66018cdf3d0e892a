// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, sections 5.2.1.11 to 5.2.1.13 and 5.2.3.31: the holder takes back a key, a subkey or a user ID, and
// says why.

extension Certificate {
  /// What can be revoked.
  public enum Part: Hashable, Sendable {
    case primaryKey
    case subkey(Fingerprint)
    case userID(UserID)
  }

  /// The signature that revokes a part of this certificate.
  /// - Precondition: the certificate has that part.
  /// - Parameter signer: the primary key.
  /// - Throws: ``OpenPGPError/keyCannot(_:)`` when `signer` is another key; what signing throws.
  public func revocation(
    of part: Part, reason: RevocationReason, at time: Timestamp, by signer: any Signer
  ) throws(OpenPGPError) -> Signature {
    guard signer.publicKey == primaryKey else { throw .keyCannot(.certify) }
    var builder = SignatureBuilder(type: .keyRevocation, creationTime: time)
    builder.subpackets = [Subpacket(.reasonForRevocation(reason))]
    switch part {
    case .primaryKey: return try builder.sign(.directKey(primaryKey), with: signer)
    case .subkey(let fingerprint):
      guard let key = subkeys.first(where: { $0.packet.fingerprint == fingerprint })?.packet else {
        preconditionFailure("the certificate has no such subkey")
      }
      builder.type = .subkeyRevocation
      return try builder.sign(.subkey(primary: primaryKey, key), with: signer)
    case .userID(let userID):
      builder.type = .certificationRevocation
      return try builder.sign(.userID(primaryKey, userID), with: signer)
    }
  }

  /// This certificate with a signature more, on the part that it is over.
  /// - Precondition: the certificate has that part.
  public func adding(_ signature: Signature, to part: Part) -> Certificate {
    var certificate = self
    switch part {
    case .primaryKey: certificate.signatures.append(signature)
    case .subkey(let fingerprint):
      guard let index = subkeys.firstIndex(where: { $0.packet.fingerprint == fingerprint }) else {
        preconditionFailure("the certificate has no such subkey")
      }
      certificate.subkeys[index].signatures.append(signature)
    case .userID(let userID):
      guard let index = userIDs.firstIndex(where: { $0.packet == userID }) else {
        preconditionFailure("the certificate has no such user ID")
      }
      certificate.userIDs[index].signatures.append(signature)
    }
    return certificate
  }

  /// This certificate with a part revoked.
  public func revoking(
    _ part: Part, reason: RevocationReason, at time: Timestamp, by signer: any Signer
  ) throws(OpenPGPError) -> Certificate {
    adding(try revocation(of: part, reason: reason, at: time, by: signer), to: part)
  }

  /// A revocation certificate: the primary key and its revocation alone (section 10.1.2).
  public func revocationCertificate(
    reason: RevocationReason, at time: Timestamp, by signer: any Signer
  ) throws(OpenPGPError) -> Certificate {
    try Certificate(primaryKey: primaryKey).revoking(.primaryKey, reason: reason, at: time, by: signer)
  }
}
