// SPDX-License-Identifier: Apache-2.0
//
// OpenPGP has the two numbers of an ECDSA or DSA signature as integers, libcrypto as a sequence in DER (RFC 3279,
// sections 2.2.2 and 2.2.3).

internal import COpenSSL

/// The two forms of a signature of two numbers.
enum ECDSASignature {
  /// The sequence in DER.
  static func sequence(r: MPI, s: MPI) -> [UInt8] {
    guard let signature = unsafe ECDSA_SIG_new() else { preconditionFailure("out of memory") }
    defer { unsafe ECDSA_SIG_free(signature) }
    // They belong to the signature from then on.
    let numbers = unsafe (number(r), number(s))
    precondition(unsafe ECDSA_SIG_set0(signature, numbers.0, numbers.1) == 1, "two numbers are a signature")
    var bytes: UnsafeMutablePointer<UInt8>?
    let count = unsafe i2d_ECDSA_SIG(signature, &bytes)
    defer { unsafe CRYPTO_free(bytes, #file, #line) }
    precondition(count > 0, "out of memory")
    return unsafe Array(UnsafeBufferPointer(start: bytes, count: Int(count)))
  }

  /// The two numbers.
  static func integers(_ sequence: [UInt8]) throws(OpenPGPError) -> (r: MPI, s: MPI) {
    let signature = unsafe sequence.withUnsafeBufferPointer { bytes in
      var place = bytes.baseAddress
      return unsafe d2i_ECDSA_SIG(nil, &place, bytes.count)
    }
    guard let signature = unsafe signature else { throw .internalFailure }
    defer { unsafe ECDSA_SIG_free(signature) }
    return unsafe (integer(ECDSA_SIG_get0_r(signature)), integer(ECDSA_SIG_get0_s(signature)))
  }

  @unsafe
  private static func number(_ integer: MPI) -> OpaquePointer? {
    unsafe BN_bin2bn(integer.bytes, Int32(integer.bytes.count), nil)
  }

  @unsafe
  private static func integer(_ number: OpaquePointer?) -> MPI {
    var bytes = [UInt8](repeating: 0, count: (Int(unsafe BN_num_bits(number)) + 7) / 8)
    unsafe BN_bn2bin(number, &bytes)
    return MPI(bytes)
  }
}
