// SPDX-License-Identifier: Apache-2.0
//
// Placeholders of the skeleton; each becomes a file of its own.

internal import Secrets

/// CFB without resynchronisation (section 12.9), from an IV, over a stream, in place.
struct CFBCipher: ~Copyable {
  enum Direction { case encrypt, decrypt }

  /// - Throws: ``OpenPGPError/unsupported(_:)`` when libcrypto does not have the cipher.
  init(
    _ algorithm: SymmetricAlgorithm, _ direction: Direction, key: RawSpan, iv: RawSpan
  ) throws(OpenPGPError) { preconditionFailure("not built yet") }

  /// The next bytes of the stream; any number.
  mutating func process(_ buffer: inout MutableRawSpan) { preconditionFailure("not built yet") }
}

/// OCB, GCM or EAX with one key for many nonces.
struct AEADCipher: ~Copyable {
  enum Direction { case seal, open }

  /// - Throws: ``OpenPGPError/unsupported(_:)`` for another cipher than AES or Camellia or another algorithm.
  init(
    _ cipher: SymmetricAlgorithm, _ algorithm: AEADAlgorithm, _ direction: Direction, key: RawSpan
  ) throws(OpenPGPError) { preconditionFailure("not built yet") }

  /// Encrypts all but the last 16 bytes of `buffer` in place and writes the tag there.
  mutating func seal(_ buffer: inout MutableRawSpan, nonce: RawSpan, authenticating data: RawSpan) {
    preconditionFailure("not built yet")
  }

  /// Decrypts all but the last 16 bytes of `buffer`, the tag, in place; erases it when they do not match.
  /// - Throws: ``OpenPGPError/notAuthentic``.
  mutating func open(
    _ buffer: inout MutableRawSpan, nonce: RawSpan, authenticating data: RawSpan
  ) throws(OpenPGPError) { preconditionFailure("not built yet") }
}

/// HKDF (RFC 5869) with SHA-256 or SHA-512, of any output length that it allows.
enum ExpandingHKDF {
  static func derive(
    _ hash: HashAlgorithm, ikm: RawSpan, salt: RawSpan, info: [UInt8], byteCount: Int
  ) -> SecretBytes { preconditionFailure("not built yet") }
}

extension StringToKey {
  /// The key for a password.
  /// - Throws: ``OpenPGPError/unsupported(_:)``, ``OpenPGPError/overLimit(_:)``,
  ///   ``OpenPGPError/notEnoughMemory(neededByteCount:availableByteCount:)``.
  func deriveKey(password: RawSpan, byteCount: Int) throws(OpenPGPError) -> SecretBytes {
    preconditionFailure("not built yet")
  }
}
