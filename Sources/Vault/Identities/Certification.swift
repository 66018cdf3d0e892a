// SPDX-License-Identifier: Apache-2.0
//
// A word for somebody else's names: an artefact to give away. Nothing here believes it.

public import KeyCustody
internal import OpenPGP
internal import ProtectedData

/// Somebody's public part with our certification of its names.
public struct CertifiedPart: Sendable {
  /// Lower-case hexadecimal.
  public let fingerprint: String
  /// The user IDs that were certified.
  public let userIDs: [UserIDText]
  private let certificate: Certificate

  fileprivate init(_ certificate: Certificate, _ userIDs: [UserID]) {
    fingerprint = certificate.fingerprint.text
    self.userIDs = userIDs.map { UserIDText(String(decoding: $0.bytes, as: UTF8.self)) }
    self.certificate = certificate
  }

  /// Armored.
  public func armored() throws(IdentityError) -> [UInt8] { try certificate.armored() }
}

extension IdentityStore {
  /// Certifies every user ID that the holder of a public part claims.
  /// - Parameters:
  ///   - publicPart: one certificate, armored.
  ///   - now: seconds since 1970, UTC.
  /// - Throws: as ``checkCertifying(as:)``; ``IdentityError/userIDMissing`` when the holder claims none; `CustodyError`.
  public func certify(
    _ publicPart: [UInt8], as identity: Identity, _ authorization: CustodyAuthorization, at now: Int64
  ) throws -> CertifiedPart {
    try checkCertifying(as: identity)
    let time = Timestamp(now)
    let certificates = try Certificate.readAll(ArmorReader(MemorySource(publicPart)))
    guard certificates.count == 1 else { throw IdentityError.corrupt }
    let valid = ValidCertificate(certificates[0], at: time, now: time, policy: .standard)
    let claimed = valid.userIDs.filter { $0.problem == nil }.map(\.userID)
    guard valid.problem == nil, !claimed.isEmpty else { throw IdentityError.userIDMissing }
    return try custody.withPrivateKey(identity.key, authorization) { bytes, _ in
      let key = try key(opened: bytes, stored(identity))
      let primary = try key.unlocked(identity.key, for: .certify, passwords: [])
      var certified = certificates[0]
      for userID in claimed { certified = try certified.certifying(userID, at: time, by: primary) }
      return CertifiedPart(certified, claimed)
    }
  }

  /// Whether an identity can certify, as far as that can be told without its private part.
  /// - Throws: as ``check(_:of:)``.
  public func checkCertifying(as identity: Identity) throws(IdentityError) {
    try checkPrimaryKey(of: identity)
    guard identity.state == .good else { throw .unusable }
  }
}
