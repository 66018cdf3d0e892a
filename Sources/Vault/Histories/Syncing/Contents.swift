// SPDX-License-Identifier: Apache-2.0
//
// The contents of messages: which packs are got, what is read back, and what is put into new packs because no pack holds
// it any more.

internal import Primitives
internal import Secrets

extension History {
  /// The packs to get for contents that are wanted: of each the best place that was not tried in vain.
  mutating func packsToGet() -> [Request] {
    guard let run else { return [] }
    var names: Set<ObjectName> = []
    for wanted in contentsToGet {
      if let name = bestPack(for: wanted, without: run.absentPacks), !run.asked.contains(name) {
        names.insert(name)
      }
    }
    self.run?.asked.formUnion(names)
    return names.sorted().map { .get($0) }
  }

  /// The contents that are wanted, without those that the user of this device has removed since.
  var contentsToGet: Set<RecordVersion> {
    guard !wanted.isEmpty else { return [] }
    var contents = wanted
    for case .remove(let record, let versions) in pendingChanges {
      for version in versions { contents.remove(RecordVersion(record: record, version: version)) }
    }
    return contents
  }

  /// The pack in which a content is tried next.
  private func bestPack(for wanted: RecordVersion, without absent: Set<ObjectHash>) -> ObjectName? {
    for place in places(of: wanted) {
      guard let reference = pack(at: place), !absent.contains(reference.hash) else { continue }
      return .pack(place.segment.device, reference.hash)
    }
    return nil
  }

  /// All places of a content, the best first. They stay hints when the rest of their authors' operations does not count.
  func places(of version: RecordVersion) -> [KnownPlace] {
    let all = records.versions[version.record]?[version.version]?.places ?? []
    return rules.placesOutliveTheirAuthors ? all : all.filter { counts($0.segment) }
  }

  func pack(at place: KnownPlace) -> PackReference? {
    guard let segment = chains.entries[place.segment]?.segment, Int(place.place.pack) < segment.packs.count
    else {
      return nil
    }
    return segment.packs[Int(place.place.pack)]
  }

  /// Takes every wanted content out of a pack.
  mutating func takePack(
    _ object: [UInt8], hash: ObjectHash, of device: DeviceID, at now: UInt64, on machine: some Machine
  ) -> [Effect] {
    // In any case, what is not in it is looked for elsewhere.
    run?.absentPacks.insert(hash)
    guard ObjectHash(hashing: object) == hash, let epoch = try? Pack.epoch(of: object), let keys = keys[epoch]
    else { return [] }
    remote.noteSeen(.pack(device, hash))
    guard let directory = try? Pack.directory(of: object, keys: keys, account: account) else { return [] }
    /// The content of a version at a place in this pack, if it is there.
    func frame(of version: RecordVersion, at place: KnownPlace) -> SharedSecretBytes? {
      guard pack(at: place)?.hash == hash,
        let frame = try? Pack.entry(
          place.place.entry, of: object, directory: directory, keys: keys, account: account),
        FrameHash(hashing: frame) == records.versions[version.record]?[version.version]?.frameHash
      else { return nil }
      return frame
    }
    var effects: [Effect] = []
    for version in versions(inPack: hash).sorted() where wanted.contains(version) {
      for place in places(of: version) {
        guard let frame = frame(of: version, at: place) else { continue }
        wanted.remove(version)
        kept[version] = frame
        effects.append(.keep(record: version.record, version: version.version, frame: frame))
        break
      }
    }
    guard run?.purpose != .sync else { return effects }
    for name in packs[hash] ?? [] where name.device == self.device {
      for (version, place) in ownPlaces(in: name) where notReadBack[place] != nil {
        guard frame(of: version, at: place) != nil else { continue }
        notReadBack[place] = nil
        readBack[place] = now
      }
    }
    return effects
  }

  /// The versions whose content a segment says to be in a pack.
  private func versions(inPack hash: ObjectHash) -> Set<RecordVersion> {
    var versions: Set<RecordVersion> = []
    for operation in (packs[hash] ?? []).flatMap({ chains.entries[$0]?.segment.operations ?? [] }) {
      switch operation {
      case .add(let addition):
        versions.insert(RecordVersion(record: addition.record, version: addition.version))
      case .place(let new): versions.insert(RecordVersion(record: new.record, version: new.version))
      case .remove, .unknown: break
      }
    }
    return versions
  }

