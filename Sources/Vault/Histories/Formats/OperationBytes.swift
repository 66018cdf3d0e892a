// SPDX-License-Identifier: Apache-2.0
//
// The operations of a segment as bytes, and the number of a version:
//
//   kind (1) ‖ flags (1; bit 0: must be understood) ‖ length (4) ‖ body
//
//   1 message.add      record (16) ‖ stored at (8) ‖ version (24) ‖ replaces: count (2), version (24) each
//                      ‖ pack (2) ‖ entry (4) ‖ hash of the frame (32) ‖ hash of each further part (32)
//   2 message.remove   record (16) ‖ versions: count (2), version (24) each
//   3 capture.add      as message.add
//   4 label.add        as message.add
//   5 place            record (16) ‖ version (24) ‖ part (2) ‖ hash of the part (32) ‖ pack (2) ‖ entry (4)
//
// Additions and removals must be understood, a place need not be. Each kind has one value of the flags.

public import Primitives
internal import Secrets

extension Operation {
  private enum Kind: UInt8 {
    case message = 1
    case remove = 2
    case capture = 3
    case label = 4
    case place = 5
  }

  private static let mustBeUnderstood: UInt8 = 1

  func append(to bytes: inout [UInt8]) {
    let (kind, flags, body): (UInt8, UInt8, [UInt8]) =
      switch self {
      case .add(let addition): (addition.kind.rawValue, Self.mustBeUnderstood, addition.body)
      case .remove(let removal): (Kind.remove.rawValue, Self.mustBeUnderstood, removal.body)
      case .place(let place): (Kind.place.rawValue, 0, place.body)
      case .unknown(let kind, let body): (kind, 0, body)
      }
    if case .unknown = self { precondition(Kind(rawValue: kind) == nil, "the kind is known") }
    bytes.append(kind)
    bytes.append(flags)
    bytes.append(bigEndian: UInt32(body.count))
    bytes += body
  }

  init(from fields: inout FieldReader, packCount: Int) throws(FormatError) {
    let number = try fields.byte()
    let flags = try fields.byte()
    guard flags & ~Self.mustBeUnderstood == 0 else { throw .malformed }
    var body = try fields.part(Int(try fields.integer() as UInt32))
    guard let kind = Kind(rawValue: number) else {
      guard flags == 0 else { throw .unknownOperation }
      self = .unknown(kind: number, body: try body.bytes(body.remaining))
      return
    }
    guard flags == (kind == .place ? 0 : Self.mustBeUnderstood) else { throw .malformed }
    switch kind {
    case .message: self = .add(try Addition(.message, from: &body, packCount: packCount))
    case .capture: self = .add(try Addition(.capture, from: &body, packCount: packCount))
    case .label: self = .add(try Addition(.label, from: &body, packCount: packCount))
    case .remove: self = .remove(try Removal(from: &body))
    case .place: self = .place(try NewPlace(from: &body, packCount: packCount))
    }
    try body.finish()
  }
}

extension Addition {
  /// How many parts a content may have, but for the first.
  public static let furtherPartLimit = 4_095
  /// Parts of the content of a message or label, at most: a vault has none that takes more (Specs/vault.md, "Limits").
  static let messagePartLimit = 16

  /// The version of an addition: 16 bytes of a hash over the device and all that it says but the place, which is known
  /// only when a pack is sealed. So two copies of one device that change one message at one lamport number make two
  /// versions.
  public static func version(
    kind: RecordKind = .message, lamport: UInt64, device: DeviceID, record: RecordID, storedAt: UInt64,
    replaces: [Version],
    frameHash: FrameHash, further: [FrameHash] = []
  ) -> Version {
    var bytes = Array(kind.versionLabel.utf8)
    bytes += device.bytes
    bytes.append(record)
    bytes.append(bigEndian: storedAt)
    bytes.appendRising(replaces, count: UInt16.self) { $0.append($1) }
    bytes += frameHash.bytes
    for hash in further { bytes += hash.bytes }
    bytes.append(bigEndian: lamport)
    return Version(lamport: lamport, tag: Identifier(beginningOf: SHA256.hash(bytes.rawSpan)))
  }

  /// Whether the version is that of this addition by `device`.
  public func hasItsVersion(device: DeviceID) -> Bool {
    version
      == Self.version(
        kind: kind, lamport: version.lamport, device: device, record: record, storedAt: storedAt,
        replaces: replaces,
        frameHash: frameHash, further: further)
  }

  fileprivate var body: [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(record)
    bytes.append(bigEndian: storedAt)
    bytes.append(version)
    bytes.appendRising(replaces, count: UInt16.self) { $0.append($1) }
    place.append(to: &bytes)
    bytes += frameHash.bytes
    for hash in further { bytes += hash.bytes }
    return bytes
  }

  fileprivate init(
    _ kind: RecordKind, from fields: inout FieldReader, packCount: Int
  ) throws(FormatError) {
    self.kind = kind
    record = try fields.record()
    storedAt = try fields.integer()
    version = try fields.version()
    replaces = try fields.versions()
    place = try Place(from: &fields, packCount: packCount)
    frameHash = try fields.hash()
    guard fields.remaining <= Self.furtherPartLimit * FrameHash.byteCount else { throw .tooLarge }
    var further: [FrameHash] = []
    while fields.remaining > 0 { further.append(try fields.hash()) }
    self.further = further
  }
}

extension RecordKind {
  /// What the hash of a version begins with.
  fileprivate var versionLabel: String {
    switch self {
    case .message: "coffer version v1"
    case .capture: "coffer capture version v1"
    case .label: "coffer label version v1"
    }
  }
}

extension Removal {
  fileprivate var body: [UInt8] {
    precondition(!versions.isEmpty, "a removal names what it removes")
    var bytes: [UInt8] = []
    bytes.append(record)
    bytes.appendRising(versions, count: UInt16.self) { $0.append($1) }
    return bytes
  }

  fileprivate init(from fields: inout FieldReader) throws(FormatError) {
    record = try fields.record()
    versions = try fields.versions()
    guard !versions.isEmpty else { throw .malformed }
  }
}

extension NewPlace {
  fileprivate var body: [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(record)
    bytes.append(version)
    bytes.append(bigEndian: part)
    bytes += frameHash.bytes
    place.append(to: &bytes)
    return bytes
  }

  fileprivate init(from fields: inout FieldReader, packCount: Int) throws(FormatError) {
    record = try fields.record()
    version = try fields.version()
    part = try fields.integer()
    guard part <= Addition.furtherPartLimit else { throw .malformed }
    frameHash = try fields.hash()
    place = try Place(from: &fields, packCount: packCount)
  }
}

extension Place {
  fileprivate func append(to bytes: inout [UInt8]) {
    bytes.append(bigEndian: pack)
    bytes.append(bigEndian: entry)
  }

  /// - Parameter packCount: of the segment; a place in another pack does not exist.
  fileprivate init(from fields: inout FieldReader, packCount: Int) throws(FormatError) {
    pack = try fields.integer()
    entry = try fields.integer()
    guard pack < packCount, (1...Pack.entryCountLimit).contains(Int(entry)) else { throw .malformed }
  }
}

extension FieldReader {
  mutating func version() throws(FormatError) -> Version {
    Version(lamport: try integer(), tag: try identifier())
  }

  fileprivate mutating func versions() throws(FormatError) -> [Version] {
    try rising(Int(try integer() as UInt16)) { fields throws(FormatError) in try fields.version() }
  }
}
