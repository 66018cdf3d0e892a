// SPDX-License-Identifier: Apache-2.0
//
// RFC 9980: which keys may have which algorithm, what is encrypted to which subkey, and what is said of it. The
// strict reading of packets is in the cases of Tests/Vectors/openpgp.

import Primitives
import Secrets
import Testing

@testable import OpenPGP

@Suite("Post-quantum algorithms")
struct PostQuantumTests {
  private static let composites: [(KeyAlgorithm, UInt8)] = [
    (.compositeSignature(.mldsa65Ed25519), 6), (.compositeSignature(.mldsa87Ed448), 6),
    (.compositeKEM(.mlkem768X25519), 4), (.compositeKEM(.mlkem1024X448), 6),
  ]

  private func key(
    _ profile: KeyProfile, withSubkey: Bool = false, on time: Timestamp = day(0)
  ) throws -> TransferableSecretKey {
    var generation = KeyGeneration(profile, userIDs: [KeyHolderFixture.userID], creationTime: time)
    generation.addsPostQuantumSubkey = withSubkey
    return try generation.generate()
  }

  private func encryption(_ certificates: [Certificate]) throws -> MessageEncryption {
    try MessageEncryption(to: certificates, time: day(2))
  }

  private func algorithms(_ certificates: [Certificate]) throws -> [PublicKeyAlgorithm] {
    try encryption(certificates).recipientPackets.map(\.algorithm)
  }

  // MARK: Keys

