// SPDX-License-Identifier: Apache-2.0
//
// What is known of versions: whoever brings one, and where its parts are.

import Primitives
import Testing

@testable import Histories

@Suite("What is known of a version")
struct VersionEntryTests {
  private static func label(_ device: UInt8, _ number: UInt64, lamport: UInt64) -> SegmentLabel {
    SegmentLabel(
      SegmentName(
        device: Identifier(beginningOf: [UInt8](repeating: device, count: 16)), number: number,
        hash: HashName(hashing: [device, UInt8(number)])),
      lamport: lamport)
  }

  private static func version(_ number: UInt64) -> Version {
    Version(lamport: number, tag: Identifier(beginningOf: [UInt8](repeating: UInt8(number), count: 16)))
  }

  private static func hash(_ number: UInt8) -> FrameHash { HashName(hashing: [number]) }

  private static func entry(_ number: UInt64, further: [FrameHash] = []) -> VersionEntry {
    let addition = Addition(
      kind: .capture, record: RecordID(), storedAt: number, version: version(number), replaces: [],
      frameHash: hash(UInt8(number)), place: Place(pack: 0, entry: 1), further: further)
    return VersionEntry(addition, by: label(2, 1, lamport: 10))
  }

  private static func place(_ label: SegmentLabel, _ entry: UInt32) -> LabelledPlace {
    LabelledPlace(label: label, place: Place(pack: 0, entry: entry))
  }

  @Test("One version, a few and many are found, changed and listed alike", arguments: [1, 8, 9, 60])
  func list(count: UInt64) {
    var list = VersionList()
    for number in (1...count).reversed() { list.insert(Self.entry(number), as: Self.version(number)) }
    for number in 1...count {
      let isHere = list.update(Self.version(number)) { $0.add(by: Self.label(3, number, lamport: 11)) }
      #expect(isHere)
    }
    var isChanged = false
    let isHere = list.update(Self.version(count + 1)) { _ in isChanged = true }
    #expect(!isHere && !isChanged)
    #expect(list[Self.version(count + 1)] == nil)
    #expect(list.all.map(\.version).sorted() == (1...count).map(Self.version))
    for (version, entry) in list.all {
      #expect(entry.storedAt == version.lamport && list[version]?.hashes == entry.hashes)
      #expect(entry.addedBy.map(\.number) == [1, version.lamport])
      #expect(list[version]?.isAdded { $0.number == version.lamport } == true)
    }
  }

  @Test("Of the places of a part the latest comes first, and each segment has one")
  func places() {
    var entry = Self.entry(1, further: [Self.hash(7)])
    let labels = [
      Self.label(2, 1, lamport: 10), Self.label(3, 1, lamport: 30), Self.label(4, 1, lamport: 20),
      Self.label(5, 1, lamport: 30), Self.label(6, 1, lamport: 5),
    ]
    for part in [0, 1] as [UInt16] {
      let hash = Self.hash(part == 0 ? 1 : 7)
      for label in labels { entry.learn(Self.place(label, UInt32(label.lamport)), part: part, of: hash) }
      for label in labels { entry.learn(Self.place(label, 99), part: part, of: hash) }
      let places = entry.places(ofPart: part)
      #expect(places.map(\.segment) == [3, 1, 2, 0, 4].map { labels[$0].name })
      #expect(places.map(\.lamport) == [30, 30, 20, 10, 5])
      // The first place of the first part came with the addition.
      #expect(places.map(\.place.entry) == [30, 30, 20, part == 0 ? 1 : 10, 5])
    }
    // Of another content, and of a part that it does not have.
    entry.learn(Self.place(Self.label(9, 1, lamport: 99), 1), part: 0, of: Self.hash(9))
    entry.learn(Self.place(Self.label(9, 1, lamport: 99), 1), part: 2, of: Self.hash(7))
    #expect(entry.places(ofPart: 0).count == 5 && entry.places(ofPart: 2).isEmpty)
    #expect(entry.hash(ofPart: 1) == Self.hash(7) && entry.hash(ofPart: 2) == nil)
  }
}
