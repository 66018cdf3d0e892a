// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Foundation
import Keychains
import Primitives
import Secrets
import Storage
import Synchronization
import Testing

@testable import Captures

@Suite("Captures on a machine that is locked")
struct CaptureStoreTests {
  @Test("Every part comes back bit for bit, and another program's store reads it too")
  func roundTrip() throws {
    let fixture = try CaptureFixture()
    let metadata = "{ \"b\" : 1e2,\n\"a\":\"\\u00e4 \\\" \", \"c\":[{}, null] }\n"
    let photo = bytes(600_000, seed: 1)
    let id = try fixture.add(
      photo: photo, depth: bytes(70_000, seed: 2), metadata: metadata, thumbnail: bytes(900, seed: 3))
    for store in [fixture.store, try fixture.store(at: fixture.home.path)] {
      #expect(try fixture.read(.photo, of: id, store: store) == photo)
      #expect(try fixture.read(.depth, of: id, store: store) == bytes(70_000, seed: 2))
      #expect(try fixture.read(.metadata, of: id, store: store) == Array(metadata.utf8))
      #expect(try fixture.read(.thumbnail, of: id, store: store) == bytes(900, seed: 3))
      let (manifest, signer) = try store.verify(id)
      #expect(signer == .thisDevice)
      #expect(manifest.level == .unverified)
      #expect(manifest.parts.map(\.name) == ["photo", "depth", "metadata", "thumbnail"])
      #expect(manifest.parts[0].byteCount == 600_000)
      #expect(manifest.parts[0].sha256 == Hexadecimal.text(SHA256.hash(photo.span.bytes)))
      #expect(manifest.created == fixture.time.now)
    }
  }

  @Test(
    "Parts of all sizes around the limits of rows and chunks come back",
    arguments: [0, 1, 65_535, 65_536, 65_537, 262_143, 262_144, 262_145, 524_288, 1_000_003])
  func sizes(count: Int) throws {
    let fixture = try CaptureFixture()
    let photo = bytes(count, seed: 9)
    let id = try fixture.add(photo: photo)
    #expect(try fixture.read(.photo, of: id) == photo)
    _ = try fixture.store.verify(id)
    #expect(try fixture.blobs().count == (count > 65_536 ? 1 : 0))
    #expect(try fixture.read(.depth, of: id) == nil)
  }

  @Test("Captures are listed with the newest first, described, and removed without a rest")
  func listAndRemove() throws {
    let fixture = try CaptureFixture()
    #expect(try fixture.store.list() == [])
    let first = try fixture.addFull(1)
    fixture.time.advance(60)
    let second = try fixture.addFull(2)
    #expect(try fixture.store.list().map(\.id) == [second, first])
    #expect(try fixture.store.list().map(\.created) == [fixture.time.now, fixture.time.now - 60])
    let info = try fixture.store.info(first)
    #expect(info.summary.id == first)
    #expect(info.summary.upload.state == .pending)
    #expect(info.parts.map(\.part) == CapturePart.allCases)
    #expect(info.parts.map(\.byteCount).reduce(0, +) == info.summary.byteCount)
    #expect(try fixture.blobs().count == 4)

    try fixture.store.remove(first)
    #expect(throws: CaptureError.notFound) { try fixture.store.info(first) }
    #expect(throws: CaptureError.notFound) { try fixture.store.remove(first) }
    #expect(try fixture.blobs().count == 2)
    #expect(try fixture.count("SELECT count(*) FROM captureParts") == 4)
    _ = try fixture.store.verify(second)
    try fixture.store.remove(second)
    #expect(try fixture.store.list() == [])
    #expect(try fixture.blobs() == [])
    #expect(try fixture.count("SELECT count(*) FROM captureParts") == 0)
    #expect(throws: CaptureError.notFound) { try fixture.store.info(CaptureID()) }
  }

  @Test("The newest capture stands first, also when the clock was set back meanwhile")
  func order() throws {
    let fixture = try CaptureFixture()
    let late = try fixture.add(photo: bytes(10, seed: 1))
    fixture.time.advance(-3_600)
    let early = try fixture.add(photo: bytes(10, seed: 2))
    let together = try fixture.add(photo: bytes(10, seed: 3))
    #expect(try fixture.store.list().map(\.id) == [late, together, early])
  }

