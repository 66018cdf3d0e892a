// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, section 5.2.4: whether a key made a signature. That says nothing about time, flags or policy.

extension Signature {
  /// Whether `key` made this signature over `target`.
  /// - Throws: ``OpenPGPError/unsupported(_:)`` for a hash or an algorithm that is not there.
  func isValid(over target: SignedTarget, by key: PublicKey) throws(OpenPGPError) -> Bool {
    guard target.allows(type) else { return false }
    return try isValid(digest: try digest(over: target), by: key)
  }

  /// Whether `key` made this signature, whose digest is `digest`.
  func isValid(digest: [UInt8], by key: PublicKey) throws(OpenPGPError) -> Bool {
    guard fits(key), namesIssuerOfOwnVersion,
      digest.count >= Policy.shortestDigestByteCount(for: key), Array(digest.prefix(2)) == digestPrefix
    else { return false }
    return try key.isValid(material, digest: digest, hash: hash)
  }

  /// The digest of `target` and this signature's own fields.
  func digest(over target: SignedTarget) throws(OpenPGPError) -> [UInt8] {
    guard HashContext.isAvailable(hash) else { throw .unsupported(.hashAlgorithm(hash.rawValue)) }
    var context = HashContext(hash)
    context.update(salt)
    context.update(target.hashed(version: version))
    context.update(hashedFields)
    return context.finish()
  }

  /// Whether a key of this version and algorithm makes such signatures. RSA has two numbers that sign
  /// (section 9.1), and keys of the one made signatures of the other.
  func fits(_ key: PublicKey) -> Bool {
    let rsa: [PublicKeyAlgorithm] = [.rsa, .rsaSignOnly]
    let isOfKind = algorithm == key.algorithm || rsa.contains(algorithm) && rsa.contains(key.algorithm)
    return isOfKind && fitsVersion(of: key)
  }
}
