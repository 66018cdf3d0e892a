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
  private func complaint(_ bench: CaptureBench, _ id: CaptureID) -> CapturePart?? {
    do {
      _ = try bench.store.verify(id)
      return nil
    } catch CaptureError.corrupt(let part) {
      return .some(part)
    } catch {
      Issue.record(error)
      return nil
    }
  }

  private func expect(
    _ part: CapturePart?, _ bench: CaptureBench, _ id: CaptureID, _ comment: Comment,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    #expect(complaint(bench, id) == .some(part), comment, sourceLocation: sourceLocation)
    #expect(try bench.store.examine(isDeep: true).damaged == [id], comment, sourceLocation: sourceLocation)
  }

  @Test("A changed byte anywhere in a blob is noticed, and the part named")
  func blobs() throws {
    let bench = try CaptureBench()
    let id = try bench.addFull()
    // By size: depth, photo.
    for (path, part) in zip(try bench.blobs(), [CapturePart.depth, .photo]) {
      let whole = try Data(contentsOf: URL(filePath: path))
      let places =
        [0, 7, 8, 19, 20, 4_000, whole.count - 17, whole.count - 16, whole.count - 1]
        + (part == .photo ? [262_144 + 8, 262_144 + 36, 300_000, 2 * (262_144 + 28) + 8] : [])
      for place in places {
        var changed = whole
        changed[place] ^= 0x40
        try changed.write(to: URL(filePath: path))
        #expect(complaint(bench, id) == .some(part), "byte \(place)")
      }
      for count in [0, 7, 8, whole.count - 1, whole.count - 28] {
        try whole.prefix(count).write(to: URL(filePath: path))
        try expect(part, bench, id, "\(count) bytes")
      }
      try (whole + [0]).write(to: URL(filePath: path))
      try expect(part, bench, id, "one byte more")
      if part == .photo {
        // The first two chunks in the other order.
        let size = 262_144 + 28
        let swapped =
          whole[..<8] + whole[8 + size..<8 + 2 * size] + whole[8..<8 + size] + whole[(8 + 2 * size)...]
        try Data(swapped).write(to: URL(filePath: path))
        try expect(part, bench, id, "chunks swapped")
      }
      try FileManager.default.removeItem(atPath: path)
      #expect(complaint(bench, id) == .some(part))
      #expect(try bench.store.examine(isDeep: false).damaged == [id])
      try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "/etc/passwd")
      #expect(throws: (any Error).self) { try bench.store.verify(id) }
      try FileManager.default.removeItem(atPath: path)
      try whole.write(to: URL(filePath: path))
    }
    _ = try bench.store.verify(id)
  }

  @Test("A changed byte in a part that stands in a row is noticed, and the part named")
  func rows() throws {
    let bench = try CaptureBench()
    let id = try bench.addFull()
    for part in [CapturePart.metadata, .thumbnail, .manifest, .assertion] {
      let number = StorageValue.integer(Int64(part.rawValue))
      let whole = try bench.file.read { transaction in
        try transaction.firstRow("SELECT sealed FROM captureParts WHERE part = ?", number) { try $0.bytes(0) }
      }
      let sealed = try #require(whole)
      for place in [0, 11, 12, 20, sealed.count - 16, sealed.count - 1] {
        var changed = sealed
        changed[place] ^= 1
        try bench.change("UPDATE captureParts SET sealed = ? WHERE part = ?", .bytes(changed), number)
        try expect(part, bench, id, "byte \(place) of \(part)")
      }
      for changed in [sealed.dropLast(), sealed + [0], Data()] {
        try bench.change("UPDATE captureParts SET sealed = ? WHERE part = ?", .bytes(changed), number)
        try expect(part, bench, id, "\(changed.count) bytes of \(part)")
      }
      try bench.change("DELETE FROM captureParts WHERE part = ?", number)
      try expect(part, bench, id, "\(part) gone")
      #expect(try bench.store.examine(isDeep: false).damaged == [id])
      try bench.change(
        "INSERT INTO captureParts (capture, part, sealed) VALUES (1, ?2, ?1)", .bytes(sealed), number)
      _ = try bench.store.verify(id)
    }
    try bench.change("UPDATE captureParts SET part = 6 - part WHERE part IN (4, 5)")
    try bench.change("UPDATE captureParts SET part = 9 WHERE part = 1")
    #expect(throws: CaptureError.self) { try bench.store.verify(id) }
  }

  @Test("A changed byte in a record, a mark, an id or the queue is noticed; the others stay readable")
  func records() throws {
    let bench = try CaptureBench()
    let id = try bench.addFull(1)
    let other = try bench.addFull(2)
    let columns: [(StaticString, StaticString)] = [
      ("SELECT record FROM captures WHERE number = 1", "UPDATE captures SET record = ? WHERE number = 1"),
      ("SELECT mark FROM captures WHERE number = 1", "UPDATE captures SET mark = ? WHERE number = 1"),
      ("SELECT queue FROM captures WHERE number = 1", "UPDATE captures SET queue = ? WHERE number = 1"),
    ]
    for (read, write) in columns {
      let whole = try #require(try bench.value(read))
      let flips = stride(from: 0, to: whole.count, by: max(whole.count / 9, 1)).map { place in
        var changed = whole
        changed[place] ^= 0x80
        return changed
      }
      for changed in flips + [whole.dropLast(), whole + [0], Data()] {
        try bench.change(write, .bytes(changed))
        #expect(throws: CaptureError.corrupt(nil)) { try bench.store.info(id) }
        #expect(throws: CaptureError.corrupt(nil)) { try bench.store.list() }
        #expect(throws: CaptureError.corrupt(nil)) { try bench.store.remove(id) }
        let listing = try bench.store.listing()
        #expect(listing.captures.map(\.id) == [other])
        #expect(listing.damaged == [id])
        #expect(!listing.isComplete)
        #expect(try bench.store.examine(isDeep: false).damaged == [id])
        _ = try bench.store.verify(other)
      }
      try bench.change(write, .bytes(whole))
      _ = try bench.store.verify(id)
    }
    let whole = try #require(try bench.value("SELECT id FROM captures WHERE number = 1"))
    var changed = whole
    changed[15] ^= 1
    for replacement in [changed, whole.dropLast()] {
      try bench.change("UPDATE captures SET id = ? WHERE number = 1", .bytes(replacement))
      #expect(throws: CaptureError.corrupt(nil)) { try bench.store.info(id) }
      #expect(throws: CaptureError.corrupt(nil)) { try bench.store.list() }
      #expect(try !bench.store.listing().isComplete)
    }
  }

  @Test("Blobs that were exchanged, of one capture or of two, are noticed")
  func swappedBlobs() throws {
    let bench = try CaptureBench()
    let id = try bench.add(photo: bytes(100_000, seed: 1), depth: bytes(100_000, seed: 2))
    let other = try bench.add(photo: bytes(100_000, seed: 3))
    let paths = try bench.blobs()
    let contents = try paths.map { try Data(contentsOf: URL(filePath: $0)) }
    for (first, second) in [(0, 1), (0, 2), (1, 2)] {
      try contents[first].write(to: URL(filePath: paths[second]))
      try contents[second].write(to: URL(filePath: paths[first]))
      let complaints = [complaint(bench, id), complaint(bench, other)].compactMap { $0 }
      #expect(!complaints.isEmpty)
      #expect(complaints.allSatisfy { $0 == .photo || $0 == .depth })
      for (path, content) in zip(paths, contents) { try content.write(to: URL(filePath: path)) }
    }
    _ = try bench.store.verify(id)
    _ = try bench.store.verify(other)
  }

  @Test("Rows that were exchanged are noticed")
  func swappedRows() throws {
    let bench = try CaptureBench()
    let ids = [try bench.addFull(1), try bench.addFull(2)]
    // Parts that belong to the other.
    try bench.change("UPDATE captureParts SET capture = -capture WHERE part = 3")
    try bench.change("UPDATE captureParts SET capture = 3 + capture WHERE part = 3")
    for id in ids { #expect(complaint(bench, id) == .some(.metadata)) }
    try bench.change("UPDATE captureParts SET capture = -capture WHERE part = 3")
    try bench.change("UPDATE captureParts SET capture = 3 + capture WHERE part = 3")
    // The whole captures, but for the identifiers.
    try bench.change("UPDATE captures SET number = -number")
    try bench.change("UPDATE captures SET number = 3 + number")
    for id in ids { #expect(throws: CaptureError.self) { try bench.store.verify(id) } }
    try bench.change("UPDATE captures SET number = -number")
    try bench.change("UPDATE captures SET number = 3 + number")
    for id in ids { _ = try bench.store.verify(id) }
    // Record and mark in the other's row; then the queue alone.
    let record = try #require(try bench.value("SELECT record FROM captures WHERE number = 1"))
    let mark = try #require(try bench.value("SELECT mark FROM captures WHERE number = 1"))
    let queue = try #require(try bench.value("SELECT queue FROM captures WHERE number = 1"))
    let own = try #require(try bench.value("SELECT queue FROM captures WHERE number = 2"))
    try bench.change("UPDATE captures SET queue = ? WHERE number = 2", .bytes(queue))
    #expect(throws: CaptureError.corrupt(nil)) { try bench.store.info(ids[1]) }
    try bench.change("UPDATE captures SET queue = ? WHERE number = 2", .bytes(own))
    try bench.change(
      "UPDATE captures SET record = ?, mark = ? WHERE number = 2", .bytes(record), .bytes(mark))
    #expect(throws: CaptureError.corrupt(nil)) { try bench.store.info(ids[1]) }
    _ = try bench.store.verify(ids[0])
  }

  @Test("A capture that was taken out of the tables is not taken for one that never was")
  func missingRow() throws {
    let bench = try CaptureBench()
    let id = try bench.addFull(1)
    let other = try bench.addFull(2)
    try bench.change("DELETE FROM captures WHERE number = 1")
    #expect(throws: CaptureError.corrupt(nil)) { try bench.store.info(id) }
    #expect(throws: CaptureError.corrupt(nil)) { try bench.store.list() }
    #expect(throws: CaptureError.corrupt(nil)) { try bench.store.examine(isDeep: false) }
    #expect(try bench.store.listing().captures.map(\.id) == [other])
    #expect(try !bench.store.listing().isComplete)
  }

  @Test("A former capture that was put back is noticed")
  func replayedRow() throws {
    let bench = try CaptureBench()
    let id = try bench.add(photo: bytes(100, seed: 1))
    _ = try bench.add(photo: bytes(100, seed: 2))
    try bench.change("CREATE TEMP TABLE kept AS SELECT * FROM captures WHERE number = 1")
    try bench.store.remove(id)
    try bench.change("INSERT INTO captures SELECT * FROM kept")
    #expect(throws: CaptureError.corrupt(nil)) { try bench.store.list() }
    #expect(try !bench.store.listing().isComplete)
  }

  @Test("A state that is gone, damaged or older is noticed, and never made anew")
  func state() throws {
    let bench = try CaptureBench()
    let id = try bench.addFull(1)
    let former = try #require(try bench.value("SELECT sealed FROM captureState"))
    _ = try bench.addFull(2)
    let state = try #require(try bench.value("SELECT sealed FROM captureState"))
    var changed = state
    changed[60] ^= 1
    for value in [former, changed, state.dropLast(), Data()] {
      try bench.change("UPDATE captureState SET sealed = ?", .bytes(value))
      #expect(throws: CaptureError.corrupt(nil)) { try bench.store.list() }
      #expect(throws: CaptureError.corrupt(nil)) { try bench.store.info(CaptureID()) }
      // What is wanted by its name can still be had.
      _ = try bench.store.verify(id)
    }
    try bench.change("DELETE FROM captureState")
    #expect(throws: CaptureError.corrupt(nil)) { try bench.store.list() }
    bench.file.close()
    let next = try bench.store(at: bench.home.path)
    #expect(throws: CaptureError.corrupt(nil)) { try next.list() }
    #expect(throws: CaptureError.corrupt(nil)) {
      try next.add(NewCapture(photo: source([1])), signer: bench.signer)
    }
    #expect(try bench.blobs().count == 4)
  }

  @Test("Where something is damaged, new captures are taken in and no blob is swept")
  func damagedAndAdding() throws {
    let bench = try CaptureBench()
    let id = try bench.addFull(1)
    let record = try #require(try bench.value("SELECT record FROM captures"))
    var changed = record
    changed[100] ^= 1
    try bench.change("UPDATE captures SET record = ?", .bytes(changed))
    bench.file.close()
    let next = try bench.store(at: bench.home.path)
    let added = try next.add(NewCapture(photo: source(bytes(70_000, seed: 9))), signer: bench.signer)
    _ = try next.verify(added.id)
    #expect(try bench.blobs().count == 3)
    // A backup of the row makes all well again.
    try next.file.write {
      _ = try $0.execute("UPDATE captures SET record = ? WHERE number = 1", .bytes(record))
    }
    #expect(try next.list().map(\.id) == [added.id, id])
    #expect(try next.examine(isDeep: true) == CaptureStore.Findings(captureCount: 2))
  }

  @Test("Parts that belong to no capture, and blobs that no row names, are counted")
  func strays() throws {
    let bench = try CaptureBench()
    let id = try bench.addFull()
    try bench.change("INSERT INTO captureParts (capture, part, sealed) VALUES (77, 1, x'00')")
    let stray = bench.home.path + "/blobs/" + String(repeating: "0a", count: 16)
    try Data([1]).write(to: URL(filePath: stray))
    try Data([1]).write(to: URL(filePath: bench.home.path + "/blobs/notes.txt"))
    let findings = try bench.store.examine(isDeep: true)
    #expect(findings == CaptureStore.Findings(captureCount: 1, strayBlobCount: 1, strayPartCount: 1))
    try bench.change("INSERT INTO captureParts (capture, part, sealed) VALUES (1, 1, x'00')")
    #expect(try bench.store.examine(isDeep: false).damaged == [id])
  }
}