  @Test("The same photo is not taken twice unless that is wanted")
  func duplicates() throws {
    let fixture = try CaptureFixture()
    let photo = bytes(100_000, seed: 5)
    let id = try fixture.add(photo: photo)
    #expect(throws: CaptureError.duplicate(of: id)) { try fixture.add(photo: photo, metadata: "{}") }
    #expect(try fixture.blobs().count == 1)
    let again = try fixture.add(photo: photo, allowsDuplicate: true)
    #expect(try fixture.store.list().map(\.id) == [again, id])
    // The mark of equal photos does not tell which photo it is.
    let mark = try #require(try fixture.value("SELECT mark FROM captures"))
    #expect(Array(mark) != SHA256.hash(photo.span.bytes))
  }

  @Test("Text that is not a JSON object, or too large, is refused and leaves nothing")
  func refusals() throws {
    let fixture = try CaptureFixture()
    for metadata in ["", "[]", "1", "null", "{", "{\"a\":1}x", "{\"a\":\u{1}}", "{a:1}", "\"{}\""] {
      #expect(throws: CaptureError.malformedMetadata, "\(metadata)") {
        try fixture.add(photo: bytes(70_000, seed: 1), metadata: metadata)
      }
    }
    #expect(throws: CaptureError.tooLarge(.metadata, byteCountLimit: 1 << 20)) {
      try fixture.add(
        photo: bytes(70_000, seed: 1), metadata: "{\"a\":\"" + String(repeating: "b", count: 1 << 20) + "\"}")
    }
    #expect(throws: CaptureError.tooLarge(.thumbnail, byteCountLimit: 64 << 10)) {
      try fixture.add(photo: bytes(70_000, seed: 1), thumbnail: bytes(65_537, seed: 1))
    }
    #expect(throws: CaptureError.cannotRead(.photo)) { try PartSource(path: "/", for: .photo) }
    #expect(throws: CaptureError.cannotRead(.depth)) { try PartSource(path: "/nowhere", for: .depth) }
    #expect(try fixture.blobs() == [])
    #expect(try fixture.store.list() == [])
  }

  @Test("A file that grows or shrinks while it is sealed is not captured")
  func changingFile() throws {
    let fixture = try CaptureFixture()
    let path = fixture.home.path + ".jpg"
    for change in [Data(bytes(200_001, seed: 1)), Data(bytes(199_999, seed: 1))] {
      try Data(bytes(200_000, seed: 1)).write(to: URL(filePath: path))
      let source = try PartSource(path: path, for: .photo)
      // The same file, opened already, with another length.
      let handle = try FileHandle(forWritingTo: URL(filePath: path))
      try handle.truncate(atOffset: 0)
      try handle.write(contentsOf: change)
      try handle.close()
      #expect(throws: CaptureError.cannotRead(.photo)) {
        try fixture.store.add(NewCapture(photo: source), signer: fixture.signer)
      }
    }
    #expect(try fixture.blobs() == [])
  }

  @Test("A pipe is refused at once, not waited for")
  func pipe() throws {
    let fixture = try CaptureFixture()
    let path = fixture.home.path + "-pipe"
    #expect(mkfifo(path, 0o600) == 0)
    #expect(throws: CaptureError.cannotRead(.photo)) { try PartSource(path: path, for: .photo) }
  }

  @Test("A signer that does not sign leaves nothing behind")
  func failingSigner() throws {
    struct Refused: Error {}
    let fixture = try CaptureFixture()
    let signer = TestSigner { throw Refused() }
    #expect(throws: Refused.self) {
      try fixture.store.add(NewCapture(photo: source(bytes(200_000, seed: 1))), signer: signer)
    }
    #expect(try fixture.blobs() == [])
    #expect(try fixture.store.list() == [])
    _ = try fixture.addFull()
  }

  @Test("A signature of another key is told from the device's own")
  func formerDevice() throws {
    let fixture = try CaptureFixture()
    let former = try fixture.store.add(
      NewCapture(photo: source(bytes(100, seed: 1))), signer: TestSigner()
    ).id
    #expect(try fixture.store.verify(former).signer == .formerDevice)
  }

  @Test("A signature that is none is reported as such")
  func badSignature() throws {
    struct Forger: CaptureSigner {
      let other = TestSigner()
      let named = TestSigner()
      var keyID: String { named.keyID }
      var publicKey: [UInt8] { named.publicKey }
      var level: AttestationLevel { .unverified }
      var deviceID: String { named.deviceID }
      func sign(digest: [UInt8]) throws -> [UInt8] { try other.sign(digest: digest) }
    }
    let fixture = try CaptureFixture()
    let id = try fixture.store.add(NewCapture(photo: source([1])), signer: Forger()).id
    #expect(throws: CaptureError.badSignature) { try fixture.store.verify(id) }
    #expect(try fixture.store.examine(isDeep: true).damaged == [id])
  }

  @Test("A name that would break the manifest is refused, not stored", arguments: ["a\"b", "a\\", "a\n"])
  func manifestNames(deviceID: String) throws {
    let fixture = try CaptureFixture()
    #expect(throws: (any Error).self) {
      try fixture.store.add(
        NewCapture(photo: source(bytes(70_000, seed: 1))), signer: TestSigner(deviceID: deviceID))
    }
    #expect(try fixture.store.list() == [])
    #expect(try fixture.blobs() == [])
  }

  @Test("A warning is due from 500 MB on, and removal takes the bytes off again")
  func storedBytes() throws {
    let fixture = try CaptureFixture()
    let added = try fixture.store.add(
      NewCapture(photo: source(bytes(1_000, seed: 1))), signer: fixture.signer)
    let size = try fixture.store.info(added.id).summary.byteCount
    #expect(added.storedByteCount == size)
    #expect(!added.isStorageWarningDue)
    let second = try fixture.store.add(
      NewCapture(photo: source(bytes(1_000, seed: 2))), signer: fixture.signer)
    try fixture.store.remove(added.id)
    let third = try fixture.store.add(
      NewCapture(photo: source(bytes(1_000, seed: 3))), signer: fixture.signer)
    let sizes = try fixture.store.list().map(\.byteCount).reduce(0, +)
    #expect(second.storedByteCount > size)
    #expect(third.storedByteCount == sizes)
    #expect(CaptureStore.Added(id: added.id, storedByteCount: 500_000_000).isStorageWarningDue)
    #expect(!CaptureStore.Added(id: added.id, storedByteCount: 499_999_999).isStorageWarningDue)
  }

  @Test("A capture that is removed while it is read is gone, not damaged")
  func removedWhileRead() throws {
    let fixture = try CaptureFixture()
    let id = try fixture.add(photo: bytes(600_000, seed: 1))
    var chunks = 0
    #expect(throws: CaptureError.notFound) {
      try fixture.store.withPart(.photo, of: id) { _ in
        chunks += 1
        if chunks == 1 { try fixture.store.remove(id) }
        return true
      }
    }
    #expect(chunks == 1)
  }

  @Test("Many captures at once, from several threads, are all there")
  func concurrently() async throws {
    let fixture = try CaptureFixture()
    let (store, signer) = (fixture.store, fixture.signer)
    let ids = try await withThrowingTaskGroup(of: CaptureID.self) { group in
      for number in 0..<16 {
        group.addTask {
          try store.add(NewCapture(photo: source(bytes(70_000, seed: UInt64(number + 1)))), signer: signer).id
        }
      }
      return try await group.reduce(into: Set()) { $0.insert($1) }
    }
    #expect(ids.count == 16)
    #expect(try fixture.store.examine(isDeep: true) == CaptureStore.Findings(captureCount: 16))
  }

  @Test("Fields that the camera wrote are read from the sealed photo")
  func exif() throws {
    let fixture = try CaptureFixture()
    let photo = ExifPhoto.full(.big).photo + bytes(500_000, seed: 1)
    let id = try fixture.add(photo: photo)
    #expect(try fixture.store.exifFields(of: id)?.model == "GR III")
    let other = try fixture.add(photo: bytes(10, seed: 1))
    #expect(try fixture.store.exifFields(of: other) == nil)
  }

  @Test("Threads that add at once lose nothing, and one photo comes in once")
  func threads() throws {
    let fixture = try CaptureFixture()
    let (store, signer) = (fixture.store, fixture.signer)
    let added = Mutex<[CaptureID]>([])
    let duplicates = Mutex(0)
    DispatchQueue.concurrentPerform(iterations: 8) { index in
      // Every photo twice, each in a blob.
      let photo = NewCapture(photo: source(bytes(70_000, seed: UInt64(index / 2))))
      do {
        let id = try store.add(photo, signer: signer).id
        added.withLock { $0.append(id) }
      } catch CaptureError.duplicate {
        duplicates.withLock { $0 += 1 }
      } catch {
        Issue.record(error)
      }
    }
    #expect(duplicates.withLock { $0 } == 4)
    #expect(try Set(store.list().map(\.id)) == Set(added.withLock { $0 }))
    #expect(try store.examine(isDeep: true) == CaptureStore.Findings(captureCount: 4))
  }
}
