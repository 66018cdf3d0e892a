// SPDX-License-Identifier: Apache-2.0
//
// What is known of one version of a record. There is one for every message of an account, in memory while its history is:
// what most versions have once is stored in place, and what most do not have costs nothing.

internal import Primitives

/// A segment's name and lamport number. All that a segment brings shares one of these.
final class SegmentLabel: Sendable {
  let name: SegmentName
  let lamport: UInt64

  init(_ name: SegmentName, lamport: UInt64) { (self.name, self.lamport) = (name, lamport) }
}

/// A place, with the segment whose list of packs it counts in.
struct KnownPlace: Hashable, Sendable {
  let segment: SegmentName
  let place: Place
  /// The rank among the places of one content.
  let lamport: UInt64
}

/// The same, as it is stored.
struct LabelledPlace: Sendable {
  let label: SegmentLabel
  let place: Place

  var known: KnownPlace { KnownPlace(segment: label.name, place: place, lamport: label.lamport) }

  /// The better of two is tried first: the highest lamport number, then the highest device.
  fileprivate static func < (left: Self, right: Self) -> Bool {
    (left.label.lamport, left.label.name) < (right.label.lamport, right.label.name)
  }
}

/// One version of a record, whoever brought it.
struct VersionEntry: Sendable {
  let kind: RecordKind
  let storedAt: UInt64
  /// Of its content, or of the first part of that.
  private let firstHash: FrameHash
  private let furtherHashes: [FrameHash]
  private let adder: SegmentLabel
  /// Of copies of a device that said the same.
  private var furtherAdders: [SegmentLabel] = []
  /// Where its content, or the first part, may be: the best, and the others from the best.
  private var firstPlace: LabelledPlace
  private var otherPlaces: [LabelledPlace] = []
  /// The same of each further part.
  private var placesOfFurther: [[LabelledPlace]]

  /// - Parameter label: of the segment that brings it.
  init(_ addition: Addition, by label: SegmentLabel) {
    kind = addition.kind
    storedAt = addition.storedAt
    firstHash = addition.frameHash
    furtherHashes = addition.further
    adder = label
    firstPlace = LabelledPlace(label: label, place: addition.place)
    placesOfFurther = Array(repeating: [], count: addition.further.count)
  }

  /// Of its content, or of the parts of that.
  var hashes: [FrameHash] { [firstHash] + furtherHashes }

  /// The numbers of all parts.
  var parts: Range<UInt16> { 0..<UInt16(1 + furtherHashes.count) }

  /// The parts that a run gets unasked. Those of a message are in memory together: a bad member's many are never got.
  var wantedParts: Range<UInt16> {
    switch kind {
    case .message, .label: parts.count <= Addition.messagePartLimit ? parts : 0..<0
    case .capture: 0..<1
    }
  }

  /// The hash of a part; nil if there is none of this number.
  func hash(ofPart part: UInt16) -> FrameHash? {
    if part == 0 { firstHash } else { parts.contains(part) ? furtherHashes[Int(part) - 1] : nil }
  }

  /// The segments that bring it; more than one if two copies of a device said the same.
  var addedBy: [SegmentName] { ([adder] + furtherAdders).map(\.name) }

  /// Whether one of the segments that bring it is such a one.
  func isAdded(where condition: (SegmentName) -> Bool) -> Bool {
    condition(adder.name) || furtherAdders.contains { condition($0.name) }
  }

  /// Where a part may be. The place to be tried first comes first.
  func places(ofPart part: UInt16) -> [KnownPlace] {
    guard part > 0 else { return ([firstPlace] + otherPlaces).map(\.known) }
    return parts.contains(part) ? placesOfFurther[Int(part) - 1].map(\.known) : []
  }

  /// Another segment brings it, or the same again.
  mutating func add(by label: SegmentLabel) {
    if !isAdded(where: { $0 == label.name }) { furtherAdders.append(label) }
  }

  /// Keeps a place, the best first. A segment has one place for a content: a bad member's many would make every search
  /// long.
  mutating func learn(_ place: LabelledPlace, part: UInt16, of hash: FrameHash) {
    guard hash == self.hash(ofPart: part) else { return }
    guard part == 0 else { return placesOfFurther[Int(part) - 1].learn(place) }
    guard place.label.name != firstPlace.label.name else { return }
    if firstPlace < place {
      otherPlaces.insert(firstPlace, at: 0)
      firstPlace = place
    } else {
      otherPlaces.learn(place)
    }
  }
}

extension [LabelledPlace] {
  fileprivate mutating func learn(_ place: LabelledPlace) {
    guard !contains(where: { $0.label.name == place.label.name }) else { return }
    let index = firstIndex { $0 < place }
    insert(place, at: index ?? count)
  }
}

/// The versions of a record. Most records have one; a bad member may give one very many.
struct VersionList: Sendable {
  typealias Element = (version: Version, entry: VersionEntry)

  private var few: [Element] = []
  /// Those that came when there were enough to look through one by one.
  private var more: [Version: VersionEntry] = [:]
  private static let fewCount = 8

  /// All of them, in no order.
  var all: [Element] { more.isEmpty ? few : few + more.map { ($0.key, $0.value) } }

  subscript(version: Version) -> VersionEntry? {
    few.first { $0.version == version }?.entry ?? (more.isEmpty ? nil : more[version])
  }

  /// Changes the entry of a version, if it is here.
  /// - Returns: whether it is.
  mutating func update(_ version: Version, _ body: (inout VersionEntry) -> Void) -> Bool {
    if let index = few.firstIndex(where: { $0.version == version }) {
      body(&few[index].entry)
    } else if let index = more.index(forKey: version) {
      body(&more.values[index])
    } else {
      return false
    }
    return true
  }

  /// Enters a version that is not here.
  mutating func insert(_ entry: VersionEntry, as version: Version) {
    if few.count < Self.fewCount { few.append((version, entry)) } else { more[version] = entry }
  }
}
