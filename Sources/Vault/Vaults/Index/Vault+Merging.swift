// SPDX-License-Identifier: Apache-2.0
//
// Segments that take the place of others: merged, without the messages that have left, under another vault key, or made
// again from the rows. The new one is on the disk before the record names it, in one transaction that no longer names
// the former ones; these are overwritten and removed after it.

internal import Primitives
internal import SearchIndex
internal import Secrets
internal import Storage

extension Vault {
  /// Replaces neighbouring segments by one, without the messages that are marked; one alone is purged.
  /// - Returns: false when they stay because one of them is damaged.
  @discardableResult
  func replace(_ former: [SegmentDescription]) throws -> Bool {
    let (segments, version, keys) = try read { transaction, state, keys in
      (try Self.segments(former, searchRecord(transaction, state, keys)), state.currentVersion, keys)
    }
    guard let segments else { return false }
    let merged: SegmentDescription?
    do {
      let opened = try segments.map { segment in
        let reader = try openSegment(segment.description, keys)
        return (reader: reader, marked: try Self.ordinals(of: segment.marks, in: reader))
      }
      let key = try keys.key(version)
      merged = try key.withBytes { key throws(SegmentError) in
        try SegmentMerger.merge(opened, files: file.searchFiles, keyVersion: version, vaultKey: key)
      }
    } catch SegmentError.disk(let error) {
      throw error
    } catch is SegmentError {
      return false
    }
    let left = Set(segments.flatMap(\.marks))
    return try exchange(former, for: merged) { now in
      // What was marked while they were merged is still in it.
      now.flatMap(\.marks).filter { !left.contains($0) }
    }
  }

  /// Seals a segment under another version of the vault key, and reads it back before the former one goes.
  /// - Throws: `SegmentError` when it is damaged.
  func copySegment(_ former: SegmentDescription, keyVersion: Int) throws {
    let keys = try keys()
    do {
      let reader = try openSegment(former, keys)
      let key = try keys.key(keyVersion)
      let copy = try key.withBytes { key throws(SegmentError) in
        try SegmentMerger.copy(reader, files: file.searchFiles, keyVersion: keyVersion, vaultKey: key)
      }
      try openSegment(copy, keys).verify()
      try exchange([former], for: copy) { $0.flatMap(\.marks) }
    } catch SegmentError.disk(let error) {
      throw error
    }
  }

  /// Makes a segment for the rows of neighbouring segments from these rows. The former ones are not read.
  /// - Returns: false when the rows are not those that the record counts.
  @discardableResult
  func remake(_ former: [SegmentDescription]) throws -> Bool {
    guard let first = former.first, let last = former.last else { return true }
    let parts = try buildSegments(of: first.numbers.lowerBound...last.numbers.upperBound)
    let made = BuiltSegment(
      description: try united(parts.compactMap(\.description)),
      numbers: first.numbers.lowerBound...last.numbers.upperBound, indexed: parts.flatMap(\.indexed))
    let isDone = try write { transaction, state, keys in
      guard case .record(var record) = try searchRecord(transaction, state, keys),
        let range = record.range(of: former)
      else { return false }
      let count = record.segments[range].reduce(0) { $0 + $1.shownCount }
      record.segments.removeSubrange(range)
      guard try append(made, to: &record, keys, transaction)?.count == count else { return false }
      try save(record, &state, keys, transaction)
      return true
    }
    let unnamed = isDone ? former : made.description.map { [$0] } ?? []
    for description in unnamed { file.searchFiles.remove(description.id) }
    return isDone
  }

