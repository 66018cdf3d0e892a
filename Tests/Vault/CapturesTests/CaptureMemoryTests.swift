// SPDX-License-Identifier: Apache-2.0
//
// What the store leaves in memory: keys and contents nowhere, once they are let go. Manifests, public keys
// and signatures are not secret; they are plain arrays and are not looked for.

import Foundation
import Keychains
import MemorySearch
import Primitives
import Secrets
import Storage
import Testing

@testable import Captures

@Suite("What the capture store leaves in memory")
struct CaptureMemoryTests {
  @Test("Keys, photo and metadata are gone after use")
  func nothingLeft() async {
    await #expect(processExitsWith: .success) { recordingErrors { try CaptureMemoryTests().expectGone() } }
  }

  private func expectGone() throws {
    let fixture = try CaptureFixture()
    let (id, needles) = try store(fixture)
    let keys = try keys(fixture, id)
    try use(fixture, id)
    fixture.store.clearCache()
    for (name, needle) in needles + keys {
      try ProcessMemory.expectGone(needle, name)
    }
  }

  @Test("Keys, photo and metadata are gone on both devices after a capture has gone from one to the other")
  func nothingLeftAfterSharing() async {
    await #expect(processExitsWith: .success) {
      recordingErrors { try CaptureMemoryTests().expectGoneAfterSharing() }
    }
  }

  private func expectGoneAfterSharing() throws {
    let (here, there) = (try CaptureFixture(), try CaptureFixture())
    let (id, needles) = try store(here)
    let keys = try keys(here, id)
    try share(here, there, id)
    let others = try self.keys(there, id)
    here.store.clearCache()
    there.store.clearCache()
    for (name, needle) in needles + keys + others {
      try ProcessMemory.expectGone(needle, name)
    }
  }

  @Test("The search finds a key that is in use")
  func searchWorks() async {
    await #expect(processExitsWith: .success) {
      recordingErrors {
        let (tests, fixture) = (CaptureMemoryTests(), try CaptureFixture())
        let (id, _) = try tests.store(fixture)
        let needles = try tests.keys(fixture, id)
        let inUse = try fixture.store.keys()
        #expect(try !ProcessMemory.places(of: needles[1].needle).isEmpty)
        _ = inUse.memberHash()
      }
    }
  }

  /// Photo in a file and in chunks, metadata in a row.
  @inline(never)
  private func store(_ fixture: CaptureFixture) throws -> (CaptureID, [(name: String, needle: Needle)]) {
    let secret = SystemRandom.secretBytes(count: 48)
    let words = SystemRandom.secretBytes(count: 24)
    let path = fixture.home.path + ".bin"
    _ = FileManager.default.createFile(atPath: path, contents: nil)
    let descriptor = open(path, O_WRONLY)
    // The same bytes at the beginning, in the second chunk, and at the end.
    for _ in 0..<8_000 {
      secret.withBytes { $0.withUnsafeBytes { _ = write(descriptor, $0.baseAddress, $0.count) } }
    }
    close(descriptor)
    // {"x":"…"}, in locked memory: letters from random bytes.
    var metadata = SecretBytes(zeroed: 8 + 48)
    metadata.withMutableBytes { bytes in
      for (offset, byte) in Array("{\"x\":\"".utf8).enumerated() {
        bytes.storeBytes(of: byte, toByteOffset: offset, as: UInt8.self)
      }
      words.withBytes { words in
        for index in 0..<24 {
          let byte = words.unsafeLoad(fromUncheckedByteOffset: index, as: UInt8.self)
          bytes.storeBytes(of: 0x61 + byte >> 4, toByteOffset: 6 + 2 * index, as: UInt8.self)
          bytes.storeBytes(of: 0x61 + byte & 15, toByteOffset: 7 + 2 * index, as: UInt8.self)
        }
      }
      bytes.storeBytes(of: UInt8(ascii: "\""), toByteOffset: 54, as: UInt8.self)
      bytes.storeBytes(of: UInt8(ascii: "}"), toByteOffset: 55, as: UInt8.self)
    }
    let needles = [
      (name: "photo", needle: secret.withBytes { Needle($0) }),
      (name: "metadata", needle: metadata.withBytes { Needle($0.extracting(6..<54)) }),
    ]
    let capture = NewCapture(photo: try PartSource(path: path, for: .photo), metadata: PartSource(metadata))
    return (try fixture.store.add(capture, signer: fixture.signer).id, needles)
  }

  @inline(never)
  private func keys(_ fixture: CaptureFixture, _ id: CaptureID) throws -> [(name: String, needle: Needle)] {
    let key = try fixture.keychain.loadSecret(
      forKey: KeychainService.Account.captureKey, in: .afterFirstUnlockThisDeviceOnly)
    guard let key else { throw CaptureError.encryptionKeyNotFound }
    let keys = try fixture.store.keys()
    return [
      (name: "capture key", needle: key.withBytes { Needle($0) }),
      (name: "record key", needle: keys.record.withBytes { Needle($0) }),
      (name: "mark key", needle: keys.mark.withBytes { Needle($0) }),
      (name: "part key", needle: keys.parts(id).withBytes { Needle($0) }),
    ]
  }

  @inline(never)
  private func share(_ here: CaptureFixture, _ there: CaptureFixture, _ id: CaptureID) throws {
    try there.receive(id, from: here)
    let count = try here.store.shared(id).streamByteCount
    #expect(count == 384_000)
    var offset = 0
    let piece: () throws -> SharedSecretBytes? = {
      guard offset < count else { return nil }
      defer { offset += 100_000 }
      return try here.store.stream(of: id, offset..<min(count, offset + 100_000))
    }
    // Once it ends early, with a part sealed and a piece in hand.
    var asked = 0
    #expect(throws: CaptureError.interrupted) {
      try there.store.fill(id) {
        asked += 1
        if asked == 4 { throw CaptureError.interrupted }
        return try piece()
      }
    }
    offset = 0
    try there.store.fill(id, from: piece)
    _ = try there.store.verify(id)
    _ = try here.store.release(id)
    _ = try there.store.shared(id)
  }

  @inline(never)
  private func use(_ fixture: CaptureFixture, _ id: CaptureID) throws {
    _ = try fixture.store.verify(id)
    _ = try fixture.store.list()
    try fixture.store.withPart(.photo, of: id) { $0.byteCount > 0 }
    _ = try fixture.store.export(id, to: fixture.home.path + "-out")
    try fixture.store.remove(id)
  }
}
