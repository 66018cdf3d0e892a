// SPDX-License-Identifier: Apache-2.0

import Primitives
import Secrets
import Testing

@testable import OpenPGP

@Suite("Messages under passwords")
struct MessagePasswordTests {
  private func secret(_ text: String) -> SharedSecretBytes {
    SharedSecretBytes(SecretBytes(copying: Array(text.utf8).span.bytes))
  }

  private func decrypt(_ message: [UInt8], _ passwords: [String]) throws -> (data: [UInt8], DecryptedMessage)
  {
    var decryption = MessageDecryption()
    decryption.passwords = passwords.map(secret)
    let sink = ArraySink()
    let result = try decryption.decrypt(from: MemorySource(message), to: sink)
    return (sink.bytes, result)
  }

  @Test("The universal profile: each password opens it, another does not, the session key does")
  func universal() throws {
    let encryption = try MessageEncryption(
      to: [], passwords: [secret("first"), secret("Zweites Paßwort")], time: day(0))
    #expect(encryption.format == .version1(.aes256))
    let sink = ArraySink()
    try encryption.encrypt(from: MemorySource(patterned(500)), to: sink)
    for password in ["first", "Zweites Paßwort"] {
      #expect(try decrypt(sink.bytes, ["another", password]).data == patterned(500))
    }
    #expect(throws: OpenPGPError.noKeyFits) { try decrypt(sink.bytes, ["third", "First"]) }
    #expect(throws: OpenPGPError.noKeyFits) { try decrypt(sink.bytes, []) }
    var decryption = MessageDecryption()
    decryption.sessionKeys = [.random(.aes256), .random(.aes128), encryption.sessionKey]
    let output = ArraySink()
    _ = try decryption.decrypt(from: MemorySource(sink.bytes), to: output)
    #expect(output.bytes == patterned(500))
  }

  @Test("Out of one wrong password in 256 comes an unsupported cipher, and that spoils nothing")
  func unsupportedGuess() throws {
    let message = TestMessage(.version1(.aes256))
    // Twofish, whose keys are as long.
    let odd = SessionKey(cipher: SymmetricAlgorithm(rawValue: 10), bytes: SessionKey.random(.aes256).bytes)
    let salt = SystemRandom.publicBytes(count: StringToKey.saltByteCount)
    let sink = ArraySink()
    for (key, password) in [(odd, "wrong"), (message.sessionKey, "right")] {
      let packet = try SKESK.version4(
        key, cipher: .aes256, password: secret(password),
        .iterated(.sha256, salt: salt, codedCount: 0))
      try Packet.skesk(packet).write(to: sink)
    }
    let octets = sink.bytes + (try message.encrypted(patterned(100)))
    #expect(try decrypt(octets, ["wrong", "right"]).data == patterned(100))
    #expect(throws: OpenPGPError.noKeyFits) { try decrypt(octets, ["wrong"]) }
  }

  @Test("The advanced profile is version 2 with Argon2")
  func advanced() throws {
    let encryption = try MessageEncryption(
      to: [], passwords: [secret("first")], passwordProfile: .advanced, time: day(0))
    #expect(encryption.format == .version2(AEADCiphersuite(.aes256, .ocb)))
    let sink = ArraySink()
    try encryption.encrypt(from: MemorySource(patterned(500)), to: sink)
    let packet = try #require(try PacketReader(MemorySource(sink.bytes)).nextPacket())
    guard case .skesk(let key) = packet,
      case .argon2(_, let passes, let lanes, let exponent) = key.stringToKey
    else {
      Issue.record("no Argon2")
      return
    }
    #expect((key.version, passes, lanes, exponent) == (6, 3, 4, 19))
    #expect(try decrypt(sink.bytes, ["first"]).data == patterned(500))
  }

  private let quick = StringToKey.iterated(.sha256, salt: Array("saltsalt".utf8), codedCount: 0)

  @Test(
    "A password of version 6 in every mode; its packet cannot be changed",
    arguments: [
      AEADAlgorithm.ocb, .gcm, .eax,
    ])
  func version6(_ aead: AEADAlgorithm) throws {
    let message = TestMessage(.version2(AEADCiphersuite(.aes256, .ocb)))
    let packet = try SKESK.version6(
      message.sessionKey, AEADCiphersuite(.aes256, aead), password: secret("a"), quick)
    let good = ArraySink()
    try Packet.skesk(packet).write(to: good)
    let body = try message.encrypted(patterned(40))
    #expect(try decrypt(good.bytes + body, ["a"]).data == patterned(40))
    for place in 2..<good.bytes.count {
      var bad = good.bytes
      bad[place] ^= 1
      #expect(throws: OpenPGPError.self, "octet \(place)") { try decrypt(bad + body, ["a"]) }
    }
  }

