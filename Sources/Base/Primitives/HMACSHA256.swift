// SPDX-License-Identifier: Apache-2.0
//
// HMAC-SHA256 (FIPS 198-1, RFC 2104) by libcrypto.

internal import LibCrypto
internal import Secrets

/// HMAC-SHA256 with a reusable context. Erases its key schedule at its end.
public struct HMACSHA256: ~Copyable, Sendable {
  /// Bytes in a code.
  public static let byteCount = 32

  private var mac = MAC(hmac: Digest.sha256)

  /// A MAC without a key; each call brings its own.
  public init() {}

  /// Writes the code of `message` under `key` to the 32 bytes of `code`.
  ///
  /// An empty key counts as a key of zeros, as RFC 5869 has it for an absent salt.
  public mutating func authenticate(_ message: RawSpan, key: RawSpan, into code: inout MutableRawSpan) {
    precondition(code.byteCount == Self.byteCount, "an HMAC-SHA256 code has 32 bytes")
    start(key: key)
    update(message)
    finish(into: &code)
  }

  package mutating func start(key: RawSpan) { mac.start(key: key) }

  package mutating func update(_ message: RawSpan) { mac.update(message) }

  package mutating func finish(into code: inout MutableRawSpan) { mac.finish(into: &code) }

  /// The code of one message, 32 bytes; for codes that are not secret.
  package static func code(of message: RawSpan, key: RawSpan) -> [UInt8] {
    var hmac = HMACSHA256()
    var code = [UInt8](repeating: 0, count: byteCount)
    code.withMutableRawSpan { hmac.authenticate(message, key: key, into: &$0) }
    return code
  }
}
