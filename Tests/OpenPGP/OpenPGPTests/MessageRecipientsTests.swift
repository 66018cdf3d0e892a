// SPDX-License-Identifier: Apache-2.0

import Primitives
import Secrets
import Testing

@testable import OpenPGP

@Suite("Messages to keys")
struct MessageRecipientsTests {
  private static let version2: Subpacket.Content = .features([.seipdVersion1, .seipdVersion2])

  private func recipient(version: UInt8 = 6, _ facts: [Subpacket.Content] = [version2]) throws
    -> KeyHolderFixture
  {
    var holder = try KeyHolderFixture.usual(version: version, says: facts)
    try holder.addEncryptionSubkey()
    return holder
  }

  private func encryption(
    to holders: [KeyHolderFixture], passwords: [SharedSecretBytes] = [],
    _ profile: MessageEncryption.PasswordProfile = .universal
  ) throws -> MessageEncryption {
    try MessageEncryption(
      to: holders.map(\.certificate), passwords: passwords, passwordProfile: profile, time: day(10))
  }

  private func encrypted(_ encryption: MessageEncryption, _ data: [UInt8]) throws -> [UInt8] {
    let sink = ArraySink()
    try encryption.encrypt(from: MemorySource(data), to: sink)
    return sink.bytes
  }

  private func decrypt(
    _ message: [UInt8], _ holder: KeyHolderFixture, verifier: SignatureVerifier? = nil
  ) throws -> (data: [UInt8], message: DecryptedMessage) {
    var decryption = MessageDecryption()
    decryption.keys = holder.subkeys.map { .init($0, certificate: holder.certificate.fingerprint) }
    decryption.verifier = verifier
    let sink = ArraySink()
    let result = try decryption.decrypt(from: MemorySource(message), to: sink)
    return (sink.bytes, result)
  }

  @Test("The format is what all recipients can read (D27)")
  func formats() throws {
    let gcm: Subpacket.Content = .preferredAEADCiphersuites([AEADCiphersuite(.aes256, .gcm)])
    let both: Subpacket.Content = .preferredAEADCiphersuites([
      AEADCiphersuite(.aes256, .gcm), AEADCiphersuite(.aes256, .ocb),
    ])
    let aes256: Subpacket.Content = .preferredSymmetricAlgorithms([.aes256, .aes128])
    let plain = try recipient()
    let old = try recipient(version: 4, [.features(.seipdVersion1), aes256])
    let oldest = try recipient(version: 4, [])
    let withGCM = try recipient([Self.version2, gcm])
    let withBoth = try recipient([Self.version2, both])
    func format(_ holders: KeyHolderFixture...) throws -> EncryptionFormat {
      try encryption(to: holders).format
    }

    #expect(try format(plain) == .version2(AEADCiphersuite(.aes128, .ocb)))
    #expect(try format(withBoth) == .version2(AEADCiphersuite(.aes256, .ocb)))
    #expect(try format(withGCM, withBoth) == .version2(AEADCiphersuite(.aes256, .gcm)))
    #expect(try format(withGCM, plain) == .version2(AEADCiphersuite(.aes128, .ocb)))
    #expect(try format(old) == .version1(.aes256))
    #expect(try format(oldest) == .version1(.aes128))
    #expect(try format(withBoth, old) == .version1(.aes128))
    #expect(try format(old, oldest) == .version1(.aes128))
  }

  @Test("Every recipient can read it, nobody else can", arguments: [4, 6] as [UInt8])
  func recipients(_ version: UInt8) throws {
    let holders = [try recipient(version: version), try recipient(version: version), try recipient()]
    let stranger = try recipient(version: version)
    let data = patterned(1_000)
    let message = try encrypted(try encryption(to: holders), data)
    for holder in holders {
      let (found, result) = try decrypt(message, holder)
      #expect(found == data)
      #expect(result.format == .version2(AEADCiphersuite(.aes128, .ocb)))
    }
    #expect(throws: OpenPGPError.noKeyFits) { try decrypt(message, stranger) }
  }

