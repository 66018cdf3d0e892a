// SPDX-License-Identifier: Apache-2.0
//
// The encryption of single messages: values of others, and what every changed bit leads to.

import Foundation
import MessageFormats
import Primitives
import Secrets
import TestVectors
import Testing

@testable import Vaults

@Suite("Encryption of messages")
struct EncryptionTests {
  // A text that is an identifier.
  private static let id = MessageID("6f9619ff-8b86-d011-b42d-00c04fc964ff") ?? MessageID()
  private static let other = MessageID("00000000-0000-7000-8000-00000000000a")
  private static let time: Int64 = 1_759_536_000

  @Test("Keys are those that another implementation derives")
  func knownAnswers() throws {
    let row = try #require(try VectorTable("made-here/message").rows.first)
    #expect(Self.id.withBytes(array) == (try row.bytes("messageID")))
    let (passphrase, salt) = (try row.bytes("passphrase"), try row.bytes("salt"))
    #expect(try row.integer("iterations") == PBKDF2.passphraseIterations)

    var derived = [UInt8](repeating: 0, count: 32)
    var span = derived.mutableSpan
    var output = span.mutableBytes
    try PBKDF2.hmacSHA256(
      password: passphrase.span.bytes, salt: salt.span.bytes, rounds: PBKDF2.passphraseIterations,
      into: &output)
    #expect(derived == (try row.bytes("masterKey")))

    var hkdf = HKDF()
    let key = Self.id.withBytes {
      hkdf.deriveKey(ikm: derived.span.bytes, salt: $0, info: "message-encryption")
    }
    let keyBytes = key.withBytes { array($0) }
    #expect(keyBytes == (try row.bytes("messageKey")))
  }

  @Test("The associated data is this text, to the byte")
  func associatedData() throws {
    var aad = AssociatedData()
    aad.set(id: Self.id, timestamp: Self.time, keyVersion: 1)
    #expect(
      String(decoding: aad.bytes, as: UTF8.self)
        == #"{"keyVersion":1,"messageId":"6F9619FF-8B86-D011-B42D-00C04FC964FF","#
        + #""timestamp":"2025-10-04T00:00:00Z","version":1}"#)
    aad.set(id: try #require(Self.other), timestamp: 0, keyVersion: 12)
    #expect(
      String(decoding: aad.bytes, as: UTF8.self)
        == #"{"keyVersion":12,"messageId":"00000000-0000-7000-8000-00000000000A","#
        + #""timestamp":"1970-01-01T00:00:00Z","version":1}"#)
  }

  @Test("A message decrypts with its key, and the associated data stands beside it")
  func roundTrip() throws {
    let key = SymmetricKey()
    let sealed = try encrypt("hello", key)
    #expect(sealed.algorithm == "AES-256-GCM" && sealed.keyVersion == 3)
    #expect(sealed.blob.nonce.count == 12 && sealed.blob.tag.count == 16)
    #expect(sealed.blob.aad.count == 114)
    var encryption = MessageEncryption()
    let opened = try encryption.decrypt(sealed, timestamp: Self.time, key: key)
    let text = opened.content.withBytes { String(decoding: array($0), as: UTF8.self) }
    let verified = opened.integrityVerified
    let title = opened.metadata.title
    #expect(text == "hello" && verified && title == "greeting")
  }

  @Test("A changed bit anywhere means tampering")
  func bitFlips() throws {
    let key = SymmetricKey()
    let sealed = try encrypt("hello", key)
    for path in [\EncryptedBlob.nonce, \.ciphertext, \.tag, \.aad] {
      for bit in 0..<sealed.blob[keyPath: path].count * 8 {
        var changed = sealed
        changed.blob[keyPath: path][bit / 8] ^= 1 << UInt8(bit % 8)
        expectTampered(changed, Self.time, key)
      }
      var shorter = sealed
      shorter.blob[keyPath: path].removeLast()
      expectTampered(shorter, Self.time, key)
      shorter.blob[keyPath: path] = Data()
      expectTampered(shorter, Self.time, key)
    }
    let id = Self.id.withBytes(array)
    for bit in 0..<128 {
      var changed = id
      changed[bit / 8] ^= 1 << UInt8(bit % 8)
      var other = sealed
      guard let id = MessageID(changed.span.bytes) else { throw CancellationError() }
      other.blob.messageId = id
      expectTampered(other, Self.time, key)
    }
  }

  @Test("Another key, version or time means tampering, also with associated data to match")
  func otherCircumstances() throws {
    let key = SymmetricKey()
    let sealed = try encrypt("hello", key)
    expectTampered(sealed, Self.time, SymmetricKey())
    for time in [Self.time + 1, Self.time - 1, Int64.max, Int64.min] {
      expectTampered(sealed, time, key)
      expectTampered(relabelled(sealed, time: time, version: 3), time, key)
    }
    for version in [-1, 0, 1, 2, 4, Int.max, Int.min] {
      var other = sealed
      other.keyVersion = version
      expectTampered(other, Self.time, key)
      expectTampered(relabelled(other, time: Self.time, version: version), Self.time, key)
    }
  }

  @Test("Ten thousand messages have ten thousand nonces")
  func nonces() throws {
    let key = SymmetricKey()
    let nonces = try (0..<10_000).map { _ in try encrypt("", key).blob.nonce }
    #expect(Set(nonces).count == nonces.count)
  }

  @Test("Ten thousand messages are encrypted, and decrypted one after the other with one cipher")
  func manyMessages() throws {
    let key = SymmetricKey()
    let sealed = try (0..<10_000).map { try encrypt("hello \($0)", key) }
    var encryption = MessageEncryption()
    for (number, message) in sealed.enumerated() {
      let opened = try encryption.decrypt(message, timestamp: Self.time, key: key)
      let isSame = opened.content.withBytes { [UInt8](copying: $0) } == Array("hello \(number)".utf8)
      try #require(isSame, "message \(number)")
    }
  }

  private func encrypt(_ text: String, _ key: borrowing SymmetricKey) throws -> EncryptedMessage {
    var encryption = MessageEncryption()
    let message = PlaintextMessage(
      id: Self.id, content: bytes(of: text),
      metadata: MessageMetadata(title: "greeting", contentType: "text/plain"))
    return try encryption.encrypt(message, timestamp: Self.time, key: key, keyVersion: 3)
  }

  /// The same box with the associated data of another time and version.
  private func relabelled(_ message: EncryptedMessage, time: Int64, version: Int) -> EncryptedMessage {
    var cipher = MessageCipher()
    var message = message
    message.blob.aad = Data(
      cipher.associatedData(id: message.blob.messageId, timestamp: time, keyVersion: version))
    message.keyVersion = version
    return message
  }

  private func expectTampered(
    _ message: EncryptedMessage, _ time: Int64, _ key: borrowing SymmetricKey,
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    var encryption = MessageEncryption()
    do {
      _ = try encryption.decrypt(message, timestamp: time, key: key)
      Issue.record("decrypted", sourceLocation: sourceLocation)
    } catch {
      #expect(error.code == "DATA_TAMPERED", sourceLocation: sourceLocation)
    }
  }
}
