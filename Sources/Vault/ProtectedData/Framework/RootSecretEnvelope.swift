// SPDX-License-Identifier: Apache-2.0
//
// The root secret, sealed to the device-binding key (PD-02 to PD-04; Specs/protected-data.md, "Envelope"):
//
//   "CAPDSEV2" ‖ binary property list
//
// A software-ephemeral key agrees with the enclave's; both the derivation and the authenticated data name the
// version and the hashes of both public keys.

package import Enclaves
internal import Primitives
package import Secrets

package struct RootSecretEnvelope: Equatable {
  /// The public key of its binding key: 65 bytes.
  let bindingPublicKey: [UInt8]
  private let sealed: EnclaveSealed

  static let magic = Array("CAPDSEV2".utf8)
  static let rootSecretByteCount = 32
  private static let algorithm = "p256-ecdh-hkdf-sha256-aes-gcm-v1"
  private static let aadVersion: UInt8 = 1

  /// Seals 32 bytes to a key for agreement. The enclave is not asked.
  static func seal(
    _ root: RawSpan, to key: EnclaveKey
  ) throws(EnclaveSealingError) -> RootSecretEnvelope {
    let sealing = sealing(key.publicKey)
    let sealed = try sealing.seal(root, to: key)
    return RootSecretEnvelope(bindingPublicKey: key.publicKey, sealed: sealed)
  }

  /// Opens the envelope with the key it names.
  package func open(_ key: EnclaveKey, in enclave: any Enclave) throws(EnclaveSealingError) -> SecretBytes {
    guard key.publicKey == bindingPublicKey else { throw .wrongKey }
    return try Self.sealing(bindingPublicKey).open(sealed, key, in: enclave, authorization: .none)
  }

  /// magic ‖ algorithm ‖ 0 ‖ AAD version (1) ‖ SHA-256(ephemeral key) ‖ SHA-256(binding key) ‖ salt
  private static func sealing(_ bindingPublicKey: [UInt8]) -> EnclaveSealing {
    EnclaveSealing(label: magic) { ephemeralKey, salt in
      let bound = SHA256.hash(ephemeralKey.rawSpan) + SHA256.hash(bindingPublicKey.rawSpan)
      let head = magic + Array(algorithm.utf8) + [0, aadVersion] + bound + salt
      return SecretBytes(copying: head.rawSpan)
    }
  }

  init(bindingPublicKey: [UInt8], sealed: EnclaveSealed) {
    self.bindingPublicKey = bindingPublicKey
    self.sealed = sealed
  }

  // MARK: Bytes

  var bytes: [UInt8] { Self.magic + BinaryPropertyList.bytes(of: Self.dictionary(bindingPublicKey, sealed)) }

  /// Reads an envelope; nil for anything but the bytes of one.
  package init?(_ bytes: [UInt8]) {
    guard bytes.starts(with: Self.magic),
      let found = BinaryPropertyList.dictionary(Array(bytes.dropFirst(Self.magic.count)))
    else { return nil }
    func data(_ key: String, _ count: Int) -> [UInt8]? {
      guard case .data(let value) = found[key], value.count == count else { return nil }
      return value
    }
    guard let binding = data("bindingPublicKey", P256.publicKeyByteCount), P256.isPublicKey(binding),
      let ephemeral = data("ephemeralPublicKey", P256.publicKeyByteCount), P256.isPublicKey(ephemeral),
      let salt = data("salt", EnclaveSealed.saltByteCount),
      let keyCheck = data("keyCheck", EnclaveSealed.keyCheckByteCount),
      let nonce = data("nonce", EnclaveSealed.nonceByteCount),
      let ciphertext = data("ciphertext", Self.rootSecretByteCount),
      let tag = data("tag", EnclaveSealed.tagByteCount)
    else { return nil }
    bindingPublicKey = binding
    sealed = EnclaveSealed(
      ephemeralKey: ephemeral, salt: salt, keyCheck: keyCheck, nonce: nonce, ciphertext: ciphertext + tag)
    // This checks the algorithm, the version, and that no other fields are present.
    guard self.bytes == bytes else { return nil }
  }

  private static func dictionary(
    _ bindingPublicKey: [UInt8], _ sealed: EnclaveSealed
  ) -> [String: PropertyListValue] {
    [
      "aadVersion": .integer(aadVersion), "algorithmID": .string(algorithm),
      "bindingPublicKey": .data(bindingPublicKey),
      "ciphertext": .data(Array(sealed.ciphertext.dropLast(EnclaveSealed.tagByteCount))),
      "ephemeralPublicKey": .data(sealed.ephemeralKey), "keyCheck": .data(sealed.keyCheck),
      "nonce": .data(sealed.nonce), "salt": .data(sealed.salt),
      "tag": .data(Array(sealed.ciphertext.suffix(EnclaveSealed.tagByteCount))),
    ]
  }
}
