// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, sections 5.2.3 and 5.2.4: makes signatures of the signer's version, with the subpackets that
// every signature has and the criticality that the standard recommends; and what is hashed for a signature
// over keys and user IDs.

internal import Primitives

/// Makes signatures.
struct SignatureBuilder {
  var type: SignatureType
  /// Replaced by a longer one where the signer's algorithm demands it.
  var hash: HashAlgorithm = .sha512
  var creationTime: Timestamp
  /// Hashed subpackets besides creation time and issuer fingerprint, which the builder adds.
  var subpackets: [Subpacket] = []
  /// For example back-signatures; the builder adds the issuer's key ID in version 4.
  var unhashedSubpackets: [Subpacket] = []

  /// Signs keys and user IDs.
  /// - Throws: ``OpenPGPError/keyCannot(_:)`` when it cannot sign, ``OpenPGPError/refused(_:)`` for a
  ///   hash that is too weak, ``OpenPGPError/overLimit(_:)`` when the subpackets do not fit.
  func sign(_ target: SignedTarget, with signer: any Signer) throws(OpenPGPError) -> Signature {
    precondition(target.allows(type), "a signature of this type is over something else")
    let draft = try draft(for: signer.publicKey)
    return try draft.signed(digest: try draft.digest(over: target), with: signer)
  }

  /// The signature that `key` will make, with its salt, and still without digest and material.
  func draft(for key: PublicKey) throws(OpenPGPError) -> Signature {
    guard key.algorithm.signs else { throw .keyCannot(.sign) }
    if let rule = Policy.standard.refusal(hash: hash, for: .document, at: creationTime) {
      throw .refused(rule)
    }
    let hash = hash.strengthened(for: key)
    var hashed = [
      Subpacket(.signatureCreationTime(creationTime)), Subpacket(.issuerFingerprint(key.fingerprint)),
    ]
    hashed += subpackets
    let unhashed = unhashedSubpackets + (key.version == 4 ? [Subpacket(.issuerKeyID(key.keyID))] : [])
    let areas = [
      SubpacketArea(hashed.map { $0.recommended(version: key.version) }), SubpacketArea(unhashed),
    ]
    guard key.version == 6 || areas.allSatisfy({ $0.bytes.count <= UInt16.max }) else {
      throw .overLimit(.subpacketByteCount)
    }
    let salt = key.version == 6 ? SystemRandom.publicBytes(count: hash.saltByteCount ?? 0) : []
    return Signature(
      version: key.version, type: type, algorithm: key.algorithm, hash: hash, hashedArea: areas[0],
      unhashedArea: areas[1], digestPrefix: [0, 0], salt: salt, material: .unknown([]))
  }
}

extension Signature {
  /// This draft with the digest's first octets and the signer's result.
  func signed(digest: [UInt8], with signer: any Signer) throws(OpenPGPError) -> Signature {
    Signature(
      version: version, type: type, algorithm: algorithm, hash: hash, hashedArea: hashedArea,
      unhashedArea: unhashedArea, digestPrefix: Array(digest.prefix(2)), salt: salt,
      material: try signer.sign(digest: digest, hash: hash))
  }
}

extension HashAlgorithm {
  /// This algorithm, or the member of SHA-2 that is just long enough for the key (sections 5.2.3.2 to 5.2.3.5).
  func strengthened(for key: PublicKey) -> HashAlgorithm {
    let needed = Policy.shortestDigestByteCount(for: key)
    let choices: [HashAlgorithm] = [self, .sha256, .sha384, .sha512]
    return choices.first { ($0.digestByteCount ?? 0) >= needed } ?? .sha512
  }
}

extension Subpacket {
  /// Critical where the standard says that it should be when it is written: times, flags, limits of trust and
  /// of export (sections 5.2.3.11 to 5.2.3.29), and intended recipients in version 6 (section 5.2.3.36).
  fileprivate func recommended(version: UInt8) -> Subpacket {
    guard !isCritical, let content else { return self }
    let shouldBeCritical =
      switch content {
      case .signatureCreationTime, .signatureExpirationTime, .keyExpirationTime, .keyFlags: true
      case .exportableCertification(let isExportable): !isExportable
      case .intendedRecipientFingerprint: version == 6
      default: false
      }
    return shouldBeCritical ? Subpacket(content, isCritical: true) : self
  }
}

/// The target of a signature that is not over a document.
enum SignedTarget {
  case directKey(PublicKey)
  case userID(PublicKey, UserID)
  case userAttribute(PublicKey, UserAttribute)
  case subkey(primary: PublicKey, PublicKey)

  /// Whether a signature of this type can be over such a target. The octets of a key can be a document's too,
  /// so a type that does not belong here must never count.
  func allows(_ type: SignatureType) -> Bool {
    switch self {
    case .directKey: [.directKey, .keyRevocation, .certificationRevocation].contains(type)
    case .userID, .userAttribute: type.isCertification || type == .certificationRevocation
    case .subkey: [.subkeyBinding, .primaryKeyBinding, .subkeyRevocation].contains(type)
    }
  }

  /// The octets of the target for a signature of this version: version 3 knows no prefixes of user IDs.
  func hashed(version: UInt8) -> [UInt8] {
    switch self {
    case .directKey(let key): key.hashed
    case .userID(let key, let userID): key.hashed + (version == 3 ? userID.bytes : userID.hashed)
    case .userAttribute(let key, let attribute):
      key.hashed + (version == 3 ? attribute.bytes : attribute.hashed)
    case .subkey(let primary, let subkey): primary.hashed + subkey.hashed
    }
  }
}
