// SPDX-License-Identifier: Apache-2.0
//
// AES-256-GCM (SP 800-38D) by BoringSSL: 96-bit nonces, 128-bit tags, into the caller's buffer. The key is expanded in
// locked memory, which is used again from message to message and erased at the end.

internal import CSymmetric
internal import CSystem
internal import Secrets

/// AES-256-GCM with memory for an expanded key.
public struct AES256GCM: ~Copyable, Sendable {
  /// Bytes in a nonce.
  public static let nonceByteCount = 12
  /// Bytes in a tag.
  public static let tagByteCount = 16
  /// SP 800-38D, section 5.2.1.1.
  public static let plaintextByteCountLimit = 1 << 36 - 32

  private var expandedKey = SecretBytes(zeroed: coffer_aes256gcm_size())

  /// A cipher without a key; each call brings its own.
  public init() {}

  /// Encrypts `plaintext` into `output`, as ciphertext ‖ tag.
  ///
  /// - Parameters:
  ///   - plaintext: may be empty.
  ///   - aad: authenticated and not encrypted.
  ///   - output: 16 bytes more than the plaintext. It may be the plaintext's own memory.
  ///   - key: 32 bytes.
  ///   - nonce: 12 bytes, never used before with this key.
  /// - Throws: `CryptoError.encryptionFailed` when the plaintext is longer than the cipher can take.
  public mutating func seal(
    _ plaintext: RawSpan, key: RawSpan, nonce: RawSpan, authenticating aad: RawSpan,
    into output: inout MutableRawSpan
  ) throws(CryptoError) {
    precondition(output.byteCount == plaintext.byteCount + Self.tagByteCount, "no room for the tag")
    let isDone = unsafe plaintext.withUnsafeBytes { plaintext in
      unsafe output.withUnsafeMutableBytes { output in
        unsafe seal(plaintext, key, nonce, aad, to: output)
      }
    }
    guard isDone else { throw .encryptionFailed }
  }

  /// Encrypts the first bytes of `buffer` where they are, and writes the tag to its last 16 bytes.
  /// - Throws: `CryptoError.encryptionFailed` when the plaintext is longer than the cipher can take.
  public mutating func sealInPlace(
    _ buffer: inout MutableRawSpan, key: RawSpan, nonce: RawSpan, authenticating aad: RawSpan
  ) throws(CryptoError) {
    let count = buffer.byteCount - Self.tagByteCount
    precondition(count >= 0, "no room for the tag")
    let isDone = unsafe buffer.withUnsafeMutableBytes { buffer in
      unsafe seal(UnsafeRawBufferPointer(rebasing: buffer[..<count]), key, nonce, aad, to: buffer)
    }
    guard isDone else { throw .encryptionFailed }
  }

  /// Decrypts `sealed` (ciphertext ‖ tag) into `output`, which is erased when the tag does not match.
  ///
  /// - Parameters:
  ///   - sealed: ciphertext ‖ tag.
  ///   - key: 32 bytes.
  ///   - nonce: the 12 bytes it was sealed with.
  ///   - aad: what was authenticated with it.
  ///   - output: 16 bytes less than `sealed`.
  /// - Throws: `CryptoError.decryptionFailed` when `sealed` is shorter than a tag or too long;
  ///   `CryptoError.authenticationFailed` when the tag does not match.
  public mutating func open(
    _ sealed: RawSpan, key: RawSpan, nonce: RawSpan, authenticating aad: RawSpan,
    into output: inout MutableRawSpan
  ) throws(CryptoError) {
    let count = sealed.byteCount - Self.tagByteCount
    guard count >= 0, count <= Self.plaintextByteCountLimit else { throw .decryptionFailed }
    precondition(output.byteCount == count, "the output is the ciphertext less its tag")
    let isAuthentic = unsafe sealed.withUnsafeBytes { sealed in
      unsafe output.withUnsafeMutableBytes { output in
        unsafe withInputs(key, nonce, aad) { expanded, key, nonce, aad in
          unsafe coffer_aes256gcm_open(
            expanded, key.octets, nonce.octets, aad.octets, aad.count, sealed.octets, count,
            sealed.octets.map { unsafe $0 + count }, output.octets) == 1
        }
      }
    }
    guard isAuthentic else {
      unsafe output.withUnsafeMutableBytes {
        if let start = $0.baseAddress { unsafe coffer_erase(start, $0.count) }
      }
      throw .authenticationFailed
    }
  }

  /// Writes ciphertext ‖ tag to `output`, which may be where `plaintext` is.
  @unsafe
  private mutating func seal(
    _ plaintext: UnsafeRawBufferPointer, _ key: RawSpan, _ nonce: RawSpan, _ aad: RawSpan,
    to output: UnsafeMutableRawBufferPointer
  ) -> Bool {
    guard plaintext.count <= Self.plaintextByteCountLimit else { return false }
    return unsafe withInputs(key, nonce, aad) { expanded, key, nonce, aad in
      unsafe coffer_aes256gcm_seal(
        expanded, key.octets, nonce.octets, aad.octets, aad.count, plaintext.octets, plaintext.count,
        output.octets, output.octets.map { unsafe $0 + plaintext.count }) == 1
    }
  }

  /// Lends `body` the memory for the expanded key, the key, the nonce and what is authenticated.
  @unsafe
  private mutating func withInputs(
    _ key: RawSpan, _ nonce: RawSpan, _ aad: RawSpan,
    _ body: (
      UnsafeMutableRawPointer?, UnsafeRawBufferPointer, UnsafeRawBufferPointer, UnsafeRawBufferPointer
    ) -> Bool
  ) -> Bool {
    precondition(key.byteCount == SymmetricKey.byteCount, "an AES-256 key has 32 bytes")
    precondition(nonce.byteCount == Self.nonceByteCount, "a nonce has 12 bytes")
    return expandedKey.withMutableBytes { expanded in
      unsafe expanded.withUnsafeMutableBytes { expanded in
        unsafe key.withUnsafeBytes { key in
          unsafe nonce.withUnsafeBytes { nonce in
            unsafe aad.withUnsafeBytes { aad in unsafe body(expanded.baseAddress, key, nonce, aad) }
          }
        }
      }
    }
  }
}

extension UnsafeRawBufferPointer {
  @unsafe
  fileprivate var octets: UnsafePointer<UInt8>? { unsafe baseAddress?.assumingMemoryBound(to: UInt8.self) }
}

extension UnsafeMutableRawBufferPointer {
  @unsafe
  fileprivate var octets: UnsafeMutablePointer<UInt8>? {
    unsafe baseAddress?.assumingMemoryBound(to: UInt8.self)
  }
}
