// SPDX-License-Identifier: Apache-2.0
//
// What other devices did to captures, taken over within a transaction on another part of the file.

import Foundation
import Keychains
import Primitives
import Secrets
import Storage
import Testing

@testable import Captures

@Suite("Changes of captures by other devices")
struct SharedChangeTests {
  @Test("The digest of all records is another one after each change, and the same after none")
  func digest() throws {
    let (here, there) = (try CaptureFixture(), try CaptureFixture())
    #expect(try there.store.recordsDigest() == [])
    #expect(try there.store.sharedRows().isEmpty)
    let ids = [try here.addFull(1), try here.addFull(2)]
    let sent = try ids.map { try here.store.shared($0) }
    let changes: [[SharedChange]] = [
      [.insert(sent[0], CaptureLabel())], [.insert(sent[1], CaptureLabel(title: "two"))],
      [.setLabel(ids[0], CaptureLabel(title: "one"))], [.setHidden(ids[0], true)],
      [.setHidden(ids[0], false)], [.erase(ids[1])],
    ]
    var digests: [[UInt8]] = [[]]
    for change in changes {
      digests.append(try there.apply(change))
      #expect(try there.store.recordsDigest() == digests.last)
    }
    #expect(Set(digests).count == digests.count)
    #expect(try there.store.sharedRows().map(\.id) == [ids[0]])
    #expect(try there.store.sharedRows().map(\.label.title) == ["one"])
    // What is so already changes nothing.
    let same: [SharedChange] = [.setLabel(ids[0], CaptureLabel(title: "one")), .setHidden(ids[0], false)]
    #expect(try there.apply(same) == digests.last)
    #expect(try there.apply([]) == digests.last)
    // The queue belongs to no record.
    try there.store.noteUploads(.pending, of: Set(ids))
    #expect(try there.store.recordsDigest() == digests.last)
    #expect(try there.store(at: there.home.path).recordsDigest() == digests.last)
    // Texts that are equal, in other bytes.
    let composed = try there.apply([.setLabel(ids[0], CaptureLabel(title: "\u{E9}"))])
    #expect(try there.apply([.setLabel(ids[0], CaptureLabel(title: "e\u{301}"))]) != composed)
  }

  @Test("All captures are there, oldest first, with what synchronisation asks of them")
  func rows() throws {
    let fixture = try CaptureFixture()
    let ids = [try fixture.addFull(1), try fixture.addFull(2), try fixture.add(photo: [1, 2])]
    _ = try fixture.store.changeLabel(of: ids[2]) { $0.tags = ["x"] }
    try fixture.apply([.setHidden(ids[0], true)])
    _ = try fixture.store.release(ids[1])
    let rows = try fixture.store.sharedRows()
    #expect(rows.map(\.id) == ids)
    #expect(rows.map(\.isHidden) == [true, false, false])
    #expect(rows.map(\.isWhole) == [true, false, true])
    #expect(rows.map(\.label.tags) == [[], [], ["x"]])
    #expect(rows.allSatisfy { $0.upload.state == .pending })
    #expect(rows[1].byteCount > 670_000)
  }

  @Test(
    "A hidden capture is in no list, and its id is not found; its parts stay, and it comes back as it was")
  func hidden() throws {
    let fixture = try CaptureFixture()
    let id = try fixture.addFull(1)
    let other = try fixture.addFull(2)
    let first = try fixture.store.shared(id).bytes.withBytes { Array(copying: $0) }
    let stream = try fixture.stream(of: id)
    try fixture.store.noteUploads(.uploading, of: [id])
    try fixture.store.noteUploads(.uploaded, of: [id])
    try fixture.apply([.setHidden(id, true)])
    let store = fixture.store
    fixture.time.advance(8 * 86_400)
    #expect(try store.list().map(\.id) == [other])
    #expect(try store.listing().isComplete)
    #expect(try store.removableCaptures() == [])
    for attempt in [
      { _ = try store.summary(of: id) }, { _ = try store.info(id) }, { _ = try store.verify(id) },
      { _ = try store.export(id, to: fixture.home.path + "-no") }, { _ = try store.exifFields(of: id) },
      { _ = try store.withPart(.photo, of: id) { _ in true } }, { try store.remove(id) },
      { _ = try store.changeLabel(of: id) { $0.title = "x" } }, { _ = try store.report(.uploading, of: id) },
    ] as [() throws -> Void] {
      #expect(throws: CaptureError.notFound) { try attempt() }
    }
    fixture.file.close()
    let next = try fixture.store(at: fixture.home.path)
    struct Uploader: CaptureUploader {
      let hidden: CaptureID
      func upload(_ capture: SealedCapture) throws { #expect(capture.id != hidden) }
    }
    #expect(try next.upload(with: Uploader(hidden: id)) == CaptureStore.UploadOutcome(uploaded: 1))
    // Its photo may be captured again.
    let again = try next.add(NewCapture(photo: source(bytes(600_000, seed: 1))), signer: fixture.signer).id
    #expect(try next.list().map(\.id) == [again, other])
    // It is there for all who take care of files.
    #expect(try next.examine(isDeep: true) == CaptureStore.Findings(captureCount: 3))
    #expect(try next.file.read { try next.blobs($0) }.names.count == 5)
    #expect(try next.shared(id).bytes.withBytes { Array(copying: $0) } == first)
    #expect(try next.stream(of: id, 0..<stream.count).withBytes { Array(copying: $0) } == stream)
    // Also released and filled.
    #expect(try next.release(id) == stream.count)
    try next.fill(id, from: pieces(stream, [50_000]))
    try fixture.apply([.setHidden(id, false)], to: next)
    _ = try next.verify(id)
    #expect(try next.list().count == 3)
    #expect(throws: CaptureError.self) {
      try next.add(NewCapture(photo: source(bytes(600_000, seed: 1))), signer: fixture.signer)
    }
    try fixture.apply([.erase(id)], to: next)
    #expect(try next.list().map(\.id) == [again, other])
    #expect(try fixture.blobs().count == 3)
  }

