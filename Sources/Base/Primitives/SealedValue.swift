// SPDX-License-Identifier: Apache-2.0
//
// How a small value is sealed under a long-lived key (Specs/keychain.md, "Sealed value"):
//
//   version 1 (1) ‖ salt (16) ‖ key check (32) ‖ nonce (12) ‖ ciphertext ‖ tag (16)
//
// Every seal has a new salt and derives a key of its own from it. A long-lived key never encrypts anything
// itself, so it cannot reach the limits of random nonces. The key check commits to the key, so that a wrong
// key and a changed value give different errors.

public import Secrets

/// Sealing and opening of small values.
public struct SealedValue: ~Copyable {
  /// Bytes that a sealed value is longer than its plaintext.
  public static let overheadByteCount = ciphertextOffset + AES256GCM.tagByteCount

  private static let version: UInt8 = 1
  private static let saltRange = 1..<17
  private static let checkRange = 17..<49
  private static let nonceRange = 49..<61
  private static let ciphertextOffset = 61

  private var hkdf = HKDF()
  private var cipher = AES256GCM()
  private var derived = SecretBytes(zeroed: SymmetricKey.byteCount)

  /// A sealer without a key; each call brings its own.
  public init() {}

  /// Why a sealed value does not open.
  @nonexhaustive
  public enum Failure: Error, Equatable, Sendable {
    /// Shorter than its fixed fields, or of a version that does not exist.
    case malformed
    /// Sealed under another key.
    case wrongKey
    /// The key is right, but bytes or context are not those that were sealed.
    case tampered
  }

  /// Seals `plaintext` under `key`, bound to `context`.
  public mutating func seal(_ plaintext: RawSpan, key: RawSpan, context: [UInt8]) -> [UInt8] {
    var sealed: [UInt8] = [Self.version]
    sealed.reserveCapacity(Self.overheadByteCount + plaintext.byteCount)
    sealed += SystemRandom.publicBytes(count: Self.saltRange.count)
    sealed += [UInt8](repeating: 0, count: Self.checkRange.count)
    sealed += SystemRandom.publicBytes(count: Self.nonceRange.count)
    sealed += [UInt8](repeating: 0, count: plaintext.byteCount + AES256GCM.tagByteCount)

    let nonce = Array(sealed[Self.nonceRange])
    let salt = Array(sealed[Self.saltRange])
    var span = sealed.mutableSpan
    var bytes = unsafe span.mutableBytes
    var check = bytes._mutatingExtracting(Self.checkRange)
    Self.derive(&hkdf, key, salt.rawSpan, "coffer sealed value v1 check", into: &check)
    deriveKey(key, salt.rawSpan)
    let aad = Self.associatedData(context, plaintextByteCount: plaintext.byteCount)
    var ciphertext = bytes._mutatingExtracting(droppingFirst: Self.ciphertextOffset)
    do {
      try derived.withBytes { key throws(CryptoError) in
        try cipher.seal(
          plaintext, key: key, nonce: nonce.rawSpan, authenticating: aad.rawSpan, into: &ciphertext)
      }
    } catch {
      preconditionFailure("a value of more than 2 GiB is not a small one")
    }
    return sealed
  }

  /// Opens the result of ``seal(_:key:context:)``.
  public mutating func open(
    _ sealed: RawSpan, key: RawSpan, context: [UInt8]
  ) throws(Failure) -> SecretBytes {
    guard sealed.byteCount >= Self.overheadByteCount, sealed.unsafeLoadByte(0) == Self.version else {
      throw .malformed
    }
    let salt = sealed.extracting(Self.saltRange)
    derived.withMutableBytes { derived in
      Self.derive(&hkdf, key, salt, "coffer sealed value v1 check", into: &derived)
    }
    guard derived.withBytes({ constantTimeEqual($0, sealed.extracting(Self.checkRange)) }) else {
      throw .wrongKey
    }
    deriveKey(key, salt)
    let ciphertext = sealed.extracting(droppingFirst: Self.ciphertextOffset)
    var plaintext = SecretBytes(zeroed: ciphertext.byteCount - AES256GCM.tagByteCount)
    let aad = Self.associatedData(context, plaintextByteCount: plaintext.count)
    do {
      try plaintext.withMutableBytes { plaintext throws(CryptoError) in
        try derived.withBytes { key throws(CryptoError) in
          try cipher.open(
            ciphertext, key: key, nonce: sealed.extracting(Self.nonceRange),
            authenticating: aad.rawSpan, into: &plaintext)
        }
      }
    } catch {
      throw .tampered
    }
    return plaintext
  }

  /// Opens a sealed value and hands it to `body`; nil when it does not open, or `body` returns nil.
  package static func read<Value>(
    _ sealed: RawSpan, key: SharedSecretBytes, context: [UInt8], _ body: (RawSpan) -> Value?
  ) -> Value? {
    var sealer = SealedValue()
    do {
      let opened = try key.withBytes { key throws(Failure) in
        try sealer.open(sealed, key: key, context: context)
      }
      return opened.withBytes(body)
    } catch {
      return nil
    }
  }

  private mutating func deriveKey(_ key: RawSpan, _ salt: RawSpan) {
    derived.withMutableBytes { derived in
      Self.derive(&hkdf, key, salt, "coffer sealed value v1 key", into: &derived)
    }
  }

  private static func derive(
    _ hkdf: inout HKDF, _ key: RawSpan, _ salt: RawSpan, _ info: StaticString,
    into output: inout MutableRawSpan
  ) {
    info.withRawSpan { hkdf.derive(ikm: key, salt: salt, info: $0, into: &output) }
  }

  /// version ‖ plaintext length (8) ‖ context
  private static func associatedData(_ context: [UInt8], plaintextByteCount: Int) -> [UInt8] {
    var aad: [UInt8] = [version]
    aad.append(bigEndian: UInt64(plaintextByteCount))
    return aad + context
  }
}
