// SPDX-License-Identifier: Apache-2.0
//
// A crash is a copy of all files at one moment: what a process leaves that is killed then. The moment is
// when the signer is asked: blobs are on the disk, no row names them.

import Foundation
import Keychains
import Primitives
import Storage
import Synchronization
import Testing

@testable import Captures

@Suite("What a crash leaves")
struct CaptureCrashTests {
  /// Copies the coffer while a capture is being taken in.
  private func crash(_ fixture: CaptureFixture, photo: [UInt8]) throws -> String {
    let path = fixture.home.path
    let copies = Mutex<[String]>([])
    let signer = TestSigner {
      let copy = "\(path)-copy-\(UUID().uuidString)"
      try FileManager.default.copyItem(atPath: path, toPath: copy)
      copies.withLock { $0.append(copy) }
    }
    _ = try fixture.store.add(
      NewCapture(photo: source(photo), depth: source(bytes(80_000, seed: 4))), signer: signer)
    return try #require(copies.withLock { $0.first })
  }

  @Test("Blobs of a capture that was not finished are swept by the next writer, and by no reader")
  func betweenBlobAndRow() throws {
    let fixture = try CaptureFixture()
    let id = try fixture.addFull(1)
    let copy = try crash(fixture, photo: bytes(90_000, seed: 3))
    #expect(try fixture.blobs(copy).count == 4)

    let store = try fixture.store(at: copy)
    #expect(try store.list().map(\.id) == [id])
    #expect(
      try store.examine(isDeep: true) == CaptureStore.Findings(captureCount: 1, strayBlobCount: 2))
    #expect(try fixture.blobs(copy).count == 4)
    // Files that are not blobs are left alone.
    let other = copy + "/blobs/readme"
    try Data([1]).write(to: URL(filePath: other))
    let added = try store.add(NewCapture(photo: source(bytes(90_000, seed: 3))), signer: fixture.signer)
    #expect(try fixture.blobs(copy).count == 4)
    #expect(FileManager.default.fileExists(atPath: other))
    #expect(try store.examine(isDeep: true) == CaptureStore.Findings(captureCount: 2))
    #expect(try store.list().map(\.id) == [added.id, id])
  }

  @Test("A crash during the very first capture leaves an empty store")
  func firstCapture() throws {
    let fixture = try CaptureFixture()
    let copy = try crash(fixture, photo: bytes(90_000, seed: 3))
    let store = try fixture.store(at: copy)
    #expect(try store.list() == [])
    #expect(throws: CaptureError.notFound) { try store.info(CaptureID()) }
    _ = try store.add(NewCapture(photo: source([1, 2])), signer: fixture.signer)
    #expect(try fixture.blobs(copy) == [])
    #expect(try store.list().count == 1)
  }

  @Test("A crash between the removal of a row and that of its blobs leaves only blobs to sweep")
  func removal() throws {
    let fixture = try CaptureFixture()
    let id = try fixture.addFull(1)
    let kept = try fixture.addFull(2)
    let before = try fixture.snapshot()
    try fixture.store.remove(id)
    let after = try fixture.snapshot()
    for path in try fixture.blobs(before) {
      let place = after + "/blobs/" + (path as NSString).lastPathComponent
      if !FileManager.default.fileExists(atPath: place) {
        try FileManager.default.copyItem(atPath: path, toPath: place)
      }
    }
    let store = try fixture.store(at: after)
    #expect(try store.list().map(\.id) == [kept])
    #expect(try store.examine(isDeep: false).strayBlobCount == 2)
    try store.remove(kept)
    #expect(try fixture.blobs(after) == [])
  }

  @Test("A key that was made just before a crash is used, not made anew")
  func keyOnly() throws {
    let fixture = try CaptureFixture()
    try fixture.store.loadOrCreateEncryptionKey()
    let copy = try fixture.snapshot()
    let store = try fixture.store(at: copy)
    #expect(try store.list() == [])
    let id = try store.add(NewCapture(photo: source([1, 2])), signer: fixture.signer).id
    let account = KeychainService.Account.captureKey
    #expect(
      try store.keychain.load(forKey: account, in: .afterFirstUnlockThisDeviceOnly)
        == fixture.keychain.load(forKey: account, in: .afterFirstUnlockThisDeviceOnly))
    _ = try store.verify(id)
  }

  @Test("A removed blob is overwritten before its name goes")
  func overwritten() throws {
    let fixture = try CaptureFixture()
    let id = try fixture.add(photo: bytes(100_000, seed: 1))
    // An open descriptor keeps the file's content in sight; a second name would spare it.
    let path = try #require(try fixture.blobs().first)
    let file = try FileHandle(forReadingFrom: URL(filePath: path))
    try fixture.store.remove(id)
    #expect(!FileManager.default.fileExists(atPath: path))
    #expect(try file.readToEnd() == Data(count: 100_036))
  }

  @Test("Blobs and their folder can be read by nobody else")
  func modes() throws {
    let fixture = try CaptureFixture()
    _ = try fixture.addFull()
    func mode(_ path: String) throws -> Int? {
      try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }
    #expect(try mode(fixture.home.path + "/blobs") == 0o700)
    for path in try fixture.blobs() { #expect(try mode(path) == 0o600) }
  }
}