  @Test("Version 1 to old certificates")
  func version1() throws {
    let holder = try recipient(version: 4, [.features(.seipdVersion1)])
    let data = patterned(1_000)
    let (found, result) = try decrypt(try encrypted(try encryption(to: [holder]), data), holder)
    #expect(found == data)
    #expect(result.format == .version1(.aes128))
  }

  @Test("Neither recipients nor passwords, and recipients without a key for it, are refused")
  func nobody() throws {
    #expect(throws: OpenPGPError.noEncryptionKey) { try encryption(to: []) }
    let signsOnly = try KeyHolderFixture.usual(says: [Self.version2])
    #expect(throws: OpenPGPError.noEncryptionKey) { try encryption(to: [signsOnly]) }
    #expect(throws: OpenPGPError.noEncryptionKey) { try encryption(to: [try recipient(), signsOnly]) }
  }

  /// Session keys as a test wants them, in front of a body.
  private func message(_ body: TestMessage, _ packets: [Packet], _ data: [UInt8]) throws -> [UInt8] {
    let sink = ArraySink()
    for packet in packets { try packet.write(to: sink) }
    return sink.bytes + (try body.encrypted(data))
  }

  @Test("A recipient who is not named")
  func anonymous() throws {
    let holder = try recipient()
    for format in TestMessage.formats {
      let body = TestMessage(format)
      let version = format.publicKeyPacketVersion
      let others = try (0..<3).map { _ in try recipient().subkeys[0].publicKey }
      let packets = try (others + [holder.subkeys[0].publicKey]).map { key in
        Packet.pkesk(
          try key.encrypt(body.sessionKey, version: version, isAnonymous: true))
      }
      let message = try message(body, packets, patterned(50))
      #expect(try decrypt(message, holder).data == patterned(50))
    }
  }

  @Test("The last of a large group that is not named can read it, whatever passwords there are besides")
  func anonymousGroup() throws {
    let holder = try recipient()
    let body = TestMessage(.version1(.aes256))
    let keys = [try recipient(), holder].map { $0.subkeys[0].publicKey }
    let packets = try keys.map { key in
      Packet.pkesk(try key.encrypt(body.sessionKey, version: 3, isAnonymous: true))
    }
    let password = SKESK(
      cipher: .aes256, stringToKey: .simple(.sha256), form: .version4(encrypted: []))
    let passwords = [Packet](
      repeating: .skesk(password), count: Limits.passwordAttemptCount)
    let message = try message(
      body, passwords + [Packet](repeating: packets[0], count: 200) + [packets[1]], patterned(50))
    #expect(try decrypt(message, holder).data == patterned(50))
    var decryption = MessageDecryption()
    decryption.keys = [.init(holder.subkeys[0], certificate: nil)]
    decryption.passwords = [SharedSecretBytes(SecretBytes(copying: Array("wrong".utf8).span.bytes))]
    let sink = ArraySink()
    _ = try decryption.decrypt(from: MemorySource(message), to: sink)
    #expect(sink.bytes == patterned(50))
  }

  @Test("Session keys of the other version are refused by that rule")
  func versionMismatch() throws {
    let holder = try recipient()
    let key = holder.subkeys[0].publicKey
    for format in TestMessage.formats {
      let body = TestMessage(format)
      let version: UInt8 = format.publicKeyPacketVersion == 3 ? 6 : 3
      let packet = try key.encrypt(body.sessionKey, version: version, isAnonymous: false)
      let message = try message(body, [.pkesk(packet)], patterned(50))
      #expect(throws: OpenPGPError.refused(.versionMismatch)) { try decrypt(message, holder) }
    }
  }

