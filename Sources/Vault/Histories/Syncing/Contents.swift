// SPDX-License-Identifier: Apache-2.0
//
// Contents: which packs are got, what is read back, and what is put into new packs because no pack holds
// it any more.

internal import Primitives
public import Secrets

/// A pack that has the hash in its name, with what opens its entries.
public struct OpenedPack: Sendable {
  let hash: ObjectHash
  let object: [UInt8]
  let directory: Pack.Directory
  let keys: EpochKeys
}

extension History {
  /// The packs to get for contents that are wanted: of each the best place that was not tried in vain, in the order in
  /// which they were written, as far as their authors knew of each other. Those of contents in several parts come last,
  /// one content after the other: a driver holds the parts until all of them are here.
  mutating func packsToGet() -> [Request] {
    guard let run else { return [] }
    var ranks: [ObjectName: PackRank] = [:]
    var inParts: [ContentName] = []
    func pack(for wanted: ContentName) -> (name: ObjectName, rank: PackRank)? {
      guard let (name, place) = bestPack(for: wanted, without: run.absentPacks), !run.asked.contains(name)
      else { return nil }
      return (name, PackRank(lamport: place.lamport, segment: place.segment, pack: place.place.pack))
    }
    for wanted in contentsToGet {
      if isInParts(wanted.version) {
        inParts.append(wanted)
      } else if let (name, rank) = pack(for: wanted) {
        ranks[name] = ranks[name].map { min($0, rank) } ?? rank
      }
    }
    var sorted = ranks.sorted { $0.value < $1.value }.map(\.key)
    var names = Set(sorted)
    for wanted in inParts.sorted() {
      if let (name, _) = pack(for: wanted), names.insert(name).inserted { sorted.append(name) }
    }
    self.run?.asked.formUnion(names)
    return sorted.map { .get($0) }
  }

  /// Where a pack is in the order of writing.
  private struct PackRank: Comparable {
    let lamport: UInt64
    let segment: SegmentName
    let pack: UInt16

    static func < (left: Self, right: Self) -> Bool {
      (left.lamport, left.segment, left.pack) < (right.lamport, right.segment, right.pack)
    }
  }

  private func isInParts(_ version: RecordVersion) -> Bool {
    (records.entry(version.record, version.version)?.wantedParts.count ?? 1) > 1
  }

  /// The contents that are wanted, without those that the user of this device has removed since.
  var contentsToGet: Set<ContentName> {
    guard !wanted.isEmpty else { return [] }
    var contents = wanted
    for case .remove(let record, let versions) in pendingChanges {
      for version in versions {
        let name = RecordVersion(record: record, version: version)
        for part in records.entry(record, version)?.parts ?? 0..<1 {
          contents.remove(ContentName(name, part: part))
        }
      }
    }
    return contents
  }

  /// The pack in which a content is tried next.
  func bestPack(
    for wanted: ContentName, without absent: Set<ObjectName>
  ) -> (name: ObjectName, place: KnownPlace)? {
    for place in places(of: wanted) {
      guard let reference = pack(at: place) else { continue }
      let name = ObjectName.pack(place.segment.device, reference.hash)
      if !absent.contains(name) { return (name, place) }
    }
    return nil
  }

  /// All places of a content, the best first. They stay hints when the rest of their authors' operations does not count.
  func places(of content: ContentName) -> [KnownPlace] {
    let entry = records.entry(content.version.record, content.version.version)
    let all = entry?.places(ofPart: content.part) ?? []
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
    _ object: ReceivedObject, hash: ObjectHash, of device: DeviceID, at now: UInt64, on machine: some Machine
  ) -> [Effect] {
    // In any case, what is not in it is looked for elsewhere.
    run?.absentPacks.insert(.pack(device, hash))
    guard object.hash == hash, let epoch = try? Pack.epoch(of: object.bytes), keys[epoch] != nil else {
      return []
    }
    remote.noteSeen(.pack(device, hash))
    guard let pack = opened(object, as: .pack(device, hash)) else { return [] }
    var effects: [Effect] = []
    for content in contents(inPack: hash).sorted() where wanted.contains(content) {
      for place in places(of: content) {
        guard let frame = frame(of: content, at: place, in: pack) else { continue }
        wanted.remove(content)
        kept[content] = frame
        effects.append(.keep(content, frame))
        break
      }
    }
    guard run?.purpose != .sync else { return effects }
    for name in packs[hash] ?? [] where name.device == self.device {
      for (content, place) in ownPlaces(in: name) where notReadBack[place] != nil {
        guard frame(of: content, at: place, in: pack) != nil else { continue }
        notReadBack[place] = nil
        readBack[place] = now
      }
    }
    return effects
  }

