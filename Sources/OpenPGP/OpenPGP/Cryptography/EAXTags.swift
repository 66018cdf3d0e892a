// SPDX-License-Identifier: Apache-2.0
//
// EAX (Bellare, Rogaway, Wagner: "The EAX Mode of Operation", 2004), which libcrypto does not have: counter mode
// under a tag made of three CMACs (SP 800-38B), told apart by a first block. Read only, so its speed is that of
// CMAC.

internal import COpenSSL

/// The tags of EAX, and where its counter begins.
@safe
final class EAXTags: @unchecked Sendable {
  /// What nonce and data give.
  struct Head {
    /// The first block of the counter mode: the CMAC of the nonce.
    let counter: [UInt8]
    let data: [UInt8]
  }

  /// Which CMAC: the last octet of the block before its message.
  private enum Part: UInt8 { case nonce, data, ciphertext }

  private let context: OpaquePointer

  /// - Throws: ``OpenPGPError/unsupported(_:)`` when libcrypto has no CMAC with the cipher.
  init(_ algorithm: SymmetricAlgorithm, key: RawSpan) throws(OpenPGPError) {
    let cipher = try BlockCipher(algorithm, .cbc)
    guard key.byteCount == Int(unsafe EVP_CIPHER_get_key_length(cipher.reference)) else {
      throw .malformed(.sessionKey)
    }
    guard let mac = unsafe EVP_MAC_fetch(nil, "CMAC", nil) else { throw .internalFailure }
    defer { unsafe EVP_MAC_free(mac) }
    guard let context = unsafe EVP_MAC_CTX_new(mac) else { throw .internalFailure }
    unsafe self.context = unsafe context
    let name = unsafe UnsafeMutablePointer(mutating: EVP_CIPHER_get0_name(cipher.reference))
    let parameters = unsafe [
      OSSL_PARAM_construct_utf8_string(COFFER_PARAMETER_CIPHER, name, 0), OSSL_PARAM_construct_end(),
    ]
    let isSet = unsafe key.withUnsafeBytes {
      unsafe EVP_MAC_init(
        context, $0.baseAddress?.assumingMemoryBound(to: UInt8.self), $0.count, parameters)
    }
    guard isSet == 1 else { throw .internalFailure }
  }

  deinit { unsafe EVP_MAC_CTX_free(context) }

  func head(nonce: RawSpan, data: RawSpan) -> Head {
    unsafe nonce.withUnsafeBytes { nonce in
      unsafe data.withUnsafeBytes { data in
        unsafe Head(counter: code(.nonce, nonce), data: code(.data, data))
      }
    }
  }

  /// The tag, 16 octets.
  func tag(_ head: Head, ciphertext: UnsafeRawBufferPointer) -> [UInt8] {
    var tag = unsafe code(.ciphertext, ciphertext)
    for index in tag.indices { tag[index] ^= head.counter[index] ^ head.data[index] }
    return tag
  }

  /// OMAC_t of the paper: the CMAC of a block that holds the number t, and the message.
  private func code(_ part: Part, _ message: UnsafeRawBufferPointer) -> [UInt8] {
    let first = [UInt8](repeating: 0, count: AEADAlgorithm.tagByteCount - 1) + [part.rawValue]
    var code = [UInt8](repeating: 0, count: AEADAlgorithm.tagByteCount)
    var count = 0
    // Without a key it starts anew with the one that it has.
    let isDone =
      unsafe EVP_MAC_init(context, nil, 0, nil) == 1
      && EVP_MAC_update(context, first, first.count) == 1
      && (message.isEmpty
        || EVP_MAC_update(
          context, message.baseAddress?.assumingMemoryBound(to: UInt8.self), message.count) == 1)
      && EVP_MAC_final(context, &code, &count, code.count) == 1
    precondition(isDone && count == code.count, "a CMAC cannot fail")
    return code
  }
}
