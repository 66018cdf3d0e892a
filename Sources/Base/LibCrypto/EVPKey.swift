// SPDX-License-Identifier: Apache-2.0
//
// Keys of libcrypto, which erases a private key when it is freed.

internal import COpenSSL

/// A key, public or private: an `EVP_PKEY`.
///
/// Sendable: nothing here changes a key once it is made, and libcrypto lets threads use one at the same time.
@safe
package struct EVPKey: ~Copyable, @unchecked Sendable {
  /// The kinds of key under libcrypto's names.
  package enum Kind: String, Sendable {
    case rsa = "RSA"
    case dsa = "DSA"
    case ellipticCurve = "EC"
    case ed25519 = "ED25519"
    case ed448 = "ED448"
    case x25519 = "X25519"
    case x448 = "X448"
  }

  /// The numbers that keys are made of.
  package enum Part: Sendable {
    // RSA. libcrypto's coefficient is the inverse of its second prime modulo its first.
    case modulus, publicExponent, privateExponent, factor1, factor2, exponent1, exponent2, coefficient
    // DSA
    case prime, order, generator
    /// DSA's public number.
    case publicValue
    /// The scalar of an elliptic curve.
    case privateValue

    @unsafe
    fileprivate var name: UnsafePointer<CChar>? {
      switch self {
      case .modulus: unsafe COFFER_PARAMETER_RSA_N
      case .publicExponent: unsafe COFFER_PARAMETER_RSA_E
      case .privateExponent: unsafe COFFER_PARAMETER_RSA_D
      case .factor1: unsafe COFFER_PARAMETER_RSA_FACTOR1
      case .factor2: unsafe COFFER_PARAMETER_RSA_FACTOR2
      case .exponent1: unsafe COFFER_PARAMETER_RSA_EXPONENT1
      case .exponent2: unsafe COFFER_PARAMETER_RSA_EXPONENT2
      case .coefficient: unsafe COFFER_PARAMETER_RSA_COEFFICIENT1
      case .prime: unsafe COFFER_PARAMETER_FFC_P
      case .order: unsafe COFFER_PARAMETER_FFC_Q
      case .generator: unsafe COFFER_PARAMETER_FFC_G
      case .publicValue: unsafe COFFER_PARAMETER_PUBLIC
      case .privateValue: unsafe COFFER_PARAMETER_PRIVATE
      }
    }
  }

  let reference: OpaquePointer

  @unsafe
  private init(owning reference: OpaquePointer) { unsafe self.reference = unsafe reference }

  deinit { unsafe EVP_PKEY_free(reference) }

  // MARK: From parts

  /// A key of RSA or DSA from its numbers, or of an elliptic curve from the curve's name, the public point and
  /// perhaps the scalar.
  /// - Returns: nil when libcrypto does not take them for a key, such as for a point that is not on its curve.
  package static func make(
    _ kind: Kind, _ numbers: [(part: Part, number: BigNumber)], isPrivate: Bool, group: String? = nil,
    point: [UInt8] = []
  ) -> EVPKey? {
    guard let builder = unsafe OSSL_PARAM_BLD_new() else { return nil }
    defer { unsafe OSSL_PARAM_BLD_free(builder) }
    for (part, number) in numbers {
      guard unsafe OSSL_PARAM_BLD_push_BN(builder, part.name, number.reference) == 1 else { return nil }
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
    return unsafe EVPKey(owning: key)
  }

  /// A public key of Ed25519, Ed448, X25519 or X448 from its octets; nil for another number of them.
  package static func make(_ kind: Kind, publicOctets: [UInt8]) -> EVPKey? {
    guard
      let key = unsafe EVP_PKEY_new_raw_public_key_ex(
        nil, kind.rawValue, nil, publicOctets, publicOctets.count)
    else { return nil }
    return unsafe EVPKey(owning: key)
  }

  /// A private key of Ed25519, Ed448, X25519 or X448 from its octets; nil for another number of them.
  package static func make(_ kind: Kind, secretOctets: RawSpan) -> EVPKey? {
    let key = unsafe secretOctets.withUnsafeBytes {
      unsafe EVP_PKEY_new_raw_private_key_ex(nil, kind.rawValue, nil, $0.octets, $0.count)
    }
    guard let key = unsafe key else { return nil }
    return unsafe EVPKey(owning: key)
  }

  /// A new private key; nil when libcrypto does not have it, or is out of memory or randomness.
  /// - Parameters:
  ///   - group: the curve's name, for `ellipticCurve`.
  ///   - bitCount: of the modulus, for `rsa`; the public exponent is 65,537.
  package static func generate(_ kind: Kind, group: String? = nil, bitCount: Int? = nil) -> EVPKey? {
    guard let context = unsafe EVP_PKEY_CTX_new_from_name(nil, kind.rawValue, nil) else { return nil }
    defer { unsafe EVP_PKEY_CTX_free(context) }
    guard unsafe EVP_PKEY_keygen_init(context) == 1 else { return nil }
    if let group {
      guard unsafe EVP_PKEY_CTX_set_group_name(context, group) == 1 else { return nil }
    }
    if let bitCount {
      guard unsafe EVP_PKEY_CTX_set_rsa_keygen_bits(context, Int32(bitCount)) == 1 else { return nil }
    }
    var key: OpaquePointer?
    guard unsafe EVP_PKEY_generate(context, &key) == 1, let key = unsafe key else { return nil }
    return unsafe EVPKey(owning: key)
  }

  // MARK: Its parts

  /// The public point of an elliptic curve, uncompressed, or the public octets of the other curves; nil when
  /// libcrypto fails.
  package var publicOctets: [UInt8]? {
    var count = 0
    guard
      unsafe EVP_PKEY_get_octet_string_param(reference, COFFER_PARAMETER_PUBLIC, nil, 0, &count) == 1
    else { return nil }
    var octets = [UInt8](repeating: 0, count: count)
    guard
      unsafe EVP_PKEY_get_octet_string_param(
        reference, COFFER_PARAMETER_PUBLIC, &octets, octets.count, &count) == 1,
      count == octets.count
    else { return nil }
    return octets
  }

  /// One of the key's numbers; nil when it has no such number.
  package func number(_ part: Part) -> BigNumber? {
    // libcrypto computes numbers that it is not given, and does not treat these as secret.
    var number = unsafe BN_secure_new()
    guard unsafe EVP_PKEY_get_bn_param(reference, part.name, &number) == 1, let number = unsafe number else {
      unsafe BN_clear_free(number)
      return nil
    }
    return unsafe BigNumber(owning: number)
  }

  /// Whether a private key of an elliptic curve is in its range and belongs to the public point.
  package var isPair: Bool {
    guard let context = unsafe EVP_PKEY_CTX_new(reference, nil) else { return false }
    defer { unsafe EVP_PKEY_CTX_free(context) }
    return unsafe EVP_PKEY_private_check(context) == 1 && EVP_PKEY_pairwise_check(context) == 1
  }
}