  @Test("Session keys of unknown versions and algorithms are passed over")
  func unknown() throws {
    let holder = try recipient()
    let body = TestMessage(.version2(AEADCiphersuite(.aes256, .ocb)))
    let good = try holder.subkeys[0].publicKey.encrypt(body.sessionKey, version: 6, isAnonymous: false)
    var strange = good.body
    strange[0] = 99
    let algorithm = PKESK(
      version: 6, recipient: good.recipient, algorithm: PublicKeyAlgorithm(rawValue: 99),
      material: .unknown([1, 2, 3]))
    let huge = [UInt8](repeating: 7, count: Limits.sessionKeyPacketByteCount + 1)
    let message = try message(
      body,
      [
        .unknown(.pkesk, body: strange, why: .malformed(.sessionKey)),
        .pkesk(algorithm),
        .unknown(.skesk, body: [5, 1, 2, 3], why: .malformed(.sessionKey)),
        .unknown(.pkesk, body: huge, why: .malformed(.sessionKey)),
        .marker, .padding([1, 2]), .pkesk(good),
      ], patterned(50))
    #expect(try decrypt(message, holder).data == patterned(50))
  }

  @Test("The cipher beside a session key of version 3 cannot be changed")
  func changedCipher() throws {
    let holder = try recipient()
    let body = TestMessage(.version1(.aes256))
    let packet = try holder.subkeys[0].publicKey.encrypt(body.sessionKey, version: 3, isAnonymous: false)
    guard case .x25519(let ephemeral, let cipher, let wrapped) = packet.material else {
      Issue.record("not X25519")
      return
    }
    #expect(cipher == .aes256)
    for other in [SymmetricAlgorithm.aes128, .aes192, .twofish, .camellia256, .plaintext] {
      let changed = PKESK(
        version: 3, recipient: packet.recipient, algorithm: .x25519,
        material: .x25519(ephemeral: ephemeral, other, wrapped: wrapped))
      let message = try message(body, [.pkesk(changed)], patterned(50))
      #expect(throws: OpenPGPError.self) { try decrypt(message, holder) }
    }
  }

  @Test("A key that is locked is told from one that is not there")
  func locked() throws {
    struct Locked: Decryptor {
      let publicKey: PublicKey

      func decrypt(_ packet: PKESK) throws(OpenPGPError) -> SessionKey {
        throw .keyIsLocked
      }
    }
    let holder = try recipient()
    let message = try encrypted(try encryption(to: [holder]), patterned(50))
    var decryption = MessageDecryption()
    decryption.keys = [.init(Locked(publicKey: holder.subkeys[0].publicKey), certificate: nil)]
    #expect(throws: OpenPGPError.keyIsLocked) {
      try decryption.decrypt(from: MemorySource(message), to: ArraySink())
    }
  }

  @Test("Signed inside: the verification comes with the data, and says for whom it was")
  func signed() throws {
    let sender = try KeyHolderFixture.usual(version: 4)
    let (holder, other) = (try recipient(), try recipient())
    var encryption = try encryption(to: [holder])
    encryption.signers = [sender.primary]
    let verifier = SignatureVerifier(certificates: [sender.certificate], policy: .standard, time: day(11))
    for count in [0, 100, 3_000_000] {
      let (data, result) = try decrypt(
        try encrypted(encryption, patterned(count)), holder, verifier: verifier)
      #expect(data == patterned(count))
      #expect(result.verifications.map(\.result) == [.good])
    }
    // The recipient passes the signed message on under another encryption.
    let plaintext = ArraySink()
    let signer = try DocumentSigner(
      [sender.primary], type: .binary, hash: .sha512, time: day(10),
      intendedRecipients: [holder.certificate.fingerprint])
    try plaintext.write(
      allOf: try MessageComposer(MemorySource(patterned(50)), isText: false, signer: signer))
    let passedOn = ArraySink()
    let forOther = try self.encryption(to: [other])
    let key = try other.subkeys[0].publicKey.encrypt(forOther.sessionKey, version: 6, isAnonymous: false)
    try Packet.pkesk(key).write(to: passedOn)
    try forOther.writeBody(of: MemorySource(plaintext.bytes), to: passedOn)
    let (data, result) = try decrypt(passedOn.bytes, other, verifier: verifier)
    #expect(data == patterned(50))
    #expect(result.verifications.map(\.result) == [.refused(.notIntendedRecipient)])
  }
}
