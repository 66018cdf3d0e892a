// SPDX-License-Identifier: Apache-2.0
//
// Taking control operations and segments into a history: what is checked, and what changes when one counts.

internal import Primitives

// MARK: Control operations

extension History {
  /// Opens and takes in a sealed control operation.
  /// - Returns: false if it cannot be opened yet: a parent or an epoch's key is missing.
  mutating func takeControl(_ object: [UInt8], name: ObjectName, slot: OpenedSlot?, on machine: some Machine)
    -> Bool
  {
    // Anybody who may write at the remote can put there what nobody can open.
    guard let epoch = try? ControlSeal.epoch(of: object),
      let envelopes = try? ControlSeal.envelopes(of: object)
    else { return false }
    let tags = Set(envelopes.compactMap { try? Envelope.tag(of: $0) })
    openEnvelopes(of: object, epoch: epoch, slot: slot, on: machine)
    guard let keys = keys[epoch] else { return false }
    guard let signed = try? ControlSeal.open(object, account: account, keys: keys) else {
      alarms.insert(.tampered(name))
      return true
    }
    do throws(LogRefusal) {
      try log.insert(signed, object: object, epoch: epoch, tags: tags, machine: machine)
      return true
    } catch {
      if error == .parentMissing { return false }
      alarms.insert(.tampered(name))
      return true
    }
  }

  /// Takes keys out of envelopes for this device, or for a slot that is open. A key counts only if the log or, before
  /// there is one, the object's own head names its commitment.
  mutating func openEnvelopes(
    of object: [UInt8], epoch: EpochName, slot: OpenedSlot?, on machine: some Machine
  ) {
    var opened = openedEnvelopes(
      of: object, epoch: epoch, for: .device(device), publicKey: entry.agreementKey, key: .device, on: machine
    )
    if let slot { opened += openedEnvelopes(of: object, epoch: epoch, for: slot, on: machine) }
    for keys in opened.flatMap(\.epochKeys) where self.keys[keys.name] == nil && fitsCommitment(keys) {
      self.keys[keys.name] = keys
    }
  }

  /// What the envelopes for a slot hold.
  func openedEnvelopes(
    of object: [UInt8], epoch: EpochName, for slot: OpenedSlot, on machine: some Machine
  ) -> [EnvelopeContents] {
    openedEnvelopes(
      of: object, epoch: epoch, for: .slot(slot.id), publicKey: slot.agreement.publicKey,
      key: .memory(slot.agreement), on: machine)
  }

  private func openedEnvelopes(
    of object: [UInt8], epoch: EpochName, for recipient: EnvelopeRecipient, publicKey: [UInt8],
    key: PrivateKey,
    on machine: some Machine
  ) -> [EnvelopeContents] {
    let tag = Envelope.tag(publicKey: publicKey, epoch: epoch)
    return ((try? ControlSeal.envelopes(of: object)) ?? []).compactMap { envelope in
      guard (try? Envelope.tag(of: envelope)) == tag else { return nil }
      return try? Envelope.open(
        envelope, recipient: recipient, publicKey: publicKey, key: key, epoch: epoch, account: account,
        machine: machine)
    }
  }

  /// Whether a key is the one that an owner signed the commitment of, as far as the log knows the epoch. A name has only
  /// four bytes of it, which a member could find another key for.
  private func fitsCommitment(_ keys: EpochKeys) -> Bool {
    log.entries.values.allSatisfy { entry in
      entry.begins != keys.name || entry.operation.epochCommitment == keys.commitment
    }
  }

  /// Opens envelopes for this device in operations that are known and whose keys are not here: its keys may have changed
  /// since, or a slot opened the operation.
  mutating func openOwnEnvelopes(on machine: some Machine) {
    for entry in log.ordered
    where entry.isSealed(to: self.entry.agreementKey)
      && entry.operation.handsOut.contains(where: { keys[$0] == nil })
    {
      openEnvelopes(of: entry.object, epoch: entry.epoch, slot: nil, on: machine)
    }
  }

