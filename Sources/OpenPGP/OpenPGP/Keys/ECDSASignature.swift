// SPDX-License-Identifier: Apache-2.0
//
// OpenPGP has the two numbers of an ECDSA or DSA signature as integers, libcrypto as a sequence in DER.

internal import LibCrypto

/// The two forms of a signature of two numbers.
enum ECDSASignature {
  /// The sequence in DER.
  static func sequence(r: MPI, s: MPI) -> [UInt8] { ECDSASequence.make(r: r.bytes, s: s.bytes) }

  /// The two numbers.
  static func integers(_ sequence: [UInt8]) throws(OpenPGPError) -> (r: MPI, s: MPI) {
    guard let (r, s) = ECDSASequence.numbers(sequence) else { throw .internalFailure }
    return (MPI(r), MPI(s))
  }
}
