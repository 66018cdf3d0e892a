// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, section 5.2.1.3: somebody says that a user ID belongs to a certificate of somebody else.

extension Certificate {
  /// This certificate with a certification of one of its user IDs by another key. A user ID that it does not
  /// have is put in, without its holder's word for it.
  /// - Parameter signer: the primary key of who certifies; that it may is for the caller to ask
  ///   (``ValidCertificate/certificationKey()``).
  public func certifying(
    _ userID: UserID, at time: Timestamp, by signer: any Signer
  ) throws(OpenPGPError) -> Certificate {
    let builder = SignatureBuilder(type: .genericCertification, creationTime: time)
    let signature = try builder.sign(.userID(primaryKey, userID), with: signer)
    var certificate = self
    if !userIDs.contains(where: { $0.packet == userID }) { certificate.userIDs.append(Component(userID)) }
    return certificate.adding(signature, to: .userID(userID))
  }
}
