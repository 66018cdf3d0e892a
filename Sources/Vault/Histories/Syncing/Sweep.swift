// SPDX-License-Identifier: Apache-2.0
//
// Deleting packs. A pack is named by one segment, so that it is dead when all of its entries are, whatever news comes
// later: nobody has to be asked. Segments, control operations and slots are never deleted.

public import Primitives

extension History {
  /// Whether a version's content may go for good: a removal or replacement that counts and is not held came here long
  /// enough ago, by both clocks, and has hidden the version since; and of a replaced version, the replacing content is here.
  /// Nobody replaces a capture but a bad member: further parts of the other version need not be here, so that no replacement
  /// counts.
  func isDead(_ record: RecordID, _ version: Version, at now: UInt64) -> Bool {
    (records.marks[record]?[version] ?? []).contains { mark in
      guard isInForce(mark.by), let entry = chains.entries[mark.by] else { return false }
      let until = late.until(mark.by)
      let since = LateRemovals.Moment(time: entry.steadyTime, segmentCount: entry.order + 1).latest(until)
      guard since.time + limits.removalDelay <= now,
        isOldByAnotherClock(since, writtenAt: until == nil ? entry.writtenAt : nil)
      else { return false }
      guard mark.isReplacement else { return true }
      return records.entry(record, version)?.kind != .capture
        && hasReplacement(of: version, in: entry.segment, record: record)
    }
  }

  /// Whether the contents of all versions of a record that count may go for good.
  public func isDead(_ record: RecordID, at now: UInt64) -> Bool {
    records.versions(of: record).allSatisfy { version, entry in
      !counts(entry) || isDead(record, version, at: now)
    } && pendingChanges(of: record).isEmpty
  }

  /// Whether another clock says so too: the server's, if it knows a time. Else four segments of our own, each a week after the
  /// one before, must have been applied here after it.
  private func isOldByAnotherClock(_ since: LateRemovals.Moment, writtenAt: UInt64?) -> Bool {
    if let serverTime = run?.serverTime, let writtenAt {
      return writtenAt <= serverTime && serverTime - writtenAt >= limits.removalDelay
    }
    var weeks = 0
    var last = since.time
    for name in chains.segments(of: device) where weeks < 4 {
      // A clock that was set back makes those that were there before look younger.
      guard let own = chains.entries[name], own.order >= since.segmentCount,
        own.appliedAt >= last + Limits.week
      else { continue }
      weeks += 1
      last = own.appliedAt
    }
    return weeks >= 4
  }

  private func hasReplacement(of version: Version, in segment: Segment, record: RecordID) -> Bool {
    segment.operations.contains { operation in
      guard case .add(let addition) = operation, addition.record == record,
        addition.replaces.contains(version)
      else { return false }
      let replacement = RecordVersion(record: record, version: addition.version)
      return !(0...UInt16(addition.further.count)).contains { part in
        wanted.contains(ContentName(replacement, part: part))
      }
    }
  }

  /// Whether a later place of the same content is this device's own, and was read back long enough ago.
  private func isSuperseded(_ place: KnownPlace, of content: ContentName, at now: UInt64) -> Bool {
    places(of: content).contains { other in
      guard (place.lamport, place.segment) < (other.lamport, other.segment) else { return false }
      if !rules.placesAreReadBack { return true }
      return other.segment.device == device
        && readBack[other].map { $0 + limits.removalDelay <= now } ?? false
    }
  }

  /// The packs whose entries are all dead or superseded.
  mutating func packsToDelete(at now: UInt64) throws(Outcome) -> [Request] {
    guard run?.purpose == .sweep else { return [] }
    guard alarms.isEmpty, !holdsSomething, membership.fork == nil else { throw .sweepRefused }
    if let serverTime = run?.serverTime, max(serverTime, now) - min(serverTime, now) > limits.clockSkew {
      throw .sweepRefused
    }
    var deletions: [Request] = []
    for (hash, segments) in packs.sorted(by: { $0.key < $1.key }) {
      guard segments.count == 1 || !rules.packsHaveOneSegment, let name = segments.first,
        counts(name),
        let segment = chains.entries[name]?.segment,
        let number = segment.packs.firstIndex(where: { $0.hash == hash }),
        run?.listed[.pack(name.device, hash)] != nil
      else { continue }
      if isDead(pack: number, of: segment, name: name, at: now) {
        deletions.append(.delete(.pack(name.device, hash)))
      }
    }
    // Our own packs that no segment will ever name; not while a segment is missing that counts.
    for device in former.union([device]).sorted() where !counting.open.contains(device) {
      for hash in givenUp.sorted() where packs[hash] == nil && run?.listed[.pack(device, hash)] != nil {
        deletions.append(.delete(.pack(device, hash)))
      }
    }
    for case .delete(let name) in deletions { remote.forget(name) }
    return deletions
  }

  private func isDead(pack number: Int, of segment: Segment, name: SegmentName, at now: UInt64) -> Bool {
    segment.operations.allSatisfy { operation in
      if case .unknown = operation { return false }
      guard let (content, place) = operation.brought, place.pack == number else { return true }
      let known = KnownPlace(segment: name, place: place, lamport: segment.lamport)
      return isDead(content.version.record, content.version.version, at: now)
        || isSuperseded(known, of: content, at: now)
    }
  }
}
