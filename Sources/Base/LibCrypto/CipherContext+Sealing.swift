// SPDX-License-Identifier: Apache-2.0
//
// Whole messages by the AEAD modes of libcrypto (GCM, OCB): each begins with a nonce and the data that is
// authenticated with it, and ends with a tag of 16 bytes.

internal import COpenSSL
internal import CSystem

extension CipherContext {
  /// Bytes in a tag.
  package static let tagByteCount = 16

  /// Encrypts `plaintext` into `output`, which ends with the tag; it may be the plaintext's own memory.
  /// - Returns: false when libcrypto fails.
  package mutating func seal(_ plaintext: RawSpan, into output: inout MutableRawSpan) -> Bool {
    precondition(output.byteCount == plaintext.byteCount + Self.tagByteCount, "no room for the tag")
    return unsafe plaintext.withUnsafeBytes { plaintext in
      unsafe output.withUnsafeMutableBytes { unsafe seal(plaintext, to: $0.baseAddress) }
    }
  }

  /// Encrypts all but the last 16 bytes of `buffer` where they are, and writes the tag there.
  /// - Returns: false when libcrypto fails.
  package mutating func sealInPlace(_ buffer: inout MutableRawSpan) -> Bool {
    let count = buffer.byteCount - Self.tagByteCount
    precondition(count >= 0, "no room for the tag")
    return unsafe buffer.withUnsafeMutableBytes {
      unsafe seal(UnsafeRawBufferPointer(start: $0.baseAddress, count: count), to: $0.baseAddress)
    }
  }

  @unsafe
  private mutating func seal(_ plaintext: UnsafeRawBufferPointer, to output: UnsafeMutableRawPointer?) -> Bool
  {
    guard let output = unsafe output, unsafe runMessage(plaintext, to: output) else { return false }
    return unsafe EVP_CIPHER_CTX_ctrl(
      context, EVP_CTRL_AEAD_GET_TAG, Int32(Self.tagByteCount), output + plaintext.count) == 1
  }

  /// Decrypts `sealed`, which ends with the tag, into `output`, which is erased when the tag does not match.
  /// - Returns: whether it matches.
  package mutating func open(_ sealed: RawSpan, into output: inout MutableRawSpan) -> Bool {
    precondition(sealed.byteCount == output.byteCount + Self.tagByteCount, "a message ends with its tag")
    return unsafe sealed.withUnsafeBytes { sealed in
      unsafe output.withUnsafeMutableBytes { output in
        let isAuthentic = unsafe open(sealed, to: output.baseAddress)
        if !isAuthentic, let start = output.baseAddress { unsafe coffer_erase(start, output.count) }
        return isAuthentic
      }
    }
  }

  /// Decrypts all but the last 16 bytes of `buffer`, the tag, where they are; erases all of it when the tag does
  /// not match.
  /// - Returns: whether it matches.
  package mutating func openInPlace(_ buffer: inout MutableRawSpan) -> Bool {
    precondition(buffer.byteCount >= Self.tagByteCount, "a message ends with its tag")
    return unsafe buffer.withUnsafeMutableBytes { buffer in
      let isAuthentic = unsafe open(UnsafeRawBufferPointer(buffer), to: buffer.baseAddress)
      if !isAuthentic, let start = buffer.baseAddress { unsafe coffer_erase(start, buffer.count) }
      return isAuthentic
    }
  }

  @unsafe
  private mutating func open(_ sealed: UnsafeRawBufferPointer, to output: UnsafeMutableRawPointer?) -> Bool {
    guard let start = sealed.baseAddress else { return false }
    let count = sealed.count - Self.tagByteCount
    // libcrypto takes a mutable pointer and only reads.
    let tag = unsafe UnsafeMutableRawPointer(mutating: start + count)
    return unsafe EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, Int32(Self.tagByteCount), tag) == 1
      && runMessage(UnsafeRawBufferPointer(start: start, count: count), to: output)
  }
}
