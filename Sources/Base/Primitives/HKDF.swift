// SPDX-License-Identifier: Apache-2.0
//
// HKDF (RFC 5869), extract and expand, by MACs of libcrypto. libcrypto's own EVP_KDF looks its digest up
// again for every derivation and takes three times as long; every message of a vault has a derivation of its
// own.

package import LibCrypto
package import Secrets

/// HKDF with a reusable context; with SHA-256 unless something else is asked for.
public struct HKDF: ~Copyable, Sendable {
  private var hmac: MAC
  /// The pseudorandom key between the two steps, kept in locked memory.
  private var pseudorandomKey: SecretBytes
  /// The last digest of an output whose length is not a multiple of the digest's.
  private var block: SecretBytes

  /// HKDF-SHA256.
  public init() { self.init(Digest.sha256) }

  package init(_ digest: Digest) {
    hmac = MAC(hmac: digest)
    pseudorandomKey = SecretBytes(zeroed: digest.byteCount)
    block = SecretBytes(zeroed: digest.byteCount)
  }

  /// Derives as many bytes as `output` has room for.
  ///
  /// - Parameters:
  ///   - ikm: the input keying material.
  ///   - salt: may be empty.
  ///   - info: the purpose of the output.
  ///   - output: 1 to 255 digests (L of RFC 5869, section 2.3); a digest of SHA-256 is 32 bytes.
  public mutating func derive(
    ikm: RawSpan, salt: RawSpan, info: RawSpan, into output: inout MutableRawSpan
  ) {
    let digestByteCount = hmac.byteCount
    precondition((1...255 * digestByteCount).contains(output.byteCount), "HKDF gives 1 to 255 digests")
    hmac.start(key: salt)
    hmac.update(ikm)
    pseudorandomKey.withMutableBytes { hmac.finish(into: &$0) }
    var number: UInt8 = 0
    var offset = 0
    while offset < output.byteCount {
      number += 1
      let end = min(offset + digestByteCount, output.byteCount)
      pseudorandomKey.withBytes { hmac.start(key: $0) }
      if offset > 0 { hmac.update(output.bytes.extracting(offset - digestByteCount..<offset)) }
      hmac.update(info)
      let counter: InlineArray<1, UInt8> = [number]
      hmac.update(counter.rawSpan)
      if end - offset == digestByteCount {
        var whole = output._mutatingExtracting(offset..<end)
        hmac.finish(into: &whole)
      } else {
        block.withMutableBytes { hmac.finish(into: &$0) }
        block.withBytes { output.copy($0.extracting(first: end - offset), to: offset) }
      }
      offset = end
    }
  }

  /// A secret of 32 bytes for one of several purposes of a key: without salt, with the purpose as text.
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
