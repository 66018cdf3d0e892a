// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, appendix A.8 to A.12: encrypted messages of the standard itself.

import Extents
import Primitives
import Secrets
import TestVectors
import Testing

@testable import OpenPGP

@Suite("Encrypted messages of RFC 9580")
struct AppendixMessageTests {
  private func open(_ file: String, _ decryption: MessageDecryption) throws -> (String, EncryptionFormat) {
    let sink = ArraySink()
    let message = try VectorFiles.contents("openpgp/rfc9580/\(file)")
    let result = try decryption.decrypt(from: MemorySource(message), to: sink)
    return (String(decoding: sink.bytes, as: UTF8.self), result.format)
  }

  @Test("A.8: X25519 and AES-128 in OCB")
  func publicKey() throws {
    let source = MemorySource(try VectorFiles.contents("openpgp/rfc9580/A.04.v6-secret.asc"))
    let key = try #require(TransferableSecretKey.readAll(try OpenPGPInput.packets(source)).first)
    var decryption = MessageDecryption()
    for subkey in key.certificate.subkeys {
      let secret = try #require(key.secrets[subkey.packet.fingerprint])
      decryption.keys.append(.init(try secret.unlocked(password: nil, isSubkey: true), certificate: nil))
    }
    let (data, format) = try open("A.08.5.x25519-aead-ocb.asc", decryption)
    #expect(data == "Hello, world!")
    #expect(format == .version2(AEADCiphersuite(.aes128, .ocb)))
  }

  @Test(
    "A.9 to A.11: a password in EAX, OCB and GCM; A.12: Argon2 in front of version 1",
    arguments: [
      ("A.09.5.skesk6-aead-eax.asc", EncryptionFormat.version2(AEADCiphersuite(.aes128, .eax))),
      ("A.10.5.skesk6-aead-ocb.asc", .version2(AEADCiphersuite(.aes128, .ocb))),
      ("A.11.5.skesk6-aead-gcm.asc", .version2(AEADCiphersuite(.aes128, .gcm))),
    ]
      // 2 GiB each.
      + Shares("A.12, messages", count: 3).of([
        ("A.12.1.skesk4-argon2-aes128.asc", EncryptionFormat.version1(.aes128)),
        ("A.12.2.skesk4-argon2-aes192.asc", .version1(.aes192)),
        ("A.12.3.skesk4-argon2-aes256.asc", .version1(.aes256)),
      ]))
  func passwords(_ file: String, _ format: EncryptionFormat) throws {
    var decryption = MessageDecryption()
    decryption.passwords = [SharedSecretBytes(SecretBytes(copying: Array("password".utf8).span.bytes))]
    let (data, found) = try withTwoGibibytes { try open(file, decryption) }
    #expect(data == "Hello, world!")
    #expect(found == format)
  }
}
