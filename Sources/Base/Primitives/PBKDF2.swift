// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// PBKDF2 (RFC 8018, section 5.2) by libcrypto.
public enum PBKDF2 {
  /// Iterations for a passphrase with HMAC-SHA256.
  public static let passphraseIterations = 600_000

  /// Writes as many derived bytes as `output` has room for, with HMAC-SHA256.
  /// - Throws: `CryptoError.invalidKey` when libcrypto refuses the lengths or the iterations.
  public static func hmacSHA256(
    password: RawSpan, salt: RawSpan, rounds: Int, into output: inout MutableRawSpan
  ) throws(CryptoError) {
    try unsafe derive(LibCrypto.sha256, password, salt, rounds, &output)
  }

  /// Writes as many derived bytes as `output` has room for, with HMAC-SHA512 (BIP-39).
  /// - Throws: `CryptoError.invalidKey` when libcrypto refuses the lengths or the iterations.
  public static func hmacSHA512(
    password: RawSpan, salt: RawSpan, rounds: Int, into output: inout MutableRawSpan
  ) throws(CryptoError) {
    try unsafe derive(LibCrypto.sha512, password, salt, rounds, &output)
  }

  @unsafe
  private static func derive(
    _ digest: OpaquePointer?, _ password: RawSpan, _ salt: RawSpan, _ rounds: Int,
    _ output: inout MutableRawSpan
  ) throws(CryptoError) {
    guard let rounds = Int32(exactly: rounds), rounds > 0, output.byteCount > 0,
      let passwordCount = Int32(exactly: password.byteCount),
      let saltCount = Int32(exactly: salt.byteCount), let outputCount = Int32(exactly: output.byteCount)
    else { throw .invalidKey }
    let result = unsafe output.withUnsafeMutableBytes { output in
      unsafe password.withUnsafeBytes { password in
        unsafe salt.withUnsafeBytes { salt in
          unsafe PKCS5_PBKDF2_HMAC(
            password.baseAddress?.assumingMemoryBound(to: CChar.self), passwordCount,
            salt.baseAddress?.assumingMemoryBound(to: UInt8.self), saltCount, rounds, digest,
            outputCount, output.baseAddress?.assumingMemoryBound(to: UInt8.self))
        }
      }
    }
    guard result == 1 else { throw .invalidKey }
  }
}