  /// An entry of a pack, if the place is in this pack and the entry is the content that a segment says.
  private func frame(
    of content: ContentName, at place: KnownPlace, in opened: OpenedPack
  ) -> SharedSecretBytes? {
    let entry = records.entry(content.version.record, content.version.version)
    let number = place.place.entry
    guard pack(at: place)?.hash == opened.hash, let hash = entry?.hash(ofPart: content.part),
      (1...UInt32(opened.directory.entries.count)).contains(number),
      // An entry is compared with its hash when it is opened.
      opened.directory.entries[Int(number) - 1].hash == hash.bytes
    else { return nil }
    return try? Pack.entry(
      number, of: opened.object, directory: opened.directory, keys: opened.keys, account: account)
  }

  // MARK: What no run gets unasked

  /// The packs in which a content may be, the best first.
  public func packs(holding content: ContentName) -> [ObjectName] {
    var names: [ObjectName] = []
    for place in places(of: content) {
      guard let pack = pack(at: place) else { continue }
      let name = ObjectName.pack(place.segment.device, pack.hash)
      if !names.contains(name) { names.append(name) }
    }
    return names
  }

  /// Opens a pack; nil if it is not what its name says, or its key is not here.
  public func opened(_ object: ReceivedObject, as name: ObjectName) -> OpenedPack? {
    guard case .pack(_, let hash) = name, object.hash == hash,
      let epoch = try? Pack.epoch(of: object.bytes), let keys = keys[epoch],
      let directory = try? Pack.directory(of: object.bytes, keys: keys, account: account)
    else { return nil }
    return OpenedPack(hash: hash, object: object.bytes, directory: directory, keys: keys)
  }

  /// A content out of a pack; nil if the pack does not have it.
  public func content(_ name: ContentName, in pack: OpenedPack) -> SharedSecretBytes? {
    for place in places(of: name) {
      if let frame = frame(of: name, at: place, in: pack) { return frame }
    }
    return nil
  }

  // MARK: What is where

  /// What segments say to be in a pack.
  private func contents(inPack hash: ObjectHash) -> Set<ContentName> {
    Set(
      (packs[hash] ?? []).flatMap { chains.entries[$0]?.segment.operations ?? [] }
        .compactMap { $0.brought?.content })
  }

  /// The places that a segment brings by operations of their own.
  private func ownPlaces(in name: SegmentName) -> [(ContentName, KnownPlace)] {
    guard let segment = chains.entries[name]?.segment else { return [] }
    return segment.operations.compactMap { operation in
      guard case .place(let new) = operation else { return nil }
      return (
        ContentName(record: new.record, version: new.version, part: new.part),
        KnownPlace(segment: name, place: new.place, lamport: segment.lamport)
      )
    }
  }

  /// Later places of our own: a sweep believes them only after they were read back.
  /// The first place of a part is not a later one.
  mutating func notePlaces(of name: SegmentName) {
    for (content, place) in ownPlaces(in: name) {
      if !isFirstPlace(of: content, in: name) { notReadBack[place] = content }
    }
  }

  /// Whether a segment gives a further part the place that its addition waits for.
  func isFirstPlace(of content: ContentName, in name: SegmentName) -> Bool {
    let entry = records.entry(content.version.record, content.version.version)
    return content.part > 0 && entry?.places(ofPart: content.part).allSatisfy { $0.segment == name } ?? true
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
    for content in contentsToGet
    where !isGone(content.version.record, content.version.version, heldCounts: true) {
      if let name = firstPack(of: content) { missing.insert(name) }
    }
    for name in remote.missingSince.keys where name.isPack && !missing.contains(name) {
      remote.missingSince[name] = nil
    }
    for name in missing {
      remote.missingSince[name] = remote.missingSince[name] ?? now
      guard !remote.passedOver.contains(name) else { continue }
      if isMissedForLong(name, at: now) { alarms.insert(.incomplete(name)) }
    }
    guard run.purpose != .sync else { return }
    putContentsBack(on: machine)
  }

