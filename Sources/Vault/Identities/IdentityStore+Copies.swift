// SPDX-License-Identifier: Apache-2.0
//
// Other copies of an identity's key, changed with another program: what their owner said there counts here too (RFC
// 9580, section 10.1). Statements are taken from any copy, since they verify; private parts from a copy that has them.

internal import KeyCustody
public import OpenPGP
internal import ProtectedData

/// What another copy of an identity's key has that the one here has not.
public struct IdentityNews: Sendable {
  /// The identity's certificate with what its owner has said elsewhere; nil for nothing new.
  public let certificate: Certificate?
  /// Subkeys that are not here. They are taken with their private part alone: without it nothing that is written to
  /// them could be read.
  public let newSubkeys: [Fingerprint]
}

extension Identity {
  /// What `copy` says beyond the identity.
  public func news(in copy: Certificate) -> IdentityNews {
    var merged = certificate.merging(copy).reducedToHolderStatements()
    let present = Set(certificate.subkeys.map(\.packet.fingerprint))
    let new = merged.subkeys.map(\.packet.fingerprint).filter { !present.contains($0) }
    merged.subkeys.removeAll { new.contains($0.packet.fingerprint) }
    let isNew = merged.packets != certificate.reducedToHolderStatements().packets
    return IdentityNews(certificate: isNew ? merged : nil, newSubkeys: new)
  }

  /// What a private key in a file says beyond the identity, and whether it has private parts that are not here.
  public func news(in key: KeyFile.Key) -> (news: IdentityNews, hasNewParts: Bool) {
    let news = news(in: key.key.certificate)
    let hasPrimary = !hasPrimaryKey && key.hasPrimaryKey
    return (news, hasPrimary || news.newSubkeys.contains { key.key.hasSecret(of: $0) })
  }

  /// The same with another copy, for one use.
  package func merging(_ copy: Certificate) -> Identity {
    var identity = self
    identity.certificate = certificate.merging(copy)
    return identity
  }
}

extension Certificate {
  /// As it is written; whom it knows is not.
  fileprivate var packets: [UInt8] {
    let sink = ArraySink()
    // Memory takes everything.
    try? write(to: sink)
    return sink.bytes
  }
}

extension IdentityStore {
  /// Takes over what an identity's owner has said elsewhere.
  /// - Parameter now: seconds since 1970, UTC.
  /// - Returns: the identity as it is then.
  /// - Throws: ``IdentityError/missing``, ``IdentityError/tooLarge``; `ProtectedDataError`.
  public func take(_ news: IdentityNews, of identity: Identity, at now: Int64) throws -> Identity {
    let former = try stored(identity)
    guard let certificate = news.certificate else { return identity }
    let merged = try former.publicPart().merging(certificate)
    var made = try PGPKeyIdentity(
      TransferableSecretKey(certificate: merged, secrets: [:]), after: former, at: Timestamp(now))
    made.hasPrimaryKey = former.hasPrimaryKey
    try records.changeIdentities { identities in
      for index in identities.indices where identities[index] == former { identities[index] = made }
    }
    return try found(identity.key, at: Timestamp(now))
  }

  /// Takes over what a private key in a file has beyond the one in custody: statements and private parts.
  func take(_ opened: OpenedKey, _ authorization: CustodyAuthorization, at time: Timestamp) throws {
    let fingerprint = opened.key.certificate.fingerprint
    try custody.replaceListed(fingerprint, authorization) { bytes in
      let former = try records.identities().first { $0.fingerprint == fingerprint }
      var key = try key(opened: bytes, former)
      let gained = key.merge(opened.key)
      var made = try PGPKeyIdentity(key, after: former, at: time)
      // What is written to a new part can be read with no backup that is older.
      if !gained.isEmpty { made.backedUpAt = nil }
      return try key.listed(made)
    }
  }

  /// A private part as custody lends it, with what its owner has said since it was sealed.
  func key(opened bytes: RawSpan, _ stored: PGPKeyIdentity?) throws -> TransferableSecretKey {
    var key = try TransferableSecretKey(opened: bytes)
    if let stored { key.certificate = try stored.publicPart().merging(key.certificate) }
    return key
  }
}
