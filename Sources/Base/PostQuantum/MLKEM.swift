// SPDX-License-Identifier: Apache-2.0
//
// ML-KEM (FIPS 203) by BoringSSL. A private key is its seed; what is expanded from it lives in locked memory for
// one operation. BoringSSL leaves intermediate values on the stack, so each operation erases the stack after it.

internal import CCryptoBoringSSL
internal import CSystem
package import Secrets

/// A key encapsulation mechanism of FIPS 203: its parameter sets 768 and 1024.
package enum MLKEM: Sendable, CaseIterable {
  case mlkem768
  case mlkem1024

  /// Octets of an encapsulation key: 1184 or 1568.
  package var publicKeyByteCount: Int {
    switch self {
    case .mlkem768: Int(MLKEM768_PUBLIC_KEY_BYTES)
    case .mlkem1024: Int(MLKEM1024_PUBLIC_KEY_BYTES)
    }
  }

  /// Octets of a ciphertext: 1088 or 1568.
  package var ciphertextByteCount: Int {
    switch self {
    case .mlkem768: Int(MLKEM768_CIPHERTEXT_BYTES)
    case .mlkem1024: Int(MLKEM1024_CIPHERTEXT_BYTES)
    }
  }

  /// Octets of a private key: d ‖ z.
  package static let seedByteCount = Int(MLKEM_SEED_BYTES)
  /// Octets of a shared secret.
  package static let secretByteCount = Int(MLKEM_SHARED_SECRET_BYTES)

  /// The encapsulation key that belongs to a private key (FIPS 203, 6.1).
  /// - Parameter seed: 64 octets.
  package func publicKey(seed: RawSpan) -> [UInt8] {
    defer { coffer_erase_stack() }
    return unsafe withPrivateKey(seed: seed) { unsafe encodedPublicKey(of: $0) }
  }

  /// Whether the octets are an encapsulation key: their number, and every coefficient below q (FIPS 203, 7.2).
  package func isValidPublicKey(_ key: [UInt8]) -> Bool {
    unsafe withPublicKey(key) { _ in true } ?? false
  }

  /// Makes a secret that the owner of `publicKey` alone can read (FIPS 203, 7.2).
  /// - Returns: nil when `publicKey` is not an encapsulation key.
  package func encapsulate(to publicKey: [UInt8]) -> (ciphertext: [UInt8], secret: SharedSecretBytes)? {
    defer { coffer_erase_stack() }
    return unsafe withPublicKey(publicKey) { key in
      var ciphertext = [UInt8](repeating: 0, count: ciphertextByteCount)
      let secret = SecretBytes(byteCount: Self.secretByteCount) { secret in
        unsafe secret.withUnsafeMutableBytes { secret in
          let secret = unsafe secret.baseAddress?.assumingMemoryBound(to: UInt8.self)
          switch self {
          case .mlkem768: unsafe CCryptoBoringSSL_MLKEM768_encap(&ciphertext, secret, key.bound())
          case .mlkem1024: unsafe CCryptoBoringSSL_MLKEM1024_encap(&ciphertext, secret, key.bound())
          }
        }
      }
      return (ciphertext, SharedSecretBytes(secret))
    }
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
        let result = unsafe secret.withUnsafeMutableBytes { secret in
          let secret = unsafe secret.baseAddress?.assumingMemoryBound(to: UInt8.self)
          return switch self {
          case .mlkem768:
            unsafe CCryptoBoringSSL_MLKEM768_decap(secret, ciphertext, ciphertext.count, key.bound())
          case .mlkem1024:
            unsafe CCryptoBoringSSL_MLKEM1024_decap(secret, ciphertext, ciphertext.count, key.bound())
          }
        }
        precondition(result == 1, "a ciphertext of the right length has a secret")
      }
      return SharedSecretBytes(secret)
    }
  }

  // MARK: BoringSSL's keys

  /// Lends BoringSSL's form of the private key with this seed, which is erased afterwards.
  func withPrivateKey<R, E: Error>(
    seed: RawSpan, _ body: (UnsafeRawPointer) throws(E) -> R
  ) throws(E) -> R {
    precondition(seed.byteCount == Self.seedByteCount, "an ML-KEM seed has 64 octets")
    let expandedByteCount =
      switch self {
      case .mlkem768: MemoryLayout<MLKEM768_private_key>.size
      case .mlkem1024: MemoryLayout<MLKEM1024_private_key>.size
      }
    let key = SecretBytes(byteCount: expandedByteCount) { key in
      let result = unsafe key.withUnsafeMutableBytes { key in
        unsafe seed.withUnsafeBytes { seed in
          let octets = unsafe seed.baseAddress?.assumingMemoryBound(to: UInt8.self)
          return switch self {
          case .mlkem768:
            unsafe CCryptoBoringSSL_MLKEM768_private_key_from_seed(key.bound(), octets, seed.count)
          case .mlkem1024:
            unsafe CCryptoBoringSSL_MLKEM1024_private_key_from_seed(key.bound(), octets, seed.count)
          }
        }
      }
      precondition(result == 1, "every seed of 64 octets is a private key")
    }
    return try key.withBytes { key throws(E) in
      try unsafe key.withUnsafeBytes { key throws(E) in try unsafe body(key.start) }
    }
  }

  private func encodedPublicKey(of key: UnsafeRawPointer) -> [UInt8] {
    unsafe withUnsafePublicKey { publicKey in
      switch self {
      case .mlkem768: unsafe CCryptoBoringSSL_MLKEM768_public_from_private(publicKey.bound(), key.bound())
      case .mlkem1024: unsafe CCryptoBoringSSL_MLKEM1024_public_from_private(publicKey.bound(), key.bound())
      }
      return unsafe EncodedOctets.write(publicKeyByteCount) { builder in
        switch self {
        case .mlkem768: unsafe CCryptoBoringSSL_MLKEM768_marshal_public_key(builder, publicKey.bound())
        case .mlkem1024: unsafe CCryptoBoringSSL_MLKEM1024_marshal_public_key(builder, publicKey.bound())
        }
      }
    }
  }

  /// Lends BoringSSL's form of an encapsulation key; nil when the octets are not valid.
  func withPublicKey<R>(_ octets: [UInt8], _ body: (UnsafeRawPointer) -> R) -> R? {
    // BoringSSL reads the key and wants to find nothing behind it.
    unsafe withUnsafePublicKey { key in
      let result = unsafe EncodedOctets.read(octets) { cursor in
        switch self {
        case .mlkem768: unsafe CCryptoBoringSSL_MLKEM768_parse_public_key(key.bound(), cursor)
        case .mlkem1024: unsafe CCryptoBoringSSL_MLKEM1024_parse_public_key(key.bound(), cursor)
        }
      }
      return unsafe result == 1 ? body(key.start) : nil
    }
  }

  /// Room for a public key, which is not secret.
  private func withUnsafePublicKey<R>(_ body: (UnsafeMutableRawBufferPointer) -> R) -> R {
    let byteCount =
      switch self {
      case .mlkem768: MemoryLayout<MLKEM768_public_key>.size
      case .mlkem1024: MemoryLayout<MLKEM1024_public_key>.size
      }
    return unsafe withUnsafeTemporaryAllocation(byteCount: byteCount, alignment: 16, body)
  }
}
