// SPDX-License-Identifier: Apache-2.0
//
// AES-256-GCM (SP 800-38D) by libcrypto: 96-bit nonces, 128-bit tags, into the caller's buffer. The
// context is used again from message to message; libcrypto erases its key schedule when it is freed.

internal import COpenSSL
internal import CSystem

/// AES-256-GCM with a reusable context.
@safe
public struct AES256GCM: ~Copyable, @unchecked Sendable {
  /// Bytes in a nonce.
  public static let nonceByteCount = 12
  /// Bytes in a tag.
  public static let tagByteCount = 16
  /// libcrypto counts in `int`; SP 800-38D would allow 64 GiB.
  public static let plaintextByteCountLimit = Int(Int32.max) - 64

  private let context: OpaquePointer

  public init() {
    guard let context = unsafe EVP_CIPHER_CTX_new(),
      unsafe EVP_CipherInit_ex(context, LibCrypto.aes256GCM, nil, nil, nil, 1) == 1
    else { preconditionFailure("libcrypto has no AES-256-GCM") }
    unsafe self.context = unsafe context
  }

  deinit { unsafe EVP_CIPHER_CTX_free(context) }

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
    let done = unsafe plaintext.withUnsafeBytes { source in
      unsafe output.withUnsafeMutableBytes { unsafe seal(source, key, nonce, aad, to: $0.baseAddress!) }
    }
    guard done else { throw .encryptionFailed }
  }

  /// Encrypts the first bytes of `buffer` where they are, and writes the tag to its last 16 bytes.
  /// - Throws: `CryptoError.encryptionFailed` when the plaintext is longer than the cipher can take.
  public mutating func sealInPlace(
    _ buffer: inout MutableRawSpan, key: RawSpan, nonce: RawSpan, authenticating aad: RawSpan
  ) throws(CryptoError) {
    let count = buffer.byteCount - Self.tagByteCount
    precondition(count >= 0, "no room for the tag")
    guard count <= Self.plaintextByteCountLimit else { throw .encryptionFailed }
    let done = unsafe buffer.withUnsafeMutableBytes {
      unsafe seal(
        UnsafeRawBufferPointer(start: $0.baseAddress, count: count), key, nonce, aad, to: $0.baseAddress!)
    }
    guard done else { throw .encryptionFailed }
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
    let done = unsafe sealed.withUnsafeBytes { source in
      unsafe output.withUnsafeMutableBytes { output in
        let done = unsafe open(source, count, key, nonce, aad, to: output.baseAddress)
        if !done, let base = output.baseAddress { unsafe coffer_erase(base, output.count) }
        return done
      }
    }
    guard done else { throw .authenticationFailed }
  }

  // MARK: The calls

  private func start(_ key: RawSpan, _ nonce: RawSpan, _ aad: RawSpan, encrypt: Int32) -> Bool {
    precondition(key.byteCount == SymmetricKey.byteCount, "an AES-256 key has 32 bytes")
    precondition(nonce.byteCount == Self.nonceByteCount, "a nonce has 12 bytes")
    let isSet = unsafe key.withUnsafeBytes { key in
      unsafe nonce.withUnsafeBytes { nonce in
        unsafe EVP_CipherInit_ex(
          context, nil, nil, key.baseAddress?.assumingMemoryBound(to: UInt8.self),
          nonce.baseAddress?.assumingMemoryBound(to: UInt8.self), encrypt)
      }
    }
    guard isSet == 1, aad.byteCount <= Self.plaintextByteCountLimit else { return false }
    if aad.byteCount == 0 { return true }
    return unsafe aad.withUnsafeBytes { aad in
      var count: Int32 = 0
      return unsafe EVP_CipherUpdate(
        context, nil, &count, aad.baseAddress?.assumingMemoryBound(to: UInt8.self), Int32(aad.count))
    } == 1
  }

  private func seal(
    _ source: UnsafeRawBufferPointer, _ key: RawSpan, _ nonce: RawSpan, _ aad: RawSpan,
    to output: UnsafeMutableRawPointer
  ) -> Bool {
    var count: Int32 = 0
    let bytes = unsafe output.assumingMemoryBound(to: UInt8.self)
    guard start(key, nonce, aad, encrypt: 1) else { return false }
    if source.count > 0 {
      let input = unsafe source.baseAddress?.assumingMemoryBound(to: UInt8.self)
      guard unsafe EVP_CipherUpdate(context, bytes, &count, input, Int32(source.count)) == 1 else {
        return false
      }
    }
    return unsafe EVP_CipherFinal_ex(context, bytes + source.count, &count) == 1
      && EVP_CIPHER_CTX_ctrl(
        context, EVP_CTRL_AEAD_GET_TAG, Int32(Self.tagByteCount), output + source.count) == 1
  }

  private func open(
    _ source: UnsafeRawBufferPointer, _ plaintextCount: Int, _ key: RawSpan, _ nonce: RawSpan,
    _ aad: RawSpan, to output: UnsafeMutableRawPointer?
  ) -> Bool {
    guard start(key, nonce, aad, encrypt: 0), let base = source.baseAddress else { return false }
    var count: Int32 = 0
    // An empty plaintext has no memory of its own; the last call wants an address all the same.
    var none: UInt8 = 0
    return unsafe withUnsafeMutablePointer(to: &none) { none in
      let bytes = unsafe output?.assumingMemoryBound(to: UInt8.self) ?? none
      let input = unsafe base.assumingMemoryBound(to: UInt8.self)
      if plaintextCount > 0 {
        guard unsafe EVP_CipherUpdate(context, bytes, &count, input, Int32(plaintextCount)) == 1 else {
          return false
        }
      }
      let tag = unsafe UnsafeMutableRawPointer(mutating: base + plaintextCount)
      return unsafe EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, Int32(Self.tagByteCount), tag) == 1
        && EVP_CipherFinal_ex(context, bytes + plaintextCount, &count) == 1
    }
  }
}
