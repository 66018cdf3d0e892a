// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, section 5.2.4: what goes into the hash of a signature over keys and user IDs.

/// What a signature that is not over a document is over.
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
