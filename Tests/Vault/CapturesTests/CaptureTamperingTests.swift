// SPDX-License-Identifier: Apache-2.0

import Foundation
import Keychains
import Primitives
import Storage
import Testing

@testable import Captures

@Suite("What somebody changed in the files")
struct CaptureTamperingTests {
  /// Which part an attempt to verify complains about; nil for the capture as a whole.
  private func complaint(_ fixture: CaptureFixture, _ id: CaptureID) -> CapturePart?? {
    do {
      _ = try fixture.store.verify(id)
      return nil
    } catch CaptureError.corrupt(let part) {
      return .some(part)
    } catch {
      Issue.record(error)
      return nil
    }
  }

  private func expect(
    _ part: CapturePart?, _ fixture: CaptureFixture, _ id: CaptureID, _ comment: Comment,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    #expect(complaint(fixture, id) == .some(part), comment, sourceLocation: sourceLocation)
    #expect(try fixture.store.examine(isDeep: true).damaged == [id], comment, sourceLocation: sourceLocation)
  }

  @Test("A changed byte anywhere in a blob is noticed, and the part named")
  func blobs() throws {
    let fixture = try CaptureFixture()
    let id = try fixture.addFull()
    // By size: depth, photo.
    for (path, part) in zip(try fixture.blobs(), [CapturePart.depth, .photo]) {
      let whole = try Data(contentsOf: URL(filePath: path))
      let places =
        [0, 7, 8, 19, 20, 4_000, whole.count - 17, whole.count - 16, whole.count - 1]
        + (part == .photo ? [262_144 + 8, 262_144 + 36, 300_000, 2 * (262_144 + 28) + 8] : [])
      for place in places {
        var changed = whole
        changed[place] ^= 0x40
        try changed.write(to: URL(filePath: path))
        #expect(complaint(fixture, id) == .some(part), "byte \(place)")
      }
      for count in [0, 7, 8, whole.count - 1, whole.count - 28] {
        try whole.prefix(count).write(to: URL(filePath: path))
        try expect(part, fixture, id, "\(count) bytes")
      }
      try (whole + [0]).write(to: URL(filePath: path))
      try expect(part, fixture, id, "one byte more")
      if part == .photo {
        // The first two chunks in the other order.
        let size = 262_144 + 28
        let swapped =
          whole[..<8] + whole[8 + size..<8 + 2 * size] + whole[8..<8 + size] + whole[(8 + 2 * size)...]
        try Data(swapped).write(to: URL(filePath: path))
        try expect(part, fixture, id, "chunks swapped")
      }
      try FileManager.default.removeItem(atPath: path)
      #expect(complaint(fixture, id) == .some(part))
      #expect(try fixture.store.examine(isDeep: false).damaged == [id])
      try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "/etc/passwd")
      #expect(throws: (any Error).self) { try fixture.store.verify(id) }
      try FileManager.default.removeItem(atPath: path)
      try whole.write(to: URL(filePath: path))
    }
    _ = try fixture.store.verify(id)
  }

  @Test("A changed byte in a part that stands in a row is noticed, and the part named")
  func rows() throws {
    let fixture = try CaptureFixture()
    let id = try fixture.addFull()
    for part in [CapturePart.metadata, .thumbnail, .manifest, .assertion] {
      let number = StorageValue.integer(Int64(part.rawValue))
      let whole = try fixture.file.read { transaction in
        try transaction.firstRow("SELECT sealed FROM captureParts WHERE part = ?", number) { try $0.bytes(0) }
      }
      let sealed = try #require(whole)
      for place in [0, 11, 12, 20, sealed.count - 16, sealed.count - 1] {
        var changed = sealed
        changed[place] ^= 1
        try fixture.change("UPDATE captureParts SET sealed = ? WHERE part = ?", .bytes(changed), number)
        try expect(part, fixture, id, "byte \(place) of \(part)")
      }
      for changed in [sealed.dropLast(), sealed + [0], Data()] {
        try fixture.change("UPDATE captureParts SET sealed = ? WHERE part = ?", .bytes(changed), number)
        try expect(part, fixture, id, "\(changed.count) bytes of \(part)")
      }
      try fixture.change("DELETE FROM captureParts WHERE part = ?", number)
      try expect(part, fixture, id, "\(part) gone")
      #expect(try fixture.store.examine(isDeep: false).damaged == [id])
      try fixture.change(
        "INSERT INTO captureParts (capture, part, sealed) VALUES (1, ?2, ?1)", .bytes(sealed), number)
      _ = try fixture.store.verify(id)
    }
    try fixture.change("UPDATE captureParts SET part = 6 - part WHERE part IN (4, 5)")
    try fixture.change("UPDATE captureParts SET part = 9 WHERE part = 1")
    #expect(throws: CaptureError.self) { try fixture.store.verify(id) }
  }

  @Test("A changed byte in a record, a mark, an id or the queue is noticed; the others stay readable")
  func records() throws {
    let fixture = try CaptureFixture()
    let id = try fixture.addFull(1)
    let other = try fixture.addFull(2)
    let columns: [(StaticString, StaticString)] = [
      ("SELECT record FROM captures WHERE number = 1", "UPDATE captures SET record = ? WHERE number = 1"),
      ("SELECT mark FROM captures WHERE number = 1", "UPDATE captures SET mark = ? WHERE number = 1"),
      ("SELECT queue FROM captures WHERE number = 1", "UPDATE captures SET queue = ? WHERE number = 1"),
    ]
    for (read, write) in columns {
      let whole = try #require(try fixture.value(read))
      let flips = stride(from: 0, to: whole.count, by: max(whole.count / 9, 1)).map { place in
        var changed = whole
        changed[place] ^= 0x80
        return changed
      }
      for changed in flips + [whole.dropLast(), whole + [0], Data()] {
        try fixture.change(write, .bytes(changed))
        #expect(throws: CaptureError.corrupt(nil)) { try fixture.store.info(id) }
        #expect(throws: CaptureError.corrupt(nil)) { try fixture.store.list() }
        #expect(throws: CaptureError.corrupt(nil)) { try fixture.store.remove(id) }
        let listing = try fixture.store.listing()
        #expect(listing.captures.map(\.id) == [other])
        #expect(listing.damaged == [id])
        #expect(!listing.isComplete)
        #expect(try fixture.store.examine(isDeep: false).damaged == [id])
        _ = try fixture.store.verify(other)
      }
      try fixture.change(write, .bytes(whole))
      _ = try fixture.store.verify(id)
    }
    let whole = try #require(try fixture.value("SELECT id FROM captures WHERE number = 1"))
    var changed = whole
    changed[15] ^= 1
    for replacement in [changed, whole.dropLast()] {
      try fixture.change("UPDATE captures SET id = ? WHERE number = 1", .bytes(replacement))
      #expect(throws: CaptureError.corrupt(nil)) { try fixture.store.info(id) }
      #expect(throws: CaptureError.corrupt(nil)) { try fixture.store.list() }
      #expect(try !fixture.store.listing().isComplete)
    }
  }

  @Test("Blobs that were exchanged, of one capture or of two, are noticed")
  func swappedBlobs() throws {
    let fixture = try CaptureFixture()
    let id = try fixture.add(photo: bytes(100_000, seed: 1), depth: bytes(100_000, seed: 2))
    let other = try fixture.add(photo: bytes(100_000, seed: 3))
    let paths = try fixture.blobs()
    let contents = try paths.map { try Data(contentsOf: URL(filePath: $0)) }
    for (first, second) in [(0, 1), (0, 2), (1, 2)] {
      try contents[first].write(to: URL(filePath: paths[second]))
      try contents[second].write(to: URL(filePath: paths[first]))
      let complaints = [complaint(fixture, id), complaint(fixture, other)].compactMap { $0 }
      #expect(!complaints.isEmpty)
      #expect(complaints.allSatisfy { $0 == .photo || $0 == .depth })
      for (path, content) in zip(paths, contents) { try content.write(to: URL(filePath: path)) }
    }
    _ = try fixture.store.verify(id)
    _ = try fixture.store.verify(other)
  }

  @Test("Rows that were exchanged are noticed")
  func swappedRows() throws {
    let fixture = try CaptureFixture()
    let ids = [try fixture.addFull(1), try fixture.addFull(2)]
    // Parts that belong to the other.
    try fixture.change("UPDATE captureParts SET capture = -capture WHERE part = 3")
    try fixture.change("UPDATE captureParts SET capture = 3 + capture WHERE part = 3")
    for id in ids { #expect(complaint(fixture, id) == .some(.metadata)) }
    try fixture.change("UPDATE captureParts SET capture = -capture WHERE part = 3")
    try fixture.change("UPDATE captureParts SET capture = 3 + capture WHERE part = 3")
    // The whole captures, but for the identifiers.
    try fixture.change("UPDATE captures SET number = -number")
    try fixture.change("UPDATE captures SET number = 3 + number")
    for id in ids { #expect(throws: CaptureError.self) { try fixture.store.verify(id) } }
    try fixture.change("UPDATE captures SET number = -number")
    try fixture.change("UPDATE captures SET number = 3 + number")
    for id in ids { _ = try fixture.store.verify(id) }
    // Record and mark in the other's row; then the queue alone.
    let record = try #require(try fixture.value("SELECT record FROM captures WHERE number = 1"))
    let mark = try #require(try fixture.value("SELECT mark FROM captures WHERE number = 1"))
    let queue = try #require(try fixture.value("SELECT queue FROM captures WHERE number = 1"))
    let own = try #require(try fixture.value("SELECT queue FROM captures WHERE number = 2"))
    try fixture.change("UPDATE captures SET queue = ? WHERE number = 2", .bytes(queue))
    #expect(throws: CaptureError.corrupt(nil)) { try fixture.store.info(ids[1]) }
    try fixture.change("UPDATE captures SET queue = ? WHERE number = 2", .bytes(own))
    try fixture.change(
      "UPDATE captures SET record = ?, mark = ? WHERE number = 2", .bytes(record), .bytes(mark))
    #expect(throws: CaptureError.corrupt(nil)) { try fixture.store.info(ids[1]) }
    _ = try fixture.store.verify(ids[0])
  }

  @Test("A capture that was taken out of the tables is not taken for one that never was")
  func missingRow() throws {
    let fixture = try CaptureFixture()
    let id = try fixture.addFull(1)
    let other = try fixture.addFull(2)
    try fixture.change("DELETE FROM captures WHERE number = 1")
    #expect(throws: CaptureError.corrupt(nil)) { try fixture.store.info(id) }
    #expect(throws: CaptureError.corrupt(nil)) { try fixture.store.list() }
    #expect(throws: CaptureError.corrupt(nil)) { try fixture.store.examine(isDeep: false) }
    #expect(try fixture.store.listing().captures.map(\.id) == [other])
    #expect(try !fixture.store.listing().isComplete)
  }

  @Test("A former capture that was put back is noticed")
  func replayedRow() throws {
    let fixture = try CaptureFixture()
    let id = try fixture.add(photo: bytes(100, seed: 1))
    _ = try fixture.add(photo: bytes(100, seed: 2))
    try fixture.change("CREATE TEMP TABLE kept AS SELECT * FROM captures WHERE number = 1")
    try fixture.store.remove(id)
    try fixture.change("INSERT INTO captures SELECT * FROM kept")
    #expect(throws: CaptureError.corrupt(nil)) { try fixture.store.list() }
    #expect(try !fixture.store.listing().isComplete)
  }

  @Test("A state that is gone, damaged or older is noticed, and never made anew")
  func state() throws {
    let fixture = try CaptureFixture()
    let id = try fixture.addFull(1)
    let former = try #require(try fixture.value("SELECT sealed FROM captureState"))
    _ = try fixture.addFull(2)
    let state = try #require(try fixture.value("SELECT sealed FROM captureState"))
    var changed = state
    changed[60] ^= 1
    for value in [former, changed, state.dropLast(), Data()] {
      try fixture.change("UPDATE captureState SET sealed = ?", .bytes(value))
      #expect(throws: CaptureError.corrupt(nil)) { try fixture.store.list() }
      #expect(throws: CaptureError.corrupt(nil)) { try fixture.store.info(CaptureID()) }
      // What is wanted by its name can still be had.
      _ = try fixture.store.verify(id)
    }
    try fixture.change("DELETE FROM captureState")
    #expect(throws: CaptureError.corrupt(nil)) { try fixture.store.list() }
    fixture.file.close()
    let next = try fixture.store(at: fixture.home.path)
    #expect(throws: CaptureError.corrupt(nil)) { try next.list() }
    #expect(throws: CaptureError.corrupt(nil)) {
      try next.add(NewCapture(photo: source([1])), signer: fixture.signer)
    }
    #expect(try fixture.blobs().count == 4)
  }

  @Test("Where something is damaged, new captures are taken in and no blob is swept")
  func damagedAndAdding() throws {
    let fixture = try CaptureFixture()
    let id = try fixture.addFull(1)
    let record = try #require(try fixture.value("SELECT record FROM captures"))
    var changed = record
    changed[100] ^= 1
    try fixture.change("UPDATE captures SET record = ?", .bytes(changed))
    fixture.file.close()
    let next = try fixture.store(at: fixture.home.path)
    let added = try next.add(NewCapture(photo: source(bytes(70_000, seed: 9))), signer: fixture.signer)
    _ = try next.verify(added.id)
    #expect(try fixture.blobs().count == 3)
    // A backup of the row makes all well again.
    try next.file.write {
      _ = try $0.execute("UPDATE captures SET record = ? WHERE number = 1", .bytes(record))
    }
    #expect(try next.list().map(\.id) == [added.id, id])
    #expect(try next.examine(isDeep: true) == CaptureStore.Findings(captureCount: 2))
  }

  @Test("Parts that belong to no capture, and blobs that no row names, are counted")
  func strays() throws {
    let fixture = try CaptureFixture()
    let id = try fixture.addFull()
    try fixture.change("INSERT INTO captureParts (capture, part, sealed) VALUES (77, 1, x'00')")
    let stray = fixture.home.path + "/blobs/" + String(repeating: "0a", count: 16)
    try Data([1]).write(to: URL(filePath: stray))
    try Data([1]).write(to: URL(filePath: fixture.home.path + "/blobs/notes.txt"))
    let findings = try fixture.store.examine(isDeep: true)
    #expect(findings == CaptureStore.Findings(captureCount: 1, strayBlobCount: 1, strayPartCount: 1))
    try fixture.change("INSERT INTO captureParts (capture, part, sealed) VALUES (1, 1, x'00')")
    #expect(try fixture.store.examine(isDeep: false).damaged == [id])
  }
}
