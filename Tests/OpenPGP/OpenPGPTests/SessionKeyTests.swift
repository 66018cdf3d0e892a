// SPDX-License-Identifier: Apache-2.0
//
// Session keys to public keys and back, and packets that are not for the key or were changed.

import Primitives
import Secrets
import Testing

@testable import OpenPGP

@Suite("Session keys")
struct SessionKeyTests {
  @Test(
    "Every algorithm decrypts what was encrypted to it, in both versions", arguments: KeyFixtures.decrypting)
  func roundTrip(_ algorithm: KeyAlgorithm, version: UInt8) throws {
    let key = try KeyFixtures.key(algorithm, version)
    for cipher in [SymmetricAlgorithm.aes128, .aes192, .aes256] {
      let sessionKey = KeyFixtures.sessionKey(cipher)
      for packetVersion in [UInt8(3), 6] {
        let packet = try key.publicKey.encrypt(sessionKey, version: packetVersion, isAnonymous: false)
        let body = packet.body
        let read = try PKESK(body: body.span.bytes)
        #expect(read == packet)
        let found = try key.decrypt(read)
        #expect(bytes(found.bytes) == bytes(sessionKey.bytes))
        #expect(found.cipher == (packetVersion == 3 ? cipher : nil))
      }
    }
  }

  @Test("The packet says who it is for, or does not")
  func recipients() throws {
    let key = try KeyFixtures.key(.x25519, 6).publicKey
    let sessionKey = KeyFixtures.sessionKey(.aes256)
    #expect(try key.encrypt(sessionKey, version: 3, isAnonymous: false).recipient == .keyID(key.keyID))
    #expect(
      try key.encrypt(sessionKey, version: 6, isAnonymous: false).recipient == .fingerprint(key.fingerprint))
    for version in [UInt8(3), 6] {
      #expect(try key.encrypt(sessionKey, version: version, isAnonymous: true).recipient == .anonymous)
    }
  }

  @Test("Another key gets the one answer that it is not authentic", arguments: KeyFixtures.decrypting)
  func otherKey(_ algorithm: KeyAlgorithm, version: UInt8) throws {
    let (key, other) = (
      try KeyFixtures.key(algorithm, version), try KeyFixtures.otherKey(algorithm, version)
    )
    for packetVersion in [UInt8(3), 6] {
      let packet = try key.publicKey.encrypt(
        KeyFixtures.sessionKey(.aes256), version: packetVersion, isAnonymous: true)
      #expect(throws: OpenPGPError.notAuthentic) { _ = try other.decrypt(packet) }
    }
  }

  @Test("Any changed octet gets the same answer", arguments: KeyFixtures.decrypting)
  func changedPacket(_ algorithm: KeyAlgorithm, version: UInt8) throws {
    let key = try KeyFixtures.key(algorithm, version)
    let packet = try key.publicKey.encrypt(
      KeyFixtures.sessionKey(.aes256), version: 6, isAnonymous: true)
    let body = packet.body
    // Behind version, recipient and algorithm; every ninth octet, to be done soon.
    for offset in stride(from: 3, to: body.count, by: 9) {
      var changed = body
      changed[offset] ^= 0x10
      guard let read = try? PKESK(body: changed.span.bytes) else { continue }
      #expect(throws: OpenPGPError.notAuthentic, "octet \(offset)") { _ = try key.decrypt(read) }
    }
  }

  @Test("A cipher that was changed in the clear, or that the key does not fit, is refused")
  func outerCipher() throws {
    let key = try KeyFixtures.key(.x25519, 6)
    let packet = try key.publicKey.encrypt(
      KeyFixtures.sessionKey(.aes256), version: 3, isAnonymous: false)
    guard case .x25519(let ephemeral, _, let wrapped) = packet.material else {
      Issue.record("another material")
      return
    }
    for cipher in [SymmetricAlgorithm.aes128, .camellia256, .twofish, .plaintext, nil] {
      let changed = PKESK(
        version: 3, recipient: packet.recipient, algorithm: .x25519,
        material: .x25519(ephemeral: ephemeral, cipher, wrapped: wrapped))
      #expect(throws: OpenPGPError.notAuthentic) { _ = try key.decrypt(changed) }
    }
    #expect(throws: OpenPGPError.unsupported(.symmetricAlgorithm(13))) {
      _ = try key.publicKey.encrypt(KeyFixtures.sessionKey(.camellia256), version: 3, isAnonymous: false)
    }
  }

  @Test("An ephemeral key of small order is refused")
  func smallOrder() throws {
    let key = try KeyFixtures.key(.x25519, 6)
    let packet = PKESK(
      version: 6, recipient: .anonymous, algorithm: .x25519,
      material: .x25519(
        ephemeral: [UInt8](repeating: 0, count: 32), nil, wrapped: [UInt8](repeating: 0, count: 40)))
    #expect(throws: OpenPGPError.notAuthentic) { _ = try key.decrypt(packet) }
    let weak = PublicKey(
      version: 6, creationTime: KeyFixtures.time, algorithm: .x25519,
      material: .x25519([UInt8](repeating: 0, count: 32)))
    #expect(throws: OpenPGPError.malformed(.publicKey)) {
      _ = try weak.encrypt(KeyFixtures.sessionKey(.aes256), version: 6, isAnonymous: false)
    }
  }

  @Test("A key of version 6 with other ECDH parameters than its curve's is not encrypted to")
  func derivation() throws {
    let key = try KeyFixtures.key(.ecdh(.p256), 6).publicKey
    guard case .ecdh(_, let point, _) = key.material else {
      Issue.record("another material")
      return
    }
    let other = PublicKeyMaterial.KeyDerivation(hash: .sha512, cipher: .aes256)
    let sessionKey = KeyFixtures.sessionKey(.aes256)
    func variant(version: UInt8) -> PublicKey {
      PublicKey(
        version: version, creationTime: KeyFixtures.time, algorithm: .ecdh,
        material: .ecdh(.p256, point: point, other))
    }
    #expect(throws: OpenPGPError.self) {
      _ = try variant(version: 6).encrypt(sessionKey, version: 6, isAnonymous: false)
    }
    #expect(try variant(version: 4).encrypt(sessionKey, version: 3, isAnonymous: false).version == 3)
  }

  @Test("A key for signing does not decrypt, and ElGamal is unsupported")
  func wrongUse() throws {
    let packet = try KeyFixtures.key(.x25519, 6).publicKey.encrypt(
      KeyFixtures.sessionKey(.aes256), version: 6, isAnonymous: true)
    let signer = try KeyFixtures.key(.ed25519, 6)
    #expect(throws: OpenPGPError.keyCannot(.decrypt)) { _ = try signer.decrypt(packet) }
    #expect(throws: OpenPGPError.unsupported(.publicKeyAlgorithm(27))) {
      _ = try signer.publicKey.encrypt(KeyFixtures.sessionKey(.aes256), version: 6, isAnonymous: true)
    }
    let one = MPI([1])
    let elgamal = PublicKey(
      version: 4, creationTime: KeyFixtures.time, algorithm: .elgamal,
      material: .elgamal(prime: one, generator: one, value: one))
    #expect(throws: OpenPGPError.unsupported(.publicKeyAlgorithm(16))) {
      _ = try elgamal.encrypt(KeyFixtures.sessionKey(.aes256), version: 3, isAnonymous: true)
    }
    #expect(throws: OpenPGPError.unsupported(.publicKeyAlgorithm(16))) {
      _ = try UnlockedKey(publicKey: elgamal, material: SharedSecretBytes(SecretBytes(zeroed: 0))).decrypt(
        packet)
    }
  }
}
