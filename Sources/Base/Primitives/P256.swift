// SPDX-License-Identifier: Apache-2.0
//
// The curve P-256 (SEC 2, secp256r1) by libcrypto: key agreement and signatures with keys in software.
// Points are 65 bytes, uncompressed (SEC 1, 2.3.3); signatures are DER (RFC 3279, 2.2.3).

internal import COpenSSL
public import Secrets

/// What can be done with public keys alone, and the sizes.
public enum P256 {
  /// Bytes of a public key.
  public static let publicKeyByteCount = 65
  /// Bytes of a private key, and of a shared secret.
  public static let scalarByteCount = 32

  /// Whether the bytes are a point of the curve, and not the one at infinity.
  public static func isPublicKey(_ bytes: [UInt8]) -> Bool { unsafe withKey(bytes) { _ in true } ?? false }

  /// Checks an ECDSA signature over a SHA-256 digest.
  ///
  /// Anything that is no signature, no point or no digest is simply not valid.
  public static func isValidSignature(
    _ signature: [UInt8], digest: [UInt8], publicKey: [UInt8]
  ) -> Bool {
    guard digest.count == SHA256.byteCount else { return false }
    return unsafe withKey(publicKey) { key in
      guard let context = unsafe EVP_PKEY_CTX_new(key, nil) else { return false }
      defer { unsafe EVP_PKEY_CTX_free(context) }
      guard unsafe EVP_PKEY_verify_init(context) == 1 else { return false }
      return unsafe EVP_PKEY_verify(context, signature, signature.count, digest, digest.count) == 1
    } ?? false
  }

  /// Lends libcrypto's form of a public key; nil when the bytes are none.
  @unsafe
  static func withKey<R>(_ bytes: [UInt8], _ body: (OpaquePointer) -> R) -> R? {
    guard bytes.count == publicKeyByteCount, bytes[0] == 4 else { return nil }
    guard let key = unsafe makeKey(publicKey: bytes, scalar: nil) else { return nil }
    defer { unsafe EVP_PKEY_free(key) }
    return unsafe body(key)
  }

  /// A key of libcrypto from its parts, or nil; the caller frees it.
  @unsafe
  static func makeKey(publicKey: [UInt8], scalar: RawSpan?) -> OpaquePointer? {
    guard let builder = unsafe OSSL_PARAM_BLD_new() else { return nil }
    defer { unsafe OSSL_PARAM_BLD_free(builder) }
    var number: OpaquePointer?
    defer { unsafe BN_clear_free(number) }
    if let scalar {
      unsafe number = scalar.withUnsafeBytes { bytes in
        unsafe BN_bin2bn(
          bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), Int32(bytes.count), BN_secure_new())
      }
      guard unsafe number != nil,
        unsafe OSSL_PARAM_BLD_push_BN(builder, COFFER_PARAMETER_PRIVATE, number) == 1
      else { return nil }
    }
    // The builder keeps the places of what it is given, and reads them at the end.
    let parameters = unsafe publicKey.withUnsafeBufferPointer { point -> UnsafeMutablePointer<OSSL_PARAM>? in
      guard unsafe OSSL_PARAM_BLD_push_utf8_string(builder, COFFER_PARAMETER_GROUP, COFFER_P256, 0) == 1,
        unsafe OSSL_PARAM_BLD_push_octet_string(
          builder, COFFER_PARAMETER_PUBLIC, point.baseAddress, point.count) == 1
      else { return nil }
      return unsafe OSSL_PARAM_BLD_to_param(builder)
    }
    guard let parameters = unsafe parameters else { return nil }
    defer { unsafe OSSL_PARAM_free(parameters) }
    guard let context = unsafe EVP_PKEY_CTX_new_from_name(nil, "EC", nil) else { return nil }
    defer { unsafe EVP_PKEY_CTX_free(context) }
    var key: OpaquePointer?
    let selection = scalar == nil ? COFFER_PUBLIC_KEY : COFFER_KEYPAIR
    guard unsafe EVP_PKEY_fromdata_init(context) == 1,
      unsafe EVP_PKEY_fromdata(context, &key, selection, parameters) == 1
    else { return nil }
    return unsafe key
  }
}

/// A private key in software, in libcrypto's memory, which erases it with the last use.
@safe
public struct P256PrivateKey: ~Copyable, @unchecked Sendable {
  private let key: OpaquePointer
  /// 65 bytes.
  public let publicKey: [UInt8]

