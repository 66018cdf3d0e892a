// SPDX-License-Identifier: Apache-2.0

import Foundation
import Primitives
import Storage
import Testing

@testable import Captures

@Suite("What waits for upload")
struct UploadQueueTests {
  private struct Unreachable: Error {}

  /// Takes everything, or nothing.
  private final class Uploader: CaptureUploader {
    var isReachable = true
    var received: [CaptureID: [(CapturePart, [UInt8])]] = [:]
    var before: () throws -> Void = {}

    func upload(_ capture: SealedCapture) throws {
      try before()
      guard isReachable else { throw Unreachable() }
      var parts: [(CapturePart, [UInt8])] = []
      try capture.forEachPart { part, bytes in
        if parts.last?.0 != part { parts.append((part, [])) }
        parts[parts.count - 1].1.append(bytes)
      }
      received[capture.id] = parts
    }
  }

  @Test("What is uploaded is ciphertext, complete, and removed after seven days")
  func uploaded() throws {
    let fixture = try CaptureFixture()
    let photo = bytes(600_000, seed: 1)
    let metadata = #"{"note": "nobody else may read this"}"#
    let id = try fixture.add(photo: photo, metadata: metadata)
    let uploader = Uploader()
    #expect(try fixture.store.upload(with: uploader) == CaptureStore.UploadOutcome(uploaded: 1))
    let parts = try #require(uploader.received[id])
    #expect(parts.map(\.0) == [.photo, .metadata, .manifest, .assertion])
    #expect(try Data(parts[0].1) == Data(contentsOf: URL(filePath: try #require(fixture.blobs().first))))
    let all = Data(parts.flatMap(\.1))
    #expect(all.range(of: Data(photo[1000..<1032])) == nil)
    #expect(all.range(of: Data("nobody".utf8)) == nil)
    #expect(try fixture.store.info(id).summary.upload.state == .uploaded)

    #expect(try fixture.store.upload(with: uploader) == CaptureStore.UploadOutcome())
    fixture.time.advance(7 * 86_400 - 1)
    #expect(try fixture.store.upload(with: uploader) == CaptureStore.UploadOutcome())
    fixture.time.advance(1)
    #expect(try fixture.store.upload(with: uploader) == CaptureStore.UploadOutcome(removed: 1))
    #expect(try fixture.store.list() == [])
    #expect(try fixture.blobs() == [])
  }

  @Test(
    "Tries come after 1, 2, 4 and 8 seconds and half of that by chance; the fifth is the last",
    arguments: [0.0, 1.0])
  func backOff(jitter: Double) throws {
    let fixture = try CaptureFixture()
    fixture.time.set(jitter: jitter)
    let id = try fixture.add(photo: [1])
    let uploader = Uploader()
    uploader.isReachable = false
    for (index, pause) in [1.0, 2, 4, 8].enumerated() {
      #expect(try fixture.store.upload(with: uploader) == CaptureStore.UploadOutcome(postponed: 1))
      let status = try fixture.store.info(id).summary.upload
      let wait = Int64((pause * (1 + jitter / 2)).rounded(.up))
      #expect(status.state == .pending)
      #expect(status.attempts == index + 1)
      #expect(status.lastAttempt == fixture.time.now)
      #expect(status.nextAttempt == fixture.time.now + wait)
      fixture.time.advance(wait - 1)
      #expect(try fixture.store.upload(with: uploader) == CaptureStore.UploadOutcome())
      fixture.time.advance(1)
    }
    #expect(try fixture.store.upload(with: uploader) == CaptureStore.UploadOutcome(failed: 1))
    #expect(try fixture.store.info(id).summary.upload.state == .failed)
    fixture.time.advance(86_400 * 30)
    uploader.isReachable = true
    #expect(try fixture.store.upload(with: uploader) == CaptureStore.UploadOutcome())
    #expect(try fixture.store.list().count == 1)

    #expect(try fixture.store.retryFailedUploads() == 1)
    #expect(try fixture.store.retryFailedUploads() == 0)
    #expect(try fixture.store.upload(with: uploader) == CaptureStore.UploadOutcome(uploaded: 1))
    #expect(try fixture.store.info(id).summary.upload.attempts == 1)
  }