  /// The log changed: who belongs to the account, and which segments count.
  mutating func membershipChanged(on machine: some Machine) {
    membership = Membership(log, settled: settled)
    // What came before its operation is compared now.
    keys = keys.filter { fitsCommitment($0.value) }
    if membership.fork == nil { alarms.remove(.ownerForked) } else { alarms.insert(.ownerForked) }
    for device in chains.forks.keys where membership.revocations[device] != nil {
      alarms.remove(.forked(device))
    }
    for device in chains.heads.keys { countSegments(of: device) }
    refreshAll(on: machine)
  }

  /// Which segments of a device count: all of a member's, and of a revoked device those that every revocation leaves.
  private mutating func countSegments(of device: DeviceID) {
    let all = Set((chains.heads[device] ?? []).flatMap { chains.line(to: $0) })
    counting.subtract(all)
    guard membership.devices[device] != nil else { return }
    let left = (membership.revocations[device] ?? []).reduce(all) { left, heads in
      left.intersection(heads.flatMap { chains.line(to: $0) })
    }
    counting.formUnion(left)
    if !rules.membershipIsTheLog {
      counting.formUnion(all.filter { name in chains.entries[name].map { !knewRevocation($0) } ?? false })
    }
  }

  /// The broken rule: whether the segment's own control heads knew that its author was revoked.
  private func knewRevocation(_ entry: ChainEntry) -> Bool {
    log.upTo(entry.segment.controlHeads).contains { id in
      log.entries[id]?.rekey?.revocations.contains { $0.device == entry.name.device } ?? false
    }
  }
}

// MARK: Segments

extension History {
  /// Verifies a sealed segment and takes it in with all that follows from it.
  mutating func takeSegment(
    _ object: [UInt8], name: SegmentName, writtenAt: UInt64?, at now: UInt64, on machine: some Machine
  ) throws(SegmentRefusal) {
    let signed = try verify(object, name: name, on: machine)
    if !rules.forksMerge, chains.isFork(signed.segment) { throw .causeMissing }
    if !rules.brakeHoldsMarksAlone, let epoch = try? SegmentSeal.epoch(of: object) {
      let entry = ChainEntry(
        name: name, segment: signed.segment, object: object, epoch: epoch, appliedAt: now,
        writtenAt: writtenAt,
        order: 0)
      if !segmentsThatBrake(entry).isEmpty { throw .causeMissing }
    }
    insert(signed.segment, object: object, name: name, writtenAt: writtenAt, at: now, on: machine)
    compareDigest(signed.segment, name: name)
  }

  /// Takes in a verified segment.
  mutating func insert(
    _ segment: Segment, object: [UInt8], name: SegmentName, writtenAt: UInt64?, at now: UInt64,
    on machine: some Machine
  ) {
    guard let epoch = try? SegmentSeal.epoch(of: object) else { return }
    let wasForked = chains.forks[name.device] != nil
    let entry = ChainEntry(
      name: name, segment: segment, object: object, epoch: epoch, appliedAt: now, writtenAt: writtenAt,
      order: chains.entries.count)
    chains.insert(entry)
    for pack in segment.packs { packs[pack.hash, default: []].append(name) }
    records.apply(segment, name: name)
    if membership.isMember(name.device) { counting.insert(name) } else { countSegments(of: name.device) }
    hold(entry)
    if !wasForked, chains.forks[name.device] != nil, membership.isMember(name.device) {
      alarms.insert(.forked(name.device))
    }
    if chains.forks[name.device] == nil, membership.isMember(name.device) {
      refresh(records.takeChanged(), on: machine)
    } else {
      // Earlier segments of this chain may count now, or be held.
      refreshAll(on: machine)
    }
  }

