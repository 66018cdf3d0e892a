// SPDX-License-Identifier: Apache-2.0
//
// Writing the search index (Specs/search-index.md, "Writing"): segments of the rows that are in none yet, and what
// brings them up to date. Nothing here is part of an acknowledgement: a segment is made from rows that are on the disk,
// synchronised, then named by the record in a transaction of its own. Whoever is killed in between leaves a file that
// nothing names.
//
// The writer's lock is held throughout, so no other process changes rows or record meanwhile.

internal import MessageFormats
internal import Primitives
internal import SearchIndex
internal import Secrets
internal import Storage

extension Vault {
  /// How far the index is.
  public struct IndexProgress: Sendable, Equatable {
    /// Messages that are in segments now, of ``total``.
    public let done: Int
    /// Messages that are shown.
    public let total: Int
  }

  /// Brings the search index up to date, after a change of the vault is on the disk: marked messages leave their
  /// segments, new ones get into one when they are many, and segments are merged. Answers are the same before and after.
  ///
  /// A record that does not open stays as it is; see ``rebuildIndex(progress:)``.
  /// - Parameter progress: called after each segment.
  /// - Throws: `StorageError`: the disk is full or fails. The change itself stands.
  public func updateIndex(progress: (IndexProgress) -> Void = { _ in }) throws {
    try tend(.usual) {
      progress($0)
      return true
    }
  }

  enum Tending {
    /// After any change: what is due, and at most one merge.
    case usual
    /// After many: everything that is in no segment, and as few segments as the limit allows.
    case everything
  }

  /// - Parameter goesOn: false stops between two segments.
  func tend(_ tending: Tending, goesOn: (IndexProgress) throws -> Bool) throws {
    guard file.home != nil else { return }
    try file.claimWriting()
    guard let record = try currentRecord() else { return }
    var hasMerged = false
    for segment in record.segments where index.isPurgeDue(segment, now: clock.now()) {
      let isLarge = !index.isSmall(segment)
      if isLarge, hasMerged, tending == .usual { continue }
      if try replace([segment.description]) { hasMerged = hasMerged || isLarge }
    }
    let isFlushed = try tending == .everything || isTailLong(record)
    if isFlushed { guard try flush(goesOn) else { return } }
    switch tending {
    case .usual: if !hasMerged { try merge(once: true) { index.nextMerge($0, except: $1) } }
    case .everything: try merge(once: false) { index.nextFullMerge($0, except: $1) }
    }
    try sweepIndex()
  }

  /// Merges neighbours. A segment that turns out to be damaged stays, and the others are merged without it.
  /// - Parameters:
  ///   - once: whether one merge is enough.
  ///   - next: chooses the neighbours that are merged next, without those of these names.
  private func merge(
    once: Bool, _ next: ([SearchRecord.Segment], _ failed: Set<BlobName>) -> Range<Int>?
  ) throws {
    var failed: Set<BlobName> = []
    while let segments = try currentRecord()?.segments, let range = next(segments, failed) {
      if try replace(segments[range].map(\.description)) {
        if once { return }
      } else {
        failed.formUnion(segments[range].map(\.description.id))
      }
    }
  }

  /// The record as it is; an empty one if there is none, nil if there is one that is not to be believed.
  func currentRecord() throws -> SearchRecord? {
    try read { transaction, state, keys in
      switch try searchRecord(transaction, state, keys) {
      case .none: SearchRecord()
      case .damaged: nil
      case .record(let record): record
      }
    }
  }

  /// Whether there is more to read one by one than a search should.
  private func isTailLong(_ record: SearchRecord) throws -> Bool {
    try file.read(.messages) { transaction in
      var (count, byteCount) = (0, 0)
      try transaction.forEachRow(
        "SELECT length(sealed) FROM messages WHERE number > ? AND standing = 0",
        .integer(record.indexedThrough)
      ) { row in
        count += 1
        byteCount += Int(try row.integer(0))
        return count <= index.tailCount && byteCount <= index.tailByteCount
      }
      return count > index.tailCount || byteCount > index.tailByteCount
    }
  }

  /// Makes segments of everything that is in none.
  /// - Parameter goesOn: false stops between two segments.
  /// - Returns: false when it was stopped; what is made stays.
  func flush(_ goesOn: (IndexProgress) throws -> Bool) throws -> Bool {
    while let record = try currentRecord() {
      guard let numbers = try tailNumbers(record) else { return true }
      var built = try buildNextSegments(of: numbers)[...]
      defer { for segment in built { remove(segment) } }
      while let segment = built.popFirst() {
        if let record = try currentRecord() { try mergeIfMany(record) }
        guard let progress = try add(segment) else { return true }
        guard try goesOn(progress) else { return false }
      }
    }
    return true
  }