  @Test("An upload that a crash cut off waits again, and its try counts")
  func cutOff() throws {
    let fixture = try CaptureFixture()
    let id = try fixture.add(photo: [1])
    var copy = ""
    let uploader = Uploader()
    uploader.before = { copy = try fixture.snapshot() }
    _ = try fixture.store.upload(with: uploader)
    let store = try fixture.store(at: copy)
    #expect(try store.info(id).summary.upload.state == .uploading)
    uploader.before = {}
    #expect(try store.upload(with: uploader) == CaptureStore.UploadOutcome(uploaded: 1))
    #expect(try store.info(id).summary.upload.attempts == 2)

    var last = UploadStatus()
    for _ in 0..<5 { last.begin(1) }
    last.recover(1)
    #expect(last.state == .failed)
  }

  @Test("Another program begins, fails and succeeds; its attempts count, and nobody else begins meanwhile")
  func reports() throws {
    let fixture = try CaptureFixture()
    fixture.time.set(jitter: 0)
    let id = try fixture.add(photo: [1])
    let start = fixture.time.now
    #expect(try fixture.store.report(.uploading, of: id).attempts == 1)
    var status = try fixture.store.info(id).summary.upload
    #expect(status.state == .uploading && status.nextAttempt == start + 6 * 3_600)
    #expect(throws: CaptureError.uploadNotDue(status)) { try fixture.store.report(.uploading, of: id) }
    // The next process, which tidies up before its first write, leaves it alone too.
    let other = try fixture.store(at: fixture.snapshot())
    #expect(throws: CaptureError.uploadNotDue(status)) { try other.report(.uploading, of: id) }

    status = try fixture.store.report(.failed, of: id)
    #expect(status.state == .pending && status.nextAttempt == start + 1)
    #expect(throws: CaptureError.uploadNotDue(status)) { try fixture.store.report(.uploading, of: id) }
    fixture.time.advance(1)
    #expect(fixture.store.isDue(status))
    try fixture.store.report(.uploading, of: id)
    status = try fixture.store.report(.uploaded, of: id)
    #expect(status.state == .uploaded && status.attempts == 2 && status.lastAttempt == start + 1)
    #expect(try fixture.store.report(.uploaded, of: id) == status)
    for state in [UploadStatus.State.uploading, .failed] {
      #expect(throws: CaptureError.uploadNotDue(status)) { try fixture.store.report(state, of: id) }
    }
    #expect(try fixture.store.report(.pending, of: id).isUsed == false)
    #expect(throws: CaptureError.notFound) { try fixture.store.report(.pending, of: CaptureID()) }
  }

  @Test("An upload that is not reported within six hours was cut off, and its attempt counts")
  func unreported() throws {
    let fixture = try CaptureFixture()
    let id = try fixture.add(photo: [1])
    for attempt in 1...5 {
      let begun = try fixture.store.report(.uploading, of: id)
      #expect(begun.attempts == attempt)
      fixture.time.advance(UploadStatus.reportSeconds - 1)
      #expect(!fixture.store.isDue(begun))
      #expect(throws: CaptureError.uploadNotDue(begun)) { try fixture.store.report(.uploading, of: id) }
      fixture.time.advance(1)
      #expect(fixture.store.isDue(begun) == (attempt < 5))
    }
    #expect(throws: CaptureError.self) { try fixture.store.report(.uploading, of: id) }
    // The next writer stores that the last attempt has failed.
    let other = try fixture.store(at: fixture.snapshot())
    _ = try other.loadOrCreateEncryptionKey()
    try other.report(.failed, of: id)
    #expect(try other.info(id).summary.upload.state == .failed)
    #expect(try other.report(.uploaded, of: id).state == .uploaded)
  }