  /// A new key.
  public init() {
    // libcrypto fails here only without memory or randomness, and then nothing else works either.
    guard let context = unsafe EVP_PKEY_CTX_new_from_name(nil, "EC", nil) else { preconditionFailure("EC") }
    defer { unsafe EVP_PKEY_CTX_free(context) }
    var made: OpaquePointer?
    guard unsafe EVP_PKEY_keygen_init(context) == 1,
      unsafe EVP_PKEY_CTX_set_group_name(context, COFFER_P256) == 1,
      unsafe EVP_PKEY_generate(context, &made) == 1, let made = unsafe made,
      let publicKey = unsafe Self.publicKey(of: made)
    else { preconditionFailure("a P-256 key can be made") }
    unsafe key = made
    self.publicKey = publicKey
  }

  /// A key from its scalar, 32 bytes big-endian, and its public key, which must belong to it.
  /// - Throws: `CryptoError.invalidKey`
  public init(scalar: borrowing SecretBytes, publicKey: [UInt8]) throws(CryptoError) {
    guard scalar.count == P256.scalarByteCount, publicKey.count == P256.publicKeyByteCount,
      publicKey[0] == 4,
      let made = unsafe scalar.withBytes({ unsafe P256.makeKey(publicKey: publicKey, scalar: $0) })
    else { throw .invalidKey }
    guard let context = unsafe EVP_PKEY_CTX_new(made, nil) else {
      unsafe EVP_PKEY_free(made)
      throw .invalidKey
    }
    defer { unsafe EVP_PKEY_CTX_free(context) }
    guard unsafe EVP_PKEY_pairwise_check(context) == 1 else {
      unsafe EVP_PKEY_free(made)
      throw .invalidKey
    }
    unsafe key = made
    self.publicKey = publicKey
  }

  deinit { unsafe EVP_PKEY_free(key) }

  /// The scalar, 32 bytes big-endian.
  public borrowing func scalar() -> SecretBytes {
    var number: OpaquePointer?
    defer { unsafe BN_clear_free(number) }
    let found = unsafe EVP_PKEY_get_bn_param(key, COFFER_PARAMETER_PRIVATE, &number)
    precondition(found == 1, "a private key has a scalar")
    return SecretBytes(byteCount: P256.scalarByteCount) { bytes in
      unsafe bytes.withUnsafeMutableBytes { bytes in
        _ = unsafe BN_bn2binpad(
          number, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), Int32(bytes.count))
      }
    }
  }

  /// ECDH: the x coordinate of the shared point (SEC 1, 3.3.1).
  /// - Throws: `CryptoError.invalidKey` when `publicKey` is no point of the curve.
  public borrowing func sharedSecret(with publicKey: [UInt8]) throws(CryptoError) -> SecretBytes {
    var secret = SecretBytes(zeroed: P256.scalarByteCount)
    let key = unsafe key
    let isDone = unsafe P256.withKey(publicKey) { peer -> Bool in
      guard let context = unsafe EVP_PKEY_CTX_new(key, nil) else { return false }
      defer { unsafe EVP_PKEY_CTX_free(context) }
      guard unsafe EVP_PKEY_derive_init(context) == 1, unsafe EVP_PKEY_derive_set_peer(context, peer) == 1
      else { return false }
      return secret.withMutableBytes { bytes in
        unsafe bytes.withUnsafeMutableBytes { bytes in
          var count = bytes.count
          return unsafe EVP_PKEY_derive(
            context, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), &count) == 1
            && count == P256.scalarByteCount
        }
      }
    }
    guard isDone == true else { throw .invalidKey }
    return secret
  }

  /// ECDSA over a SHA-256 digest; the signature in DER.
  /// - Throws: `CryptoError.invalidKey` for a digest of another length.
  public borrowing func signature(digest: [UInt8]) throws(CryptoError) -> [UInt8] {
    guard digest.count == SHA256.byteCount, let context = unsafe EVP_PKEY_CTX_new(key, nil) else {
      throw .invalidKey
    }
    defer { unsafe EVP_PKEY_CTX_free(context) }
    // SEQUENCE of two INTEGERs of at most 33 bytes
    var signature = [UInt8](repeating: 0, count: 72)
    var count = signature.count
    guard unsafe EVP_PKEY_sign_init(context) == 1,
      unsafe EVP_PKEY_sign(context, &signature, &count, digest, digest.count) == 1
    else { throw .invalidKey }
    return Array(signature.prefix(count))
  }

  @unsafe
  private static func publicKey(of key: OpaquePointer) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: P256.publicKeyByteCount)
    var count = 0
    guard
      unsafe EVP_PKEY_get_octet_string_param(
        key, COFFER_PARAMETER_PUBLIC, &bytes, bytes.count, &count) == 1,
      count == bytes.count, bytes[0] == 4
    else { return nil }
    return bytes
  }
}
