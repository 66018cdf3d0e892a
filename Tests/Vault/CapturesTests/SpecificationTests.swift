// SPDX-License-Identifier: Apache-2.0
//
// The worked example of Specs/captures.md, read from the page: its rows are put into a coffer, and the store
// must find in them what the page says.

import Foundation
import Keychains
import Primitives
import Secrets
import SpecExamples
import Storage
import Testing

@testable import Captures

@Suite("Worked example of the captures' specification")
struct SpecificationTests {
  private let page: SpecExample
  private let photo = Array("These bytes stand for a photo.\n".utf8)

  init() throws { page = try SpecExample(page: "captures.md") }

  private func identifier() throws -> CaptureID {
    let bytes = try page.bytes("id")
    guard let id = CaptureID(bytes.span.bytes) else { throw CaptureError.notFound }
    return id
  }

  private func captureKey() throws -> SecretBytes {
    let bytes = try page.bytes("capture key")
    return SecretBytes(copying: bytes.span.bytes)
  }

  @Test("The keys are derived as the page says")
  func keys() throws {
    let keys = CaptureKeys(try captureKey())
    let expected = try page.bytes("part key")
    #expect(keys.parts(try identifier()).withBytes { array($0) } == expected)
    #expect(try keys.record.withBytes { array($0) } == page.bytes("record key"))
    #expect(try keys.mark.withBytes { array($0) } == page.bytes("mark key"))
    #expect(try keys.mark(photoHash: SHA256.hash(photo.span.bytes)) == page.bytes("mark"))
  }

