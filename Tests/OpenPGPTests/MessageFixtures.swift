// SPDX-License-Identifier: Apache-2.0
//
// Messages under a session key that the test holds, and data to put into them.

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
      format: format, sessionKey: sessionKey, recipientKeys: [], intendedRecipients: [], passwords: [],
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

/// Octets that differ from place to place.
func patterned(_ count: Int, seed: UInt64 = 1) -> [UInt8] {
  var state = seed
  return (0..<count).map { _ in
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return UInt8(truncatingIfNeeded: state >> 33)
  }
}
