// SPDX-License-Identifier: Apache-2.0
//
// Captures that come while other commands write.

import Foundation
import Testing

@testable import Captures

@Suite("Captures that come together")
struct CaptureFillingTests {
  /// Three captures of which the large parts are elsewhere, in a copy that nobody writes to, and their streams.
  private struct Awaited {
    let there: CaptureFixture
    let home: String
    private(set) var ids: [CaptureID] = []
    private(set) var streams: [[UInt8]] = []

    init() throws {
      let here = try CaptureFixture()
      there = try CaptureFixture()
      for seed in 1...3 {
        let id = try here.addFull(UInt64(seed))
        ids.append(id)
        streams.append(try here.stream(of: id))
        try there.receive(id, from: here)
      }
      home = try there.snapshot()
    }

    func store() throws -> CaptureStore { try there.store(at: home) }

    func add(_ number: Int, to filling: inout CaptureFilling) throws {
      try filling.add(ids[number], from: pieces(streams[number], [100_000]))
    }

    func whole(_ store: CaptureStore) throws -> Set<CaptureID> {
      Set(try store.sharedRows().filter(\.isWhole).map(\.id))
    }
  }

  @Test("Other commands remove, fill and add captures meanwhile, and nothing is lost or left over")
  func others() throws {
    let awaited = try Awaited()
    let ids = awaited.ids
    var new: CaptureID?
    try awaited.store().filling { filling in
      try awaited.add(0, to: &filling)
      try awaited.add(1, to: &filling)
      let before = Set(try awaited.there.blobs(awaited.home))
      #expect(before.count == 4)
      let other = try awaited.store()
      #expect(try other.examine(isDeep: false) == CaptureStore.Findings(captureCount: 3))
      // Its first change removes what a crash left.
      try other.remove(ids[0])
      try other.fill(ids[1], from: pieces(awaited.streams[1], [7_000]))
      let photo = NewCapture(photo: source(bytes(70_000, seed: 9)))
      new = try other.add(photo, signer: awaited.there.signer).id
      #expect(Set(try awaited.there.blobs(awaited.home)).isSuperset(of: before))
    }
    let store = try awaited.store()
    #expect(try awaited.whole(store) == [ids[1], try #require(new)])
    try store.filling { try awaited.add(2, to: &$0) }
    for id in [ids[1], ids[2]] { _ = try store.verify(id) }
    #expect(try awaited.there.blobs(awaited.home).count == 5)
    #expect(try store.examine(isDeep: true) == CaptureStore.Findings(captureCount: 3))
  }

  @Test("What was added before an error stays")
  func error() throws {
    struct Unreachable: Error {}
    let awaited = try Awaited()
    let store = try awaited.store()
    #expect(throws: Unreachable.self) {
      try store.filling { filling in
        try awaited.add(0, to: &filling)
        #expect(try awaited.whole(store) == [])
        throw Unreachable()
      }
    }
    #expect(try awaited.whole(store) == [awaited.ids[0]])
    _ = try store.verify(awaited.ids[0])
  }

  @Test(
    "A process that ends before the parts are named leaves the captures as they were, and the next one removes them"
  )
  func killed() throws {
    let awaited = try Awaited()
    var crashed = ""
    try awaited.store().filling { filling in
      try awaited.add(0, to: &filling)
      crashed = awaited.home + "-crashed"
      try FileManager.default.copyItem(atPath: awaited.home, toPath: crashed)
    }
    #expect(try awaited.there.blobs(crashed).count == 2)
    let store = try awaited.there.store(at: crashed)
    #expect(try awaited.whole(store) == [])
    #expect(try store.examine(isDeep: true) == CaptureStore.Findings(captureCount: 3, strayBlobCount: 2))
    _ = try store.release(awaited.ids[0])
    #expect(try awaited.there.blobs(crashed) == [])
  }
}
