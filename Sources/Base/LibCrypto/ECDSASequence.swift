// SPDX-License-Identifier: Apache-2.0
//
// libcrypto has the two numbers of an ECDSA or DSA signature as a sequence in DER (RFC 3279, sections 2.2.2 and
// 2.2.3).

internal import COpenSSL

/// The two forms of a signature of two numbers, which are big-endian octets.
package enum ECDSASequence {
  /// The sequence in DER.
  package static func make(r: [UInt8], s: [UInt8]) -> [UInt8] {
    guard let signature = unsafe ECDSA_SIG_new() else { preconditionFailure("out of memory") }
    defer { unsafe ECDSA_SIG_free(signature) }
    // They belong to the signature from then on.
    let isSet = unsafe ECDSA_SIG_set0(
      signature, BN_bin2bn(r, Int32(r.count), nil), BN_bin2bn(s, Int32(s.count), nil))
    precondition(isSet == 1, "two numbers are a signature")
    var bytes: UnsafeMutablePointer<UInt8>?
    let count = unsafe i2d_ECDSA_SIG(signature, &bytes)
    defer { unsafe CRYPTO_free(bytes, #file, #line) }
    precondition(count > 0, "out of memory")
    return unsafe Array(UnsafeBufferPointer(start: bytes, count: Int(count)))
  }

  /// The two numbers, without leading zeros; nil when it is not such a sequence.
  package static func numbers(_ sequence: [UInt8]) -> (r: [UInt8], s: [UInt8])? {
    let signature = unsafe sequence.withUnsafeBufferPointer { bytes in
      var place = bytes.baseAddress
      return unsafe d2i_ECDSA_SIG(nil, &place, bytes.count)
    }
    guard let signature = unsafe signature else { return nil }
    defer { unsafe ECDSA_SIG_free(signature) }
    return unsafe (octets(ECDSA_SIG_get0_r(signature)), octets(ECDSA_SIG_get0_s(signature)))
  }

  @unsafe
  private static func octets(_ number: OpaquePointer?) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: (Int(unsafe BN_num_bits(number)) + 7) / 8)
    unsafe BN_bn2bin(number, &bytes)
    return bytes
  }
}