  @Test("A password without an encrypted session key: the derived key is the message's")
  func direct() throws {
    let key = try secret("a").withBytes { (password) throws(OpenPGPError) in
      try quick.deriveKey(password: password, byteCount: 16)
    }
    let sessionKey = SessionKey(cipher: .aes128, bytes: SharedSecretBytes(key))
    let encryption = MessageEncryption(
      format: .version1(.aes128), sessionKey: sessionKey, recipientPackets: [], intendedRecipients: [],
      passwords: [], passwordProfile: .universal, time: day(0))
    let sink = ArraySink()
    try Packet.skesk(
      SKESK(
        cipher: .aes128, stringToKey: quick, form: .version4(encrypted: []))
    ).write(to: sink)
    try encryption.encrypt(from: MemorySource(patterned(40)), to: sink)
    #expect(try decrypt(sink.bytes, ["b", "a"]).data == patterned(40))
    #expect(throws: OpenPGPError.noKeyFits) { try decrypt(sink.bytes, ["b"]) }
  }

  @Test("A password of version 4 in front of version 2, and of version 6 in front of version 1, are refused")
  func versions() throws {
    let second = TestMessage(.version2(AEADCiphersuite(.aes256, .ocb)))
    let first = TestMessage(.version1(.aes256))
    let packets: [(TestMessage, SKESK)] = [
      (second, try .version4(second.sessionKey, cipher: .aes256, password: secret("a"), quick)),
      (
        first,
        try .version6(
          first.sessionKey, AEADCiphersuite(.aes256, .ocb), password: secret("a"), quick)
      ),
    ]
    for (message, packet) in packets {
      let sink = ArraySink()
      try Packet.skesk(packet).write(to: sink)
      let body = try message.encrypted(patterned(40))
      #expect(throws: OpenPGPError.refused(.versionMismatch)) { try decrypt(sink.bytes + body, ["a"]) }
    }
  }

  @Test("More passwords and packets than the limit are not all tried")
  func candidates() throws {
    let message = TestMessage(.version1(.aes256))
    let sink = ArraySink()
    for _ in 0..<Limits.passwordAttemptCount {
      let other = try SKESK.version4(
        .random(.aes256), cipher: .aes256, password: secret("other"), quick)
      try Packet.skesk(other).write(to: sink)
    }
    let last = try SKESK.version4(
      message.sessionKey, cipher: .aes256, password: secret("a"), quick)
    try Packet.skesk(last).write(to: sink)
    let body = try message.encrypted(patterned(40))
    #expect(throws: OpenPGPError.noKeyFits) { try decrypt(sink.bytes + body, ["a"]) }
  }

  @Test("Passwords are tried until the derivations for one message have cost enough")
  func affordable() throws {
    let message = TestMessage(.version2(AEADCiphersuite(.aes256, .ocb)))
    let salt = [UInt8](repeating: 7, count: StringToKey.argon2SaltByteCount)
    // One refused by itself, which costs nothing, and twenty of four passes over 4 GiB, of which sixteen may be tried.
    let costs: [(UInt8, UInt8)] = [(17, 22)] + [(UInt8, UInt8)](repeating: (4, 22), count: 20)
    let sink = ArraySink()
    for (passes, exponent) in costs {
      let packet = SKESK(
        cipher: .aes256,
        stringToKey: .argon2(salt: salt, passes: passes, lanes: 4, memoryExponent: exponent),
        form: .version6(
          .ocb, nonce: [UInt8](repeating: 1, count: 15), encrypted: [UInt8](repeating: 2, count: 48)))
      try Packet.skesk(packet).write(to: sink)
    }
    let octets = sink.bytes + (try message.encrypted(patterned(10)))
    var decryption = MessageDecryption()
    decryption.passwords = [secret("a")]
    let read = try EncryptedMessage(MemorySource(octets), keeping: decryption.mayOpen)
    let candidates = try decryption.candidates(read)
    // These seventeen, and the one that says that there were more.
    #expect(candidates.count == 18)
    #expect(throws: OpenPGPError.overLimit(.argon2Memory)) { try candidates.last?.open() }
  }
}
