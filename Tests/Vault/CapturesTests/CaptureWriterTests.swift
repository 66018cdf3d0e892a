// SPDX-License-Identifier: Apache-2.0
//
// Two that write captures because the file of the lock was removed: somebody took it for a stale one.

import Foundation
import Glibc
import Storage
import Synchronization
import Testing

@testable import Captures

@Suite("Captures while the writer's lock is removed", .timeLimit(.minutes(60)))
struct CaptureWriterTests {
  /// Takes a capture in, and runs `meanwhile` when its blobs are on the disk and no row names them.
  private func add(_ fixture: CaptureFixture, meanwhile: @escaping @Sendable () throws -> Void) throws
    -> CaptureID
  {
    let capture = NewCapture(photo: source(bytes(90_000, seed: 3)), depth: source(bytes(80_000, seed: 4)))
    return try fixture.store.add(capture, signer: TestSigner(beforeSigning: meanwhile)).id
  }

  @Test("What the second writer stores stays, and the first one acknowledges nothing that is gone")
  func swept() throws {
    let fixture = try CaptureFixture()
    let kept = try fixture.addFull(1)
    let path = fixture.home.path
    let second = try fixture.store(at: path)
    let added = Mutex<CaptureID?>(nil)
    #expect(throws: StorageError.inUse) {
      try add(fixture) {
        try FileManager.default.removeItem(atPath: path + "/" + DatabaseFile.lockName)
        let id = try second.add(NewCapture(photo: source(bytes(70_000, seed: 9))), signer: TestSigner()).id
        added.withLock { $0 = id }
      }
    }
    let id = try #require(added.withLock { $0 })
    #expect(try second.list().map(\.id) == [id, kept])
    #expect(try second.examine(isDeep: true).damaged == [])
    second.file.close()
    fixture.file.close()
    // What the first one left is swept by the next.
    let third = try fixture.store(at: path)
    try third.remove(id)
    #expect(try third.examine(isDeep: true) == CaptureStore.Findings(captureCount: 1))
  }

  @Test("A capture whose blobs have gone is not acknowledged", arguments: [false, true])
  func blobsGone(isLink: Bool) throws {
    let fixture = try CaptureFixture()
    let path = fixture.home.path
    #expect(throws: StorageError.inUse) {
      try add(fixture) {
        let folder = path + "/blobs/"
        let name = try #require(try FileManager.default.contentsOfDirectory(atPath: folder).first)
        try FileManager.default.moveItem(atPath: folder + name, toPath: path + "-moved")
        if isLink {
          try FileManager.default.createSymbolicLink(
            atPath: folder + name, withDestinationPath: path + "-moved")
        }
      }
    }
    #expect(try fixture.store.list() == [])
    #expect(try fixture.blobs() == [])
    #expect(try fixture.store.examine(isDeep: true) == CaptureStore.Findings())
  }

  @Test(
    "A capture of which a blob is a link, a pipe or a folder is damaged; the others are not", arguments: 0..<3
  )
  func foreignBlob(kind: Int) throws {
    let fixture = try CaptureFixture()
    let id = try fixture.addFull(1)
    let path = try #require(try fixture.blobs().last)
    let whole = try fixture.addFull(2)
    try FileManager.default.moveItem(atPath: path, toPath: fixture.home.path + "-moved")
    switch kind {
    case 0:
      try FileManager.default.createSymbolicLink(
        atPath: path, withDestinationPath: fixture.home.path + "-moved")
    case 1: try #require(mkfifo(path, 0o600) == 0)
    default: try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    }
    #expect(throws: CaptureError.corrupt(.photo)) { try fixture.store.verify(id) }
    let findings = try fixture.store.examine(isDeep: true)
    #expect(findings.damaged == [id])
    #expect(findings.captureCount == 2)
    _ = try fixture.store.verify(whole)
    try fixture.store.remove(id)
    #expect(try fixture.store.list().map(\.id) == [whole])
  }
}
