// SPDX-License-Identifier: Apache-2.0
//
// The curve P-256 (SEC 2, secp256r1) by libcrypto: key agreement and signatures with keys in software.
// Points are 65 bytes, uncompressed (SEC 1, 2.3.3); signatures are DER (RFC 3279, 2.2.3).

internal import LibCrypto
public import Secrets

/// Operations with public keys alone, and the sizes.
public enum P256 {
  /// Bytes of a public key.
  public static let publicKeyByteCount = 65
  /// Bytes of a private key, and of a shared secret.
  public static let scalarByteCount = 32

  /// Whether the bytes are a point of the curve, and not the one at infinity.
  public static func isPublicKey(_ bytes: [UInt8]) -> Bool { key(bytes) != nil }

  /// Checks an ECDSA signature over a SHA-256 digest.
  ///
  /// A signature, a point or a digest that is malformed is simply not valid.
  public static func isValidSignature(
    _ signature: [UInt8], digest: [UInt8], publicKey: [UInt8]
  ) -> Bool {
    guard digest.count == SHA256.byteCount, let key = key(publicKey) else { return false }
    do throws(LibCryptoError) {
      return try key.isValid(signature, of: digest, paddedFor: nil)
    } catch {
      return false
    }
  }

  static let groupName = "P-256"

  /// libcrypto's form of a public key, or of a pair with its scalar; nil when the bytes are neither.
  fileprivate static func key(_ point: [UInt8], scalar: BigNumber? = nil) -> EVPKey? {
    guard point.count == publicKeyByteCount, point[0] == 4 else { return nil }
    return EVPKey.make(
      .ellipticCurve, scalar.map { [(.privateValue, $0)] } ?? [], isPrivate: scalar != nil, group: groupName,
      point: point)
  }
}

/// A private key in software, in libcrypto's memory, which erases it with the last use.
public struct P256PrivateKey: ~Copyable, Sendable {
  private let key: EVPKey
  /// 65 bytes.
  public let publicKey: [UInt8]

  /// A new key.
  public init() {
    // libcrypto fails here only without memory or randomness, and then nothing else works either.
    guard let key = EVPKey.generate(.ellipticCurve, group: P256.groupName), let publicKey = key.publicOctets,
      publicKey.count == P256.publicKeyByteCount, publicKey[0] == 4
    else { preconditionFailure("a P-256 key can be made") }
    self.key = key
    self.publicKey = publicKey
  }

  /// A key from its scalar, 32 bytes big-endian, and its public key, which must belong to it.
  /// - Throws: `CryptoError.invalidKey`
  public init(scalar: borrowing SecretBytes, publicKey: [UInt8]) throws(CryptoError) {
    guard scalar.count == P256.scalarByteCount,
      let key = P256.key(publicKey, scalar: scalar.withBytes { BigNumber($0) }), key.isPair
    else { throw .invalidKey }
    self.key = key
    self.publicKey = publicKey
  }

  /// The scalar, 32 bytes big-endian.
  public borrowing func scalar() -> SecretBytes {
    guard let scalar = key.number(.privateValue)?.octets(P256.scalarByteCount) else {
      preconditionFailure("a private key has a scalar")
    }
    return scalar
  }

  /// ECDH: the x coordinate of the shared point (SEC 1, 3.3.1).
  /// - Throws: `CryptoError.invalidKey` when `publicKey` is not a point of the curve.
  public borrowing func sharedSecret(with publicKey: [UInt8]) throws(CryptoError) -> SecretBytes {
    guard let peer = P256.key(publicKey) else { throw .invalidKey }
    do throws(LibCryptoError) {
      return try key.sharedSecret(with: peer)
    } catch {
      throw .invalidKey
    }
  }

  /// ECDSA over a SHA-256 digest; the signature in DER.
  /// - Throws: `CryptoError.invalidKey` for a digest of another length.
  public borrowing func signature(digest: [UInt8]) throws(CryptoError) -> [UInt8] {
    guard digest.count == SHA256.byteCount else { throw .invalidKey }
    do throws(LibCryptoError) {
      return try key.signature(of: digest, paddedFor: nil)
    } catch {
      throw .invalidKey
    }
  }
}