  /// Whether the causes of a segment are here, and whether it keeps the rules.
  private func verify(
    _ object: [UInt8], name: SegmentName, on machine: some Machine
  ) throws(SegmentRefusal) -> SignedSegment {
    guard let epoch = try? SegmentSeal.epoch(of: object) else { throw .invalid }
    guard let keys = keys[epoch], let author = log.device(name.device) else { throw .causeMissing }
    guard
      let signed = try? SegmentSeal.open(
        object, account: account, device: name.device, number: name.number, keys: keys),
      machine.isSignature(signed.signature, of: signed.signedBytes, by: author.signingKey)
    else { throw .invalid }
    let segment = signed.segment
    if let predecessor = segment.predecessor, chains.entries[predecessor] == nil { throw .causeMissing }
    guard segment.controlHeads.allSatisfy({ log.entries[$0] != nil }) else { throw .causeMissing }
    for cause in chains.missing(of: segment.frontier) where !isBeyondRevocation(cause) { throw .causeMissing }
    guard keepsRules(segment, name: name) else { throw .invalid }
    return signed
  }

  /// A segment that no revocation of its device leaves: nothing has to wait for it.
  func isBeyondRevocation(_ name: SegmentName) -> Bool {
    guard let revocations = membership.revocations[name.device] else { return false }
    return revocations.contains { heads in
      heads.allSatisfy { head in
        if head.number < name.number { return true }
        let line = chains.line(to: head)
        return line.last?.number == 1 && !line.contains(name)
      }
    }
  }

  /// The numbers of a segment, its frontier and its packs.
  private func keepsRules(_ segment: Segment, name: SegmentName) -> Bool {
    let known = segment.frontier.compactMap { chains.entries[$0]?.segment.lamport }
    let (next, overflows) = (known.max() ?? 0).addingReportingOverflow(1)
    // Segments of revoked devices may be missing here, and their numbers with them.
    let slack = known.count < segment.frontier.count ? Segment.lamportSlack : 0
    guard !overflows, segment.lamport >= next, segment.lamport - next <= slack else { return false }
    var own = Set<SegmentName>()
    if let predecessor = segment.predecessor {
      guard segment.frontier.contains(predecessor), let before = chains.entries[predecessor] else {
        return false
      }
      guard chains.covers(segment.frontier, before.segment.frontier) else { return false }
      own = Set(chains.line(to: predecessor))
    }
    for pack in segment.packs where rules.packsHaveOneSegment {
      if let naming = packs[pack.hash], !own.isDisjoint(with: naming) { return false }
    }
    return segment.operations.allSatisfy { operation in
      switch operation {
      case .add(let addition):
        addition.hasItsVersion(device: name.device) && addition.version.lamport <= segment.lamport
          && segment.has(addition.place)
      case .place(let new): segment.has(new.place)
      case .remove, .unknown: true
      }
    }
  }

  /// Compares the author's digest with ours, if we are exactly where the author was.
  private mutating func compareDigest(_ segment: Segment, name: SegmentName) {
    guard log.heads == segment.controlHeads, membership.fork == nil, settled.isEmpty else { return }
    let before = Set(segment.frontier).subtracting(segment.predecessor.map { [$0] } ?? [])
    guard Set(chains.frontier) == before.union([name]) else { return }
    if buckets.digest() != segment.digest { alarms.insert(.digestDiffers(name)) }
  }
}

extension Segment {
  /// Whether a place is in one of this segment's own packs.
  func has(_ place: Place) -> Bool { Int(place.pack) < packs.count && place.entry > 0 }
}

// MARK: What follows

extension History {
  mutating func refreshAll(on machine: some Machine) {
    _ = records.takeChanged()
    refresh(Set(records.identifiers), on: machine)
  }

  /// Renews what depends on records: their digests, and which contents are wanted.
  mutating func refresh(_ changed: Set<RecordID>, on machine: some Machine) {
    for record in changed {
      for (version, entry) in records.versions[record] ?? [:] {
        let name = RecordVersion(record: record, version: version)
        if counts(entry), !isGone(record, version, heldCounts: false),
          machine.frame(of: record, version: version) == nil
        {
          wanted.insert(name)
        } else {
          wanted.remove(name)
        }
      }
      buckets.set(record, to: countedVersions(of: record))
    }
  }

  /// The versions of a record that count, with whether a removal or replacement counts, held or not: what digests see.
  func countedVersions(of record: RecordID) -> [(version: Version, isGone: Bool)] {
    (records.versions[record] ?? [:]).filter { counts($0.value) }.map { version, _ in
      (version: version, isGone: isGone(record, version, heldCounts: true))
    }
  }
}
