// SPDX-License-Identifier: Apache-2.0
//
// What says which segments of the search index count, sealed in one row under the state key (Specs/search-index.md,
// "Record"):
//
//   version 1 (1) ‖ revision (8) ‖ indexed through, row number (8) ‖ indexed: count (8), sum (32)
//   ‖ segment count (2) ‖ segments: id (16) ‖ key version (4) ‖ first, last row number (16) ‖ documents (4)
//     ‖ blocks (4) ‖ root blocks (2) ‖ mark count (4) ‖ first mark's time (8, 0 without marks)
//     ‖ marks: row number − former v; the former of the first is the first row number − 1
//
// v is a varint: 7 bits a byte, low first, in the shortest form.

internal import Primitives
internal import Secrets
internal import SearchIndex
internal import Storage

struct SearchRecord: Equatable {
  struct Segment: Equatable {
    var description: SegmentDescription
    /// Numbers of rows that are not shown any more, ascending. A segment is never changed: what has left is marked here.
    var marks: [Int64] = []
    /// When the first of them was marked, in seconds since 1970, UTC; 0 without marks.
    var firstMarked: Int64 = 0

    var shownCount: Int { description.documentCount - marks.count }
  }

  /// That of the state it belongs to.
  var revision: Int64 = 0
  /// Every row up to this number that is shown is in a segment; the rows after it are the tail.
  var indexedThrough: Int64 = 0
  /// The rows that are shown up to that number. The difference from the state's is the digest of the tail.
  var indexed = SetDigest()
  /// In the order of their row numbers.
  var segments: [Segment] = []

  /// More would be a sign of merging that never happens.
  static let segmentLimit = 256

  init() {}

  /// The segment that answers for a row.
  func segment(of number: Int64) -> Int? {
    segments.firstIndex { $0.description.numbers.contains(number) }
  }

  /// Where neighbouring segments are.
  func range(of descriptions: [SegmentDescription]) -> Range<Int>? {
    guard let first = descriptions.first,
      let start = segments.firstIndex(where: { $0.description == first }),
      segments[start...].prefix(descriptions.count).map(\.description) == descriptions
    else { return nil }
    return start..<start + descriptions.count
  }

  /// Whether the segments have as many rows as are indexed.
  var isCounted: Bool { segments.reduce(0) { $0 + $1.shownCount } == indexed.count }

  /// Whether it can belong to a state: the revision is the same, and every count is possible.
  func fits(_ state: VaultState) -> Bool {
    guard revision == state.searchRevision, (0...state.highestNumber).contains(indexedThrough),
      indexed.count <= state.shown.count, isCounted
    else { return false }
    var last: Int64 = 0
    for segment in segments {
      let numbers = segment.description.numbers
      guard numbers.lowerBound > last, numbers.upperBound <= indexedThrough else { return false }
      last = numbers.upperBound
    }
    return true
  }

  /// Marks a row that is not shown any more.
  mutating func mark(_ number: Int64, at time: Int64) -> Bool {
    guard let index = segment(of: number) else { return false }
    let place = segments[index].marks.firstIndex { $0 >= number } ?? segments[index].marks.count
    guard place == segments[index].marks.count || segments[index].marks[place] != number else { return false }
    if segments[index].marks.isEmpty { segments[index].firstMarked = time }
    segments[index].marks.insert(number, at: place)
    return segments[index].shownCount >= 0
  }

  // MARK: Bytes

  var bytes: [UInt8] {
    var bytes: [UInt8] = [1]
    bytes.append(bigEndian: revision)
    bytes.append(bigEndian: indexedThrough)
    bytes.append(bigEndian: Int64(indexed.count))
    bytes += indexed.sum
    bytes.append(bigEndian: UInt16(segments.count))
    for segment in segments {
      let description = segment.description
      bytes += description.id.bytes
      bytes.append(bigEndian: UInt32(description.keyVersion))
      bytes.append(bigEndian: description.numbers.lowerBound)
      bytes.append(bigEndian: description.numbers.upperBound)
      bytes.append(bigEndian: UInt32(description.documentCount))
      bytes.append(bigEndian: UInt32(description.blockCount))
      bytes.append(bigEndian: UInt16(description.rootBlockCount))
      bytes.append(bigEndian: UInt32(segment.marks.count))
      bytes.append(bigEndian: segment.firstMarked)
      var former = description.numbers.lowerBound - 1
      for mark in segment.marks {
        Self.append(varint: UInt64(mark - former), to: &bytes)
        former = mark
      }
    }
    return bytes
  }

