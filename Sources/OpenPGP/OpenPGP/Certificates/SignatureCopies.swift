// SPDX-License-Identifier: Apache-2.0
//
// Copies of one signature. Anybody can copy a signature and change what is not signed: the unhashed area and the first
// octets of the digest. So a copy that does not verify says nothing about the others (RFC 9580, section 5.2.5), and only
// after verification copies become one, with what is needed of each.

/// Signatures of which everything that their maker signed is the same, and what the key made of it.
struct SignatureCopies {
  /// What copies have in common.
  struct Identity: Hashable {
    private let version: UInt8
    private let algorithm: PublicKeyAlgorithm
    private let hash: HashAlgorithm
    private let fields: [UInt8]
    private let salt: [UInt8]
    private let material: SignatureMaterial

    init(_ signature: Signature) {
      version = signature.version
      algorithm = signature.algorithm
      hash = signature.hash
      fields = signature.hashedFields
      salt = signature.salt
      material = signature.material
    }
  }

  /// In the order in which they came; one at least.
  private(set) var all: [Signature]

  /// Brings copies together, in the order of the first of each.
  static func grouping(_ signatures: [Signature]) -> [SignatureCopies] {
    var indexes: [Identity: Int] = [:]
    var groups: [SignatureCopies] = []
    for signature in signatures {
      let identity = Identity(signature)
      if let index = indexes[identity] {
        groups[index].all.append(signature)
      } else {
        indexes[identity] = groups.count
        groups.append(SignatureCopies(all: [signature]))
      }
    }
    return groups
  }

  /// The copies of `signature` among `signatures`, and itself.
  static func of(_ signature: Signature, among signatures: [Signature]) -> SignatureCopies {
    let identity = Identity(signature)
    let others = signatures.filter { $0 != signature && Identity($0) == identity }
    return SignatureCopies(all: [signature] + others)
  }

  /// Signatures in any of the copies: each proves itself, whoever put it there.
  var embeddedSignatures: [Signature] { all.flatMap(\.embeddedSignatures) }

  /// One signature for all copies, if `key` made it over `target`: with the issuers in the unhashed area that name the key,
  /// and the embedded signatures that the subkey of `target` made.
  func verified(over target: SignedTarget, by key: PublicKey) -> Signature? {
    guard target.allows(all[0].type), let digest = try? all[0].digest(over: target) else { return nil }
    let good = all.filter { $0.mayBe(by: key) && $0.fitsDigest(digest) }
    // They differ in nothing that is verified.
    guard let first = good.first, (try? first.isValid(digest: digest, by: key)) == true else { return nil }
    let issuers = good.flatMap(\.unhashedArea.subpackets).filter { $0.names(key) }
    let needed = issuers + confirmations(of: target, besides: first.hashedArea)
    // In the order of the first, so that what nobody has changed stays as it is.
    var ordered: [Subpacket] = []
    for subpacket in first.unhashedArea.subpackets.filter(needed.contains) + needed
    where !ordered.contains(subpacket) {
      ordered.append(subpacket)
    }
    return first.withUnhashed(ordered)
  }

  /// One signature for all copies that may be by a key that is not here: the first whose digest is right.
  func unverified(over target: SignedTarget) -> Signature? {
    guard target.allows(all[0].type), let digest = try? all[0].digest(over: target),
      let first = all.first(where: { $0.fitsDigest(digest) })
    else { return nil }
    return first.withUnhashed(first.unhashedArea.subpackets.filter(\.namesIssuer))
  }

  /// Subpackets with the back-signatures of a subkey, each once, but for those that are in the `hashed` area already.
  private func confirmations(of target: SignedTarget, besides hashed: SubpacketArea) -> [Subpacket] {
    guard case .subkey(_, let subkey) = target else { return [] }
    let embedded = all.flatMap { $0.unhashedArea.all { $0.asEmbeddedSignature } }
      .filter { $0.type == .primaryKeyBinding }
    let present = Set(hashed.all { $0.asEmbeddedSignature.map(Identity.init) })
    return Self.grouping(embedded).compactMap { copies in
      guard !present.contains(Identity(copies.all[0])) else { return nil }
      return copies.verified(over: target, by: subkey).map { Subpacket(.embeddedSignature($0)) }
    }
  }
}

extension Signature {
  /// Whether it may be a signature over what has this digest: the hint of its first octets is right, and its issuers are of
  /// its own version. Costs no cryptography.
  func fitsDigest(_ digest: [UInt8]) -> Bool {
    namesIssuerOfOwnVersion && Array(digest.prefix(2)) == digestPrefix
  }

  /// This signature, with `key` as its issuer if it names nobody.
  func naming(_ key: PublicKey) -> Signature {
    namesIssuer
      ? self : withUnhashed(unhashedArea.subpackets + [Subpacket(.issuerFingerprint(key.fingerprint))])
  }

  /// This signature with other subpackets in the area that anybody can change.
  fileprivate func withUnhashed(_ subpackets: [Subpacket]) -> Signature {
    guard version3 == nil, subpackets != unhashedArea.subpackets else { return self }
    return Signature(
      version: version, type: type, algorithm: algorithm, hash: hash, hashedArea: hashedArea,
      unhashedArea: SubpacketArea(subpackets), digestPrefix: digestPrefix, salt: salt, material: material)
  }
}

extension Subpacket {
  fileprivate var namesIssuer: Bool {
    content?.asIssuerKeyID != nil || content?.asIssuerFingerprint != nil
  }

  /// Whether it says that `key` is the issuer.
  fileprivate func names(_ key: PublicKey) -> Bool {
    content?.asIssuerKeyID == key.keyID || content?.asIssuerFingerprint == key.fingerprint
  }
}
