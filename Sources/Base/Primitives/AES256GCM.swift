// SPDX-License-Identifier: Apache-2.0
//
// AES-256-GCM (SP 800-38D) by libcrypto: 96-bit nonces, 128-bit tags, into the caller's buffer. The
// context is used again from message to message; libcrypto erases its key schedule when it is freed.

internal import LibCrypto

/// AES-256-GCM with a reusable context.
public struct AES256GCM: ~Copyable, Sendable {
  /// Bytes in a nonce.
  public static let nonceByteCount = 12
  /// Bytes in a tag.
  public static let tagByteCount = 16
  /// libcrypto counts in `int`; SP 800-38D would allow 64 GiB.
  public static let plaintextByteCountLimit = Int(Int32.max) - 64

  private var context: CipherContext

  /// A cipher without a key; each call brings its own.
  public init() {
    guard let context = CipherContext(BlockCipher.aes256GCM) else {
      preconditionFailure("out of memory for a cipher")
    }
    self.context = context
  }

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
    guard plaintext.byteCount <= Self.plaintextByteCountLimit else { throw .encryptionFailed }
    guard start(key, nonce, aad, encrypts: true), context.seal(plaintext, into: &output) else {
      throw .encryptionFailed
    }
  }

  /// Encrypts the first bytes of `buffer` where they are, and writes the tag to its last 16 bytes.
  /// - Throws: `CryptoError.encryptionFailed` when the plaintext is longer than the cipher can take.
  public mutating func sealInPlace(
    _ buffer: inout MutableRawSpan, key: RawSpan, nonce: RawSpan, authenticating aad: RawSpan
  ) throws(CryptoError) {
    let count = buffer.byteCount - Self.tagByteCount
    precondition(count >= 0, "no room for the tag")
    guard count <= Self.plaintextByteCountLimit else { throw .encryptionFailed }
    guard start(key, nonce, aad, encrypts: true), context.sealInPlace(&buffer) else {
      throw .encryptionFailed
    }
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
    guard start(key, nonce, aad, encrypts: false), context.open(sealed, into: &output) else {
      throw .authenticationFailed
    }
  }

  private mutating func start(_ key: RawSpan, _ nonce: RawSpan, _ aad: RawSpan, encrypts: Bool) -> Bool {
    precondition(key.byteCount == SymmetricKey.byteCount, "an AES-256 key has 32 bytes")
    precondition(nonce.byteCount == Self.nonceByteCount, "a nonce has 12 bytes")
    return aad.byteCount <= Self.plaintextByteCountLimit
      && context.restart(key: key, nonce: nonce, encrypts: encrypts) && context.authenticate(aad)
  }
}