  /// Whether a pack that is not there, or lacks something, has been seen, or has been missed for so long that it is not late.
  func isMissedForLong(_ pack: ObjectName, at now: UInt64) -> Bool {
    remote.hasSeen(pack) || remote.missingSince[pack].map { $0 + limits.patience <= now } ?? false
  }

  /// Captures of which a part is not here, and at the remote no more. Nobody wants such a part until its user asks for it, so
  /// that no alarm tells of it. Only runs that list packs know.
  func recordsLostElsewhere(on machine: some Machine) -> Set<RecordID> {
    guard let run, run.purpose != .sync else { return [] }
    var lost: Set<RecordID> = []
    for record in records.identifiers {
      for (version, entry) in records.versions(of: record)
      where entry.kind == .capture && counts(entry) && !isGone(record, version, heldCounts: true) {
        for part in entry.parts.dropFirst() {
          let content = ContentName(record: record, version: version, part: part)
          guard !wanted.contains(content),
            !places(of: content).contains(where: { isWhole($0, in: run) }), !hasContent(content, on: machine)
          else { continue }
          lost.insert(record)
        }
      }
    }
    return lost
  }

  /// The pack that is said to be missing if a content is nowhere.
  func firstPack(of content: ContentName) -> ObjectName? {
    places(of: content).first.flatMap { place in
      pack(at: place).map { .pack(place.segment.device, $0.hash) }
    }
  }

  /// A content is wanted that was not: that its pack is missing is said again, also if the user has looked before.
  mutating func sayAgainThatMissing(_ content: ContentName) {
    guard !remote.passedOver.isEmpty else { return }
    for place in places(of: content) {
      guard let pack = pack(at: place) else { continue }
      remote.passedOver.remove(.pack(place.segment.device, pack.hash))
    }
  }

  /// Contents that this device has and that no listed pack holds go into the outbox as new places.
  private mutating func putContentsBack(on machine: some Machine) {
    guard let run else { return }
    let queued = Set(pendingChanges)
    for record in records.sortedIdentifiers {
      for (version, entry) in records.versions(of: record).sorted(by: { $0.version < $1.version })
      where counts(entry) && !isGone(record, version, heldCounts: false) {
        for part in entry.parts {
          let name = ContentName(record: record, version: version, part: part)
          guard let hash = entry.hash(ofPart: part), !isListed(name, of: entry, in: run) else { continue }
          let change = LocalChange.place(
            kind: entry.kind, record: record, version: version, part: part, frameHash: hash)
          guard !queued.contains(change), machine.hasFrame(of: name) else { continue }
          outbox.append(change)
        }
      }
    }
  }

  /// Whether the lists of a run show a pack that has a content.
  private func isListed(_ name: ContentName, of entry: VersionEntry, in run: Run) -> Bool {
    let all = places(of: name)
    // Where readers look first must be right: behind it, damage may be older than this look at packs.
    if let first = all.first, let pack = pack(at: first), damagedPacks.contains(pack.hash) { return false }
    // Who has written it knows a place that is none of a bad member's.
    let own = all.filter { $0.segment.device == device }
    guard own.isEmpty else { return own.contains { isWhole($0, in: run) } }
    return all.contains { place in
      // Of others, only the place that the content came with: a later one may be noise. Further parts come before their
      // addition.
      let isOriginal = entry.isAdded { added in
        added == place.segment
          || (name.part > 0 && added.device == place.segment.device && place.segment.number <= added.number)
      }
      return isOriginal && isWhole(place, in: run)
    }
  }

  /// Whether the lists of a run show the pack of a place with its length, and this process has not seen it damaged.
  private func isWhole(_ place: KnownPlace, in run: Run) -> Bool {
    guard let pack = pack(at: place), !damagedPacks.contains(pack.hash),
      let listed = run.listed[.pack(place.segment.device, pack.hash)]
    else { return false }
    return listed.byteCount == Int(pack.byteCount)
  }
}
