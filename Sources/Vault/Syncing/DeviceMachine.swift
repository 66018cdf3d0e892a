// SPDX-License-Identifier: Apache-2.0
//
// The machine below a history: the device's keys in its enclave, randomness, and the contents of its vault.

internal import Enclaves
internal import Histories
internal import Primitives
internal import Secrets
internal import Vaults

/// What a history asks of this device.
final class DeviceMachine: Machine {
  let keys: DeviceKeys
  let contents: VaultContents
  /// Why the enclave did not do its part of the last step. That step must not be stored.
  private(set) var failure: EnclaveError?

  init(keys: DeviceKeys, contents: VaultContents) {
    self.keys = keys
    self.contents = contents
  }

  /// - Throws: what the enclave or the vault's file said during the last step.
  func checkStep() throws {
    defer { failure = nil }
    if let failure { throw failure }
    try contents.checkReading()
  }

  func random(_ count: Int) -> [UInt8] { SystemRandom.publicBytes(count: count) }

  func randomSecret(_ count: Int) -> SharedSecretBytes {
    SharedSecretBytes(SystemRandom.secretBytes(count: count))
  }

  func makeKeyPair() -> KeyPair {
    let key = P256PrivateKey()
    return KeyPair(privateKey: SharedSecretBytes(key.scalar()), publicKey: key.publicKey)
  }

  func signature(of message: [UInt8], by key: PrivateKey) -> [UInt8] {
    let digest = SHA256.hash(message.rawSpan)
    let der: [UInt8]?
    switch key {
    case .device:
      do throws(EnclaveError) {
        der = try keys.enclave.signature(keys.signing, digest: digest, authorization: .none)
      } catch {
        failure = error
        der = nil
      }
    case .memory(let pair): der = try? Self.key(pair).signature(digest: digest)
    }
    guard let der else { return [UInt8](repeating: 0, count: LowSignature.byteCount) }
    guard let low = LowSignature(der: der) else { preconditionFailure("an enclave and libcrypto write DER") }
    return low.bytes
  }

  func isSignature(_ signature: [UInt8], of message: [UInt8], by publicKey: [UInt8]) -> Bool {
    guard let low = LowSignature(signature) else { return false }
    return P256.isValidSignature(low.der, digest: SHA256.hash(message.rawSpan), publicKey: publicKey)
  }

  func sharedSecret(with publicKey: [UInt8], by key: PrivateKey) -> SharedSecretBytes? {
    guard P256.isPublicKey(publicKey) else { return nil }
    switch key {
    case .device:
      do throws(EnclaveError) {
        return SharedSecretBytes(
          try keys.enclave.sharedSecret(keys.agreement, with: publicKey, authorization: .none))
      } catch {
        failure = error
        return nil
      }
    case .memory(let pair):
      do { return SharedSecretBytes(try Self.key(pair).sharedSecret(with: publicKey)) } catch { return nil }
    }
  }

  func frame(of content: ContentName) -> SharedSecretBytes? { contents.frame(of: content) }

  func hasFrame(of content: ContentName) -> Bool { contents.has(content) }

  private static func key(_ pair: KeyPair) throws(CryptoError) -> P256PrivateKey {
    try P256PrivateKey(
      scalar: pair.privateKey.withBytes { SecretBytes(copying: $0) }, publicKey: pair.publicKey)
  }
}
