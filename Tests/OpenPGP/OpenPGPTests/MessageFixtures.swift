// SPDX-License-Identifier: Apache-2.0
//
// Messages under a session key that the test holds, and data to put into them.

import Primitives
import Secrets

@testable import OpenPGP

/// A message under construction, and how to open it again.
struct TestMessage {
  static let formats: [EncryptionFormat] = [
    .version1(.aes128), .version1(.aes256), .version2(AEADCiphersuite(.aes128, .ocb)),
    .version2(AEADCiphersuite(.aes256, .ocb)), .version2(AEADCiphersuite(.aes256, .gcm)),
    .version2(AEADCiphersuite(.aes192, .eax)),
  ]

  let sessionKey: SessionKey
  var encryption: MessageEncryption

  init(_ format: EncryptionFormat, chunkOctet: UInt8 = 12) {
    let sessionKey = SessionKey.random(format.cipher)
    self.sessionKey = sessionKey
    encryption = MessageEncryption(
      format: format, sessionKey: sessionKey, recipientPackets: [], intendedRecipients: [], passwords: [],
      passwordProfile: .universal, time: day(0))
    encryption.chunkOctet = chunkOctet
  }

  func encrypted(_ data: [UInt8]) throws -> [UInt8] {
    let sink = ArraySink()
    try encryption.encrypt(from: MemorySource(data), to: sink)
    return sink.bytes
  }

  /// As a packet of integrity protected data around octets that need be no message.
  func encrypted(rawly plaintext: [UInt8]) throws -> [UInt8] {
    let sink = ArraySink()
    try encryption.writeBody(of: MemorySource(plaintext), to: sink)
    return sink.bytes
  }

  /// What comes out of `message`, also when it is refused.
  func opened(
    _ message: [UInt8], verifier: SignatureVerifier? = nil
  ) -> (data: [UInt8], outcome: Result<DecryptedMessage, OpenPGPError>) {
    let sink = ArraySink()
    var decryption = MessageDecryption()
    decryption.sessionKeys = [sessionKey]
    decryption.verifier = verifier
    let outcome: Result<DecryptedMessage, OpenPGPError>
    do throws(OpenPGPError) {
      outcome = .success(try decryption.decrypt(from: MemorySource(message), to: sink))
    } catch {
      outcome = .failure(error)
    }
    return (sink.bytes, outcome)
  }

  func decrypted(_ message: [UInt8]) throws -> [UInt8] {
    let (data, outcome) = opened(message)
    _ = try outcome.get()
    return data
  }
}

/// The first octets of one random sequence.
func patterned(_ count: Int) -> [UInt8] { Array(TestData.octets.prefix(count)) }

private enum TestData {
  static let octets = SystemRandom.publicBytes(count: 10_000_000)
}