  @Test("A store with the example's rows has the example's capture")
  func rows() throws {
    let fixture = try CaptureFixture()
    let id = try identifier()
    let key = try SymmetricKey(captureKey())
    try fixture.keychain.saveSymmetricKey(key, forKey: KeychainService.Account.captureKey)
    func data(_ name: String) throws -> StorageValue { .bytes(Data(try page.bytes(name))) }
    let values = try (
      data("id"), data("mark"), data("sealed record"), data("sealed queue"), data("sealed state")
    )
    try fixture.file.write { transaction in
      _ = try transaction.execute(
        "INSERT INTO captures (number, id, mark, record, queue) VALUES (1, ?, ?, ?, ?)", values.0, values.1,
        values.2, values.3)
      for part in [CapturePart.photo, .metadata, .manifest, .assertion] {
        _ = try transaction.execute(
          "INSERT INTO captureParts (capture, part, sealed) VALUES (1, ?, ?)", .integer(Int64(part.rawValue)),
          try data("sealed \(part.name)"))
      }
      _ = try transaction.execute("INSERT INTO captureState (only, sealed) VALUES (1, ?)", values.4)
    }

    let manifest = Array(try page.text("manifest").utf8)
    let info = try fixture.store.info(id)
    #expect(try fixture.store.list() == [info.summary])
    #expect(info.summary.created == 1_759_536_000)
    #expect(info.summary.upload.state == .pending)
    #expect(info.summary.upload.attempts == 2)
    #expect(info.summary.upload.lastAttempt == 1_759_536_060)
    #expect(info.summary.upload.nextAttempt == 1_759_536_063)
    #expect(
      info.summary.label
        == CaptureLabel(
          title: "Apple tree in bloom", note: "The one by the wall; planted in 1962.",
          tags: ["garden", "spring 2025"]))
    #expect(info.isLabelCurrent)
    #expect(info.manifest.bytes == manifest)
    #expect(try fixture.read(.photo, of: id) == photo)
    #expect(try fixture.read(.metadata, of: id) == Array(page.text("metadata").utf8))
    #expect(try fixture.read(.manifest, of: id) == manifest)
    #expect(try fixture.read(.assertion, of: id) == page.bytes("assertion"))
    #expect(try fixture.store.verify(id).signer == .formerDevice)
    #expect(try fixture.store.examine(isDeep: true) == CaptureStore.Findings(captureCount: 1))
    let state = try fixture.file.read { try CaptureState.load($0, keys: fixture.store.keys()) }
    #expect(state.revision == 5)
    #expect(state.byteCount == info.summary.byteCount)
    // And a writer goes on from there.
    _ = try fixture.addFull()
    #expect(try fixture.store.list().count == 2)
  }

  @Test(
    "The record of a hidden capture with a remote part is the one of the page; there is one encoding of each")
  func hiddenRecord() throws {
    func read(_ bytes: [UInt8]) -> CaptureRecord? { CaptureRecord(bytes: bytes.span.bytes) }
    let page = try page.bytes("hidden record")
    let record = try #require(read(page))
    #expect(record.isHidden && !record.isWhole)
    #expect(record.created == 1_759_536_000 && record.label.title == "Apple tree in bloom")
    #expect(record.parts.map(\.place) == [.row, .remote, .row, .row, .row])
    #expect(record.byteCount - record.storedByteCount == 300_000)
    let depth = (0..<300_000).map { UInt8($0 % 251) }
    #expect(record.parts[1].hash == SHA256.hash(depth.span.bytes))
    #expect(record.bytes == page)

    // Each alone is enough for version 2; without both it is version 1.
    var shown = record
    shown.isHidden = false
    #expect(shown.bytes == [2, 0] + page[2...])
    #expect(read(shown.bytes) == shown)
    var whole = record
    whole.parts.remove(at: 1)
    #expect(Array(whole.bytes[..<2]) == [2, 1])
    #expect(read(whole.bytes) == whole)
    whole.isHidden = false
    let former = try self.page.bytes("record")
    #expect(whole.bytes == former)

    // Neither with version 2; the flag or the place with version 1; other flags; other places; *remote* for a small part.
    let place = 2 + 8 + 1 + 42 + 41
    #expect(page[place] == 2)
    func changed(_ offset: Int, _ byte: UInt8, in bytes: [UInt8]? = nil) -> [UInt8] {
      var bytes = bytes ?? page
      bytes[offset] = byte
      return bytes
    }
    let wrong = [
      [2, 0] + whole.bytes[1...], [1] + page[2...], [3] + page[1...], changed(1, 2), changed(1, 3),
      changed(1, 0x80), changed(place, 0), changed(place, 3), changed(place - 42, 2), page + [0],
    ]
    for bytes in wrong { #expect(read(bytes) == nil) }
    for count in page.indices {
      #expect(read(Array(page[..<count])) == nil)
    }
  }

  @Test("The first part is the one of the page, and another device takes it")
  func firstPart() throws {
    let page = try page.bytes("first part")
    let capture = try #require(sharedCapture(page))
    #expect(try capture.id == identifier() && capture.created == 1_759_536_000)
    #expect(capture.streamByteCount == 0 && capture.bytes.withBytes { array($0) } == page)
    let fixture = try CaptureFixture()
    try fixture.apply([.insert(capture, CaptureLabel(title: "x"))])
    #expect(try fixture.read(.photo, of: capture.id) == photo)
    #expect(try fixture.store.verify(capture.id).manifest.bytes == Array(self.page.text("manifest").utf8))
    #expect(try fixture.store.shared(capture.id).bytes.withBytes { array($0) } == page)
  }

  @Test("A blob of two chunks is the one of the page, and opens")
  func blob() throws {
    let id = try identifier()
    let plain = (0..<300_000).map { UInt8($0 % 251) }
    let keys = CaptureKeys(try captureKey())
    var blob = Array("COFBLOB1".utf8)
    for (number, start, nonce) in [(0, 0, UInt8(0xA0)), (1, 262_144, 0xB0)] {
      let chunk = Array(plain[start..<min(start + 262_144, plain.count)])
      var aad = Array("coffer capture v1 part".utf8) + (try page.bytes("id")) + [2]
      aad.append(bigEndian: UInt64(number))
      aad.append(bigEndian: UInt64(plain.count))
      let iv = (0..<12).map { nonce + UInt8($0) }
      var sealed = chunk + [UInt8](repeating: 0, count: 16)
      var cipher = AES256GCM()
      try keys.parts(id).withBytes { key in
        var span = sealed.mutableSpan
        var box = span.mutableBytes
        try cipher.sealInPlace(&box, key: key, nonce: iv.span.bytes, authenticating: aad.span.bytes)
      }
      blob += iv + sealed
    }
    #expect(try SHA256.hash(blob.span.bytes) == page.bytes("blob hash"))

    var cipher = PartCipher(key: keys.parts(id), id: id, longest: PartCipher.chunkByteCount)
    var offset = 8
    var opened: [UInt8] = []
    let hash = try cipher.open(
      .depth, byteCount: plain.count,
      from: { buffer in
        let count = min(buffer.byteCount, blob.count - offset)
        buffer.copy(blob.span.bytes.extracting(offset..<offset + count), to: 0)
        offset += count
        return count
      },
      to: {
        opened.append($0)
        return true
      })
    #expect(opened == plain)
    #expect(hash == SHA256.hash(plain.span.bytes))
  }
}

private func array(_ bytes: RawSpan) -> [UInt8] { bytes.withUnsafeBytes { Array($0) } }
