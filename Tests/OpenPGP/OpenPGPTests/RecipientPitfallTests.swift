// SPDX-License-Identifier: Apache-2.0
//
// Certificates to which others encrypt, and nobody should.

import Testing

@testable import OpenPGP

struct RecipientPitfallTests {
  /// Whether anything can be encrypted to this certificate two days later.
  private func takes(_ holder: KeyHolderFixture, _ purpose: KeyFlags = .encryptCommunications) -> Bool {
    (try? MessageEncryption(to: [holder.certificate], purpose: purpose, time: day(2))) != nil
  }

  private func recipient(_ version: UInt8) throws -> KeyHolderFixture {
    var holder = try KeyHolderFixture.usual(version: version)
    try holder.addEncryptionSubkey()
    return holder
  }

  @Test(
    "Encrypting to revoked certificates: a revocation of the key or its subkey, hard or soft, ends that",
    arguments: [4, 6] as [UInt8])
  func revoked(version: UInt8) throws {
    let holder = try recipient(version)
    #expect(takes(holder))
    let subkey = Certificate.Part.subkey(holder.subkeys[0].publicKey.fingerprint)
    for part in [Certificate.Part.primaryKey, subkey] {
      for code in [nil, RevocationReason.Code.compromised, .superseded, .retired] {
        var revoked = holder
        try revoked.revoke(code, part, on: 1)
        #expect(!takes(revoked))
      }
    }
  }

  @Test(
    "Encrypting to unbound subkeys: one that nothing binds, or a stranger, is not taken",
    arguments: [4, 6] as [UInt8])
  func unbound(version: UInt8) throws {
    var without = try KeyHolderFixture.usual(version: version)
    _ = try without.addUnboundSubkey()
    #expect(!takes(without))
    var strange = try KeyHolderFixture.usual(version: version)
    try strange.addEncryptionSubkey(by: try KeyHolderFixture(version: version).primary)
    #expect(!takes(strange))
  }

  @Test("Key flags ignored: nothing is encrypted to a key for something else", arguments: [4, 6] as [UInt8])
  func flags(version: UInt8) throws {
    for flags in [KeyFlags.sign, .certify, .encryptStorage, []] {
      var holder = try KeyHolderFixture.usual(version: version)
      let key = try holder.addUnboundSubkey()
      try holder.bind(key, [.keyFlags(flags)])
      #expect(!takes(holder))
      #expect(takes(holder, .encryptStorage) == (flags == .encryptStorage))
    }
  }

  @Test("Strangers' self-signatures: a certificate that only somebody else has signed takes nothing")
  func stranger() throws {
    for version in [4, 6] as [UInt8] {
      let stranger = try KeyHolderFixture(version: version).primary
      var holder = try KeyHolderFixture(version: version)
      try holder.addUserID(KeyHolderFixture.userID, [.keyFlags([.certify, .sign])], by: stranger)
      try holder.addDirectKeySignature([.keyFlags([.certify, .sign])], by: stranger)
      try holder.addEncryptionSubkey()
      #expect(!takes(holder))
    }
  }
}
