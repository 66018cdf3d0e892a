// SPDX-License-Identifier: Apache-2.0
//
// ML-DSA (FIPS 204) by BoringSSL: pure, with an empty context, hedged. A private key is its seed; what is expanded
// from it lives in locked memory for one operation. BoringSSL leaves intermediate values on the stack, so each
// operation erases the stack after it; what it has on the heap it erases itself.

internal import CCryptoBoringSSL
internal import CSystem
internal import Secrets

/// A signature scheme of FIPS 204: its parameter sets 65 and 87.
package enum MLDSA: Sendable, CaseIterable {
  case mldsa65
  case mldsa87

  /// Octets of a public key: 1952 or 2592.
  package var publicKeyByteCount: Int {
    switch self {
    case .mldsa65: Int(MLDSA65_PUBLIC_KEY_BYTES)
    case .mldsa87: Int(MLDSA87_PUBLIC_KEY_BYTES)
    }
  }

  /// Octets of a signature: 3309 or 4627.
  package var signatureByteCount: Int {
    switch self {
    case .mldsa65: Int(MLDSA65_SIGNATURE_BYTES)
    case .mldsa87: Int(MLDSA87_SIGNATURE_BYTES)
    }
  }

  /// Octets of a private key: ξ.
  package static let seedByteCount = Int(MLDSA_SEED_BYTES)

  /// The public key that belongs to a private key (FIPS 204, 6.1).
  /// - Parameter seed: 32 octets.
  package func publicKey(seed: RawSpan) -> [UInt8] {
    defer { coffer_erase_stack() }
    return unsafe withPrivateKey(seed: seed) { unsafe encodedPublicKey(of: $0) }
  }

  /// A signature of `message`, with fresh randomness (FIPS 204, 5.2).
  /// - Parameter seed: 32 octets.
  package func sign(_ message: [UInt8], seed: RawSpan) -> [UInt8] {
    defer { coffer_erase_stack() }
    return unsafe withPrivateKey(seed: seed) { key in
      var signature = [UInt8](repeating: 0, count: signatureByteCount)
      let result =
        switch self {
        case .mldsa65:
          unsafe CCryptoBoringSSL_MLDSA65_sign(&signature, key.bound(), message, message.count, nil, 0)
        case .mldsa87:
          unsafe CCryptoBoringSSL_MLDSA87_sign(&signature, key.bound(), message, message.count, nil, 0)
        }
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
    let result = unsafe withPublicKey(publicKey) { key in
      switch self {
      case .mldsa65:
        unsafe CCryptoBoringSSL_MLDSA65_verify(
          key.bound(), signature, signature.count, message, message.count, context, context.count)
      case .mldsa87:
        unsafe CCryptoBoringSSL_MLDSA87_verify(
          key.bound(), signature, signature.count, message, message.count, context, context.count)
      }
    }
    return result == 1
  }

  // MARK: BoringSSL's keys

  /// Lends BoringSSL's form of the private key with this seed, which is erased afterwards.
  func withPrivateKey<R, E: Error>(
    seed: RawSpan, _ body: (UnsafeRawPointer) throws(E) -> R
  ) throws(E) -> R {
    precondition(seed.byteCount == Self.seedByteCount, "an ML-DSA seed has 32 octets")
    let expandedByteCount =
      switch self {
      case .mldsa65: MemoryLayout<MLDSA65_private_key>.size
      case .mldsa87: MemoryLayout<MLDSA87_private_key>.size
      }
    let key = SecretBytes(byteCount: expandedByteCount) { key in
      let result = unsafe key.withUnsafeMutableBytes { key in
        unsafe seed.withUnsafeBytes { seed in
          let octets = unsafe seed.baseAddress?.assumingMemoryBound(to: UInt8.self)
          return switch self {
          case .mldsa65:
            unsafe CCryptoBoringSSL_MLDSA65_private_key_from_seed(key.bound(), octets, seed.count)
          case .mldsa87:
            unsafe CCryptoBoringSSL_MLDSA87_private_key_from_seed(key.bound(), octets, seed.count)
          }
        }
      }
      precondition(result == 1, "out of memory for a private key")
    }
    return try key.withBytes { key throws(E) in
      try unsafe key.withUnsafeBytes { key throws(E) in try unsafe body(key.start) }
    }
  }

  private func encodedPublicKey(of key: UnsafeRawPointer) -> [UInt8] {
    unsafe withUnsafePublicKey { publicKey in
      let result =
        switch self {
        case .mldsa65: unsafe CCryptoBoringSSL_MLDSA65_public_from_private(publicKey.bound(), key.bound())
        case .mldsa87: unsafe CCryptoBoringSSL_MLDSA87_public_from_private(publicKey.bound(), key.bound())
        }
      precondition(result == 1, "out of memory for a public key")
      return unsafe EncodedOctets.write(publicKeyByteCount) { builder in
        switch self {
        case .mldsa65: unsafe CCryptoBoringSSL_MLDSA65_marshal_public_key(builder, publicKey.bound())
        case .mldsa87: unsafe CCryptoBoringSSL_MLDSA87_marshal_public_key(builder, publicKey.bound())
        }
      }
    }
  }

  /// Lends BoringSSL's form of a public key; nil when the octets have the wrong number.
  private func withPublicKey<R>(_ octets: [UInt8], _ body: (UnsafeRawPointer) -> R) -> R? {
    unsafe withUnsafePublicKey { key in
      let result = unsafe EncodedOctets.read(octets) { cursor in
        switch self {
        case .mldsa65: unsafe CCryptoBoringSSL_MLDSA65_parse_public_key(key.bound(), cursor)
        case .mldsa87: unsafe CCryptoBoringSSL_MLDSA87_parse_public_key(key.bound(), cursor)
        }
      }
      return unsafe result == 1 ? body(key.start) : nil
    }
  }

  /// Room for a public key, which is not secret.
  private func withUnsafePublicKey<R>(_ body: (UnsafeMutableRawBufferPointer) -> R) -> R {
    let byteCount =
      switch self {
      case .mldsa65: MemoryLayout<MLDSA65_public_key>.size
      case .mldsa87: MemoryLayout<MLDSA87_public_key>.size
      }
    return unsafe withUnsafeTemporaryAllocation(byteCount: byteCount, alignment: 16, body)
  }
}
