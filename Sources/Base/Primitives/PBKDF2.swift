// SPDX-License-Identifier: Apache-2.0

internal import CSymmetric

/// PBKDF2 (RFC 8018, section 5.2) by BoringSSL.
public enum PBKDF2 {
  /// Iterations for a passphrase with HMAC-SHA256.
  public static let passphraseIterations = 600_000

  /// Writes as many derived bytes as `output` has room for, with HMAC-SHA256.
  /// - Throws: `CryptoError.invalidKey` for less than one round or more than 2³¹ − 1, and for no room.
  public static func hmacSHA256(
    password: RawSpan, salt: RawSpan, rounds: Int, into output: inout MutableRawSpan
  ) throws(CryptoError) {
    try derive(256, password, salt, rounds, &output)
  }

  /// Writes as many derived bytes as `output` has room for, with HMAC-SHA512 (BIP-39).
  /// - Throws: `CryptoError.invalidKey` for less than one round or more than 2³¹ − 1, and for no room.
  public static func hmacSHA512(
    password: RawSpan, salt: RawSpan, rounds: Int, into output: inout MutableRawSpan
  ) throws(CryptoError) {
    try derive(512, password, salt, rounds, &output)
  }

  private static func derive(
    _ hashBitCount: Int32, _ password: RawSpan, _ salt: RawSpan, _ rounds: Int, _ output: inout MutableRawSpan
  ) throws(CryptoError) {
    guard let rounds = Int32(exactly: rounds), rounds > 0, output.byteCount > 0 else { throw .invalidKey }
    let isDone = unsafe output.withUnsafeMutableBytes { output in
      unsafe password.withUnsafeBytes { password in
        unsafe salt.withUnsafeBytes { salt in
          unsafe coffer_pbkdf2(
            hashBitCount, password.baseAddress, password.count,
            salt.baseAddress?.assumingMemoryBound(to: UInt8.self), salt.count, UInt32(rounds),
            output.baseAddress?.assumingMemoryBound(to: UInt8.self), output.count) == 1
        }
      }
    }
    precondition(isDone, "out of memory for a hash")
  }
}
