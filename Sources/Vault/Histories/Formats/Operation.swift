// SPDX-License-Identifier: Apache-2.0
//
// What a segment says about records: an addition, a removal, or a new place of a content.

public import Primitives

/// One entry of a segment.
public enum Operation: Hashable, Sendable {
  case add(Addition)
  case remove(Removal)
  case place(NewPlace)
  /// An operation of a later format that need not be understood; kept as it came, and passed over.
  case unknown(kind: UInt8, body: [UInt8])
}

/// What a record is. The numbers are those of the operations that add one.
public enum RecordKind: UInt8, Sendable {
  case message = 1
  /// Its further parts are got when somebody asks for them.
  case capture = 3
  /// Title, note and tags of a capture, which change while the capture does not: a record of its own.
  case label = 4
}

/// Where a content is: an entry of a pack that this segment names.
public struct Place: Hashable, Sendable {
  /// The number of the pack in the segment's own list, from 0.
  public let pack: UInt16
  /// The number of the entry in the pack, from 1.
  public let entry: UInt32

  public init(pack: UInt16, entry: UInt32) {
    self.pack = pack
    self.entry = entry
  }
}

/// A new message, capture or label, or a new version of one.
public struct Addition: Hashable, Sendable {
  public let kind: RecordKind
  public let record: RecordID
  /// Seconds since 1970; shown, never compared.
  public let storedAt: UInt64
  public let version: Version
  /// The versions that its author had seen and replaced; in rising order.
  public let replaces: [Version]
  /// Of the content, or of its first part.
  public let frameHash: FrameHash
  /// Where that is.
  public let place: Place
  /// Of the further parts, in their order. Their places are in segments before this one, or in this one.
  public let further: [FrameHash]

  public init(
    kind: RecordKind = .message, record: RecordID, storedAt: UInt64, version: Version, replaces: [Version],
    frameHash: FrameHash, place: Place, further: [FrameHash] = []
  ) {
    self.kind = kind
    self.record = record
    self.storedAt = storedAt
    self.version = version
    self.replaces = replaces
    self.frameHash = frameHash
    self.place = place
    self.further = further
  }
}

/// A removal of the versions that its author had seen, and of no others.
public struct Removal: Hashable, Sendable {
  public let record: RecordID
  /// In rising order, at least one.
  public let versions: [Version]

  public init(record: RecordID, versions: [Version]) {
    self.record = record
    self.versions = versions
  }
}

/// A place of a further part, or another place of a content for readers that do not find it at the first. A hint: the
/// hash decides.
public struct NewPlace: Hashable, Sendable {
  public let record: RecordID
  public let version: Version
  /// Which part of the content, from 0.
  public let part: UInt16
  public let frameHash: FrameHash
  public let place: Place

  public init(record: RecordID, version: Version, part: UInt16 = 0, frameHash: FrameHash, place: Place) {
    self.record = record
    self.version = version
    self.part = part
    self.frameHash = frameHash
    self.place = place
  }
}
