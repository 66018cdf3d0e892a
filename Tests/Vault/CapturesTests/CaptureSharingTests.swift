// SPDX-License-Identifier: Apache-2.0
//
// Captures that go from one device to another, and come and go there.

import Foundation
import Keychains
import Primitives
import Secrets
import Storage
import Testing

@testable import Captures

@Suite("Captures on two devices")
struct CaptureSharingTests {
  private static let label = CaptureLabel(title: "Water meter", note: "1204 m³", tags: ["home"])
  /// 70,000 bytes of JSON.
  private static let largeMetadata = #"{"x": ""# + String(repeating: "m", count: 69_991) + #""}"#

  /// A capture with three large parts: 600,000, 70,000 and 70,000 bytes.
  private func addLarge(_ fixture: CaptureFixture) throws -> CaptureID {
    try fixture.add(
      photo: bytes(600_000, seed: 1), depth: bytes(70_000, seed: 2), metadata: Self.largeMetadata,
      thumbnail: bytes(3_000, seed: 3))
  }

  @Test(
    "A capture is the same on another device, in whatever pieces its stream comes",
    arguments: [[740_000], [1, 7, 65_537, 0, 262_144, 300_001], [262_144], [4_099, 0]])
  func roundTrip(sizes: [Int]) throws {
    let (here, there) = (try CaptureFixture(), try CaptureFixture())
    let id = try addLarge(here)
    try there.receive(id, from: here, label: Self.label)
    let row = try #require(try there.row(id))
    #expect(row.label == Self.label && !row.isWhole && !row.isHidden)
    #expect(row.byteCount == (try here.row(id))?.byteCount)
    #expect(row.upload.state == .uploaded && row.upload.lastAttempt == there.time.now)
    #expect(try there.blobs() == [])
    // What is small is here, and nothing else.
    #expect(try there.read(.thumbnail, of: id) == bytes(3_000, seed: 3))
    for part in [CapturePart.photo, .depth, .metadata] {
      #expect(throws: CaptureError.elsewhere) { try there.read(part, of: id) }
    }
    #expect(throws: CaptureError.elsewhere) { try there.store.verify(id) }
    #expect(throws: CaptureError.elsewhere) { try there.store.export(id, to: there.home.path + "-no") }
    #expect(!FileManager.default.fileExists(atPath: there.home.path + "-no"))
    #expect(throws: CaptureError.elsewhere) { try there.store.exifFields(of: id) }
    #expect(throws: CaptureError.elsewhere) { try there.store.stream(of: id, 0..<1) }
    #expect(try there.store.examine(isDeep: true) == CaptureStore.Findings(captureCount: 1))

    let stream = try here.stream(of: id)
    #expect(stream == bytes(600_000, seed: 1) + bytes(70_000, seed: 2) + Array(Self.largeMetadata.utf8))
    try there.store.fill(id, from: pieces(stream, sizes))
    #expect(try there.row(id)?.isWhole == true)
    #expect(try there.store.verify(id).manifest == here.store.verify(id).manifest)
    #expect(try there.store.verify(id).signer == .formerDevice)
    #expect(
      try there.store.shared(id).bytes.withBytes { first in
        try here.store.shared(id).bytes.withBytes { Array(copying: $0) == Array(copying: first) }
      })
    #expect(try there.stream(of: id) == stream)
    // Under keys of its own.
    #expect(try there.value("SELECT mark FROM captures") != here.value("SELECT mark FROM captures"))
    let folders = ["a", "b"].map { here.home.path + "-\($0)" }
    let names = try here.store.export(id, to: folders[0])
    #expect(try there.store.export(id, to: folders[1]) == names)
    for name in names {
      let files = try folders.map { try Data(contentsOf: URL(filePath: "\($0)/\(name)")) }
      #expect(files[0] == files[1], "\(name)")
    }
    #expect(try there.store.examine(isDeep: true) == CaptureStore.Findings(captureCount: 1))
    #expect(try there.store.info(id).isLabelCurrent)
    // What the next command sees.
    #expect(try there.store(at: there.home.path).verify(id).manifest.capture == id)
  }

  @Test("A capture of small parts alone is whole at once, without a stream")
  func small() throws {
    let (here, there) = (try CaptureFixture(), try CaptureFixture())
    let id = try here.add(photo: bytes(65_536, seed: 1), metadata: "{}")
    #expect(try here.store.shared(id).streamByteCount == 0)
    #expect(try here.stream(of: id) == [])
    try there.receive(id, from: here)
    #expect(try there.row(id)?.isWhole == true)
    #expect(try there.store.verify(id).manifest.capture == id)
    try there.store.fill(id) { throw CaptureError.interrupted }
    #expect(try there.store.release(id) == 0)
    // The photo is known here.
    #expect(throws: CaptureError.duplicate(of: id)) { try there.add(photo: bytes(65_536, seed: 1)) }
  }

  @Test("A stream can be had from any byte to any other, across chunks and parts")
  func ranges() throws {
    let fixture = try CaptureFixture()
    let id = try addLarge(fixture)
    let stream = try fixture.stream(of: id)
    let borders = [
      0, 1, 262_143, 262_144, 262_145, 524_288, 599_999, 600_000, 600_001, 669_999, 670_000, 740_000,
    ]
    for start in borders {
      for end in borders where end >= start {
        let found = try fixture.store.stream(of: id, start..<end).withBytes { Array(copying: $0) }
        #expect(found == Array(stream[start..<end]), "\(start)..<\(end)")
      }
    }
  }

  @Test("A changed byte of a stream's blob is noticed where it is read, and nothing of its chunk is given")
  func damagedStream() throws {
    let fixture = try CaptureFixture()
    let id = try addLarge(fixture)
    let path = try #require(try fixture.blobs().last)
    let whole = try Data(contentsOf: URL(filePath: path))
    var changed = whole
    // In the photo's second chunk.
    changed[8 + 262_172 + 50] ^= 1
    try changed.write(to: URL(filePath: path))
    #expect(try fixture.store.stream(of: id, 0..<262_144).count == 262_144)
    #expect(try fixture.store.stream(of: id, 524_288..<740_000).count == 215_712)
    for range in [0..<262_145, 262_144..<262_145, 400_000..<400_001] {
      #expect(throws: CaptureError.corrupt(.photo)) { try fixture.store.stream(of: id, range) }
    }
    try whole.dropLast().write(to: URL(filePath: path))
    #expect(throws: CaptureError.corrupt(.photo)) { try fixture.store.stream(of: id, 0..<1) }
    // The chunks in another order.
    let size = 262_172
    try (whole[..<8] + whole[(8 + size)..<(8 + 2 * size)] + whole[8..<(8 + size)] + whole[(8 + 2 * size)...])
      .write(to: URL(filePath: path))
    #expect(throws: CaptureError.corrupt(.photo)) { try fixture.store.stream(of: id, 0..<1) }
  }

  @Test("What is not the capture's stream leaves nothing, and the record as it was")
  func wrongStream() throws {
    let (here, there) = (try CaptureFixture(), try CaptureFixture())
    let id = try addLarge(here)
    try there.receive(id, from: here)
    let stream = try here.stream(of: id)
    let digest = try there.store.recordsDigest()
    let row = try there.value("SELECT record FROM captures")
    func flipped(_ place: Int) -> [UInt8] {
      var changed = stream
      changed[place] ^= 1
      return changed
    }
    let wrong: [([UInt8], CapturePart)] = [
      ([], .photo), (Array(stream[..<599_999]), .photo), (flipped(0), .photo), (flipped(599_999), .photo),
      (Array(stream[..<600_000]), .depth), (flipped(600_000), .depth), (flipped(669_999), .depth),
      (Array(stream.dropLast()), .metadata), (flipped(700_000), .metadata), (stream + [0], .metadata),
      (Array(stream[1...]) + [0], .photo),
    ]
    for (bytes, part) in wrong {
      #expect(throws: CaptureError.corrupt(part)) {
        try there.store.fill(id, from: pieces(bytes, [100_000, 9]))
      }
      #expect(try there.blobs() == [])
    }
    struct Unreachable: Error {}
    var asked = 0
    #expect(throws: Unreachable.self) {
      try there.store.fill(id) {
        asked += 1
        if asked == 7 { throw Unreachable() }
        return SharedSecretBytes(
          SecretBytes(copying: stream.span.bytes.extracting((asked - 1) * 100_000..<asked * 100_000)))
      }
    }
    #expect(try there.blobs() == [])
    #expect(throws: CaptureError.notFound) { try there.store.fill(CaptureID(), from: pieces(stream, [1])) }
    #expect(try there.store.recordsDigest() == digest)
    #expect(try there.value("SELECT record FROM captures") == row)
    try there.store.fill(id, from: pieces(stream, [100_000]))
    _ = try there.store.verify(id)
  }

  @Test("Large metadata that is not a JSON object does not make a capture whole, although it is signed")
  func malformedMetadata() throws {
    let there = try CaptureFixture()
    let metadata = bytes(70_000, seed: 1)
    let capture = try #require(try FirstPart([.photo: [1], .metadata: metadata]).read)
    try there.apply([.insert(capture, CaptureLabel())])
    #expect(throws: CaptureError.corrupt(.metadata)) {
      try there.store.fill(capture.id, from: pieces(metadata, [70_000]))
    }
    #expect(try there.blobs() == [])
  }

  @Test("Parts go and come back, and the state counts those that are here")
  func release() throws {
    let (here, there) = (try CaptureFixture(), try CaptureFixture())
    let id = try addLarge(here)
    let other = try here.addFull(9)
    let whole = try here.storedByteCount
    #expect(whole == (try here.store.list()).reduce(0) { $0 + $1.byteCount })
    let stream = try here.stream(of: id)
    var digests = [try here.store.recordsDigest()]
    for _ in 0..<2 {
      #expect(try here.store.release(id) == 740_000)
      #expect(try here.store.release(id) == 0)
      digests.append(try here.store.recordsDigest())
      #expect(try here.blobs().count == 2)
      #expect(try here.storedByteCount == whole - 740_000)
      let summary = try here.store.summary(of: id)
      #expect(!summary.isWhole && summary.byteCount - summary.storedByteCount == 740_000)
      #expect(throws: CaptureError.elsewhere) { try here.store.verify(id) }
      _ = try here.store.verify(other)
      try here.store.fill(id, from: pieces(stream, [99_999]))
      digests.append(try here.store.recordsDigest())
      #expect(try here.store.summary(of: id).isWhole && here.storedByteCount == whole)
      #expect(try here.store.verify(id).signer == .thisDevice)
    }
    #expect(Set(digests).count == digests.count)
    #expect(throws: CaptureError.notFound) { try here.store.release(CaptureID()) }
    // Relabelled while it is away, and removed as it is.
    _ = try here.store.release(id)
    #expect(try here.store.changeLabel(of: id) { $0.title = "away" })
    #expect(try here.storedByteCount == whole - 740_000)
    #expect(try !here.store.summary(of: id).isWhole)
    try here.store.remove(id)
    #expect(try here.storedByteCount == here.store.summary(of: other).byteCount)
    // What came without its stream does not count either.
    try there.receive(other, from: here)
    #expect(try there.storedByteCount == there.store.summary(of: other).storedByteCount)
    #expect(try there.storedByteCount < here.storedByteCount - 600_000)
    try there.apply([.erase(other)])
    #expect(try there.storedByteCount == 0)
  }

  @Test("A released blob is overwritten before its name goes")
  func overwritten() throws {
    let fixture = try CaptureFixture()
    let id = try fixture.add(photo: bytes(100_000, seed: 1))
    let path = try #require(try fixture.blobs().first)
    let file = try FileHandle(forReadingFrom: URL(filePath: path))
    #expect(try fixture.store.release(id) == 100_000)
    #expect(!FileManager.default.fileExists(atPath: path))
    #expect(try file.readToEnd() == Data(count: 100_036))
  }

  @Test(
    "Killed at any moment while it is filled, a capture is as it was or whole, and the next writer clears up")
  func crash() throws {
    let fixture = try CaptureFixture()
    let id = try addLarge(fixture)
    let stream = try fixture.stream(of: id)
    _ = try fixture.store.release(id)
    var copies: [(path: String, isWhole: Bool)] = []
    let piece = pieces(stream, [300_000])
    try fixture.store.fill(id) {
      copies.append((try fixture.snapshot(), false))
      return try piece()
    }
    copies.append((try fixture.snapshot(), true))
    #expect(copies.count == 5)
    for (copy, isWhole) in copies {
      defer { try? FileManager.default.removeItem(atPath: copy) }
      let store = try fixture.store(at: copy)
      #expect(try store.summary(of: id).isWhole == isWhole)
      try store.prepareSharing()
      #expect(try store.examine(isDeep: true) == CaptureStore.Findings(captureCount: 1))
      #expect(try fixture.blobs(copy).count == (isWhole ? 3 : 0))
      try store.fill(id, from: pieces(stream, [200_000]))
      _ = try store.verify(id)
      store.file.close()
    }
  }
}
