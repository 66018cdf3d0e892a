// SPDX-License-Identifier: Apache-2.0
//
// The state of one cipher. libcrypto erases its key schedule when the context is freed.

internal import COpenSSL

/// A cipher under way: an `EVP_CIPHER_CTX`.
///
/// Sendable: it has one owner, and only its owner changes it.
@safe
package struct CipherContext: ~Copyable, @unchecked Sendable {
  let context: OpaquePointer
  private let nonceByteCount: Int
  /// Bytes that the mode has taken in and will give out later.
  private var kept = 0

  /// One key for many messages, or for one stream; nil when libcrypto is out of memory.
  /// - Parameters:
  ///   - key: as long as the cipher wants it.
  ///   - nonceByteCount: for AEAD modes.
  ///   - iv: for modes that take it once; AEAD modes take it with each message.
  package init?(
    _ cipher: borrowing BlockCipher, encrypts: Bool, key: RawSpan, nonceByteCount: Int? = nil,
    iv: RawSpan = RawSpan()
  ) {
    precondition(key.byteCount == cipher.keyByteCount, "a key is as long as the cipher wants it")
    guard let context = unsafe EVP_CIPHER_CTX_new() else { return nil }
    guard unsafe Self.prepare(context, cipher, encrypts, key, nonceByteCount, iv) else {
      unsafe EVP_CIPHER_CTX_free(context)
      return nil
    }
    unsafe self.context = unsafe context
    self.nonceByteCount = nonceByteCount ?? cipher.ivByteCount
  }

  @unsafe
  private static func prepare(
    _ context: OpaquePointer, _ cipher: borrowing BlockCipher, _ encrypts: Bool, _ key: RawSpan,
    _ nonceByteCount: Int?, _ iv: RawSpan
  ) -> Bool {
    let direction: Int32 = encrypts ? 1 : 0
    unsafe EVP_CIPHER_CTX_set_flags(context, EVP_CIPHER_CTX_FLAG_WRAP_ALLOW)
    guard unsafe EVP_CipherInit_ex2(context, cipher.reference, nil, nil, direction, nil) == 1 else {
      return false
    }
    if let nonceByteCount {
      let isSet = unsafe EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_IVLEN, Int32(nonceByteCount), nil)
      guard isSet == 1 else { return false }
    } else {
      precondition(
        iv.byteCount == 0 || iv.byteCount == cipher.ivByteCount, "an IV is as long as the cipher's block")
    }
    let isSet = unsafe key.withUnsafeBytes { key in
      unsafe iv.withUnsafeBytes { iv in
        unsafe EVP_CipherInit_ex2(context, nil, key.octetsIfAny, iv.octetsIfAny, direction, nil)
      }
    }
    guard isSet == 1 else { return false }
    unsafe EVP_CIPHER_CTX_set_padding(context, 0)
    return true
  }

  deinit { unsafe EVP_CIPHER_CTX_free(context) }

  // MARK: Messages

  /// Starts a message with the same key.
  package mutating func restart(nonce: RawSpan) {
    precondition(nonce.byteCount == nonceByteCount, "a nonce is as long as its mode says")
    kept = 0
    let result = unsafe nonce.withUnsafeBytes {
      unsafe EVP_CipherInit_ex2(context, nil, nil, $0.octetsIfAny, -1, nil)
    }
    precondition(result == 1, "a nonce can be set")
  }

  /// Takes in data that is authenticated and not encrypted; false when libcrypto fails.
  package mutating func authenticate(_ data: RawSpan) -> Bool {
    unsafe data.withUnsafeBytes { data in
      var done = 0
      while done < data.count {
        let piece = min(data.count - done, Self.pieceByteCount)
        var count: Int32 = 0
        let start = unsafe data.octets! + done
        guard unsafe EVP_CipherUpdate(context, nil, &count, start, Int32(piece)) == 1 else { return false }
        done += piece
      }
      return true
    }
  }

  // MARK: Bytes

  /// Puts the whole of `input` through a mode that takes it in one call, may refuse it, and may write eight
  /// bytes more than the input: key wrap.
  /// - Returns: how many bytes were written; nil when the mode refuses the input.
  mutating func updateOnce(_ input: RawSpan, into output: inout MutableRawSpan) -> Int? {
    precondition(
      output.byteCount >= (isEncrypting ? input.byteCount + 8 : input.byteCount), "no room for the output")
    return unsafe input.withUnsafeBytes { input in
      unsafe output.withUnsafeMutableBytes { output in
        var count: Int32 = 0
        let result = unsafe EVP_CipherUpdate(
          context, output.octets, &count, input.octets, Int32(input.count))
        return result == 1 ? Int(count) : nil
      }
    }
  }

  private var isEncrypting: Bool { unsafe EVP_CIPHER_CTX_is_encrypting(context) == 1 }

  /// Puts the bytes of a stream mode through the cipher where they are.
  package mutating func updateInPlace(_ bytes: inout MutableRawSpan) {
    unsafe bytes.withUnsafeMutableBytes { bytes in
      guard let start = bytes.baseAddress else { return }
      let written = unsafe update(start, byteCount: bytes.count, to: start)
      precondition(written == bytes.count, "a stream cipher gives out what it takes in")
    }
  }

  /// Puts `input` through the cipher to `output`, which may be the same place.
  @unsafe
  mutating func update(
    _ input: UnsafeRawPointer, byteCount: Int, to output: UnsafeMutableRawPointer
  ) -> Int? {
    var done = 0
    var written = 0
    while done < byteCount {
      let piece = min(byteCount - done, Self.pieceByteCount)
      var count: Int32 = 0
      let result = unsafe EVP_CipherUpdate(
        context, (output + written).assumingMemoryBound(to: UInt8.self), &count,
        (input + done).assumingMemoryBound(to: UInt8.self), Int32(piece))
      guard result == 1 else { return nil }
      done += piece
      written += Int(count)
    }
    kept += byteCount - written
    return written
  }

  /// Puts a whole message through the cipher, to as many bytes of `output`, which may be the same place.
  /// - Returns: false when libcrypto fails, or the tag that was expected does not match.
  @unsafe
  mutating func runMessage(_ input: UnsafeRawBufferPointer, to output: UnsafeMutableRawPointer?) -> Bool {
    guard let start = input.baseAddress, let output = unsafe output, input.count > 0 else {
      // An empty message has no memory, but libcrypto wants an address.
      var none: UInt8 = 0
      var count: Int32 = 0
      return unsafe EVP_CipherFinal_ex(context, &none, &count) == 1
    }
    guard let written = unsafe update(start, byteCount: input.count, to: output) else { return false }
    precondition(written + kept == input.count, "a message is begun with a nonce")
    var count: Int32 = 0
    let rest = unsafe (output + written).assumingMemoryBound(to: UInt8.self)
    return unsafe EVP_CipherFinal_ex(context, rest, &count) == 1
  }

  /// One call of EVP_CipherUpdate counts in 32 bits; whole blocks.
  private static let pieceByteCount = 1 << 30
}
