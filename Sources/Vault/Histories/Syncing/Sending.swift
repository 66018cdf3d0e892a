// SPDX-License-Identifier: Apache-2.0
//
// What a run sends: first the objects that the remote lacks, whoever wrote them; then packs, a look whether they are
// there, and only then the segment that names them.

internal import Primitives

// MARK: Putting back

extension History {
  /// Control operations, slots and segments that this device has and that no list shows whole. Writing one again changes
  /// nothing, so a late list costs a request and no more.
  /// - Returns: what to put at once, the last first: a control operation comes after its parents, and all else after them.
  func objectsToPutBack() -> [[Request]] {
    guard let run else { return [] }
    func puts(_ objects: [(name: ObjectName, object: [UInt8])]) -> [Request] {
      objects.filter { name, object in
        run.listed[name]?.byteCount != object.count || run.torn.contains(name)
      }.sorted { $0.name < $1.name }.map { .put($0.name, $0.object) }
    }
    var others: [(name: ObjectName, object: [UInt8])] = []
    var operations: [[Request]] = []
    for folder in run.folders {
      switch folder {
      case .control:
        let byNumber = Dictionary(grouping: log.entries.values, by: \.operation.number)
        operations = byNumber.sorted { $1.key < $0.key }.map { puts($0.value.map { ($0.name, $0.object) }) }
      case .slots: others += slotObjects.map { (.slot($0.key), $0.value) }
      case .block:
        others += chains.segments(in: folder).compactMap { name in
          chains.entries[name].map { (.segment(name), $0.object) }
        }
      case .packs, .requests: break
      }
    }
    return ([puts(others)] + operations).filter { !$0.isEmpty }
  }

  mutating func takeAcknowledgement(of name: ObjectName) {
    if case .pack = name { return }
    remote.noteSeen(name)
  }
}

// MARK: A segment and its packs

extension History {
  /// Whether there is something to write.
  func needsSegment(at now: UInt64) -> Bool {
    if staged != nil || !outbox.isEmpty { return true }
    guard membership.isMember(device) else { return false }
    let last = (chains.heads[device] ?? []).compactMap { chains.entries[$0]?.appliedAt }.max()
    return last.map { $0 + limits.heartbeat <= now } ?? true
  }

  /// The epoch to seal under; nil if none is safe.
  func writingKeys() -> EpochKeys? {
    if !rules.epochsAreSafe {
      return log.entries.values.compactMap(\.begins).sorted().last.flatMap { keys[$0] }
    }
    return log.safeEpochs(membership).lazy.compactMap { keys[$0] }.first
  }

  /// Somebody was never sent an epoch's key: the next open slot gives it.
  var somebodyLacksKeys: Bool { membership.fork == nil && log.somebodyLacksKeys(membership, of: keys.keys) }

  /// Whether a slot has to be opened before everybody can read and write everything.
  public var needsSlot: Bool {
    membership.isMember(device)
      && (membership.fork != nil || somebodyLacksKeys || writingKeys() == nil
        || log.aSlotHasMore(membership, than: keys.keys))
  }

  /// Seals the packs of the next segment.
  /// - Returns: the packs to put, none if there is nothing to write.
  mutating func stagePacks(at now: UInt64, on machine: inout some Machine) throws(Outcome) -> [Request] {
    guard needsSegment(at: now) else { return [] }
    guard let keys = writingKeys() else { throw .noSafeEpoch }
    if staged == nil { staged = takeFromOutbox(keys: keys, on: &machine) }
    let packs = staged?.packs ?? []
    let checked = staged?.checked ?? []
    return packs.filter { !checked.contains($0.hash) }.map { .put(.pack(device, $0.hash), $0.object) }
  }

  /// Packs whose presence is looked at, since a segment must not name what is not there.
  func packsToCheck() -> [Request] {
    (staged?.packs ?? []).filter { staged?.checked.contains($0.hash) == false }.map {
      .stat(.pack(device, $0.hash))
    }
  }

  /// Moves changes from the outbox into a staged segment, and seals their contents.
  private mutating func takeFromOutbox(keys: EpochKeys, on machine: inout some Machine) -> StagedSegment {
    let changes = Array(outbox.prefix(limits.operationsPerSegment))
    var packs = SegmentPacks(keys: keys, account: account, contentLimit: limits.contentsPerPack)
    var operationsByteCount = 0
    var operations: [Operation] = []
    var said: [LocalChange] = []
    var taken = 0
    var shared: [(operation: Int, pack: PackReference, entry: UInt32)] = []
    filling: for change in changes {
      operationsByteCount += change.byteCount
      guard operationsByteCount < Segment.byteCountLimit / 2 else { break }
      var place = Place(pack: 0, entry: 0)
      if let name = change.content {
        // A part that cannot be read any more takes its version with it: nobody takes an addition without its parts.
        if case .add(let added) = change,
          !placesParts(of: name, added.further, operations: operations, after: chains.heads[device]?.last)
        {
          noteUnreadable(name)
          taken += 1
          continue
        }
        guard let frame = content(name, on: machine) else {
          noteUnreadable(name)
          taken += 1
          continue
        }
        switch packs.place(frame, kind: change.isOfCapturePart ? .chunk : .frame, on: &machine) {
        case .placed(let new): place = new
        case .full: break filling
        // `add` refuses what no pack can hold.
        case .tooLarge:
          taken += 1
          continue
        }
      }
      taken += 1
      said.append(change)
      switch change {
      case .add(let added):
        if !rules.packsHaveOneSegment, let (pack, entry) = packOfEarlierSegment(with: added.frameHash) {
          shared.append((operations.count, pack, entry))
        }
        operations.append(.add(added.addition(at: place)))
      case .remove(let record, let versions):
        operations.append(.remove(Removal(record: record, versions: versions)))
      case .place(_, let record, let version, let part, let hash):
        operations.append(
          .place(NewPlace(record: record, version: version, part: part, frameHash: hash, place: place)))
      }
    }
    outbox.removeFirst(taken)
    var staged = StagedSegment(packs: packs.finish(on: &machine), operations: operations, changes: said)
    for (number, pack, entry) in shared { staged.share(pack, entry: entry, operation: number) }
    return staged
  }