  @Test("A damaged part of a hidden capture is found by an examination")
  func hiddenDamage() throws {
    let fixture = try CaptureFixture()
    let id = try fixture.addFull(1)
    try fixture.apply([.setHidden(id, true)])
    let path = try #require(try fixture.blobs().first)
    var content = try Data(contentsOf: URL(filePath: path))
    content[5_000] ^= 1
    try content.write(to: URL(filePath: path))
    #expect(try fixture.store.examine(isDeep: true).damaged == [id])
    try FileManager.default.removeItem(atPath: path)
    #expect(try fixture.store.examine(isDeep: false).damaged == [id])
  }

  @Test("A hidden record that was put back does not pass for a removed capture")
  func putBack() throws {
    let fixture = try CaptureFixture()
    let id = try fixture.addFull(1)
    try fixture.apply([.setHidden(id, true)])
    let hidden = try #require(try fixture.value("SELECT record FROM captures"))
    try fixture.apply([.setHidden(id, false)])
    try fixture.change("UPDATE captures SET record = ?", .bytes(hidden))
    #expect(throws: CaptureError.corrupt(nil)) { try fixture.store.info(id) }
    #expect(throws: CaptureError.corrupt(nil)) { try fixture.store.sharedRows() }
    try fixture.change("DELETE FROM captures")
    #expect(throws: CaptureError.corrupt(nil)) { try fixture.store.sharedRows() }
    #expect(throws: CaptureError.corrupt(nil)) { try fixture.store.shared(id) }
    #expect(throws: CaptureError.corrupt(nil)) { try fixture.apply([.setHidden(id, true)]) }
  }

  @Test("A transaction that fails leaves everything as it was, whatever was changed before")
  func undone() throws {
    let (here, there) = (try CaptureFixture(), try CaptureFixture())
    let ids = [try there.addFull(1), try there.addFull(2)]
    let sent = try here.store.shared(try here.addFull(3))
    let before = (
      digest: try there.store.recordsDigest(), bytes: try there.storedByteCount, blobs: try there.blobs(),
      record: try there.value("SELECT record FROM captures WHERE number = 1")
    )
    struct Refused: Error {}
    let good: [SharedChange] = [
      .insert(sent, CaptureLabel()), .setLabel(ids[0], CaptureLabel(title: "x")), .setHidden(ids[0], true),
      .erase(ids[1]),
    ]
    let refusals: [(SharedChange?, CaptureError?)] = [
      (nil, nil), (.insert(sent, CaptureLabel()), .corrupt(nil)), (.erase(ids[1]), .notFound),
      (.setHidden(CaptureID(), true), .notFound), (.setLabel(ids[1], CaptureLabel()), .notFound),
      (
        .setLabel(ids[0], CaptureLabel(title: String(repeating: "x", count: 20_000))),
        .labelTooLarge(byteCountLimit: 65_536)
      ),
    ]
    for (last, error) in refusals {
      try there.store.prepareSharing()
      do {
        try there.file.write(.messages) { transaction in
          let (digest, blobs) = try there.store.apply(good + (last.map { [$0] } ?? []), joining: transaction)
          #expect(last == nil && digest != before.digest && blobs.count == 2)
          throw Refused()
        }
      } catch is Refused {
        #expect(error == nil)
      } catch let found as CaptureError {
        #expect(found == error)
      }
      there.store.settleAfterFailure()
      #expect(try there.store.recordsDigest() == before.digest)
      #expect(try there.storedByteCount == before.bytes)
      #expect(try there.blobs() == before.blobs)
      #expect(try there.value("SELECT record FROM captures WHERE number = 1") == before.record)
      #expect(try there.store.examine(isDeep: true) == CaptureStore.Findings(captureCount: 2))
    }
    try there.apply(good)
    #expect(try there.store.sharedRows().map(\.id) == [ids[0], sent.id])
    #expect(try there.blobs().count == 2)
  }