  /// - Returns: nil when these are not the bytes of a record.
  init?(bytes: RawSpan) {
    var cursor = ByteCursor()
    do {
      guard try cursor.readByte(bytes) == 1 else { return nil }
      revision = try cursor.readInt64(bytes)
      indexedThrough = try cursor.readInt64(bytes)
      let count = try cursor.readInt64(bytes)
      indexed = SetDigest(
        count: Int(count), sum: try cursor.readBytes(bytes, count: SetDigest.sumByteCount))
      let segmentCount = try cursor.readUInt16(bytes)
      guard count >= 0, segmentCount <= Self.segmentLimit else { return nil }
      for _ in 0..<segmentCount {
        guard let segment = try Self.segment(bytes, &cursor) else { return nil }
        segments.append(segment)
      }
      guard cursor.isAtEnd(of: bytes) else { return nil }
    } catch {
      return nil
    }
  }

  private static func segment(
    _ bytes: RawSpan, _ cursor: inout ByteCursor
  ) throws(TruncatedField) -> Segment? {
    guard let id = BlobName(bytes: try cursor.readBytes(bytes, count: BlobName.byteCount)) else { return nil }
    let keyVersion = try cursor.readUInt32(bytes)
    let first = try cursor.readInt64(bytes)
    let last = try cursor.readInt64(bytes)
    let documentCount = try cursor.readUInt32(bytes)
    let blockCount = try cursor.readUInt32(bytes)
    let rootBlockCount = try cursor.readUInt16(bytes)
    let markCount = try cursor.readUInt32(bytes)
    let firstMarked = try cursor.readInt64(bytes)
    guard first > 0, first <= last, documentCount > 0, documentCount - 1 <= last - first,
      markCount <= documentCount, markCount > 0 || firstMarked == 0
    else { return nil }
    var marks: [Int64] = []
    var former = first - 1
    for _ in 0..<markCount {
      guard let difference = try varint(bytes, &cursor), difference > 0,
        difference <= UInt64(last - former)
      else { return nil }
      former += Int64(difference)
      marks.append(former)
    }
    return Segment(
      description: SegmentDescription(
        id: id, keyVersion: keyVersion, numbers: first...last, documentCount: documentCount,
        blockCount: blockCount, rootBlockCount: rootBlockCount),
      marks: marks, firstMarked: firstMarked)
  }

  private static func append(varint value: UInt64, to bytes: inout [UInt8]) {
    var rest = value
    while rest > 0x7F {
      bytes.append(UInt8(rest & 0x7F) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
  }

  /// - Returns: nil for one that is too long, or not in its shortest form.
  private static func varint(_ bytes: RawSpan, _ cursor: inout ByteCursor) throws(TruncatedField) -> UInt64? {
    var value: UInt64 = 0
    for index in 0..<varintByteLimit {
      let byte = try cursor.readByte(bytes)
      value |= UInt64(byte & 0x7F) << UInt64(7 * index)
      if byte & 0x80 == 0 { return byte == 0 && index > 0 ? nil : value }
    }
    return nil
  }

  /// 63 bits.
  private static let varintByteLimit = 9
}

/// What the file says of the search index.
enum FoundSearchRecord {
  /// Nothing is indexed.
  case none
  /// There is one that does not open, or does not belong to the state: nothing is known of the index.
  case damaged
  case record(SearchRecord)
}

extension VaultRow<SearchRecord> {
  convenience init() {
    self.init(part: 3, context: "coffer search record v1") { SearchRecord(bytes: $0) }
  }
}

extension Vault {
  /// The record, as this transaction sees it.
  func searchRecord(
    _ transaction: borrowing Transaction, _ state: VaultState, _ keys: VaultKeys
  ) throws -> FoundSearchRecord {
    switch try searchRow.find(transaction, key: keys.state) {
    case .missing: .none
    case .damaged: .damaged
    case .value(let record): record.fits(state) ? .record(record) : .damaged
    }
  }

  /// Writes the record with the next revision, which the state gets too.
  func save(
    _ record: SearchRecord, _ state: inout VaultState, _ keys: VaultKeys, _ transaction: borrowing Transaction
  ) throws {
    state.searchRevision += 1
    var next = record
    next.revision = state.searchRevision
    try searchRow.save(next, bytes: next.bytes, transaction, key: keys.state)
  }

  /// Marks a row in the index that is not shown any more. A record that does not say so MUST NOT fit any more, not
  /// even one that is missing now and put back later.
  func leaveIndex(
    _ row: MessageRow, _ state: inout VaultState, _ hash: inout RowHash, _ keys: VaultKeys,
    _ transaction: borrowing Transaction
  ) throws {
    guard case .record(var record) = try searchRecord(transaction, state, keys) else {
      state.searchRevision += 1
      return
    }
    guard row.number <= record.indexedThrough else { return }
    guard record.mark(row.number, at: clock.now()) else {
      // It is not in the segment of its number: the record is not this table's, and nothing of it is believed.
      state.searchRevision += 1
      return
    }
    hash.removeShown(row.id, from: &record.indexed)
    try save(record, &state, keys, transaction)
  }
}
