// SPDX-License-Identifier: Apache-2.0
//
// The records: every version that a verified segment brought, and every mark that removes or replaces one. Whether they
// count is asked when they are read, since a revocation reaches back.

internal import Primitives

/// A removal or replacement of one version.
struct Mark: Hashable, Sendable {
  let by: SegmentName
  let isReplacement: Bool
}

/// What all verified segments say of records, whether it counts or not.
struct Records: Sendable {
  private var lists: [RecordID: VersionList] = [:]
  private(set) var marks: [RecordID: [Version: Set<Mark>]] = [:]
  /// Places of versions whose addition is not here yet: further parts come before it, and a segment does not wait for what
  /// lies beyond a revocation.
  private var earlyPlaces: [RecordVersion: [UInt16: [(place: LabelledPlace, hash: FrameHash)]]] = [:]
  /// Records that changed since they were last taken.
  private(set) var changed: Set<RecordID> = []

  /// All record identifiers, in no order.
  var identifiers: some Collection<RecordID> { lists.keys }

  /// All record identifiers, in rising order.
  var sortedIdentifiers: [RecordID] { lists.keys.sorted() }

  /// What a record is; nil of one that nobody added.
  func kind(of record: RecordID) -> RecordKind? { lists[record]?.all.first?.entry.kind }

  /// The versions of a record, whether they count or not, in no order.
  func versions(of record: RecordID) -> [VersionList.Element] { lists[record]?.all ?? [] }

  /// What is known of a version; nil of one that nobody added.
  func entry(_ record: RecordID, _ version: Version) -> VersionEntry? { lists[record]?[version] }

  /// The segments that say where a further part is, also before its addition is here.
  func segments(placing content: ContentName, _ hash: FrameHash) -> [SegmentName] {
    if let entry = entry(content.version.record, content.version.version) {
      return entry.hash(ofPart: content.part) == hash
        ? entry.places(ofPart: content.part).map(\.segment) : []
    }
    return (earlyPlaces[content.version]?[content.part] ?? []).filter { $0.hash == hash }.map(
      \.place.label.name)
  }

  /// Takes in the operations of a verified segment. Taking the same in again changes nothing.
  mutating func apply(_ segment: Segment, name: SegmentName) {
    let label = SegmentLabel(name, lamport: segment.lamport)
    for operation in segment.operations {
      switch operation {
      case .add(let addition):
        add(addition, label)
        for version in addition.replaces {
          mark(addition.record, version, Mark(by: name, isReplacement: true))
        }
      case .remove(let removal):
        changed.insert(removal.record)
        for version in removal.versions {
          mark(removal.record, version, Mark(by: name, isReplacement: false))
        }
      case .place(let new):
        let place = LabelledPlace(label: label, place: new.place)
        let isHere = lists[new.record]?.update(new.version) {
          $0.learn(place, part: new.part, of: new.frameHash)
        }
        if isHere != true {
          earlyPlaces[RecordVersion(record: new.record, version: new.version), default: [:]][
            new.part, default: []
          ].append((place, new.frameHash))
        }
      case .unknown:
        break
      }
    }
  }

  private mutating func add(_ addition: Addition, _ label: SegmentLabel) {
    changed.insert(addition.record)
    let isHere = lists[addition.record]?.update(addition.version) { entry in
      entry.add(by: label)
      entry.learn(
        LabelledPlace(label: label, place: addition.place), part: 0, of: addition.frameHash)
    }
    if isHere == true { return }
    var entry = VersionEntry(addition, by: label)
    let name = RecordVersion(record: addition.record, version: addition.version)
    for (part, places) in earlyPlaces.removeValue(forKey: name) ?? [:] {
      for (place, hash) in places { entry.learn(place, part: part, of: hash) }
    }
    lists[addition.record, default: VersionList()].insert(entry, as: addition.version)
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