  @Test("Without keys in memory a transaction makes no change")
  func locked() throws {
    let fixture = try CaptureFixture()
    let id = try fixture.addFull(1)
    fixture.store.clearCache()
    #expect(throws: CaptureError.locked) {
      try fixture.file.write(.messages) { try fixture.store.apply([.erase(id)], joining: $0) }
    }
    #expect(try fixture.store.sharedRows().map(\.id) == [id])
    let locked = try fixture.store(
      at: fixture.home.path, keys: ClassKeys(whenUnlocked: nil, afterFirstUnlock: nil))
    #expect(throws: CaptureError.locked) { try locked.sharedRows() }
    #expect(throws: CaptureError.locked) { try locked.recordsDigest() }
    #expect(throws: CaptureError.locked) { try locked.shared(id) }
    #expect(throws: CaptureError.locked) { try locked.stream(of: id, 0..<1) }
  }

  @Test("A capture that does not verify is not handed out")
  func damaged() throws {
    let fixture = try CaptureFixture()
    let id = try fixture.addFull(1)
    let whole = try #require(
      try fixture.value("SELECT sealed FROM captureParts WHERE part = 4"))
    var changed = whole
    changed[30] ^= 1
    try fixture.change("UPDATE captureParts SET sealed = ? WHERE part = 4", .bytes(changed))
    #expect(throws: CaptureError.corrupt(.thumbnail)) { try fixture.store.shared(id) }
    try fixture.change("UPDATE captureParts SET sealed = ? WHERE part = 4", .bytes(whole))
    #expect(try fixture.store.shared(id).id == id)
    #expect(throws: CaptureError.notFound) { try fixture.store.shared(CaptureID()) }
    #expect(throws: CaptureError.notFound) { try fixture.store.stream(of: CaptureID(), 0..<0) }
    // A signer that signs something else.
    final class Wrong: CaptureSigner {
      let signer = TestSigner()
      var keyID: String { signer.keyID }
      var publicKey: [UInt8] { signer.publicKey }
      var level: AttestationLevel { signer.level }
      var deviceID: String { signer.deviceID }
      func sign(digest: [UInt8]) throws -> [UInt8] {
        try signer.sign(digest: [UInt8](repeating: 1, count: 32))
      }
    }
    let other = try fixture.store.add(NewCapture(photo: source([1])), signer: Wrong()).id
    #expect(throws: CaptureError.corrupt(.assertion)) { try fixture.store.shared(other) }
  }

  @Test("A synchronisation's uploads begin, fail, are tried again and succeed")
  func uploads() throws {
    let fixture = try CaptureFixture()
    let ids = [try fixture.addFull(1), try fixture.addFull(2)]
    func states() throws -> [UploadStatus] { try fixture.store.sharedRows().map(\.upload) }
    let all = Set(ids + [CaptureID()])
    for attempt in 1...5 {
      try fixture.store.noteUploads(.uploading, of: all)
      #expect(try states().map(\.state) == [.uploading, .uploading])
      #expect(try states().map(\.attempts) == [attempt, attempt])
      // Another command must not take it for cut off.
      #expect(try states().allSatisfy { $0.nextAttempt == fixture.time.now + 6 * 3_600 })
      try fixture.store.noteUploads(.failed, of: all)
      #expect(try states().map(\.state) == (attempt < 5 ? [.pending, .pending] : [.failed, .failed]))
    }
    try fixture.store.noteUploads(.uploading, of: [ids[0]])
    #expect(try states().map(\.attempts) == [1, 5])
    // Begun again after it was cut off.
    try fixture.store.noteUploads(.uploading, of: [ids[0]])
    #expect(try states()[0].attempts == 2)
    try fixture.store.noteUploads(.uploaded, of: all)
    #expect(try states().map(\.state) == [.uploaded, .uploaded])
    try fixture.store.noteUploads(.failed, of: all)
    #expect(try states().map(\.state) == [.uploaded, .uploaded])
    // The remote has lost it.
    try fixture.store.noteUploads(.uploading, of: all)
    #expect(try states().map(\.attempts) == [1, 1])
    try fixture.store.noteUploads(.pending, of: all)
    #expect(try states().allSatisfy { !$0.isUsed })
    try fixture.store.noteUploads(.uploaded, of: all)
    #expect(try states().map(\.attempts) == [1, 1])
  }
}
