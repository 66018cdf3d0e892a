// SPDX-License-Identifier: Apache-2.0
//
// HMAC-SHA256 (FIPS 198-1, RFC 2104) by libcrypto, with a context that is used again: choosing the
// digest costs twice what two short MACs cost.

internal import COpenSSL
internal import Glibc

/// HMAC-SHA256 with a reusable context. Erases its key schedule at its end.
@safe
public struct HMACSHA256: ~Copyable, @unchecked Sendable {
  /// Bytes in a code.
  public static let byteCount = 32

  private let context: OpaquePointer

  public init() {
    guard let context = unsafe EVP_MAC_CTX_new(LibCrypto.hmac) else {
      preconditionFailure("libcrypto has no HMAC")
    }
    unsafe self.context = unsafe context
    let name = unsafe strdup("SHA256")
    defer { unsafe free(name) }
    let parameters = unsafe [
      OSSL_PARAM_construct_utf8_string("digest", name, 0), OSSL_PARAM_construct_end(),
    ]
    precondition(
      unsafe EVP_MAC_CTX_set_params(context, parameters) == 1, "libcrypto has no HMAC-SHA256")
  }

  deinit { unsafe EVP_MAC_CTX_free(context) }

  /// Writes the code of `message` under `key` to the 32 bytes of `code`.
  ///
  /// An empty key counts as a key of zeros, as RFC 5869 has it for an absent salt.
  public mutating func authenticate(_ message: RawSpan, key: RawSpan, into code: inout MutableRawSpan) {
    precondition(code.byteCount == Self.byteCount, "an HMAC-SHA256 code has 32 bytes")
    start(key: key)
    update(message)
    finish(into: &code)
  }

  /// The code of one message, 32 bytes; for codes that are not secret.
  package static func code(of message: RawSpan, key: RawSpan) -> [UInt8] {
    var hmac = HMACSHA256()
    var code = [UInt8](repeating: 0, count: byteCount)
    var span = code.mutableSpan
    var output = unsafe span.mutableBytes
    hmac.authenticate(message, key: key, into: &output)
    return code
  }

  package mutating func start(key: RawSpan) {
    let result = unsafe key.withUnsafeBytes { key in
      // A nil pointer would mean «the key of the last time».
      var none: UInt8 = 0
      return unsafe withUnsafePointer(to: &none) { none in
        unsafe EVP_MAC_init(
          context, key.baseAddress?.assumingMemoryBound(to: UInt8.self) ?? none, key.count, nil)
      }
    }
    precondition(result == 1, "HMAC-SHA256 cannot fail")
  }

  package mutating func update(_ message: RawSpan) {
    let result = unsafe message.withUnsafeBytes {
      unsafe EVP_MAC_update(context, $0.baseAddress?.assumingMemoryBound(to: UInt8.self), $0.count)
    }
    precondition(result == 1, "HMAC-SHA256 cannot fail")
  }

  package mutating func finish(into code: inout MutableRawSpan) {
    var written = 0
    let result = unsafe code.withUnsafeMutableBytes {
      unsafe EVP_MAC_final(
        context, $0.baseAddress?.assumingMemoryBound(to: UInt8.self), &written, $0.count)
    }
    precondition(result == 1 && written == Self.byteCount, "HMAC-SHA256 cannot fail")
  }
}
