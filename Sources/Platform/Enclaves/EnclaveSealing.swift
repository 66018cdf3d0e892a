// SPDX-License-Identifier: Apache-2.0
//
// Sealing to an enclave's key (Specs/envelopes.md, "Sealing to an enclave's key"): an ephemeral P-256 key
// agrees with the enclave's, HKDF-SHA256 makes a key and a key check of that, AES-256-GCM seals. The
// ephemeral private key ends with the call, so from then on only the enclave can open.

internal import Primitives
package import Secrets

/// A value sealed to an enclave's key. All fields are public.
package struct EnclaveSealed: Equatable, Sendable {
  /// 65 bytes (SEC 1, 2.3.3).
  package var ephemeralKey: [UInt8]
  /// 32 random bytes.
  package var salt: [UInt8]
  /// 32 bytes that commit to the agreed secret: another key is told from a changed value.
  package var keyCheck: [UInt8]
  /// 12 random bytes.
  package var nonce: [UInt8]
  /// As long as the plaintext, and the tag (16).
  package var ciphertext: [UInt8]

  package static let saltByteCount = 32
  package static let keyCheckByteCount = 32
  package static let nonceByteCount = AES256GCM.nonceByteCount
  package static let tagByteCount = AES256GCM.tagByteCount

  package init(
    ephemeralKey: [UInt8], salt: [UInt8], keyCheck: [UInt8], nonce: [UInt8], ciphertext: [UInt8]
  ) {
    self.ephemeralKey = ephemeralKey
    self.salt = salt
    self.keyCheck = keyCheck
    self.nonce = nonce
    self.ciphertext = ciphertext
  }
}

/// Why a value that was sealed to an enclave's key does not open.
package enum EnclaveSealingError: Error, Equatable, Sendable {
  /// The enclave refused the key agreement, with this error.
  case enclave(EnclaveError)
  /// The agreed secret is not the one that the value was sealed under.
  case wrongKey
  /// The key is right, but the bytes are not those that were sealed.
  case tampered
}

