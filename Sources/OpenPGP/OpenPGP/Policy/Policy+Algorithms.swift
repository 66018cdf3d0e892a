// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, section 9 and 13: which algorithms and key sizes are good enough, and for what.

extension Policy {
  /// What a hash is for. A document may be the attacker's choice, which asks for resistance to collisions; a
  /// certification is mostly its maker's own words.
  public enum HashUse: Sendable { case document, certification }

  /// Whether a signature of `time` may use the hash; nil, or the rule that forbids it.
  public func refusal(hash: HashAlgorithm, for use: HashUse, at time: Timestamp) -> Rule? {
    switch hash {
    case .sha224, .sha256, .sha384, .sha512, .sha3_256, .sha3_512: nil
    case .sha1 where use == .certification && time < Self.lastSHA1Certification: nil
    default: .hashAlgorithm(hash)
    }
  }

  /// Whether the key's algorithm and size may be used.
  public func refusal(key: PublicKey) -> Rule? {
    switch key.material {
    case .rsa(let modulus, let exponent):
      if modulus.bitCount < Self.smallestModulusBitCount {
        .keySize(bitCount: modulus.bitCount)
      } else {
        isAcceptable(exponent: exponent) ? nil : .publicExponent
      }
    case .ecdsa(let curve, _), .ecdh(let curve, _, _), .eddsaLegacy(let curve, _):
      isAcceptable(curve, version: key.version) ? nil : .publicKeyAlgorithm(key.algorithm)
    case .x25519, .x448, .ed25519, .ed448: nil
    case .elgamal, .dsa, .unknown: .publicKeyAlgorithm(key.algorithm)
    }
  }

  /// Whether messages under the cipher may be read (`writing` false) or written. Old messages stay readable;
  /// blocks of 64 bits are not written, and nothing needs a second cipher beside AES.
  public func refusal(cipher: SymmetricAlgorithm, writing: Bool) -> Rule? {
    let isAcceptable = writing ? cipher.isAES : cipher.keyByteCount != nil
    return isAcceptable ? nil : .symmetricAlgorithm(cipher)
  }

  /// The least octets of a digest that `key` may sign (sections 5.2.3.2 to 5.2.3.5).
  static func shortestDigestByteCount(for key: PublicKey) -> Int {
    switch key.material {
    case .ecdsa(let curve, _), .eddsaLegacy(let curve, _): min(curve.fieldByteCount ?? 0, 64)
    case .ed25519: 32
    case .ed448: 64
    default: 0
    }
  }

  /// RFC 8017, section 3.1: from 3 upwards, and without a factor in common with the even p-1 and q-1.
  private func isAcceptable(exponent: MPI) -> Bool {
    exponent.bitCount >= 2 && exponent.bytes.last.map { $0 & 1 } == 1
  }

  /// The curves of section 9.2 for version 6, and the two that only version 4 has.
  private func isAcceptable(_ curve: Curve, version: UInt8) -> Bool {
    switch curve {
    case .p256, .p384, .p521: true
    case .ed25519Legacy, .curve25519Legacy: version == 4
    default: false
    }
  }

  /// Section 12.4: implementations MUST NOT generate RSA keys below 3,072 bits and SHOULD NOT use them below
  /// 2,048.
  private static let smallestModulusBitCount = 2048

  /// 2023-02-01: who certifies has had three years by then since chosen-prefix collisions of SHA-1 were shown.
  private static let lastSHA1Certification = Timestamp(secondsSince1970: 1_675_209_600)
}
