// SPDX-License-Identifier: Apache-2.0
//
// Whole messages by the AEAD modes of libcrypto (GCM, OCB): each begins with a nonce and the data that is
// authenticated with it, and ends with a tag of 16 bytes.

internal import COpenSSL
internal import CSystem

extension CipherContext {
  /// Bytes in a tag.
  package static let tagByteCount = 16

  /// Encrypts all but the last 16 bytes of `buffer` where they are, and writes the tag there.
  /// - Returns: false when libcrypto fails.
  package mutating func sealInPlace(_ buffer: inout MutableRawSpan) -> Bool {
    precondition(buffer.byteCount >= Self.tagByteCount, "no room for the tag")
    return unsafe buffer.withUnsafeMutableBytes { buffer in
      let message = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer.dropLast(Self.tagByteCount))
      guard unsafe runMessage(UnsafeRawBufferPointer(message), to: message.baseAddress) else { return false }
      return unsafe EVP_CIPHER_CTX_ctrl(
        context, EVP_CTRL_AEAD_GET_TAG, Int32(Self.tagByteCount), message.baseAddress! + message.count) == 1
    }
  }

  /// Decrypts all but the last 16 bytes of `buffer`, the tag, where they are; erases all of it when the tag does
  /// not match.
  /// - Returns: whether it matches.
  package mutating func openInPlace(_ buffer: inout MutableRawSpan) -> Bool {
    precondition(buffer.byteCount >= Self.tagByteCount, "a message ends with its tag")
    return unsafe buffer.withUnsafeMutableBytes { buffer in
      let message = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer.dropLast(Self.tagByteCount))
      let tag = unsafe message.baseAddress! + message.count
      let isAuthentic =
        unsafe EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, Int32(Self.tagByteCount), tag) == 1
        && runMessage(UnsafeRawBufferPointer(message), to: message.baseAddress)
      if !isAuthentic { unsafe coffer_erase(buffer.baseAddress!, buffer.count) }
      return isAuthentic
    }
  }
}
