// SPDX-License-Identifier: Apache-2.0
//
// libcrypto's state of one cipher with one key. It erases its key schedule when it is freed.

internal import COpenSSL

/// An `EVP_CIPHER_CTX`.
@safe
struct CipherContext: ~Copyable, @unchecked Sendable {
  private let context: OpaquePointer

  /// - Parameters:
  ///   - key: as long as the cipher wants it.
  ///   - nonceByteCount: for AEAD modes.
  ///   - iv: for modes that take it once; AEAD modes take it with each message.
  /// - Throws: ``OpenPGPError/malformed(_:)`` with `sessionKey` for a key of another length.
  init(
    _ cipher: borrowing BlockCipher, encrypts: Bool, key: RawSpan, nonceByteCount: Int? = nil,
    iv: RawSpan = RawSpan()
  ) throws(OpenPGPError) {
    guard let context = unsafe EVP_CIPHER_CTX_new() else { throw .internalFailure }
    do throws(OpenPGPError) {
      try unsafe Self.prepare(context, cipher, encrypts, key, nonceByteCount, iv)
    } catch {
      unsafe EVP_CIPHER_CTX_free(context)
      throw error
    }
    unsafe self.context = unsafe context
  }

  @unsafe
  private static func prepare(
    _ context: OpaquePointer, _ cipher: borrowing BlockCipher, _ encrypts: Bool, _ key: RawSpan,
    _ nonceByteCount: Int?, _ iv: RawSpan
  ) throws(OpenPGPError) {
    guard key.byteCount == Int(unsafe EVP_CIPHER_get_key_length(cipher.reference)) else {
      throw .malformed(.sessionKey)
    }
    let direction: Int32 = encrypts ? 1 : 0
    unsafe EVP_CIPHER_CTX_set_flags(context, EVP_CIPHER_CTX_FLAG_WRAP_ALLOW)
    guard unsafe EVP_CipherInit_ex2(context, cipher.reference, nil, nil, direction, nil) == 1 else {
      throw .internalFailure
    }
    if let nonceByteCount {
      guard
        unsafe EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_IVLEN, Int32(nonceByteCount), nil) == 1
      else { throw .internalFailure }
    } else {
      precondition(
        iv.byteCount == 0 || iv.byteCount == Int(unsafe EVP_CIPHER_CTX_get_iv_length(context)),
        "an IV is as long as the cipher's block")
    }
    let isSet = unsafe key.withUnsafeBytes { key in
      unsafe iv.withUnsafeBytes { iv in
        unsafe EVP_CipherInit_ex2(context, nil, bytes(key), bytes(iv), direction, nil)
      }
    }
    guard isSet == 1 else { throw .internalFailure }
    unsafe EVP_CIPHER_CTX_set_padding(context, 0)
  }

  deinit { unsafe EVP_CIPHER_CTX_free(context) }

  /// Begins a message with the same key.
  mutating func restart(nonce: RawSpan) {
    let result = unsafe nonce.withUnsafeBytes {
      unsafe EVP_CipherInit_ex2(context, nil, nil, bytes($0), -1, nil)
    }
    precondition(result == 1, "a nonce can be set")
  }

  /// Takes in data that is authenticated and not encrypted.
  mutating func authenticate(_ data: RawSpan) {
    guard data.byteCount > 0 else { return }
    precondition(data.byteCount <= Self.pieceByteCount, "libcrypto counts in 32 bits")
    var count: Int32 = 0
    let result = unsafe data.withUnsafeBytes {
      unsafe EVP_CipherUpdate(context, nil, &count, bytes($0), Int32($0.count))
    }
    precondition(result == 1, "a cipher cannot fail")
  }

  /// Puts `input` through the cipher to `output`, which may be the same place.
  /// - Parameter byteCount: any number for stream modes, whole blocks for ECB.
  /// - Returns: how many bytes were written; less than `byteCount` where the mode keeps some until its end.
  @unsafe
  mutating func update(
    _ input: UnsafeRawPointer, byteCount: Int, to output: UnsafeMutableRawPointer
  ) -> Int {
    var done = 0
    var written = 0
    while done < byteCount {
      let piece = min(byteCount - done, Self.pieceByteCount)
      var count: Int32 = 0
      let result = unsafe EVP_CipherUpdate(
        context, (output + written).assumingMemoryBound(to: UInt8.self), &count,
        (input + done).assumingMemoryBound(to: UInt8.self), Int32(piece))
      precondition(result == 1, "a cipher cannot fail")
      done += piece
      written += Int(count)
    }
    return written
  }

  /// Puts bytes through the cipher where they are.
  @unsafe @discardableResult
  mutating func run(_ bytes: UnsafeMutableRawPointer, byteCount: Int) -> Int {
    unsafe update(bytes, byteCount: byteCount, to: bytes)
  }

  /// Puts the whole of `input` through a mode that takes it in one call and may refuse it.
  /// - Returns: how many bytes were written; nil when the mode refuses the input.
  @unsafe
  mutating func updateOnce(
    _ input: UnsafeRawBufferPointer, to output: UnsafeMutableRawBufferPointer
  ) -> Int? {
    var count: Int32 = 0
    let result = unsafe EVP_CipherUpdate(
      context, output.baseAddress?.assumingMemoryBound(to: UInt8.self), &count,
      input.baseAddress?.assumingMemoryBound(to: UInt8.self), Int32(input.count))
    return result == 1 ? Int(count) : nil
  }

  /// Ends a message: writes what the mode has kept to `output`.
  /// - Returns: false when the tag that was expected does not match.
  @unsafe
  mutating func finish(to output: UnsafeMutableRawPointer) -> Bool {
    var count: Int32 = 0
    return unsafe EVP_CipherFinal_ex(context, output.assumingMemoryBound(to: UInt8.self), &count) == 1
  }

  /// Writes the tag, 16 bytes, behind a message that has ended.
  @unsafe
  mutating func writeTag(to output: UnsafeMutableRawPointer) {
    let result = unsafe EVP_CIPHER_CTX_ctrl(
      context, EVP_CTRL_AEAD_GET_TAG, Int32(AEADAlgorithm.tagByteCount), output)
    precondition(result == 1, "a message that has ended has a tag")
  }

  /// Sets the tag, 16 bytes, that the message must have.
  @unsafe
  mutating func expectTag(_ tag: UnsafeMutableRawPointer) {
    let result = unsafe EVP_CIPHER_CTX_ctrl(
      context, EVP_CTRL_AEAD_SET_TAG, Int32(AEADAlgorithm.tagByteCount), tag)
    precondition(result == 1, "a tag can be set")
  }

  /// One call of EVP_CipherUpdate counts in 32 bits; whole blocks.
  private static let pieceByteCount = 1 << 30
}

/// The bytes as libcrypto wants them; nil for none.
@unsafe
private func bytes(_ buffer: UnsafeRawBufferPointer) -> UnsafePointer<UInt8>? {
  unsafe buffer.isEmpty ? nil : buffer.baseAddress?.assumingMemoryBound(to: UInt8.self)
}