  /// The later places that a segment brings.
  private func ownPlaces(in name: SegmentName) -> [(RecordVersion, KnownPlace)] {
    guard let segment = chains.entries[name]?.segment else { return [] }
    return segment.operations.compactMap { operation in
      guard case .place(let new) = operation else { return nil }
      return (
        RecordVersion(record: new.record, version: new.version),
        KnownPlace(segment: name, place: new.place, lamport: segment.lamport)
      )
    }
  }

  /// Later places of our own: a sweep believes them only after they were read back.
  mutating func notePlaces(of name: SegmentName) {
    for (version, place) in ownPlaces(in: name) { notReadBack[place] = version }
  }

  mutating func packsToReadBack() -> [Request] {
    guard run?.purpose != .sync else { return [] }
    let names = Set(
      notReadBack.keys.compactMap { pack(at: $0).map { ObjectName.pack(device, $0.hash) } }
    )
    .subtracting(run?.asked ?? [])
    run?.asked.formUnion(names)
    return names.sorted().map { .get($0) }
  }

  /// A content that is at none of its places: said, if a run has seen its pack or has missed it for a day; and written
  /// again by whoever has it.
  mutating func reportIncompletePacks(at now: UInt64, on machine: some Machine) {
    guard let run else { return }
    var missing: Set<ObjectName> = []
    // What was removed may have been swept elsewhere, also if the removal is held here.
    for version in contentsToGet
    where !isGone(version.record, version.version, heldCounts: true) {
      if let name = firstPack(of: version) { missing.insert(name) }
    }
    for name in remote.missingSince.keys where name.isPack && !missing.contains(name) {
      remote.missingSince[name] = nil
    }
    for name in missing {
      let since = remote.missingSince[name] ?? now
      remote.missingSince[name] = since
      guard !remote.passedOver.contains(name) else { continue }
      if remote.hasSeen(name) || since + limits.patience <= now { alarms.insert(.incomplete(name)) }
    }
    guard run.purpose != .sync else { return }
    putContentsBack(on: machine)
  }

  /// The pack that is said to be missing if a content is nowhere.
  private func firstPack(of version: RecordVersion) -> ObjectName? {
    places(of: version).first.flatMap { place in
      pack(at: place).map { .pack(place.segment.device, $0.hash) }
    }
  }

  /// A content is wanted that was not: that its pack is missing is said again, also if the user has looked before.
  mutating func sayAgainThatMissing(_ version: RecordVersion) {
    guard !remote.passedOver.isEmpty else { return }
    for place in places(of: version) {
      guard let pack = pack(at: place) else { continue }
      remote.passedOver.remove(.pack(place.segment.device, pack.hash))
    }
  }

  /// Contents that this device has and that no listed pack holds go into the outbox as new places.
  private mutating func putContentsBack(on machine: some Machine) {
    guard let run else { return }
    let queued = Set(pendingChanges)
    for record in records.sortedIdentifiers {
      for (version, entry) in (records.versions[record] ?? [:]).sorted(by: { $0.key < $1.key })
      where counts(entry) && !isGone(record, version, heldCounts: false) {
        let name = RecordVersion(record: record, version: version)
        let isThere = places(of: name).contains { place in
          // Of others, only the place that the content came with: a later one may be noise.
          guard entry.addedBy.contains(place.segment) || place.segment.device == device else { return false }
          guard let pack = pack(at: place), !damagedPacks.contains(pack.hash),
            let listed = run.listed[.pack(place.segment.device, pack.hash)]
          else { return false }
          return listed.byteCount == Int(pack.byteCount)
        }
        let change = LocalChange.place(record: record, version: version, frameHash: entry.frameHash)
        guard !isThere, !queued.contains(change), machine.hasFrame(of: record, version: version) else {
          continue
        }
        outbox.append(change)
      }
    }
  }
}
