// SPDX-License-Identifier: Apache-2.0
//
// The worked example of Specs/vault.md, read from the page.

import Foundation
import MessageFormats
import Primitives
import Secrets
import SpecExamples
import Storage
import Testing

@testable import Vaults

@Suite("Worked example of the vault's specification")
struct SpecificationTests {
  private let page: SpecExample
  private let time: Int64 = 1_759_536_000

  init() throws { page = try SpecExample(page: "vault.md") }

  @Test("The box opens to the frame, and the frame is this message")
  func box() throws {
    let id = try identifier()
    let box = try page.bytes("box")
    let message = EncryptedMessage(
      blob: EncryptedBlob(
        nonce: Data(box.prefix(12)), ciphertext: Data(box.dropFirst(12).dropLast(16)),
        tag: Data(box.suffix(16)), aad: Data(try page.text("aad").utf8), messageId: id),
      keyVersion: 2)
    let (metadata, content) = try open(message, keyBytes: page.bytes("vault key"))
    #expect(content == "It hangs behind the ivy.\n")
    #expect(
      metadata
        == MessageMetadata(
          title: "Key of the garden shed", tags: ["home", "keys"], contentType: MessageMetadata.noteType,
          date: 1_759_449_600))

    var frame = [UInt8](repeating: 0, count: box.count - 28)
    var span = frame.mutableSpan
    var output = span.mutableBytes
    let contentBytes = Array(content.utf8)
    MessageFrame.write(metadata, contentBytes.span.bytes, to: &output)
    let expected = try page.bytes("frame")
    #expect(frame == expected)
  }

  @Test("The frame of the second version is that of the page")
  func secondFrame() throws {
    let expected = try page.bytes("second frame")
    let content = Array("It hangs in the hall.\n".utf8)
    let metadata = MessageMetadata(
      title: "Key of the shed", tags: ["home"], contentType: MessageMetadata.noteType, date: 1_759_449_600)
    let id = try identifier()
    let edition = FrameEdition(message: id, number: 2, replaced: [id])
    #expect(
      MessageFrame.byteCount(metadata, edition: edition, contentByteCount: content.count) == expected.count)
    var frame = [UInt8](repeating: 0, count: expected.count)
    var span = frame.mutableSpan
    var output = span.mutableBytes
    MessageFrame.write(metadata, edition: edition, content.span.bytes, to: &output)
    #expect(frame == expected)
    let found = MessageFrame.read(expected.span.bytes)
    let read = try #require(found)
    #expect(read.metadata == metadata && read.edition == edition)
    #expect(read.contentOffset == expected.count - content.count)
    // Number 1 is the first version's, and an edit replaces something.
    for (offset, byte) in [(20, UInt8(1)), (22, 0)] {
      var changed = expected
      changed[offset] = byte
      let isFrame = MessageFrame.read(changed.span.bytes) != nil
      #expect(!isFrame)
    }
  }

  @Test("The keys are derived as the page says")
  func keys() throws {
    let id = try identifier()
    let salt = id.withBytes { array($0) }
    let derived = (
      derive(try page.bytes("vault key"), salt: salt, "message-encryption"),
      derive(try page.bytes("state key"), salt: [], "coffer vault members v1")
    )
    #expect(try derived.0 == page.bytes("message key"))
    #expect(try derived.1 == page.bytes("member key"))
  }

  @Test("The state row holds this state")
  func state() throws {
    let fixture = try VaultFixture()
    let row = try page.bytes("state row")
    try fixture.tamper("UPDATE vault SET sealed = x'\(hex(row))' WHERE part = 1")
    let stateKey = try page.bytes("state key")
    let memberKey = try page.bytes("member key")
    let key = SharedSecretBytes(SecretBytes(copying: stateKey.span.bytes))
    let state = try fixture.file.read { try VaultRow<VaultState>().load($0, key: key) }

    var expected = VaultState(
      currentVersion: 2,
      keys: [
        .init(version: 1, created: 1_727_913_600, retired: 1_759_449_600),
        .init(version: 2, created: 1_759_449_600, retired: nil),
      ])
    expected.revision = 7
    var hash = RowHash(SetHash(key: SecretBytes(copying: memberKey.span.bytes)))
    let id = try identifier()
    let secondBytes = try page.bytes("second version")
    let named = MessageID(secondBytes.span.bytes)
    let second = try #require(named)
    hash.add(id, RowMark(id, .replaced, since: 1_759_539_600), to: &expected.rows)
    hash.add(second, RowMark(id, .shown), to: &expected.rows)
    expected.replacedCount = 1
    expected.highestNumber = 2
    hash.addShown(second, to: &expected.shown)
    #expect(state == expected)
    let bytes = try page.bytes("state")
    #expect(state.bytes == bytes)
  }

  @Test("The seal of an export is that of the page")
  func exportSeal() throws {
    let stateKey = try page.bytes("state key")
    #expect(try derive(stateKey, salt: [], "coffer vault exports v1") == page.bytes("export key"))
    let seal = VaultExportSeal(stateKey: SharedSecretBytes(SecretBytes(copying: stateKey.span.bytes)))
    let headers = Array((try page.text("export headers") + "\n").utf8)
    let content = Array("It hangs behind the ivy.\n".utf8)
    let code = seal.code(headers: headers.span.bytes, content: content.span.bytes)
    #expect(try code == page.bytes("export seal"))
    // Where headers end and content begins is part of it.
    let (shorter, longer) = (Array(headers.dropLast()), headers.suffix(1) + content)
    #expect(seal.code(headers: shorter.span.bytes, content: Array(longer).span.bytes) != code)
  }

  @Test("An export is written as the page says, and only its own vault believes it")
  func exported() throws {
    let path = NSTemporaryDirectory() + "/export-\(UUID().uuidString).mbox"
    defer { try? FileManager.default.removeItem(atPath: path) }
    let stateKey = try page.bytes("state key")
    let seal = VaultExportSeal(stateKey: SharedSecretBytes(SecretBytes(copying: stateKey.span.bytes)))
    let metadata = MessageMetadata(
      title: "Key of the garden shed", tags: ["home", "keys"], contentType: MessageMetadata.noteType,
      date: 1_759_449_600)
    var sink = try MboxSink(path: path, seal: seal)
    try sink.append(
      id: "0199ac5f-3000-7b3c-8d4e-5f60718293a4", metadata,
      Array("It hangs behind the ivy.\n".utf8).span.bytes)
    try sink.finish()
    let text = try String(contentsOfFile: path, encoding: .utf8)
    let sealLine = "\nX-Coffer-Seal: " + hex(try page.bytes("export seal")) + "\n"
    let headers = try page.text("export headers") + sealLine
    #expect(text.contains("\n" + headers + "Subject: "))

    let vault = try VaultFixture().vault
    for (seal, believed) in [(seal, true), (try vault.exportSeal(), false)] {
      var source = try MboxSource(path: path, seal: seal)
      var found: [MessageMetadata] = []
      #expect(try source.next { metadata, _ in found.append(metadata) })
      #expect((found == [metadata]) == believed)
      #expect(source.progress.unverifiedExportCount == (believed ? 0 : 1))
    }
  }

  private func open(_ message: EncryptedMessage, keyBytes: [UInt8]) throws -> (MessageMetadata, String) {
    let key = try SymmetricKey(copying: keyBytes.span.bytes)
    var encryption = MessageEncryption()
    let opened = try encryption.decrypt(message, timestamp: time, key: key)
    let content = opened.content.withBytes { String(decoding: array($0), as: UTF8.self) }
    let metadata = opened.metadata
    return (metadata, content)
  }

  private func derive(_ ikm: [UInt8], salt: [UInt8], _ info: StaticString) -> [UInt8] {
    var hkdf = HKDF()
    let key = hkdf.deriveKey(ikm: ikm.span.bytes, salt: salt.span.bytes, info: info)
    return key.withBytes { array($0) }
  }

  private func identifier() throws -> MessageID {
    let bytes = try page.bytes("id")
    guard let id = MessageID(bytes.span.bytes) else { throw CancellationError() }
    return id
  }
}
