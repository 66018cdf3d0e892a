// SPDX-License-Identifier: Apache-2.0
//
// HKDF-SHA256 (RFC 5869), extract and expand, for outputs of up to 32 bytes: one block of the
// expansion, two MACs of libcrypto. libcrypto's own EVP_KDF looks its digest up again for every
// derivation and takes three times as long; every message of a vault has a derivation of its own.

package import Secrets

/// HKDF-SHA256 with a reusable context.
public struct HKDF: ~Copyable, Sendable {
  private var hmac = HMACSHA256()
  /// The pseudorandom key between the two steps, kept in locked memory.
  private var pseudorandomKey = SecretBytes(zeroed: HMACSHA256.byteCount)
  private var block = SecretBytes(zeroed: HMACSHA256.byteCount)

  public init() {}

  /// Derives up to 32 bytes into `output`.
  ///
  /// - Parameters:
  ///   - ikm: the input keying material.
  ///   - salt: may be empty.
  ///   - info: says what the output is for.
  ///   - output: 1 to 32 bytes (L of RFC 5869, section 2.3).
  public mutating func derive(
    ikm: RawSpan, salt: RawSpan, info: RawSpan, into output: inout MutableRawSpan
  ) {
    precondition(
      (1...HMACSHA256.byteCount).contains(output.byteCount), "this HKDF gives 1 to 32 bytes")
    pseudorandomKey.withMutableBytes { hmac.authenticate(ikm, key: salt, into: &$0) }
    pseudorandomKey.withBytes { hmac.start(key: $0) }
    hmac.update(info)
    let counter: InlineArray<1, UInt8> = [1]
    unsafe hmac.update(counter.span.bytes)
    if output.byteCount == HMACSHA256.byteCount {
      hmac.finish(into: &output)
    } else {
      block.withMutableBytes { hmac.finish(into: &$0) }
      block.withBytes { block in
        for offset in 0..<output.byteCount {
          output.storeBytes(of: block.unsafeLoadByte(offset), toByteOffset: offset, as: UInt8.self)
        }
      }
    }
  }

  /// A secret of 32 bytes for one purpose, of a key that has several: no salt, and the purpose as text.
  package static func secret(from ikm: RawSpan, info: StaticString) -> SecretBytes {
    var hkdf = HKDF()
    return SecretBytes(byteCount: SymmetricKey.byteCount) { output in
      info.withRawSpan { hkdf.derive(ikm: ikm, salt: RawSpan(), info: $0, into: &output) }
    }
  }

  /// Derives a key of 32 bytes.
  public mutating func deriveKey(ikm: RawSpan, salt: RawSpan, info: RawSpan) -> SymmetricKey {
    var bytes = SecretBytes(zeroed: SymmetricKey.byteCount)
    bytes.withMutableBytes { derive(ikm: ikm, salt: salt, info: info, into: &$0) }
    return SymmetricKey(sized: bytes)
  }

  /// Derives a key of 32 bytes, with the purpose as text.
  public mutating func deriveKey(ikm: RawSpan, salt: RawSpan, info: StaticString) -> SymmetricKey {
    info.withRawSpan { deriveKey(ikm: ikm, salt: salt, info: $0) }
  }
}
