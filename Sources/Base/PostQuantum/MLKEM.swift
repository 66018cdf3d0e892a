// SPDX-License-Identifier: Apache-2.0
//
// ML-KEM (FIPS 203) by BoringSSL. A private key is its seed; what is expanded from it lives in locked memory for
// one operation. BoringSSL leaves intermediate values on the stack, so each operation erases the stack after it.

internal import CModuleLattice
internal import CSystem
package import Secrets

/// A key encapsulation mechanism of FIPS 203: its parameter sets 768 and 1024.
package enum MLKEM: CInt, Sendable, CaseIterable {
  case mlkem768 = 768
  case mlkem1024 = 1024

  /// Octets of an encapsulation key: 1184 or 1568.
  package var publicKeyByteCount: Int { self == .mlkem768 ? 1184 : 1568 }

  /// Octets of a ciphertext: 1088 or 1568.
  package var ciphertextByteCount: Int { self == .mlkem768 ? 1088 : 1568 }

  /// Octets of a private key: d ‖ z.
  package static let seedByteCount = 64
  /// Octets of a shared secret.
  package static let secretByteCount = 32

  /// The encapsulation key that belongs to a private key (FIPS 203, 6.1).
  /// - Parameter seed: 64 octets.
  package func publicKey(seed: RawSpan) -> [UInt8] {
    defer { coffer_erase_stack() }
    return unsafe withPrivateKey(seed: seed) { key in
      var publicKey = [UInt8](repeating: 0, count: publicKeyByteCount)
      unsafe coffer_mlkem_public_key(rawValue, key, &publicKey)
      return publicKey
    }
  }

  /// Whether the octets are an encapsulation key: their number, and every coefficient below q (FIPS 203, 7.2).
  package func isValidPublicKey(_ key: [UInt8]) -> Bool {
    unsafe coffer_mlkem_check(rawValue, key, key.count) == 1
  }

  /// Makes a secret that the owner of `publicKey` alone can read (FIPS 203, 7.2).
  /// - Returns: nil when `publicKey` is not an encapsulation key.
  package func encapsulate(to publicKey: [UInt8]) -> (ciphertext: [UInt8], secret: SharedSecretBytes)? {
    defer { coffer_erase_stack() }
    var ciphertext = [UInt8](repeating: 0, count: ciphertextByteCount)
    var isValid = false
    let secret = SecretBytes(byteCount: Self.secretByteCount) { secret in
      isValid = unsafe secret.withUnsafeOctets { secret in
        unsafe coffer_mlkem_encapsulate(rawValue, publicKey, publicKey.count, &ciphertext, secret) == 1
      }
    }
    return isValid ? (ciphertext, SharedSecretBytes(secret)) : nil
  }

  /// The secret in a ciphertext (FIPS 203, 7.3).
  ///
  /// A ciphertext that was changed, or made for another key, gives another secret and not an error.
  /// - Parameter seed: 64 octets.
  /// - Returns: nil when `ciphertext` has the wrong length.
  package func decapsulate(_ ciphertext: [UInt8], seed: RawSpan) -> SharedSecretBytes? {
    guard ciphertext.count == ciphertextByteCount else { return nil }
    defer { coffer_erase_stack() }
    return unsafe withPrivateKey(seed: seed) { key in
      let secret = SecretBytes(byteCount: Self.secretByteCount) { secret in
        let result = unsafe secret.withUnsafeOctets { secret in
          unsafe coffer_mlkem_decapsulate(rawValue, key, ciphertext, ciphertext.count, secret)
        }
        precondition(result == 1, "a ciphertext of the right length has a secret")
      }
      return SharedSecretBytes(secret)
    }
  }

  /// Lends BoringSSL's form of the private key with this seed, which is erased afterwards.
  func withPrivateKey<R, E: Error>(
    seed: RawSpan, _ body: (UnsafeRawPointer) throws(E) -> R
  ) throws(E) -> R {
    precondition(seed.byteCount == Self.seedByteCount, "an ML-KEM seed has 64 octets")
    return try unsafe withExpandedKey(coffer_mlkem_private_key_size(rawValue), seed, body) { key, seed in
      unsafe coffer_mlkem_expand(rawValue, key, seed)
    }
  }
}
