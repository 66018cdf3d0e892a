// SPDX-License-Identifier: Apache-2.0

import Secrets
import Testing

@testable import OpenPGP

@Suite("Encrypted messages come back as they were")
struct MessageRoundTripTests {
  @Test("Data of lengths around every boundary of lengths and parts", arguments: TestMessage.formats)
  func lengths(_ format: EncryptionFormat) throws {
    let message = TestMessage(format)
    for length in [0, 1, 15, 16, 17, 184, 185, 186, 505, 506, 507, 512, 8377, 8378, 65_536, 131_066, 131_072]
    {
      let data = patterned(length)
      #expect(try message.decrypted(try message.encrypted(data)) == data, "\(length) octets")
    }
  }

  @Test("Data that end around the end of a chunk or batch", arguments: TestMessage.formats)
  func batchEnds(_ format: EncryptionFormat) throws {
    let message = TestMessage(format)
    for boundary in [262_144, 524_288] {
      for offset in [-42, -41, -40, -39, -18, -17, -16, -15, -14, -13, -12, -11, -10, 0] {
        let data = patterned(boundary + offset)
        #expect(try message.decrypted(try message.encrypted(data)) == data, "\(boundary) \(offset)")
      }
    }
  }

  @Test("Every plaintext around the ends of short chunks", arguments: TestMessage.formats)
  func shortChunks(_ format: EncryptionFormat) throws {
    let message = TestMessage(format, chunkOctet: 0)
    for length in 0..<150 {
      let data = patterned(length)
      #expect(try message.decrypted(try message.encrypted(data)) == data, "\(length) octets")
    }
    let data = patterned(700_000)
    #expect(try message.decrypted(try message.encrypted(data)) == data)
  }

  @Test("Data that do not fit into locked memory are decrypted twice", arguments: TestMessage.formats)
  func large(_ format: EncryptionFormat) throws {
    for chunkOctet: UInt8 in [6, 12, 16] {
      let message = TestMessage(format, chunkOctet: chunkOctet)
      let data = patterned(9_000_001)
      let encrypted = try message.encrypted(data)
      let (decrypted, outcome) = message.opened(encrypted)
      #expect(decrypted == data)
      #expect(try outcome.get().format == format)
    }
  }

  @Test("One pass that releases early gives the same", arguments: TestMessage.formats)
  func early(_ format: EncryptionFormat) throws {
    let message = TestMessage(format)
    let data = patterned(2_000_000)
    let encrypted = try message.encrypted(data)
    let sink = ArraySink()
    var decryption = MessageDecryption()
    decryption.sessionKeys = [message.sessionKey]
    let result = try decryption.decryptReleasingUnauthenticatedPlaintext(
      from: MemorySource(encrypted), to: sink)
    #expect(sink.bytes == data)
    #expect(result.format == format)
  }

  @Test("A source that lends a byte at a time changes nothing", arguments: TestMessage.formats)
  func piecemeal(_ format: EncryptionFormat) throws {
    let message = TestMessage(format, chunkOctet: 2)
    let data = patterned(5_000)
    let encrypted = try message.encrypted(data)
    let sink = ArraySink()
    var decryption = MessageDecryption()
    decryption.sessionKeys = [message.sessionKey]
    _ = try decryption.decryptReleasingUnauthenticatedPlaintext(
      from: PiecemealSource(encrypted, pieceByteCount: 1), to: sink)
    #expect(sink.bytes == data)
  }

  @Test("Text goes in and comes out as it is, and must be UTF-8")
  func text() throws {
    var message = TestMessage(.version2(AEADCiphersuite(.aes256, .ocb)))
    message.encryption.isText = true
    let text = Array("Grüße,\r\nAda\n".utf8)
    let (data, outcome) = message.opened(try message.encrypted(text))
    #expect(data == text)
    #expect(try outcome.get().literal.format == .utf8)
    #expect(throws: OpenPGPError.notText) { try message.encrypted([0x47, 0xFC]) }
    #expect(throws: OpenPGPError.notText) { try message.encrypted([0xC3]) }
  }
}
