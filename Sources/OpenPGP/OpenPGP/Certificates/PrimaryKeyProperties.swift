// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, section 5.2.3.10: where the properties of the primary key and the certificate are. Version 6: in
// the direct-key signature, which must be there, and nowhere else, so that nobody can make a key last longer
// by leaving one out. Version 4: in the primary user ID's self-signature, by convention, and in a direct-key
// signature for what that does not say.

/// What the holder says about the primary key and the certificate as a whole.
struct PrimaryKeyProperties {
  let directKey: SelfSignatureResolver.Binding
  let primaryUserIDIndex: Int?
  let flags: KeyFlags
  let expirationTime: Timestamp?
  let problem: ValidCertificate.Problem?
  /// What the holder says about its replacement: in the revocation, else where the properties are.
  let replacement: KeyReplacement?
  /// What revocations of the key are compared with.
  let newestSelfSignature: Signature?
  /// Where properties are looked for, in this order.
  private let sources: [Signature]

  init(
    _ certificate: Certificate, userIDs: [SelfSignatureResolver.ResolvedUserID],
    resolver: inout SelfSignatureResolver
  ) {
    let key = certificate.primaryKey
    let target = SignedTarget.directKey(key)
    let directKey = resolver.directKeySignature(of: certificate)
    let primary = Self.primaryUserID(userIDs, at: resolver.time)
    let userIDSignature = primary.flatMap { userIDs[$0].binding.signature }
    self.directKey = directKey
    primaryUserIDIndex = primary
    let stated = (key.version == 6 ? [directKey.signature] : [userIDSignature, directKey.signature])
      .compactMap(\.self)
    // Later self-signatures count only where no older one says anything.
    let time = resolver.time
    let timely = stated.filter { ($0.creationTime ?? .first) <= time }
    let sources = timely + stated.filter { ($0.creationTime ?? .first) > time }
    self.sources = sources
    let selfSignatures = [directKey.signature, userIDSignature].compactMap(\.self)
    let said = selfSignatures.filter { ($0.creationTime ?? .first) <= time }
    newestSelfSignature = (said.isEmpty ? selfSignatures : said)
      .max { ($0.creationTime ?? .first) < ($1.creationTime ?? .first) }
    flags =
      sources.lazy.compactMap(\.keyFlags).first
      ?? (sources.isEmpty ? [] : .unstated(for: key.algorithm, isPrimary: true))
    expirationTime = Self.expirationTime(of: key, sources)

    let revocation = resolver.revocation(
      in: certificate.signatures, type: .keyRevocation, over: target, against: newestSelfSignature,
      isFinal: true)
    replacement =
      ([revocation?.signature].compactMap(\.self) + sources).lazy.compactMap(\.keyReplacement).first
    let revoked =
      revocation ?? resolver.revocationByOthers(of: certificate, against: newestSelfSignature)
    if let revoked {
      problem = .revoked(revoked.reason)
    } else if key.creationTime > resolver.time {
      problem = .notYetValid
    } else if sources.isEmpty {
      // A refused self-signature explains more than a missing one.
      let problems = [directKey.problem] + (key.version == 6 ? [] : userIDs.map(\.binding.problem))
      problem = problems.lazy.compactMap(\.self).first { $0 != .notBound } ?? .notBound
    } else if let expirationTime, expirationTime <= resolver.time {
      problem = .expired
    } else {
      problem = resolver.policy.refusal(key: key).map { .refused($0) }
    }
  }

  /// The first of the sources to say so decides.
  func last<Value>(_ select: (Subpacket.Content) -> Value?) -> Value? {
    for source in sources {
      if let value = source.hashedArea.last(select) { return value }
    }
    return nil
  }

  /// A signature that says "never" decides as one that names a time does.
  private static func expirationTime(of key: PublicKey, _ sources: [Signature]) -> Timestamp? {
    let speaking = sources.first { source in
      source.hashedArea.subpackets.contains { $0.type == .keyExpirationTime }
    }
    return speaking?.keyExpirationTime(of: key)
  }

