// SPDX-License-Identifier: Apache-2.0
//
// Every call of SQLite that changes the disk is made to fail once, and to fail from then on, while captures
// are added, removed and uploaded. Whatever fails: every capture that was acknowledged verifies afterwards,
// one that was not is there as a whole or not at all, and the next capture finds the store in order.
//
// The VFS is the default one for the whole process while this suite runs, so one of its tests runs at a
// time; it counts only in the folder of the run, so other suites are not disturbed.

import CFaultVFS
import Extents
import Foundation
import Primitives
import Storage
import Testing

@testable import Captures

@Suite("Captures on a disk that fails at any call", .serialized)
struct CaptureFaultTests {
  static let faults = [
    Fault(kind: Int32(FAULT_FULL), isLasting: false), Fault(kind: Int32(FAULT_FULL), isLasting: true),
    Fault(kind: Int32(FAULT_SYNC), isLasting: true),
  ]

  struct Fault: CustomTestStringConvertible {
    let kind: Int32
    let isLasting: Bool
    var testDescription: String {
      (kind == FAULT_FULL ? "full" : "sync error") + (isLasting ? " from then on" : " once")
    }
  }

  @Test("The first capture of all, with the key that it needs", arguments: faults)
  func first(fault: Fault) throws {
    try everyPoint(fault, captures: 0) { store, fixture, _ in
      _ = try store.add(Self.capture(7), signer: fixture.signer)
      return []
    }
  }

  @Test("One more capture", arguments: faults)
  func add(fault: Fault) throws {
    try everyPoint(fault, captures: 2) { store, fixture, ids in
      _ = try store.add(Self.capture(7), signer: fixture.signer)
      return ids
    }
  }

  @Test("The removal of a capture", arguments: faults)
  func remove(fault: Fault) throws {
    try everyPoint(fault, captures: 2, mayVanish: 1) { store, _, ids in
      try store.remove(ids[0])
      return Array(ids.dropFirst())
    }
  }

  @Test("An upload", arguments: faults)
  func upload(fault: Fault) throws {
    struct Uploader: CaptureUploader {
      func upload(_ capture: SealedCapture) throws { try capture.forEachPart { _, _ in } }
    }
    try everyPoint(fault, captures: 2) { store, _, ids in
      _ = try store.upload(with: Uploader())
      return ids
    }
  }

  @Test("A capture whose large parts go and come back", arguments: faults)
  func fill(fault: Fault) throws {
    try everyPoint(fault, captures: 2) { store, _, ids in
      let stream = try store.stream(of: ids[0], 0..<70_000)
      _ = try store.release(ids[0])
      var isGiven = false
      try store.fill(ids[0]) {
        defer { isGiven = true }
        return isGiven ? nil : stream
      }
      _ = try store.verify(ids[0])
      return ids
    }
  }

  @Test("Changes of other devices", arguments: faults)
  func apply(fault: Fault) throws {
    let other = try CaptureFixture()
    let sent = try other.store.shared(try other.add(photo: bytes(70_000, seed: 50), metadata: "{}"))
    try everyPoint(fault, captures: 2, mayVanish: 1) { store, _, ids in
      try store.prepareSharing()
      do {
        let changes: [SharedChange] = [
          .erase(ids[0]), .insert(sent, CaptureLabel()), .setLabel(ids[1], CaptureLabel(title: "x")),
        ]
        let blobs = try store.file.write(.messages) { try store.apply(changes, joining: $0).blobs }
        store.removeBlobs(blobs)
      } catch {
        store.settleAfterFailure()
        throw error
      }
      return [ids[1], sent.id]
    }
  }

  private static func capture(_ seed: UInt64) -> NewCapture {
    NewCapture(photo: source(bytes(70_000, seed: seed)), metadata: source(Array("{}".utf8)))
  }

  /// - Parameter operation: does the work and answers which captures it acknowledged to be there.
  private func everyPoint(
    _ fault: Fault, captures: Int, mayVanish: Int = 0,
    _ operation: (CaptureStore, CaptureFixture, [CaptureID]) throws -> [CaptureID]
  ) throws {
    let fixture = try CaptureFixture()
    let ids = try (0..<captures).map {
      try fixture.store.add(Self.capture(UInt64($0 + 1)), signer: fixture.signer).id
    }
    fixture.file.close()
    var count = 0
    func play(_ point: Int) throws {
      let copy = try fixture.snapshot()
      defer { try? FileManager.default.removeItem(atPath: copy) }
      #expect(fault_vfs_register() == 0)
      defer { fault_vfs_unregister() }
      fault_vfs_arm(copy, point, fault.kind, fault.isLasting ? 1 : 0)
      var expected = Array(ids.dropFirst(mayVanish))
      do {
        let store = try fixture.store(at: copy)
        expected = try operation(store, fixture, ids)
        store.file.close()
      } catch is StorageError {
      } catch is CaptureError {
        // The keychain's words for a disk that fails.
      } catch {
        #expect(point > 0, "\(error)")
      }
      if point == 0 { count = fault_vfs_count() }
      fault_vfs_disarm()
      try check(copy, expected, fixture, "point \(point) of \(count)")
    }
    try play(0)
    #expect(count > 3)
    let name = "captures, failing calls of the disk: \(fault.testDescription)"
    for point in Shares(name, count: 4).of(1...count) { try play(point) }
    print("faults: \(fault.testDescription): \(count) points")
  }

  private func check(
    _ path: String, _ expected: [CaptureID], _ fixture: CaptureFixture, _ comment: Comment
  ) throws {
    let store = try fixture.store(at: path)
    for capture in try store.list() {
      do { _ = try store.verify(capture.id) } catch CaptureError.elsewhere { #expect(!capture.isWhole) }
    }
    let found = Set(try store.list().map(\.id))
    #expect(found.isSuperset(of: expected), comment)
    _ = try store.add(Self.capture(99), signer: fixture.signer)
    let findings = try store.examine(isDeep: true)
    #expect(findings == CaptureStore.Findings(captureCount: found.count + 1), comment)
    store.file.close()
  }
}