  /// The numbers of the rows that are in no segment; nil if there are none.
  func tailNumbers(_ record: SearchRecord) throws -> ClosedRange<Int64>? {
    let last = try read { transaction, state, _ in
      // A row with a greater number is not the vault's; whoever reads the tail finds it, and says so.
      min(try MessageRow.lastNumber(transaction), state.highestNumber)
    }
    return last > record.indexedThrough ? record.indexedThrough + 1...last : nil
  }

  /// Merges once while many messages come, before there are too many segments.
  func mergeIfMany(_ record: SearchRecord) throws {
    guard record.segments.count >= index.mergedFrom else { return }
    try merge(once: true) { index.nextMerge($0, except: $1) }
  }

  // MARK: Segments

  /// Names a new segment in the record, unless another one answers for its rows by now.
  /// - Returns: how far the index is now; nil when the segment was not wanted, and is removed.
  func add(_ built: BuiltSegment) throws -> IndexProgress? {
    let progress = try write { transaction, state, keys -> IndexProgress? in
      var record: SearchRecord
      switch try searchRecord(transaction, state, keys) {
      case .none: record = SearchRecord()
      case .damaged: return nil
      case .record(let found): record = found
      }
      guard record.indexedThrough == built.numbers.lowerBound - 1,
        let digest = try append(built, to: &record, keys, transaction)
      else { return nil }
      record.indexed.formUnion(digest)
      record.indexedThrough = built.numbers.upperBound
      try save(record, &state, keys, transaction)
      return IndexProgress(done: record.indexed.count, total: state.shown.count)
    }
    if progress == nil { remove(built) }
    return progress
  }

  /// Removes the file of a segment that no record names.
  private func remove(_ built: BuiltSegment) {
    if let description = built.description { file.searchFiles.remove(description.id) }
  }

  /// Puts a new segment where its numbers belong. Rows that have left since they were read are marked.
  /// - Returns: the digest of its rows that are shown; nil when rows are shown that are not in it.
  func append(
    _ built: BuiltSegment, to record: inout SearchRecord, _ keys: VaultKeys,
    _ transaction: borrowing Transaction
  ) throws -> SetDigest? {
    var hash = keys.rowHash()
    var digest = SetDigest()
    var gone: [Int64] = []
    var rest = built.indexed[...]
    var isWhole = true
    try transaction.forEachRow(
      "SELECT number, id FROM messages WHERE number BETWEEN ? AND ? AND standing = 0 ORDER BY number",
      .integer(built.numbers.lowerBound), .integer(built.numbers.upperBound)
    ) { row in
      let number = try row.integer(0)
      while let first = rest.first, first < number { gone.append(rest.removeFirst()) }
      isWhole = rest.popFirst() == number
      if isWhole { hash.addShown(try row.identifier(1), to: &digest) }
      return isWhole
    }
    gone += rest
    guard isWhole else { return nil }
    guard let description = built.description else { return digest }
    guard record.segments.count < SearchRecord.segmentLimit else { return nil }
    let place =
      record.segments.firstIndex { $0.description.numbers.lowerBound > built.numbers.upperBound }
      ?? record.segments.count
    record.segments.insert(
      SearchRecord.Segment(
        description: description, marks: gone, firstMarked: gone.isEmpty ? 0 : clock.now()),
      at: place)
    return digest
  }

  /// Opens a segment.
  func openSegment(_ description: SegmentDescription, _ keys: VaultKeys) throws(SegmentError) -> SegmentReader
  {
    guard let key = keys.versions[description.keyVersion] else { throw SegmentError.damaged }
    return try key.withBytes { key throws(SegmentError) in
      try SegmentReader(description, files: file.searchFiles, vaultKey: key)
    }
  }

  /// A failure of the disk as the rest of a coffer reports it.
  static func sorted(_ error: SegmentError) -> any Error {
    if case .disk(let error) = error { return error }
    return error
  }

  /// Removes files that the record does not name; nothing while it is not known which it names.
  func sweepIndex() throws {
    let named = try read { transaction, state, keys -> Set<BlobName>? in
      switch try searchRecord(transaction, state, keys) {
      case .none: []
      case .damaged: nil
      case .record(let record): Set(record.segments.map(\.description.id))
      }
    }
    if let named { try file.sweepSearchFiles(except: named) }
  }
}

extension SetDigest {
  /// Adds the members of another set, none of which is in this one.
  fileprivate mutating func formUnion(_ other: SetDigest) {
    count += other.count
    for index in sum.indices { sum[index] ^= other.sum[index] }
  }

  /// Without the members of a set, all of which are in this one.
  func subtracting(_ other: SetDigest) -> SetDigest {
    var rest = self
    rest.count -= other.count
    for index in rest.sum.indices { rest.sum[index] ^= other.sum[index] }
    return rest
  }
}
