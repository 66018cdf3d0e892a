// SPDX-License-Identifier: Apache-2.0
//
// The records: every version that a verified segment brought, and every mark that removes or replaces one. Whether they
// count is asked when they are read, since a revocation reaches back.

internal import Primitives

/// One version of a record, whoever brought it.
struct VersionEntry: Sendable {
  let kind: RecordKind
  /// Of its content, or of the parts of that.
  let hashes: [FrameHash]
  let storedAt: UInt64
  /// The segments that bring it; more than one if two copies of a device said the same.
  var addedBy: [SegmentName]
  /// Where its content, or the first part, may be. The place to be tried first comes first.
  private var places: [KnownPlace] = []
  /// The same of each further part.
  private var furtherPlaces: [[KnownPlace]]

  init(_ addition: Addition) {
    kind = addition.kind
    hashes = [addition.frameHash] + addition.further
    storedAt = addition.storedAt
    addedBy = []
    furtherPlaces = Array(repeating: [], count: addition.further.count)
  }

  /// The numbers of all parts.
  var parts: Range<UInt16> { 0..<UInt16(hashes.count) }

  /// The parts that a run gets unasked. Those of a message are in memory together: a bad member's many are never got.
  var wantedParts: Range<UInt16> {
    switch kind {
    case .message, .label: hashes.count <= Addition.messagePartLimit ? parts : 0..<0
    case .capture: 0..<1
    }
  }

  /// The hash of a part; nil if there is none of this number.
  func hash(ofPart part: UInt16) -> FrameHash? { parts.contains(part) ? hashes[Int(part)] : nil }

  /// Where a part may be.
  func places(ofPart part: UInt16) -> [KnownPlace] {
    if part == 0 { places } else { parts.contains(part) ? furtherPlaces[Int(part) - 1] : [] }
  }
}

/// A place, with the segment whose list of packs it counts in.
struct KnownPlace: Hashable, Sendable {
  let segment: SegmentName
  let place: Place
  /// The rank among the places of one content.
  let lamport: UInt64
}

/// A removal or replacement of one version.
struct Mark: Hashable, Sendable {
  let by: SegmentName
  let isReplacement: Bool
}

/// What all verified segments say of records, whether it counts or not.
struct Records: Sendable {
  private(set) var versions: [RecordID: [Version: VersionEntry]] = [:]
  private(set) var marks: [RecordID: [Version: Set<Mark>]] = [:]
  /// Places of versions whose addition is not here yet: further parts come before it, and a segment does not wait for what
  /// lies beyond a revocation.
  private var earlyPlaces: [RecordVersion: [UInt16: [(place: KnownPlace, hash: FrameHash)]]] = [:]
  /// Records that changed since they were last taken.
  private(set) var changed: Set<RecordID> = []

  /// All record identifiers, in no order.
  var identifiers: some Collection<RecordID> { versions.keys }

  /// All record identifiers, in rising order.
  var sortedIdentifiers: [RecordID] { versions.keys.sorted() }

  /// What a record is; nil of one that nobody added.
  func kind(of record: RecordID) -> RecordKind? { versions[record]?.values.first?.kind }

  /// The segments that say where a further part is, also before its addition is here.
  func segments(placing content: ContentName, _ hash: FrameHash) -> [SegmentName] {
    if let entry = versions[content.version.record]?[content.version.version] {
      return entry.hash(ofPart: content.part) == hash
        ? entry.places(ofPart: content.part).map(\.segment) : []
    }
    return (earlyPlaces[content.version]?[content.part] ?? []).filter { $0.hash == hash }.map(\.place.segment)
  }

  /// Takes in the operations of a verified segment. Taking the same in again changes nothing.
  mutating func apply(_ segment: Segment, name: SegmentName) {
    for operation in segment.operations {
      switch operation {
      case .add(let addition):
        changed.insert(addition.record)
        var entry = versions[addition.record]?[addition.version] ?? VersionEntry(addition)
        if !entry.addedBy.contains(name) { entry.addedBy.append(name) }
        entry.learn(
          KnownPlace(segment: name, place: addition.place, lamport: segment.lamport), part: 0,
          of: addition.frameHash)
        let early = earlyPlaces.removeValue(
          forKey: RecordVersion(record: addition.record, version: addition.version))
        for (part, places) in early ?? [:] {
          for (place, hash) in places { entry.learn(place, part: part, of: hash) }
        }
        versions[addition.record, default: [:]][addition.version] = entry
        for version in addition.replaces {
          mark(addition.record, version, Mark(by: name, isReplacement: true))
        }
      case .remove(let removal):
        changed.insert(removal.record)
        for version in removal.versions {
          mark(removal.record, version, Mark(by: name, isReplacement: false))
        }
      case .place(let new):
        let place = KnownPlace(segment: name, place: new.place, lamport: segment.lamport)
        if versions[new.record]?[new.version] == nil {
          earlyPlaces[RecordVersion(record: new.record, version: new.version), default: [:]][
            new.part, default: []
          ].append((place, new.frameHash))
        } else {
          versions[new.record]?[new.version]?.learn(place, part: new.part, of: new.frameHash)
        }
      case .unknown:
        break
      }
    }
  }

  /// The records that changed, once.
  mutating func takeChanged() -> Set<RecordID> {
    defer { changed = [] }
    return changed
  }

  private mutating func mark(_ record: RecordID, _ version: Version, _ mark: Mark) {
    marks[record, default: [:]][version, default: []].insert(mark)
  }
}

extension VersionEntry {
  /// Keeps a place, the best first: the highest lamport number, then the highest device. A segment has one place for a
  /// content: a bad member's many would make every search long.
  fileprivate mutating func learn(_ place: KnownPlace, part: UInt16, of hash: FrameHash) {
    guard hash == self.hash(ofPart: part) else { return }
    if part == 0 { places.learn(place) } else { furtherPlaces[Int(part) - 1].learn(place) }
  }
}

extension [KnownPlace] {
  fileprivate mutating func learn(_ place: KnownPlace) {
    guard !contains(where: { $0.segment == place.segment }) else { return }
    let index = firstIndex { ($0.lamport, $0.segment) < (place.lamport, place.segment) }
    insert(place, at: index ?? count)
  }
}