  @Test("A result that comes late is that of the attempt that was cut off")
  func late() throws {
    let fixture = try CaptureFixture()
    fixture.time.set(jitter: 0)
    let ids = try (1...2).map { try fixture.add(photo: [UInt8($0)]) }
    for id in ids { try fixture.store.report(.uploading, of: id) }
    let start = fixture.time.now
    fixture.time.advance(UploadStatus.reportSeconds)
    let failed = try fixture.store.report(.failed, of: ids[0])
    #expect(failed.attempts == 1 && failed.lastAttempt == start)
    #expect(failed.state == .pending && failed.nextAttempt == fixture.time.now + 1)
    // Another process has stored meanwhile that it was cut off.
    let other = try fixture.store(at: fixture.snapshot())
    _ = try other.loadOrCreateEncryptionKey()
    let uploaded = try other.report(.uploaded, of: ids[1])
    #expect(uploaded.state == .uploaded && uploaded.attempts == 1 && uploaded.lastAttempt == start)
    // A failure that was reported is over: the next result is another attempt's.
    #expect(try fixture.store.report(.uploaded, of: ids[0]).attempts == 2)
  }

  @Test("Seven days after its upload a capture may be removed, and not a second earlier")
  func removable() throws {
    let fixture = try CaptureFixture()
    let ids = try (1...3).map { try fixture.add(photo: [UInt8($0)]) }
    try fixture.store.report(.uploaded, of: ids[0])
    try fixture.store.report(.uploaded, of: ids[2])
    #expect(try fixture.store.info(ids[0]).summary.upload.removalTime == fixture.time.now + 7 * 86_400)
    fixture.time.advance(7 * 86_400 - 1)
    #expect(try fixture.store.removableCaptures() == [])
    fixture.time.advance(1)
    #expect(try fixture.store.removableCaptures() == [ids[0], ids[2]])
    #expect(try fixture.store.list().count == 3)
  }

  @Test("Captures are tried in the order in which they came, and one that fails does not stop the others")
  func severalCaptures() throws {
    let fixture = try CaptureFixture()
    let ids = try (1...3).map { try fixture.add(photo: [UInt8($0)]) }
    let uploader = Uploader()
    var count = 0
    uploader.before = {
      count += 1
      if count == 2 { throw Unreachable() }
    }
    #expect(try fixture.store.upload(with: uploader) == CaptureStore.UploadOutcome(uploaded: 2, postponed: 1))
    #expect(uploader.received.keys.contains(ids[0]) && uploader.received.keys.contains(ids[2]))
    #expect(try fixture.store.info(ids[1]).summary.upload.state == .pending)
  }

  @Test("States keep the names and numbers that programs and files know")
  func names() {
    #expect(UploadStatus.State.allCases.map(\.name) == ["pending", "uploading", "uploaded", "failed"])
    #expect(UploadStatus.State.allCases.map(\.rawValue) == [1, 2, 3, 4])
  }

  @Test("Every status comes back from its bytes")
  func bytesOfStatus() throws {
    let fixture = try CaptureFixture()
    try fixture.store.loadOrCreateEncryptionKey()
    let key = try fixture.store.keys().record
    let id = CaptureID()
    var status = UploadStatus()
    var all = [status]
    for step in 1...5 {
      status.begin(Int64(step) * 1_000, cutOff: step == 2 ? 9_000 : nil)
      all.append(status)
      status.fail(Int64(step) * 1_000, jitter: 0.3)
      all.append(status)
    }
    for status in all {
      let sealed = status.sealed(id, key: key)
      #expect(try UploadStatus(sealed: sealed.span.bytes, id, key: key) == status)
      #expect(throws: CaptureError.corrupt(nil)) {
        try UploadStatus(sealed: sealed.span.bytes, CaptureID(), key: key)
      }
    }
  }
}
