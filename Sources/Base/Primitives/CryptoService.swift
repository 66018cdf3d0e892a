// SPDX-License-Identifier: Apache-2.0
//
// The crypto service: hashes, AES-256-GCM in the combined format, keys and randomness for callers that
// work with `Data`. Stateless. Every error is logged with its operation; sizes at debug level; contents
// never.

internal import Logging
internal import Secrets

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// SHA-256, AES-256-GCM, keys and random bytes.
///
/// The encrypted form is nonce (12 bytes) ‖ ciphertext ‖ tag (16 bytes).
public enum CryptoService {
  /// The SHA-256 of `data` as 64 lowercase hexadecimal characters.
  public static func sha256(_ data: Data) -> String { Hexadecimal.text(SHA256.hash(data.bytes)) }

  /// The SHA-256 of `data` as 32 bytes.
  public static func sha256Data(_ data: Data) -> Data { Data(SHA256.hash(data.bytes)) }

  /// The SHA-256 of a file as 64 lowercase hexadecimal characters; it is read piece by piece.
  ///
  /// - Throws: `CryptoError.fileNotFound`; `CryptoError.fileReadError` when it cannot be read to its end.
  ///   There is never a hash of half a file.
  public static func sha256Stream(url: URL) throws(CryptoError) -> String {
    do {
      return Hexadecimal.text(try FileDigest.sha256(path: url.path))
    } catch {
      throw logged(error, "sha256Stream")
    }
  }

  /// Encrypts and authenticates `data` with a fresh random nonce.
  ///
  /// - Returns: nonce ‖ ciphertext ‖ tag, 28 bytes more than `data`.
  /// - Throws: `CryptoError.encryptionFailed` for more than 2 GiB.
  public static func encrypt(
    _ data: Data, using key: borrowing SymmetricKey
  ) throws(CryptoError) -> Data {
    log.debug("encrypt", metadata: ["byteCount": "\(data.count)"])
    let nonce = SystemRandom.publicBytes(count: AES256GCM.nonceByteCount)
    var combined = Data(count: nonce.count + data.count + AES256GCM.tagByteCount)
    combined.replaceSubrange(0..<nonce.count, with: nonce)
    var cipher = AES256GCM()
    var span = combined.mutableBytes
    var sealed = span._mutatingExtracting(droppingFirst: nonce.count)
    do {
      try key.withBytes { key throws(CryptoError) in
        try cipher.seal(
          data.bytes, key: key, nonce: nonce.rawSpan, authenticating: RawSpan(), into: &sealed)
      }
    } catch {
      throw logged(error, "encrypt")
    }
    return combined
  }

  /// Checks and decrypts the result of ``encrypt(_:using:)``; nothing is returned before the tag is checked.
  ///
  /// - Throws: `CryptoError.decryptionFailed` for input too short to be a sealed value;
  ///   `CryptoError.authenticationFailed` for another key or changed bytes.
  public static func decrypt(
    _ combined: Data, using key: borrowing SymmetricKey
  ) throws(CryptoError) -> Data {
    log.debug("decrypt", metadata: ["byteCount": "\(combined.count)"])
    let overhead = AES256GCM.nonceByteCount + AES256GCM.tagByteCount
    guard combined.count >= overhead else { throw logged(.decryptionFailed, "decrypt") }
    var data = Data(count: combined.count - overhead)
    var cipher = AES256GCM()
    let nonce = combined.bytes.extracting(first: AES256GCM.nonceByteCount)
    let sealed = combined.bytes.extracting(droppingFirst: AES256GCM.nonceByteCount)
    var output = data.mutableBytes
    do {
      try key.withBytes { key throws(CryptoError) in
        try cipher.open(sealed, key: key, nonce: nonce, authenticating: RawSpan(), into: &output)
      }
    } catch {
      throw logged(error, "decrypt")
    }
    return data
  }

  /// A new 256-bit key from the system's generator.
  public static func generateKey() -> SymmetricKey { SymmetricKey() }

  /// The 32 bytes of a key, copied out of locked memory: the caller must erase them.
  public static func keyToData(_ key: borrowing SymmetricKey) -> Data {
    key.withBytes { bytes in unsafe bytes.withUnsafeBytes { unsafe Data($0) } }
  }

  /// The key in 32 bytes.
  /// - Throws: `CryptoError.invalidKey` for any other length.
  public static func keyFromData(_ data: Data) throws(CryptoError) -> SymmetricKey {
    guard data.count == SymmetricKey.byteCount else { throw logged(.invalidKey, "keyFromData") }
    return try SymmetricKey(copying: data.bytes)
  }

  /// Random bytes for nonces, identifiers and salts. A negative count is the caller's error.
  public static func randomData(count: Int) -> Data { Data(SystemRandom.publicBytes(count: count)) }

  // MARK: -

  private static let log = Logger(label: "app.rial.crypto")

  private static func logged(_ error: CryptoError, _ operation: StaticString) -> CryptoError {
    log.error("\(operation) failed", metadata: ["error": "\(error.errorDescription ?? "")"])
    return error
  }
}