  /// A content that nobody can seal: it does not open here, and no list of this run shows a pack that may have it.
  private mutating func noteUnreadable(_ content: ContentName) {
    let name = content.version
    let isThere = packs(holding: content).contains { pack in
      run?.listed[pack] != nil && pack.hash.map(damagedPacks.contains) != true
    }
    if !isThere, !isGone(name.record, name.version, heldCounts: true) { unreadable.insert(name) }
  }

  /// The broken rule: an earlier pack of our own that holds the same content.
  private func packOfEarlierSegment(with hash: FrameHash) -> (PackReference, UInt32)? {
    for entry in chains.ordered where entry.name.device == device {
      for case .add(let addition) in entry.segment.operations where addition.frameHash == hash {
        return (entry.segment.packs[Int(addition.place.pack)], addition.place.entry)
      }
    }
    return nil
  }

  /// Writes the next segment of this device's chain.
  /// - Returns: the segment to put; nothing if there is nothing to write.
  mutating func writeSegment(at now: UInt64, on machine: inout some Machine) throws(Outcome) -> [Request] {
    guard let staged else { return [] }
    guard staged.packs.allSatisfy({ staged.checked.contains($0.hash) }) else { throw .unreachable }
    guard let keys = writingKeys() else { throw .noSafeEpoch }
    let head = chains.heads[device]?.last
    var segment = Segment(
      account: account, device: device, number: (head?.number ?? 0) + 1, previous: head?.hash ?? .zero,
      time: now,
      lamport: nextLamport, frontier: chains.namedFrontier,
      controlHeads: Array(log.heads.prefix(Segment.controlHeadLimit)), digest: .zero,
      packs: staged.packs.map { PackReference(hash: $0.hash, byteCount: UInt32($0.object.count)) }
        + staged.shared,
      operations: staged.operations)
    segment.digest = digest(after: segment)
    let signedBytes = segment.body()
    let object = SegmentSeal.seal(
      signedBytes: signedBytes, signature: machine.signature(of: signedBytes, by: .device), segment: segment,
      keys: keys)
    let name = SegmentName(device: device, number: segment.number, hash: ObjectHash(hashing: object))
    self.staged = nil
    insert(segment, object: object, name: name, writtenAt: nil, at: now, on: machine)
    return [.put(.segment(name), object)]
  }

  /// The digest after the operations of a segment that this device is about to write. It is taken in next, so that its
  /// records' buckets can change now.
  private mutating func digest(after segment: Segment) -> StateDigest {
    var added: [RecordID: [Version]] = [:]
    var gone: [RecordID: Set<Version>] = [:]
    for operation in segment.operations {
      if case .add(let addition) = operation { added[addition.record, default: []].append(addition.version) }
      let (record, versions) = operation.marked
      if !versions.isEmpty { gone[record, default: []].formUnion(versions) }
    }
    for record in Set(added.keys).union(gone.keys) {
      var versions: [Version: Bool] = [:]
      for known in countedVersions(of: record) { versions[known.version] = known.isGone }
      for version in added[record] ?? [] where versions[version] == nil {
        versions[version] = isGone(record, version, heldCounts: true)
      }
      for version in gone[record] ?? [] where versions[version] != nil { versions[version] = true }
      buckets.set(record, to: versions.map { (version: $0.key, isGone: $0.value) })
    }
    return buckets.digest()
  }
}

extension StagedSegment {
  /// The broken rule: an addition whose content is in a pack that an earlier segment names.
  fileprivate mutating func share(_ pack: PackReference, entry: UInt32, operation number: Int) {
    guard case .add(let addition) = operations[number] else { return }
    if !shared.contains(pack) { shared.append(pack) }
    let index = packs.count + (shared.firstIndex(of: pack) ?? 0)
    operations[number] = .add(
      Addition(
        kind: addition.kind, record: addition.record, storedAt: addition.storedAt, version: addition.version,
        replaces: addition.replaces, frameHash: addition.frameHash,
        place: Place(pack: UInt16(index), entry: entry), further: addition.further))
  }
}
