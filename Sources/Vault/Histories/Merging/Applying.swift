// SPDX-License-Identifier: Apache-2.0
//
// Taking segments into a history: what is checked, and what changes when one counts. Whether a segment keeps the rules
// is a function of the segment and of its own chain, which every reader has: two readers never differ, in whatever order
// things come.

internal import Primitives

extension History {
  /// Verifies a sealed segment and takes it in with all that follows from it.
  mutating func takeSegment(
    _ object: [UInt8], name: SegmentName, writtenAt: UInt64?, at now: UInt64, on machine: some Machine
  ) throws(SegmentRefusal) {
    let signed = try verify(object, name: name, on: machine)
    if !rules.forksMerge, chains.isFork(signed.segment) { throw .causeMissing(nil) }
    if !rules.brakeHoldsMarksAlone, let epoch = try? SegmentSeal.epoch(of: object) {
      let entry = ChainEntry(
        name: name, segment: signed.segment, object: object, epoch: epoch, appliedAt: now,
        steadyTime: chains.steadyTime(now), writtenAt: writtenAt,
        order: 0)
      if brakes(entry) { throw .causeMissing(nil) }
    }
    insert(signed.segment, object: object, name: name, writtenAt: writtenAt, at: now, on: machine)
  }

  /// Takes in a verified segment.
  mutating func insert(
    _ segment: Segment, object: [UInt8], name: SegmentName, writtenAt: UInt64?, at now: UInt64,
    on machine: some Machine
  ) {
    guard let epoch = try? SegmentSeal.epoch(of: object) else { return }
    let fork = chains.forks[name.device]
    let entry = ChainEntry(
      name: name, segment: segment, object: object, epoch: epoch, appliedAt: now,
      steadyTime: chains.steadyTime(now), writtenAt: writtenAt, order: chains.entries.count)
    noteSetBackClock(entry, at: now)
    chains.insert(entry)
    newObjects.append(
      StoredObject(name: .segment(name), object: object, appliedAt: now, writtenAt: writtenAt))
    for pack in segment.packs { packs[pack.hash, default: []].append(name) }
    records.apply(segment, name: name)
    noteForCounting(name)
    var changed = records.takeChanged()
    for held in hold(entry) { changed.formUnion(recordsNamed(by: held)) }
    if let first = chains.forks[name.device], first != fork {
      if fork == nil, membership.isMember(name.device) { alarms.insert(.forked(name.device)) }
      // What comes after the fork is held from now on.
      for after in chains.segments(of: name.device) where after.number >= first {
        changed.formUnion(recordsNamed(by: after))
      }
    }
    if name.device == device { notePlaces(of: name) }
    refresh(changed, on: machine)
  }

  /// Whether the causes of a segment are here, and whether it keeps the rules.
  private func verify(
    _ object: [UInt8], name: SegmentName, on machine: some Machine
  ) throws(SegmentRefusal) -> SignedSegment {
    guard let epoch = try? SegmentSeal.epoch(of: object) else { throw .invalid }
    guard log.begins(epoch), let keys = keys[epoch], let author = log.device(name.device) else {
      throw .causeMissing(nil)
    }
    guard
      let signed = try? SegmentSeal.open(
        object, account: account, device: name.device, number: name.number, keys: keys),
      machine.isSignature(signed.signature, of: signed.signedBytes, by: author.signingKey)
    else { throw .invalid }
    let segment = signed.segment
    if let predecessor = segment.predecessor, chains.entries[predecessor] == nil {
      throw .causeMissing(predecessor)
    }
    guard keepsRules(segment) else { throw .invalid }
    guard segment.controlHeads.allSatisfy({ log.entries[$0] != nil }) else { throw .causeMissing(nil) }
    for cause in segment.frontier where chains.entries[cause] == nil && !isBeyondRevocation(cause) {
      throw .causeMissing(cause)
    }
    return signed
  }

  /// Whether the numbers of a segment, its frontier and its packs are right, by itself and its own chain alone.
  private func keepsRules(_ segment: Segment) -> Bool {
    let before = segment.predecessor.flatMap { chains.entries[$0]?.segment }
    if let predecessor = segment.predecessor {
      guard let before, segment.frontier.contains(predecessor), segment.frontier.covers(before.frontier)
      else { return false }
    }
    let lamport = before?.lamport ?? 0
    guard segment.lamport > lamport, segment.lamport - lamport <= Segment.lamportStep else { return false }
    for pack in segment.packs where rules.packsHaveOneSegment {
      guard let predecessor = segment.predecessor else { break }
      let isAncestors = packs[pack.hash]?.contains { chains.isOnLine($0, to: predecessor) } ?? false
      if isAncestors { return false }
    }
    return segment.operations.allSatisfy { operation in
      switch operation {
      case .add(let addition):
        addition.hasItsVersion(device: segment.device) && addition.version.lamport <= segment.lamport
          && segment.has(addition.place)
          && placesParts(
            of: ContentName(record: addition.record, version: addition.version), addition.further,
            operations: segment.operations, after: segment.predecessor)
      case .place(let new): segment.has(new.place)
      case .remove, .unknown: true
      }
    }
  }

  /// Whether a chain says where all further parts of a content are, in these operations of its next segment or before.
  func placesParts(
    of first: ContentName, _ further: [FrameHash], operations: [Operation], after predecessor: SegmentName?
  ) -> Bool {
    guard !further.isEmpty else { return true }
    var placed: [UInt16: FrameHash] = [:]
    for case .place(let new) in operations
    where new.record == first.version.record && new.version == first.version.version {
      placed[new.part] = new.frameHash
    }
    return further.enumerated().allSatisfy { index, hash in
      let part = UInt16(index + 1)
      if placed[part] == hash { return true }
      guard let predecessor else { return false }
      return records.segments(placing: ContentName(first.version, part: part), hash).contains {
        chains.isOnLine($0, to: predecessor)
      }
    }
  }

  /// The lamport number of this device's next segment: above all that are here, as far as one step reaches. A member that
  /// writes high numbers cannot use them up, and does not stop anybody.
  var nextLamport: UInt64 {
    let own = chains.heads[device]?.last.flatMap { chains.entries[$0]?.segment.lamport } ?? 0
    let (above, isLast) = chains.lamport.addingReportingOverflow(1)
    let (reach, isBeyond) = own.addingReportingOverflow(Segment.lamportStep)
    return min(isLast ? .max : above, isBeyond ? .max : reach)
  }

  /// Compares the digest of the author of a last segment with ours, if we are exactly where the author was.
  mutating func compareDigest(_ name: SegmentName) {
    guard let segment = chains.entries[name]?.segment, chains.isHead(name),
      log.heads == segment.controlHeads, membership.fork == nil, settled.isEmpty
    else { return }
    let before = Set(segment.frontier).subtracting(segment.predecessor.map { [$0] } ?? [])
    guard Set(chains.frontier) == before.union([name]) else { return }
    if buckets.digest() != segment.digest { alarms.insert(.digestDiffers(name)) }
  }
}

extension Segment {
  /// Whether a place is in one of this segment's own packs.
  func has(_ place: Place) -> Bool { Int(place.pack) < packs.count && place.entry > 0 }
}

extension [SegmentName] {
  /// Whether this frontier goes back nowhere: of no device is the highest number lower.
  fileprivate func covers(_ older: [SegmentName]) -> Bool {
    let highest = Dictionary(map { ($0.device, $0.number) }, uniquingKeysWith: Swift.max)
    return older.allSatisfy { name in (highest[name.device] ?? 0) >= name.number }
  }
}
