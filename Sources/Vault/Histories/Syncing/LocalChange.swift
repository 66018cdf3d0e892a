// SPDX-License-Identifier: Apache-2.0
//
// What this device said and no segment holds yet. A content in several parts is several changes: the places of the
// further parts, then the addition.

internal import Primitives

/// A change of this device that no segment holds yet.
enum LocalChange: Hashable, Sendable {
  case add(PendingAddition)
  case remove(record: RecordID, versions: [Version])
  case place(
    kind: RecordKind = .message, record: RecordID, version: Version, part: UInt16 = 0, frameHash: FrameHash)

  /// How many versions one operation names: a bad member may write more of one record than a segment can hold.
  static let versionLimit = 1_000

  var record: RecordID {
    switch self {
    case .add(let added): added.record
    case .remove(let record, _), .place(_, let record, _, _, _): record
    }
  }

  /// What it brings; nil for a removal.
  var content: ContentName? {
    switch self {
    case .add(let added): ContentName(record: added.record, version: added.version)
    case .place(_, let record, let version, let part, _):
      ContentName(record: record, version: version, part: part)
    case .remove: nil
    }
  }

  /// The versions that it removes or replaces.
  var marked: [Version] {
    switch self {
    case .add(let added): added.replaces
    case .remove(_, let versions): versions
    case .place: []
    }
  }

  /// Whether it is about a part that is not the first.
  var isOfFurtherPart: Bool { (content?.part ?? 0) > 0 }

  /// Bytes of its operation in a segment, or some more.
  var byteCount: Int {
    switch self {
    case .add(let added): 128 + 24 * added.replaces.count + 32 * added.further.count
    case .remove(_, let versions): 128 + 24 * versions.count
    case .place: 128
    }
  }

  /// Whether it brings a part of a capture: such parts have packs of their own, which few devices get.
  var isOfCapturePart: Bool {
    if case .place(.capture, _, _, let part, _) = self { part > 0 } else { false }
  }

  /// Removals of these versions, in as many operations as it takes.
  static func removals(of record: RecordID, _ versions: [Version]) -> [LocalChange] {
    stride(from: 0, to: versions.count, by: versionLimit).map { start in
      .remove(record: record, versions: Array(versions[start..<min(start + versionLimit, versions.count)]))
    }
  }
}

/// A version that no segment holds yet.
struct PendingAddition: Hashable, Sendable {
  var kind = RecordKind.message
  let record: RecordID
  let storedAt: UInt64
  let version: Version
  let replaces: [Version]
  let frameHash: FrameHash
  var further: [FrameHash] = []

  var name: RecordVersion { RecordVersion(record: record, version: version) }

  var replacedNames: [RecordVersion] { replaces.map { RecordVersion(record: record, version: $0) } }

  /// Of all parts.
  var hashes: [FrameHash] { [frameHash] + further }

  /// The places of all parts but the first, then the addition: whoever sees it can get all parts.
  var changes: [LocalChange] {
    further.enumerated().map { index, hash in
      .place(kind: kind, record: record, version: version, part: UInt16(index + 1), frameHash: hash)
    } + [.add(self)]
  }

  /// What a segment says.
  func addition(at place: Place) -> Addition {
    Addition(
      kind: kind, record: record, storedAt: storedAt, version: version, replaces: replaces,
      frameHash: frameHash, place: place, further: further)
  }
}

extension PendingAddition {
  /// What an addition of our own was made of.
  init(_ addition: Addition) {
    self.init(
      kind: addition.kind, record: addition.record, storedAt: addition.storedAt, version: addition.version,
      replaces: addition.replaces, frameHash: addition.frameHash, further: addition.further)
  }
}

extension LocalChange {
  /// The change that an operation of our own was made of; of a place, its record knows the kind.
  init?(_ operation: Operation) {
    switch operation {
    case .add(let addition): self = .add(PendingAddition(addition))
    case .remove(let removal): self = .remove(record: removal.record, versions: removal.versions)
    case .place(let new):
      self = .place(record: new.record, version: new.version, part: new.part, frameHash: new.frameHash)
    case .unknown: return nil
    }
  }
}
