// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, sections 5.2.1.8, 5.2.1.9 and 5.2.3.13: what binds subkeys, when keys end, and what they are for.

import Testing

@testable import OpenPGP

struct ValidCertificateKeysTests {
  @Test("An expired primary key ends its subkeys", arguments: [4, 6] as [UInt8])
  func expiryOfPrimaryKey(version: UInt8) throws {
    var holder = try KeyHolderFixture.usual(
      version: version, says: [.keyExpirationTime(seconds: seconds(days: 10))])
    try holder.addEncryptionSubkey()
    #expect(holder.valid(on: 9).keys.map(\.problem) == [nil, nil])
    #expect(holder.valid(on: 9).keys.map(\.expirationTime) == [day(10), day(10)])
    #expect(holder.valid(on: 10).keys.map(\.problem) == [.expired, .expired])
    #expect(throws: OpenPGPError.noEncryptionKey) {
      try holder.valid(on: 10).encryptionKeys(for: .encryptStorage)
    }
  }

  @Test("A key expiration of zero seconds is never", arguments: [4, 6] as [UInt8])
  func expirationZero(version: UInt8) throws {
    var holder = try KeyHolderFixture.usual(version: version, says: [.keyExpirationTime(seconds: 0)])
    try holder.addEncryptionSubkey([.keyExpirationTime(seconds: 0)])
    #expect(holder.valid(on: 9_000).keys.map(\.problem) == [nil, nil])
  }

  @Test("An expired subkey ends alone, counted from its own creation")
  func expiryOfSubkey() throws {
    var holder = try KeyHolderFixture.usual()
    try holder.addEncryptionSubkey([.keyExpirationTime(seconds: seconds(days: 10))], on: 5)
    #expect(holder.valid(on: 14).keys.map(\.problem) == [nil, nil])
    #expect(holder.valid(on: 15).keys.map(\.problem) == [nil, .expired])
  }

  @Test("The expiry that counts is the one that was stated at the time of the valid")
  func extended() throws {
    var holder = try KeyHolderFixture(version: 6)
    let flags = Subpacket.Content.keyFlags(.sign)
    try holder.addDirectKeySignature([flags, .keyExpirationTime(seconds: seconds(days: 10))])
    try holder.addDirectKeySignature([flags, .keyExpirationTime(seconds: seconds(days: 50))], on: 20)
    #expect(holder.valid(on: 5).problem == nil)
    #expect(holder.valid(on: 15).problem == .expired)
    #expect(holder.valid(on: 25).problem == nil)
    #expect(holder.valid(on: 50).problem == .expired)
  }

  @Test("A key from the future is not yet valid")
  func future() throws {
    var holder = try KeyHolderFixture(version: 6, madeOn: 100)
    try holder.addDirectKeySignature([.keyFlags(.sign)], on: 100)
    #expect(holder.valid(on: 99).problem == .notYetValid)
    #expect(holder.valid(on: 100).problem == nil)
  }

  @Test("A subkey without a binding cannot be used")
  func unbound() throws {
    var holder = try KeyHolderFixture.usual()
    _ = try holder.addUnboundSubkey()
    #expect(holder.valid(on: 1).keys[1].problem == .notBound)
  }

  @Test("A subkey that a stranger has bound cannot be used")
  func boundByStranger() throws {
    var holder = try KeyHolderFixture.usual()
    try holder.addEncryptionSubkey(by: try KeyHolderFixture().primary)
    #expect(holder.valid(on: 1).keys[1].problem == .notBound)
  }

  @Test("A subkey with a broken binding cannot be used")
  func brokenBinding() throws {
    var holder = try KeyHolderFixture.usual()
    try holder.addEncryptionSubkey()
    holder.certificate.subkeys[0].signatures = holder.certificate.subkeys[0].signatures.map(\.broken)
    #expect(holder.valid(on: 1).keys[1].problem == .notBound)
  }

  @Test("An expired binding ends the subkey")
  func expiredBinding() throws {
    var holder = try KeyHolderFixture.usual()
    try holder.addEncryptionSubkey([.signatureExpirationTime(seconds: seconds(days: 10))])
    #expect(holder.valid(on: 9).keys[1].problem == nil)
    #expect(holder.valid(on: 10).keys[1].problem == .expired)
  }

  @Test("A signing subkey signs when it has confirmed that it belongs here")
  func confirmed() throws {
    var holder = try KeyHolderFixture.usual()
    let key = try holder.addSigningSubkey()
    let valid = holder.valid(on: 1)
    #expect(valid.keys[1].flags == .sign)
    #expect(try valid.signingKeys() == [key.publicKey, holder.primary.publicKey])
  }

  @Test("A back-signature may stand in the unhashed area")
  func confirmedInUnhashedArea() throws {
    var holder = try KeyHolderFixture.usual()
    let key = try holder.addUnboundSubkey(.ed25519)
    let confirmation = try holder.confirmation(of: key)
    try holder.bind(key, [.keyFlags(.sign)], unhashed: [.embeddedSignature(confirmation)])
    #expect(holder.valid(on: 1).keys[1].problem == nil)
    #expect(holder.valid(on: 1).keys[1].flags == .sign)
  }

  @Test("A signing subkey without a back-signature, with a broken one or with somebody else's does not sign")
  func unconfirmed() throws {
    let stranger = try KeyHolderFixture()
    for kind in 0..<4 {
      var holder = try KeyHolderFixture.usual()
      let key = try holder.addUnboundSubkey(.ed25519)
      let confirmations: [Signature] =
        switch kind {
        case 0: []
        case 1: [try holder.confirmation(of: key).broken]
        case 2: [try holder.confirmation(of: key, by: stranger.primary)]
        default: [try holder.confirmation(of: key, by: holder.primary)]
        }
      try holder.bind(key, [.keyFlags(.sign)] + confirmations.map { .embeddedSignature($0) })
      #expect(holder.valid(on: 1).keys[1].flags.isEmpty)
      #expect(holder.valid(on: 1).keys[1].problem == .notBound)
    }
  }

  @Test("A subkey of somebody else's cannot be stolen with the back-signature for its own certificate")
  func stolenSubkey() throws {
    var victim = try KeyHolderFixture.usual()
    let key = try victim.addSigningSubkey()
    var thief = try KeyHolderFixture.usual()
    thief.certificate.subkeys.append(.init(key.publicKey))
    let confirmation = try victim.confirmation(of: key)
    try thief.bind(key, [.keyFlags(.sign), .embeddedSignature(confirmation)])
    #expect(thief.valid(on: 1).keys[1].problem == .notBound)
  }

  @Test("An expired back-signature, or one from after the valid, confirms nothing")
  func expiredConfirmation() throws {
    var holder = try KeyHolderFixture.usual()
    let key = try holder.addUnboundSubkey(.ed25519)
    let confirmation = try holder.confirmation(
      of: key, [.signatureExpirationTime(seconds: seconds(days: 10))], on: 5)
    try holder.bind(key, [.keyFlags(.sign), .embeddedSignature(confirmation)])
    #expect(holder.valid(on: 4, today: 4).keys[1].problem == .notBound)
    #expect(holder.valid(on: 14).keys[1].problem == nil)
    #expect(holder.valid(on: 15).keys[1].problem == .notBound)
  }

  @Test("An encryption subkey needs no back-signature")
  func encryptionSubkey() throws {
    var holder = try KeyHolderFixture.usual()
    let key = try holder.addEncryptionSubkey()
    #expect(try holder.valid(on: 1).encryptionKeys(for: .encryptCommunications) == [key.publicKey])
  }

  @Test("A subkey for one purpose is not taken for another")
  func purposes() throws {
    var holder = try KeyHolderFixture.usual()
    let storage = try holder.addUnboundSubkey()
    try holder.bind(storage, [.keyFlags(.encryptStorage)])
    let authentication = try holder.addUnboundSubkey()
    try holder.bind(authentication, [.keyFlags(.authenticate)])
    let valid = holder.valid(on: 1)
    #expect(try valid.encryptionKeys(for: .encryptStorage) == [storage.publicKey])
    #expect(throws: OpenPGPError.noEncryptionKey) { try valid.encryptionKeys(for: .encryptCommunications) }
    #expect(try valid.encryptionKeys(for: [.encryptStorage, .encryptCommunications]) == [storage.publicKey])
  }

  @Test("Keys whose holder says nothing of their use do what their algorithm does; only subkeys encrypt")
  func withoutFlags() throws {
    var holder = try KeyHolderFixture(version: 4, .eddsaLegacy)
    try holder.addUserID(KeyHolderFixture.userID)
    let key = try holder.addUnboundSubkey(.curve25519Legacy)
    try holder.bind(key, [])
    let valid = holder.valid(on: 1)
    #expect(valid.primaryKey.flags == [.certify, .sign])
    #expect(try valid.encryptionKeys(for: .encryptStorage) == [key.publicKey])
  }

  @Test("An expired newest subkey does not hide an older one that is good")
  func olderSubkey() throws {
    var holder = try KeyHolderFixture.usual()
    let old = try holder.addEncryptionSubkey()
    try holder.addEncryptionSubkey([.keyExpirationTime(seconds: seconds(days: 1))], on: 5)
    #expect(try holder.valid(on: 20).encryptionKeys(for: .encryptStorage) == [old.publicKey])
  }

  @Test("A subkey of an unknown algorithm does no harm")
  func unknownAlgorithm() throws {
    var holder = try KeyHolderFixture.usual()
    let key = try holder.addEncryptionSubkey()
    let unknown = PublicKey(
      version: 6, creationTime: day(0), algorithm: PublicKeyAlgorithm(rawValue: 99), material: .unknown([1]))
    holder.certificate.subkeys.append(.init(unknown))
    let target = SignedTarget.subkey(primary: holder.primary.publicKey, unknown)
    let binding = try holder.signature(.subkeyBinding, over: target, [.keyFlags(.encryptStorage)], on: 0)
    holder.certificate.subkeys[1].signatures = [binding]
    #expect(try holder.valid(on: 1).encryptionKeys(for: .encryptStorage) == [key.publicKey])
  }

  @Test("When a rule is why nothing can be encrypted to, the error names it")
  func refusedByRule() throws {
    var holder = try KeyHolderFixture(version: 4, .eddsaLegacy)
    try holder.addUserID(KeyHolderFixture.userID, [.keyFlags(.certify)])
    let weak = PublicKey(
      version: 4, creationTime: day(0), algorithm: .rsa,
      material: .rsa(modulus: MPI([UInt8](repeating: 0xFF, count: 64)), exponent: MPI([3])))
    holder.certificate.subkeys = [.init(weak)]
    let target = SignedTarget.subkey(primary: holder.primary.publicKey, weak)
    let binding = try holder.signature(.subkeyBinding, over: target, [.keyFlags(.encryptStorage)], on: 0)
    holder.certificate.subkeys[0].signatures = [binding]
    #expect(throws: OpenPGPError.refused(.keySize(bitCount: 512))) {
      try holder.valid(on: 1).encryptionKeys(for: .encryptStorage)
    }
    #expect(throws: OpenPGPError.keyCannot(.sign)) { try holder.valid(on: 1).signingKeys() }
  }
}
