// SPDX-License-Identifier: Apache-2.0
//
// Reading and writing the fields of the account's formats. There is one form for each value: a reader refuses lists
// that do not rise, bytes that are left over, and padding that is not zero.

internal import Primitives
internal import Secrets

/// Reads fields one after the other; for bytes that are not secret.
struct FieldReader {
  private let bytes: [UInt8]
  private(set) var offset: Int
  private let end: Int

  /// A reader of all bytes, or of those before `end`.
  init(_ bytes: [UInt8], from start: Int = 0, to end: Int? = nil) {
    self.bytes = bytes
    offset = start
    self.end = end ?? bytes.count
    precondition(0 <= start && start <= self.end && self.end <= bytes.count, "the range is within the bytes")
  }

  /// A reader of all bytes behind a magic of eight characters, the last two of them its version.
  init(_ bytes: [UInt8], behind magic: [UInt8]) throws(FormatError) {
    guard bytes.count >= magic.count, bytes[..<6] == magic[..<6] else { throw .malformed }
    guard bytes[..<8] == magic[...] else { throw .unknownVersion }
    self.init(bytes, from: magic.count)
  }

  /// Bytes that are left.
  var remaining: Int { end - offset }

  mutating func byte() throws(FormatError) -> UInt8 { try integer() }

  mutating func integer<Value: FixedWidthInteger & UnsignedInteger>() throws(FormatError) -> Value {
    let start = try skip(Value.bitWidth / 8)
    var value: Value = 0
    for index in start..<offset { value = value << 8 | Value(bytes[index]) }
    return value
  }

  /// One byte, 0 or 1.
  mutating func flag() throws(FormatError) -> Bool {
    switch try byte() {
    case 0: return false
    case 1: return true
    default: throw .malformed
    }
  }

  mutating func bytes(_ count: Int) throws(FormatError) -> [UInt8] {
    let start = try skip(count)
    return Array(bytes[start..<offset])
  }

  mutating func identifier<Kind>() throws(FormatError) -> Identifier<Kind> {
    Identifier(bytes, at: try skip(Identifier<Kind>.byteCount))
  }

  mutating func hash<Kind>() throws(FormatError) -> HashName<Kind> {
    HashName(bytes, at: try skip(HashName<Kind>.byteCount))
  }

  mutating func record() throws(FormatError) -> RecordID {
    let octets = try bytes(RecordID.byteCount)
    guard let record = RecordID(octets.rawSpan) else { throw .malformed }
    return record
  }

  mutating func epochName() throws(FormatError) -> EpochName {
    EpochName(number: try integer(), check: try integer())
  }

  /// A point. Whoever uses the key checks that it is on the curve.
  mutating func publicKey() throws(FormatError) -> [UInt8] {
    let key = try bytes(P256.publicKeyByteCount)
    guard Self.isPublicKey(key) else { throw .malformed }
    return key
  }

  /// Whether this can be a point: 4, and two coordinates (SEC 1, 2.3.3).
  static func isPublicKey(_ key: [UInt8]) -> Bool { key.count == P256.publicKeyByteCount && key[0] == 4 }

  /// A segment's name, as frontiers have it.
  mutating func segmentName() throws(FormatError) -> SegmentName {
    let name = SegmentName(device: try identifier(), number: try integer(), hash: try hash())
    guard name.number > 0 else { throw .malformed }
    return name
  }

  /// Entries in rising order, without repeats.
  mutating func rising<Entry: Comparable>(
    _ count: Int, _ read: (inout FieldReader) throws(FormatError) -> Entry
  ) throws(FormatError) -> [Entry] {
    var entries: [Entry] = []
    for _ in 0..<count {
      let entry = try read(&self)
      if let last = entries.last, last >= entry { throw .malformed }
      entries.append(entry)
    }
    return entries
  }

  /// Entries that rise by one of their fields.
  mutating func rising<Entry, Key: Comparable>(
    _ count: Int, by key: KeyPath<Entry, Key>, _ read: (inout FieldReader) throws(FormatError) -> Entry
  ) throws(FormatError) -> [Entry] {
    var entries: [Entry] = []
    for _ in 0..<count {
      let entry = try read(&self)
      if let last = entries.last, last[keyPath: key] >= entry[keyPath: key] { throw .malformed }
      entries.append(entry)
    }
    return entries
  }

  /// A reader of the next bytes, which this one passes over.
  mutating func part(_ count: Int) throws(FormatError) -> FieldReader {
    let start = try skip(count)
    return FieldReader(bytes, from: start, to: offset)
  }

  /// The rest, which must be zero.
  mutating func padding() throws(FormatError) {
    guard bytes[offset..<end].allSatisfy({ $0 == 0 }) else { throw .malformed }
    offset = end
  }

  /// Refuses bytes that are left.
  func finish() throws(FormatError) {
    guard offset == end else { throw .malformed }
  }

  /// - Returns: the offset before.
  private mutating func skip(_ count: Int) throws(FormatError) -> Int {
    guard count >= 0, count <= remaining else { throw .malformed }
    defer { offset += count }
    return offset
  }
}

extension [UInt8] {
  mutating func append(_ record: RecordID) { record.withBytes { append($0) } }

  mutating func append(_ epoch: EpochName) {
    append(bigEndian: epoch.number)
    append(bigEndian: epoch.check)
  }

  mutating func append(_ version: Version) {
    append(bigEndian: version.lamport)
    self += version.tag.bytes
  }

  mutating func append(_ name: SegmentName) {
    self += name.device.bytes
    append(bigEndian: name.number)
    self += name.hash.bytes
  }

  /// A count, and the entries, which rise.
  mutating func appendRising<Entry: Comparable, Count: FixedWidthInteger>(
    _ entries: [Entry], count: Count.Type, _ write: (inout [UInt8], Entry) -> Void
  ) {
    for index in entries.indices.dropFirst() {
      precondition(entries[index - 1] < entries[index], "a list rises, without repeats")
    }
    append(bigEndian: Count(entries.count))
    for entry in entries { write(&self, entry) }
  }

  /// A count, and the entries, which rise by one of their fields.
  mutating func appendRising<Entry, Key: Comparable, Count: FixedWidthInteger>(
    _ entries: [Entry], by key: KeyPath<Entry, Key>, count: Count.Type,
    _ write: (inout [UInt8], Entry) -> Void
  ) {
    let isRising = zip(entries, entries.dropFirst()).allSatisfy { $0[keyPath: key] < $1[keyPath: key] }
    precondition(isRising, "a list rises, without repeats")
    append(bigEndian: Count(entries.count))
    for entry in entries { write(&self, entry) }
  }
}
