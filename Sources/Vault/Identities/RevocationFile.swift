// SPDX-License-Identifier: Apache-2.0
//
// The revocation certificate in a file for the day when an identity is lost. People have imported such files by
// mistake and lost their keys, so it begins with an explanation, and no program takes it before a colon is removed
// by hand.

public import KeyCustody
internal import OpenPGP
internal import ProtectedData
internal import Texts

extension IdentityStore {
  /// Makes a revocation certificate for an identity that has none, and keeps it.
  /// - Parameter now: seconds since 1970, UTC.
  /// - Throws: ``IdentityError/privatePartLost``, ``IdentityError/primaryMissing``; `CustodyError`;
  ///   `ProtectedDataError`.
  public func makeRevocation(
    _ identity: Identity, _ authorization: CustodyAuthorization, at now: Int64
  ) throws {
    guard identity.hasPrivatePart else { throw IdentityError.privatePartLost }
    guard identity.hasPrimaryKey else { throw IdentityError.primaryMissing }
    let packet = try custody.withPrivateKey(identity.key, authorization) { bytes, _ in
      try TransferableSecretKey(opened: bytes).revocationPacket(at: Timestamp(now))
    }
    try records.changeIdentities { identities in
      for index in identities.indices where identities[index].fingerprint == identity.key {
        identities[index].revocationCertificate = packet
      }
    }
  }

  /// Writes the revocation certificate to a new file, which a reader has to edit before any program takes it.
  /// - Throws: ``IdentityError/cannotWrite(errno:)``, with EEXIST when there is something at the path;
  ///   ``IdentityError/missing`` without a revocation certificate; `ProtectedDataError`.
  public func writeRevocation(_ identity: Identity, path: String) throws {
    let packet = try stored(identity).revocationCertificate
    guard !packet.isEmpty else { throw IdentityError.missing }
    do throws(OpenPGPError) {
      let sink = try AtomicFileSink(path: path)
      try sink.write(Array(Self.explanation(identity).utf8))
      try sink.write(Array(":".utf8))
      let armor = try ArmorWriter(sink, kind: .publicKey)
      // Section 10.1.2: of version 6 with the primary key, of version 4 the signature alone.
      if identity.version == 6 {
        try Certificate(primaryKey: identity.certificate.primaryKey).write(to: armor)
      }
      try armor.write(packet)
      try armor.finish()
      try sink.commit()
    } catch { throw IdentityError(writing: error) }
  }

  private static func explanation(_ identity: Identity) -> String {
    """
    This revokes the OpenPGP key of \(TerminalText.line(identity.userIDs.first?.text ?? "somebody"))
    with the fingerprint \(identity.fingerprint.uppercased()).
    Whoever imports it makes the key unusable for everybody, for good. Keep it where only you can get it.
    It is for the day when the key is lost or stolen, and nothing else can revoke it any more.
    Then remove the colon (:) at the beginning of the line below with the five dashes, save the file,
    and give it to everybody who has your public part; with GnuPG they run: gpg --import FILE


    """
  }
}
