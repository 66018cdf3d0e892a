// SPDX-License-Identifier: Apache-2.0
//
// Keys as libcrypto has them. What libcrypto holds of a private key it erases when the key is freed.

internal import COpenSSL
internal import Secrets

/// An `EVP_PKEY`, public or private.
@safe
struct LibraryKey: ~Copyable {
  /// The kinds of key under libcrypto's names.
  enum Kind: String {
    case rsa = "RSA"
    case dsa = "DSA"
    case ellipticCurve = "EC"
    case ed25519 = "ED25519"
    case ed448 = "ED448"
    case x25519 = "X25519"
    case x448 = "X448"
  }

  let reference: OpaquePointer

  @unsafe
  init(owning reference: OpaquePointer) { unsafe self.reference = unsafe reference }

  deinit { unsafe EVP_PKEY_free(reference) }

  // MARK: From parts

  /// A key of RSA or DSA from its numbers, under libcrypto's names for them; or of an elliptic curve from the
  /// curve's name, the public point and perhaps the scalar.
  /// - Returns: nil when libcrypto does not take them for a key, such as for a point that is not on its curve.
  static func make(
    _ kind: Kind, _ numbers: [(name: UnsafePointer<CChar>?, number: BigNumber)], isPrivate: Bool,
    group: String? = nil, point: [UInt8] = []
  ) -> LibraryKey? {
    guard let builder = unsafe OSSL_PARAM_BLD_new() else { return nil }
    defer { unsafe OSSL_PARAM_BLD_free(builder) }
    for unsafe(name, number) in unsafe numbers {
      guard unsafe OSSL_PARAM_BLD_push_BN(builder, name, number.reference) == 1 else { return nil }
    }
    // The builder keeps the places of what it is given, and reads them at the end.
    let parameters = unsafe withExtendedLifetime(numbers) {
      guard let group else { return unsafe OSSL_PARAM_BLD_to_param(builder) }
      return unsafe group.withCString { group -> UnsafeMutablePointer<OSSL_PARAM>? in
        unsafe point.withUnsafeBufferPointer { point -> UnsafeMutablePointer<OSSL_PARAM>? in
          guard unsafe OSSL_PARAM_BLD_push_utf8_string(builder, COFFER_PARAMETER_GROUP, group, 0) == 1,
            unsafe OSSL_PARAM_BLD_push_octet_string(
              builder, COFFER_PARAMETER_PUBLIC, point.baseAddress, point.count) == 1
          else { return nil }
          return unsafe OSSL_PARAM_BLD_to_param(builder)
        }
      }
    }
    guard let parameters = unsafe parameters else { return nil }
    defer { unsafe OSSL_PARAM_free(parameters) }
    guard let context = unsafe EVP_PKEY_CTX_new_from_name(nil, kind.rawValue, nil) else { return nil }
    defer { unsafe EVP_PKEY_CTX_free(context) }
    var key: OpaquePointer?
    guard unsafe EVP_PKEY_fromdata_init(context) == 1,
      unsafe EVP_PKEY_fromdata(
        context, &key, isPrivate ? COFFER_KEYPAIR : COFFER_PUBLIC_KEY, parameters) == 1,
      let key = unsafe key
    else { return nil }
    return unsafe LibraryKey(owning: key)
  }

  /// A public key of Ed25519, Ed448, X25519 or X448 from its octets; nil for another number of them.
  static func make(_ kind: Kind, publicOctets: [UInt8]) -> LibraryKey? {
    guard
      let key = unsafe EVP_PKEY_new_raw_public_key_ex(
        nil, kind.rawValue, nil, publicOctets, publicOctets.count)
    else { return nil }
    return unsafe LibraryKey(owning: key)
  }

  /// A private key of Ed25519, Ed448, X25519 or X448 from its octets; nil for another number of them.
  static func make(_ kind: Kind, secretOctets: RawSpan) -> LibraryKey? {
    let key = unsafe secretOctets.withUnsafeBytes {
      unsafe EVP_PKEY_new_raw_private_key_ex(
        nil, kind.rawValue, nil, $0.baseAddress?.assumingMemoryBound(to: UInt8.self), $0.count)
    }
    guard let key = unsafe key else { return nil }
    return unsafe LibraryKey(owning: key)
  }

