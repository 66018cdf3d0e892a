// SPDX-License-Identifier: Apache-2.0
//
// Encryption subkeys that are bound as they should be, and that nothing can be encrypted to.

import Testing

@testable import OpenPGP

struct UnusableSubkeyTests {
  private func encryption(to holders: KeyHolderFixture...) throws -> MessageEncryption {
    try MessageEncryption(to: holders.map(\.certificate), time: day(10))
  }

  @Test("A subkey that cannot be encrypted to is left out, and the others are used")
  func leftOut() throws {
    let zero: PublicKeyMaterial = .x25519([UInt8](repeating: 0, count: 32))
    let point = MPI([4] + [UInt8](repeating: 1, count: 96))
    // Section 11.5.1 has SHA-384 and AES-192 for this curve.
    let forbidden: PublicKeyMaterial = .ecdh(.p384, point: point, .init(hash: .sha256, cipher: .aes128))
    var other = try KeyHolderFixture.usual()
    try other.addEncryptionSubkey()
    for (algorithm, material) in [(PublicKeyAlgorithm.x25519, zero), (.ecdh, forbidden)] {
      var holder = try KeyHolderFixture.usual()
      let unusable = PublicKey(
        version: 6, creationTime: day(0), algorithm: algorithm, material: material)
      let target = SignedTarget.subkey(primary: holder.primary.publicKey, unusable)
      let binding = try holder.signature(.subkeyBinding, over: target, [.keyFlags(.encryptStorage)], on: 0)
      holder.certificate.subkeys = [.init(unusable, signatures: [binding])]
      #expect(throws: OpenPGPError.noEncryptionKey) { try encryption(to: holder) }
      #expect(throws: OpenPGPError.noEncryptionKey) { try encryption(to: other, holder) }
      let usable = try holder.addEncryptionSubkey().publicKey
      let recipients = try encryption(to: holder).recipientPackets.map(\.recipient)
      #expect(recipients == [.keyID(usable.keyID)])
    }
  }
}
