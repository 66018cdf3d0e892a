// SPDX-License-Identifier: Apache-2.0
//
// SLH-DSA (FIPS 205) with SHAKE: pure, with an empty context, hedged. It is nothing but hashing; SLHDSATrees has the
// trees, SLHDSASigning and SLHDSAVerification the two algorithms.

internal import Primitives
package import Secrets

/// A signature scheme of FIPS 205 whose security rests on a hash function alone: three of its parameter sets.
package enum SLHDSA: Sendable, CaseIterable {
  case shake128s
  case shake128f
  case shake256s

  /// Octets of a public key: PK.seed, PK.root.
  package var publicKeyByteCount: Int { 2 * n }
  /// Octets of a private key: SK.seed, SK.prf, PK.seed, PK.root.
  package var secretKeyByteCount: Int { 4 * n }
  /// Octets of a signature: 7856, 17088 or 29792.
  package var signatureByteCount: Int {
    n * (1 + forsTrees * (1 + forsHeight) + layers * (chains + treeHeight))
  }

  /// A new key pair (FIPS 205, 10.1).
  package func generate() -> (publicKey: [UInt8], secretKey: SharedSecretBytes) {
    var secretKey = SystemRandom.secretBytes(count: secretKeyByteCount)
    let root = secretKey.withBytes { computedRoot(secretKey: $0) }
    secretKey.withMutableBytes { bytes in
      for (offset, byte) in root.enumerated() {
        bytes.storeBytes(of: byte, toByteOffset: 3 * n + offset, as: UInt8.self)
      }
    }
    let publicKey = secretKey.withBytes { copied($0.extracting(droppingFirst: 2 * n)) }
    return (publicKey, SharedSecretBytes(secretKey))
  }

  /// The public key that belongs to SK.seed and PK.seed of a private key, which takes as long as making one.
  /// - Parameter secretKey: 64 or 128 octets.
  /// - Returns: nil when PK.root in the private key is that of another key.
  package func publicKey(secretKey: RawSpan) -> [UInt8]? {
    checkLength(secretKey)
    let publicKey = copied(secretKey.extracting(droppingFirst: 2 * n))
    return publicKey.suffix(n) == computedRoot(secretKey: secretKey)[...] ? publicKey : nil
  }

  /// A signature of `message`, with fresh randomness (FIPS 205, 10.2.1).
  /// - Parameter secretKey: 64 or 128 octets, whose PK.root belongs to it.
  package func sign(_ message: [UInt8], secretKey: RawSpan) -> [UInt8] {
    checkLength(secretKey)
    let random = SystemRandom.publicBytes(count: n)
    return sign([Self.emptyContext, message], secretKey: secretKey, random: random)
  }

  /// Whether `signature` is one of `message` by the owner of `publicKey` (FIPS 205, 10.3).
  ///
  /// A signature or a public key of the wrong length is simply not valid.
  package func isValid(_ signature: [UInt8], of message: [UInt8], publicKey: [UInt8]) -> Bool {
    isValid(signature, of: [Self.emptyContext, message], publicKey: publicKey)
  }

  func checkLength(_ secretKey: RawSpan) {
    precondition(secretKey.byteCount == secretKeyByteCount, "an SLH-DSA private key has four times n octets")
  }

  /// Octets of a key that are public.
  func copied(_ bytes: RawSpan) -> [UInt8] {
    (0..<bytes.byteCount).map { unsafe bytes.unsafeLoad(fromByteOffset: $0, as: UInt8.self) }
  }

  /// What is in front of a message that is signed as it is: 0 for pure, and the length of the context.
  private static let emptyContext: [UInt8] = [0, 0]
}

/// Parameters (FIPS 205, table 2).
extension SLHDSA {
  /// n: octets of a hash.
  var n: Int { self == .shake256s ? 32 : 16 }
  /// h': the height of a tree of WOTS+ keys.
  var treeHeight: Int {
    switch self {
    case .shake128s: 9
    case .shake128f: 3
    case .shake256s: 8
    }
  }
  /// d: the layers of such trees.
  var layers: Int {
    switch self {
    case .shake128s: 7
    case .shake128f: 22
    case .shake256s: 8
    }
  }
  /// a: the height of a tree of FORS.
  var forsHeight: Int {
    switch self {
    case .shake128s: 12
    case .shake128f: 6
    case .shake256s: 14
    }
  }
  /// k: the trees of FORS.
  var forsTrees: Int {
    switch self {
    case .shake128s: 14
    case .shake128f: 33
    case .shake256s: 22
    }
  }
  /// len: the chains of a WOTS+ key. Two digits of base 16 an octet of what it signs, and three of their sum.
  var chains: Int { 2 * n + 3 }
  /// w: the values of a chain.
  static var chainLength: Int { 16 }
  /// Octets of all values of all chains of a key.
  var chainsByteCount: Int { chains * Self.chainLength * n }
}