/// Seals and opens one kind of value. `label` and `head` separate kinds and places.
package struct EnclaveSealing: Sendable {
  /// The beginning of every HKDF info.
  private let label: [UInt8]
  /// All public fields of the value before the key check, given the ephemeral key and the salt.
  private let head: @Sendable (_ ephemeralKey: [UInt8], _ salt: [UInt8]) -> SecretBytes

  package init(
    label: [UInt8], head: @escaping @Sendable (_ ephemeralKey: [UInt8], _ salt: [UInt8]) -> SecretBytes
  ) {
    self.label = label
    self.head = head
  }

  /// Seals `plaintext`, of less than 2 GiB, to a key for agreement. The enclave is not asked.
  /// - Parameter other: a second secret that opening takes too; nil for the enclave alone.
  package func seal(
    _ plaintext: RawSpan, to key: EnclaveKey, mixing other: SharedSecretBytes? = nil
  ) throws(EnclaveSealingError) -> EnclaveSealed {
    let ephemeral = P256PrivateKey()
    let secret: SecretBytes
    do { secret = Self.mix(try ephemeral.sharedSecret(with: key.publicKey), other) } catch {
      throw .enclave(.invalidInput)
    }
    let salt = SystemRandom.publicBytes(count: EnclaveSealed.saltByteCount)
    let head = head(ephemeral.publicKey, salt)
    var sealed = EnclaveSealed(
      ephemeralKey: ephemeral.publicKey, salt: salt,
      keyCheck: derive(secret, salt, head, .keyCheck).withBytes { [UInt8](copying: $0) },
      nonce: SystemRandom.publicBytes(count: EnclaveSealed.nonceByteCount),
      ciphertext: [UInt8](repeating: 0, count: plaintext.byteCount + EnclaveSealed.tagByteCount))
    let aad = Self.associatedData(head, plaintextByteCount: plaintext.byteCount)
    let nonce = sealed.nonce
    var span = sealed.ciphertext.mutableSpan
    var output = unsafe span.mutableBytes
    var cipher = AES256GCM()
    do {
      try derive(secret, salt, head, .key).withBytes { key throws(CryptoError) in
        try aad.withBytes { aad throws(CryptoError) in
          try cipher.seal(
            plaintext, key: key, nonce: nonce.rawSpan, authenticating: aad, into: &output)
        }
      }
    } catch { preconditionFailure("less than 2 GiB can be sealed") }
    return sealed
  }

  /// Opens the result of ``seal(_:to:mixing:)``.
  package func open(
    _ sealed: EnclaveSealed, _ key: EnclaveKey, in enclave: any Enclave, authorization: KeyAuthorization,
    mixing other: SharedSecretBytes? = nil
  ) throws(EnclaveSealingError) -> SecretBytes {
    guard sealed.ciphertext.count >= EnclaveSealed.tagByteCount else { throw .tampered }
    let secret = Self.mix(try agree(sealed.ephemeralKey, key, enclave, authorization), other)
    let head = head(sealed.ephemeralKey, sealed.salt)
    let keyCheck = derive(secret, sealed.salt, head, .keyCheck)
    guard keyCheck.withBytes({ constantTimeEqual($0, sealed.keyCheck.rawSpan) }) else {
      throw .wrongKey
    }
    var plaintext = SecretBytes(zeroed: sealed.ciphertext.count - EnclaveSealed.tagByteCount)
    let aad = Self.associatedData(head, plaintextByteCount: plaintext.count)
    var cipher = AES256GCM()
    do {
      try plaintext.withMutableBytes { plaintext throws(CryptoError) in
        try derive(secret, sealed.salt, head, .key).withBytes { key throws(CryptoError) in
          try aad.withBytes { aad throws(CryptoError) in
            try cipher.open(
              sealed.ciphertext.rawSpan, key: key, nonce: sealed.nonce.rawSpan, authenticating: aad,
              into: &plaintext)
          }
        }
      }
    } catch { throw .tampered }
    return plaintext
  }

  private func agree(
    _ ephemeralKey: [UInt8], _ key: EnclaveKey, _ enclave: any Enclave, _ authorization: KeyAuthorization
  ) throws(EnclaveSealingError) -> SecretBytes {
    do {
      return try enclave.sharedSecret(key, with: ephemeralKey, authorization: authorization)
    } catch { throw .enclave(error) }
  }

  /// secret ‖ other
  private static func mix(_ secret: consuming SecretBytes, _ other: SharedSecretBytes?) -> SecretBytes {
    guard let other else { return secret }
    var mixed = SecretWriter(byteCount: secret.count + other.count)
    secret.withBytes { mixed.append($0) }
    other.withBytes { mixed.append($0) }
    return mixed.finish()
  }

  private enum Purpose: UInt8 {
    case key = 1
    case keyCheck = 2
  }

  /// HKDF(secret, salt, label ‖ 0 ‖ purpose (1) ‖ SHA-256(head))
  private func derive(
    _ secret: borrowing SecretBytes, _ salt: [UInt8], _ head: borrowing SecretBytes, _ purpose: Purpose
  ) -> SymmetricKey {
    let info = label + [0, purpose.rawValue] + head.withBytes { SHA256.hash($0) }
    var hkdf = HKDF()
    return secret.withBytes { hkdf.deriveKey(ikm: $0, salt: salt.rawSpan, info: info.rawSpan) }
  }

  /// head ‖ plaintext length (8)
  private static func associatedData(
    _ head: borrowing SecretBytes, plaintextByteCount: Int
  ) -> SecretBytes {
    var length: [UInt8] = []
    length.append(bigEndian: UInt64(plaintextByteCount))
    var aad = SecretWriter(byteCount: head.count + length.count)
    head.withBytes { aad.append($0) }
    aad.append(length)
    return aad.finish()
  }
}
