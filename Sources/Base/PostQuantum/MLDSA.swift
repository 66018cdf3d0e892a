// SPDX-License-Identifier: Apache-2.0
//
// ML-DSA (FIPS 204) by BoringSSL: pure, with an empty context, hedged. A private key is its seed; what is expanded
// from it lives in locked memory for one operation. BoringSSL leaves intermediate values on the stack, so each
// operation erases the stack after it; what it has on the heap is not locked, and BoringSSL erases it itself.

internal import CModuleLattice
internal import CSystem
internal import Secrets

/// A signature scheme of FIPS 204: its parameter sets 65 and 87.
package enum MLDSA: CInt, Sendable, CaseIterable {
  case mldsa65 = 65
  case mldsa87 = 87

  /// Octets of a public key: 1952 or 2592.
  package var publicKeyByteCount: Int { self == .mldsa65 ? 1952 : 2592 }

  /// Octets of a signature: 3309 or 4627.
  package var signatureByteCount: Int { self == .mldsa65 ? 3309 : 4627 }

  /// Octets of a private key: ξ.
  package static let seedByteCount = 32

  /// The public key that belongs to a private key (FIPS 204, 6.1).
  /// - Parameter seed: 32 octets.
  package func publicKey(seed: RawSpan) -> [UInt8] {
    defer { coffer_erase_stack() }
    return unsafe withPrivateKey(seed: seed) { key in
      var publicKey = [UInt8](repeating: 0, count: publicKeyByteCount)
      let result = unsafe coffer_mldsa_public_key(rawValue, key, &publicKey)
      precondition(result == 1, "out of memory for a public key")
      return publicKey
    }
  }

  /// A signature of `message`, with fresh randomness (FIPS 204, 5.2).
  /// - Parameter seed: 32 octets.
  package func sign(_ message: [UInt8], seed: RawSpan) -> [UInt8] {
    defer { coffer_erase_stack() }
    return unsafe withPrivateKey(seed: seed) { key in
      var signature = [UInt8](repeating: 0, count: signatureByteCount)
      let result = unsafe coffer_mldsa_sign(rawValue, key, message, message.count, &signature)
      precondition(result == 1, "out of memory for a signature")
      return signature
    }
  }

  /// Whether `signature` is one of `message` by the owner of `publicKey` (FIPS 204, 5.3).
  ///
  /// A signature or a public key of the wrong length is simply not valid.
  package func isValid(_ signature: [UInt8], of message: [UInt8], publicKey: [UInt8]) -> Bool {
    isValid(signature, of: message, context: [], publicKey: publicKey)
  }

  func isValid(_ signature: [UInt8], of message: [UInt8], context: [UInt8], publicKey: [UInt8]) -> Bool {
    unsafe coffer_mldsa_verify(
      rawValue, publicKey, publicKey.count, signature, signature.count, message, message.count, context,
      context.count) == 1
  }

  /// Lends BoringSSL's form of the private key with this seed, which is erased afterwards.
  func withPrivateKey<R, E: Error>(
    seed: RawSpan, _ body: (UnsafeRawPointer) throws(E) -> R
  ) throws(E) -> R {
    precondition(seed.byteCount == Self.seedByteCount, "an ML-DSA seed has 32 octets")
    return try unsafe withExpandedKey(coffer_mldsa_private_key_size(rawValue), seed, body) { key, seed in
      let result = unsafe coffer_mldsa_expand(rawValue, key, seed)
      precondition(result == 1, "out of memory for a private key")
    }
  }
}