  /// Those that were claimed after the reference time come last, before them those that are given up; those
  /// marked as primary come first, then the newest self-signature (section 5.2.3.27), then the octets, so
  /// that the order in which they came decides nothing.
  private static func primaryUserID(
    _ userIDs: [SelfSignatureResolver.ResolvedUserID], at reference: Timestamp
  ) -> Int? {
    struct Rank {
      let index: Int
      let isTimely: Bool
      let isValid: Bool
      let isMarked: Bool
      let time: Timestamp
    }
    var best: Rank?
    for (index, resolved) in userIDs.enumerated() {
      guard let signature = resolved.binding.signature, let time = signature.creationTime else { continue }
      let isMarked: Bool? = signature.hashedArea.last { $0.asPrimaryUserID }
      let rank = Rank(
        index: index, isTimely: time <= reference, isValid: resolved.revocation == nil,
        isMarked: isMarked ?? false, time: time)
      guard let current = best else {
        best = rank
        continue
      }
      let isBetter: Bool
      if rank.isTimely != current.isTimely {
        isBetter = rank.isTimely
      } else if rank.isValid != current.isValid {
        isBetter = rank.isValid
      } else if rank.isMarked != current.isMarked {
        isBetter = rank.isMarked
      } else if rank.time != current.time {
        isBetter = rank.time > current.time
      } else {
        isBetter = resolved.userID.bytes.lexicographicallyPrecedes(userIDs[current.index].userID.bytes)
      }
      if isBetter { best = rank }
    }
    return best?.index
  }
}

extension Timestamp {
  /// The first moment of the format.
  static let first = Timestamp(secondsSince1970: 0)
}

extension SelfSignatureResolver {
  /// The direct-key signature that counts. A certification revocation on the key cancels it
  /// (section 5.2.1.13), until there is a newer one.
  fileprivate mutating func directKeySignature(of certificate: Certificate) -> Binding {
    let target = SignedTarget.directKey(primaryKey)
    let binding = newest(certificate.signatures, over: target) { $0 == .directKey }
    guard let signature = binding.signature,
      let revoked = revocation(
        in: certificate.signatures, type: .certificationRevocation, over: target, against: signature,
        isFinal: false)
    else { return binding }
    return Binding(signature: nil, problem: .revoked(revoked.reason))
  }

  /// A revocation by a key that the holder has named for it (section 5.2.3.23), if that is known. All valid
  /// direct-key signatures may name one: a newer one does not take that back.
  fileprivate mutating func revocationByOthers(
    of certificate: Certificate, against binding: Signature?
  ) -> Revocation? {
    let target = SignedTarget.directKey(primaryKey)
    let known = certificate.knownRevokers
    guard !known.isEmpty, certificate.signatures.contains(where: { $0.type == .keyRevocation }) else {
      return nil
    }
    var keys: [PublicKey] = []
    for selfSignature in certificate.signatures
    where selfSignature.type == .directKey && selfSignature.mayBe(by: primaryKey) {
      let named = selfSignature.revokers
      let found = known.filter { named.contains($0.fingerprint) && !keys.contains($0) }
      if !found.isEmpty, isMade(selfSignature, over: target, by: primaryKey) { keys += found }
    }
    let revocations = keys.compactMap { key in
      revocation(
        in: certificate.signatures, type: .keyRevocation, over: target, against: binding, isFinal: true,
        by: key)
    }
    // One that is final before one that can be taken back, then the newest.
    return revocations.max { left, right in
      let isFinal = (left: left.reason?.isSoft != true, right: right.reason?.isSoft != true)
      return isFinal.left == isFinal.right
        ? (left.signature.creationTime ?? .first) < (right.signature.creationTime ?? .first) : isFinal.right
    }
  }
}