  /// A new private key.
  /// - Parameters:
  ///   - group: the curve's name, for `ellipticCurve`.
  ///   - bitCount: of the modulus, for `rsa`; the public exponent is 65,537.
  static func generate(
    _ kind: Kind, group: String? = nil, bitCount: Int? = nil
  ) throws(OpenPGPError) -> LibraryKey {
    guard let context = unsafe EVP_PKEY_CTX_new_from_name(nil, kind.rawValue, nil) else {
      throw .internalFailure
    }
    defer { unsafe EVP_PKEY_CTX_free(context) }
    guard unsafe EVP_PKEY_keygen_init(context) == 1 else { throw .internalFailure }
    if let group {
      guard unsafe EVP_PKEY_CTX_set_group_name(context, group) == 1 else { throw .internalFailure }
    }
    if let bitCount {
      guard unsafe EVP_PKEY_CTX_set_rsa_keygen_bits(context, Int32(bitCount)) == 1 else {
        throw .internalFailure
      }
    }
    var key: OpaquePointer?
    guard unsafe EVP_PKEY_generate(context, &key) == 1, let key = unsafe key else { throw .internalFailure }
    return unsafe LibraryKey(owning: key)
  }

  // MARK: Its parts

  /// The public point of an elliptic curve, uncompressed, or the public octets of the other curves.
  var publicOctets: [UInt8] {
    get throws(OpenPGPError) {
      var count = 0
      guard
        unsafe EVP_PKEY_get_octet_string_param(reference, COFFER_PARAMETER_PUBLIC, nil, 0, &count) == 1
      else { throw .internalFailure }
      var octets = [UInt8](repeating: 0, count: count)
      guard
        unsafe EVP_PKEY_get_octet_string_param(
          reference, COFFER_PARAMETER_PUBLIC, &octets, octets.count, &count) == 1,
        count == octets.count
      else { throw .internalFailure }
      return octets
    }
  }

  /// One of the key's numbers, under libcrypto's name for it.
  @unsafe
  func number(_ name: UnsafePointer<CChar>?) throws(OpenPGPError) -> BigNumber {
    // What libcrypto is not given it makes itself, and then not as a secret.
    var number = unsafe BN_secure_new()
    guard unsafe EVP_PKEY_get_bn_param(reference, name, &number) == 1, let number = unsafe number else {
      unsafe BN_clear_free(number)
      throw .internalFailure
    }
    return unsafe BigNumber(owning: number)
  }

  /// Whether a private key of an elliptic curve is in its range and belongs to the public point.
  var isPair: Bool {
    guard let context = unsafe EVP_PKEY_CTX_new(reference, nil) else { return false }
    defer { unsafe EVP_PKEY_CTX_free(context) }
    return unsafe EVP_PKEY_private_check(context) == 1 && EVP_PKEY_pairwise_check(context) == 1
  }

  // MARK: Agreement

  /// The secret that this private key and a public one share: the x coordinate, or the octets of RFC 7748.
  /// - Throws: ``OpenPGPError/notAuthentic`` when there is none, or when it is all zero, as it is with points of
  ///   small order.
  func sharedSecret(with peer: borrowing LibraryKey) throws(OpenPGPError) -> SecretBytes {
    guard let context = unsafe EVP_PKEY_CTX_new(reference, nil) else { throw .internalFailure }
    defer { unsafe EVP_PKEY_CTX_free(context) }
    var count = 0
    guard unsafe EVP_PKEY_derive_init(context) == 1,
      unsafe EVP_PKEY_derive_set_peer(context, peer.reference) == 1,
      unsafe EVP_PKEY_derive(context, nil, &count) == 1
    else { throw .notAuthentic }
    var secret = SecretBytes(zeroed: count)
    let isDone = secret.withMutableBytes { output in
      unsafe output.withUnsafeMutableBytes { output in
        unsafe EVP_PKEY_derive(
          context, output.baseAddress?.assumingMemoryBound(to: UInt8.self), &count) == 1
          && count == output.count
      }
    }
    let zero = SecretBytes(zeroed: count)
    guard isDone, !secret.isEqual(to: zero) else { throw .notAuthentic }
    return secret
  }
}