  @Test("Version 4 may have ML-KEM-768 with X25519, and nothing else of RFC 9980")
  func versions() throws {
    let refused: [KeyAlgorithm] = [
      .compositeSignature(.mldsa65Ed25519), .compositeSignature(.mldsa87Ed448),
      .hashBasedSignature(.slhdsa128f),
      .compositeKEM(.mlkem1024X448),
    ]
    for algorithm in refused {
      #expect(throws: OpenPGPError.self) {
        try UnlockedKey.generate(algorithm, version: 4, creationTime: day(0))
      }
      let made = try UnlockedKey.generate(algorithm, version: 6, creationTime: day(0)).publicKey
      // The same fields with the number of version 4: kept as they are, and good for nothing.
      var fields: [UInt8] = []
      made.material.write(to: &fields)
      let body = [4, 0, 0, 0, 0, made.algorithm.rawValue] + fields
      let read = try PublicKey(body: body.span.bytes)
      #expect(read.material == .unknown(fields) && read.body == body)
      #expect(Policy.standard.refusal(key: read) == .publicKeyAlgorithm(made.algorithm))
    }
    let subkey = try UnlockedKey.generate(.compositeKEM(.mlkem768X25519), version: 4, creationTime: day(0))
    // RFC 9980: 32 octets of X25519, 1,184 of ML-KEM, after version, time and algorithm.
    #expect(subkey.publicKey.body.count == 1222)
  }

  @Test(
    "A field more or less makes a key malformed", arguments: [KeyFixtures.signing, KeyFixtures.decrypting])
  func lengths(all: [(KeyAlgorithm, UInt8)]) throws {
    for (algorithm, version) in all where version == 6 {
      let key = try KeyFixtures.key(algorithm, version).publicKey
      guard key.algorithm.isPostQuantum else { continue }
      var fields: [UInt8] = []
      key.material.write(to: &fields)
      for changed in [fields + [0], fields.dropLast()] {
        var body: [UInt8] = [6, 0, 0, 0, 0, key.algorithm.rawValue]
        body.append(bigEndian: UInt32(changed.count))
        #expect(throws: OpenPGPError.self) { try PublicKey(body: (body + changed).span.bytes) }
      }
    }
  }

  @Test(
    "A secret half that is not that of the public one is found when the key is opened", arguments: composites)
  func halves(algorithm: KeyAlgorithm, version: UInt8) throws {
    let key = try KeyFixtures.key(algorithm, version)
    _ = try key.withoutProtection().unlocked(password: nil, isSubkey: true)
    // No curve fixes a bit of the second octet. The last 32 of ML-KEM are z, which no public key shows.
    let seed = key.material.count - (key.publicKey.algorithm.encrypts ? 64 : 32)
    for offset in [1, seed, seed + 31] {
      let spoilt = UnlockedKey(publicKey: key.publicKey, material: changed(key.material, at: offset))
      #expect(throws: OpenPGPError.malformed(.secretKey)) {
        try spoilt.withoutProtection().unlocked(password: nil, isSubkey: true)
      }
    }
  }

  @Test("SLH-DSA: the public values in the secret key must be those of the public key")
  func hashBasedHalves() throws {
    let key = try KeyFixtures.key(.hashBasedSignature(.slhdsa128f), 6)
    for offset in 32..<64 {
      let spoilt = UnlockedKey(publicKey: key.publicKey, material: changed(key.material, at: offset))
      #expect(throws: OpenPGPError.malformed(.secretKey)) {
        try spoilt.withoutProtection().unlocked(password: nil, isSubkey: false)
      }
    }
  }

  // MARK: Encryption

  @Test("A message goes to the newest post-quantum subkey alone, and to no classical one beside it")
  func choice() throws {
    var holder = try key(.universal, withSubkey: true)
    #expect(holder.certificate.subkeys.map(\.packet.algorithm) == [.ecdh, .mlkem768X25519])
    #expect(try algorithms([holder.certificate]) == [.mlkem768X25519])
    let primary = try holder.unlocked(holder.certificate.fingerprint, for: .certify, passwords: [])
    let newer = try holder.addSubkey(for: .encryptPostQuantum, at: day(1), by: primary)
    let packets = try encryption([holder.certificate]).recipientPackets
    #expect(packets.map(\.recipient) == [.keyID(newer.keyID)])
  }

  @Test("A subkey of ML-KEM whose coefficients are out of range is passed over, for the next that is good")
  func coefficients() throws {
    var holder = try key(.rfc9580)
    let primary = try holder.unlocked(holder.certificate.fingerprint, for: .certify, passwords: [])
    let good = try UnlockedKey.generate(.compositeKEM(.mlkem768X25519), version: 6, creationTime: day(0))
    guard case .compositeKEM(let kind, let ecdh, var mlkem) = good.publicKey.material else {
      Issue.record("it has other fields")
      return
    }
    // Twelve bits of ones: 4,095, and the modulus is 3,329.
    (mlkem[0], mlkem[1]) = (0xFF, mlkem[1] | 0x0F)
    let bad = PublicKey(
      version: 6, creationTime: day(0), algorithm: .mlkem768X25519,
      material: .compositeKEM(kind, ecdh: ecdh, mlkem: mlkem))
    var binding = SignatureBuilder(type: .subkeyBinding, creationTime: day(0))
    binding.subpackets = [Subpacket(.keyFlags([.encryptCommunications]))]
    let target = SignedTarget.subkey(primary: primary.publicKey, bad)
    holder.certificate.subkeys.append(
      Certificate.Component(bad, signatures: [try binding.sign(target, with: primary)]))
    #expect(try algorithms([holder.certificate]) == [.x25519])
    let valid = ValidCertificate(holder.certificate, at: day(1), now: day(1), policy: .standard)
    #expect(valid.parts.map(\.problem) == [nil, nil, .malformed])
    holder.certificate.subkeys.removeFirst()
    #expect(throws: OpenPGPError.noEncryptionKey) { try encryption([holder.certificate]) }
  }

  @Test("Who has a post-quantum key reads AES-256, even if the certificate does not say so")
  func impliedCipher() throws {
    for version in [4, 6] as [UInt8] {
      let features = Subpacket.Content.features(
        version == 6 ? [.seipdVersion1, .seipdVersion2] : .seipdVersion1)
      var holder = try KeyHolderFixture.usual(version: version, says: [features])
      let key = try holder.addUnboundSubkey(.compositeKEM(.mlkem768X25519))
      try holder.bind(key, [.keyFlags([.encryptCommunications])])
      #expect(try encryption([holder.certificate]).format.cipher == .aes256)
      var classical = try KeyHolderFixture.usual(version: version, says: [features])
      try classical.addEncryptionSubkey()
      #expect(try encryption([classical.certificate]).format.cipher == .aes128)
      #expect(try encryption([holder.certificate, classical.certificate]).format.cipher == .aes128)
    }
  }

  @Test("A message says what a quantum computer could open it by, to who writes it and to who reads it")
  func weaknesses() throws {
    let (strong, weak) = (try key(.postQuantumHigh), try key(.rfc9580))
    #expect(try encryption([strong.certificate]).quantumWeaknesses == [])
    let mixed = try encryption([strong.certificate, weak.certificate])
    let expected = [
      QuantumWeakness.key(.fingerprint(weak.certificate.subkeys[0].packet.fingerprint), .x25519)
    ]
    #expect(mixed.quantumWeaknesses == expected)
    let sink = ArraySink()
    try mixed.encrypt(from: MemorySource([1, 2, 3]), to: sink)
    var decryption = MessageDecryption()
    let subkey = strong.certificate.subkeys[0].packet.fingerprint
    decryption.keys = [
      .init(
        try strong.unlocked(subkey, for: .decrypt, passwords: []), certificate: strong.certificate.fingerprint
      )
    ]
    let read = try decryption.decrypt(from: MemorySource(sink.bytes), to: ArraySink())
    #expect(read.quantumWeaknesses == expected)
    #expect(TestMessage(.version1(.aes128)).encryption.quantumWeaknesses == [.cipher(.aes128)])
  }

  @Test("A session key packet that is of no use, or for a short cipher, is a weakness too")
  func foreignPackets() throws {
    for number in 30...36 as ClosedRange<UInt8> {
      let algorithm = PublicKeyAlgorithm(rawValue: number)
      let packet = PKESK(
        version: 3, recipient: .anonymous, algorithm: algorithm, material: .unknown([1, 2, 3]))
      #expect(QuantumWeakness(.pkesk(packet)) == .unreadable)
    }
    let short = SKESK(cipher: .aes128, stringToKey: .simple(.sha256), form: .version4(encrypted: []))
    #expect(QuantumWeakness(.skesk(short)) == .cipher(.aes128))
  }

  @Test("A new part for a key of ML-KEM-1024 is of ML-KEM-1024")
  func strength() throws {
    var holder = try key(.postQuantumHigh)
    let primary = try holder.unlocked(holder.certificate.fingerprint, for: .certify, passwords: [])
    try holder.addSubkey(for: .encryptPostQuantum, at: day(1), by: primary)
    #expect(holder.certificate.subkeys.map(\.packet.algorithm) == [.mlkem1024X448, .mlkem1024X448])
  }

  @Test("A post-quantum subkey that nobody bound says nothing about ciphers")
  func unboundSubkey() throws {
    let features = Subpacket.Content.features([.seipdVersion1, .seipdVersion2])
    var holder = try KeyHolderFixture.usual(says: [features])
    try holder.addEncryptionSubkey()
    _ = try holder.addUnboundSubkey(.compositeKEM(.mlkem768X25519))
    #expect(try encryption([holder.certificate]).format.cipher == .aes128)
  }
}
