// SPDX-License-Identifier: Apache-2.0

internal import LibCrypto

/// PBKDF2 (RFC 8018, section 5.2) by libcrypto.
public enum PBKDF2 {
  /// Iterations for a passphrase with HMAC-SHA256.
  public static let passphraseIterations = 600_000

  /// Writes as many derived bytes as `output` has room for, with HMAC-SHA256.
  /// - Throws: `CryptoError.invalidKey` when libcrypto refuses the lengths or the iterations.
  public static func hmacSHA256(
    password: RawSpan, salt: RawSpan, rounds: Int, into output: inout MutableRawSpan
  ) throws(CryptoError) {
    guard Digest.sha256.pbkdf2(password: password, salt: salt, rounds: rounds, into: &output) else {
      throw .invalidKey
    }
  }

  /// Writes as many derived bytes as `output` has room for, with HMAC-SHA512 (BIP-39).
  /// - Throws: `CryptoError.invalidKey` when libcrypto refuses the lengths or the iterations.
  public static func hmacSHA512(
    password: RawSpan, salt: RawSpan, rounds: Int, into output: inout MutableRawSpan
  ) throws(CryptoError) {
    guard Digest.sha512.pbkdf2(password: password, salt: salt, rounds: rounds, into: &output) else {
      throw .invalidKey
    }
  }
}