  /// Makes every segment again from the rows, and indexes the rest. The answers are right all the time, if slower.
  /// - Parameter progress: false stops; what is made stays.
  /// - Returns: false when it was stopped.
  public func rebuildIndex(progress: (IndexProgress) throws -> Bool) throws -> Bool {
    guard file.home != nil else { return true }
    try file.claimWriting()
    if let record = try currentRecord() {
      var rest = record.segments[...]
      let total = try read { _, state, _ in state.shown.count }
      var done = 0
      while let first = rest.popFirst() {
        var group = [first]
        while let next = rest.first,
          group.reduce(next.shownCount, { $0 + $1.shownCount })
            <= index.largest(segmentCount: record.segments.count)
        {
          group.append(next)
          rest.removeFirst()
        }
        guard try remake(group.map(\.description)) else {
          try forgetIndex()
          break
        }
        done += group.reduce(0) { $0 + $1.shownCount }
        guard try progress(IndexProgress(done: done, total: total)) else { return false }
      }
    } else {
      try forgetIndex()
    }
    var isStopped = false
    try tend(.everything) {
      isStopped = try !progress($0)
      return !isStopped
    }
    return !isStopped
  }

  /// Begins again: nothing is indexed.
  private func forgetIndex() throws {
    try write { transaction, state, keys in try save(SearchRecord(), &state, keys, transaction) }
  }

  // MARK: Steps

  /// Names one segment instead of neighbouring ones, and removes the files that are not named then.
  /// - Parameters:
  ///   - new: nil when nothing is left of them.
  ///   - marks: of the new one, from those of the former ones as they are now.
  /// - Returns: false when the record does not name the former ones any more.
  @discardableResult
  private func exchange(
    _ former: [SegmentDescription], for new: SegmentDescription?,
    marks: ([SearchRecord.Segment]) -> [Int64]
  ) throws -> Bool {
    // An error may come after the record is on the disk: then nothing is removed, and the next sweep knows.
    let isDone = try write { transaction, state, keys in
      guard case .record(var record) = try searchRecord(transaction, state, keys),
        let range = record.range(of: former)
      else { return false }
      let now = Array(record.segments[range])
      let left = marks(now)
      record.segments.replaceSubrange(
        range,
        with: new.map { new in
          [
            SearchRecord.Segment(
              description: new, marks: left,
              firstMarked: left.isEmpty ? 0 : now.filter { !$0.marks.isEmpty }.map(\.firstMarked).min() ?? 0)
          ]
        } ?? [])
      guard record.isCounted else { return false }
      try save(record, &state, keys, transaction)
      return true
    }
    for description in isDone ? former : new.map({ [$0] }) ?? [] { file.searchFiles.remove(description.id) }
    return isDone
  }

  /// Merges segments that no record names yet.
  private func united(_ parts: [SegmentDescription]) throws -> SegmentDescription? {
    guard parts.count > 1 else { return parts.first }
    do {
      let (version, keys) = try read { _, state, keys in (state.currentVersion, keys) }
      let opened = try parts.map { (reader: try openSegment($0, keys), marked: [UInt32]()) }
      let key = try keys.key(version)
      let merged = try key.withBytes { key throws(SegmentError) in
        try SegmentMerger.merge(opened, files: file.searchFiles, keyVersion: version, vaultKey: key)
      }
      for part in parts { file.searchFiles.remove(part.id) }
      return merged
    } catch SegmentError.disk(let error) {
      throw error
    }
  }

  /// The ordinals of marked rows.
  /// - Throws: `SegmentError.damaged` when the segment does not have one.
  static func ordinals(of marks: [Int64], in reader: SegmentReader) throws(SegmentError) -> [UInt32] {
    var ordinals: [UInt32] = []
    for mark in marks {
      guard let ordinal = try reader.ordinal(of: mark) else { throw .damaged }
      ordinals.append(ordinal.ordinal)
    }
    return ordinals
  }

  /// Neighbouring segments as the record has them now.
  private static func segments(
    _ descriptions: [SegmentDescription], _ found: FoundSearchRecord
  ) -> [SearchRecord.Segment]? {
    guard case .record(let record) = found, let range = record.range(of: descriptions) else { return nil }
    return Array(record.segments[range])
  }
}
