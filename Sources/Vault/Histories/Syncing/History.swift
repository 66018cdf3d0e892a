// SPDX-License-Identifier: Apache-2.0
//
// The history of one device: what it knows of its account, and the rules by which it learns more. It is a value without
// clock, thread, disk or network; `step` is the only way in.

public import Primitives
internal import Secrets

/// What a device knows of its account.
public struct History: Sendable {
  public let account: AccountID
  /// This device. `rejoin` gives it a new identifier.
  public internal(set) var device: DeviceID
  /// What is wrong; a run of purpose `verify` that finds everything right clears it.
  public internal(set) var alarms: Set<Alarm> = []

  var rules = Rules()
  var limits = Limits()

  /// The public keys of this device.
  var entry: DeviceEntry
  var log: ControlLog
  /// Sealed control operations that no key here opens, or whose parents are missing.
  var closedControl: [ObjectName: [UInt8]] = [:]
  /// What the user decided, for each operation whose owner key has several successors.
  var settled: [ControlID: OwnerChoice] = [:]
  var membership: Membership
  var keys: [EpochName: EpochKeys] = [:]

  var chains = Chains()
  /// Which segments of revoked devices count.
  var counting = Counting()
  /// Which segments name a pack.
  var packs: [ObjectHash: [SegmentName]] = [:]
  var records = Records()
  var buckets = DigestBuckets()
  var holds = Holds()
  var late = LateRemovals()
  /// The latest time at which a run began, as far as that matters: see ``steadyTime(_:)``.
  var latestRun: UInt64 = 0
  /// Contents of versions that are shown, as far as they are not here.
  var wanted: Set<ContentName> = []
  /// Versions that are removed or replaced and whose content is still here.
  var hidden: Set<RecordVersion> = []

  /// Contents that this step keeps: the machine has them after it.
  var kept: [ContentName: SharedSecretBytes] = [:]
  /// Versions whose contents this step carries over, by their new names.
  var carried: [RecordVersion: RecordVersion] = [:]

  /// The secret of the account's URL, which goes into every envelope; known while a change of the account is carried out.
  var urlSecret: SharedSecretBytes?

  /// Changes that wait for a segment.
  var outbox: Outbox = []
  var staged: StagedSegment?
  /// Own packs that were sealed and that no segment will name.
  var givenUp: Set<ObjectHash> = []
  /// Places that this device wrote and read back, with the time.
  var readBack: [KnownPlace: UInt64] = [:]
  /// Those that it wrote and has not read back.
  var notReadBack: [KnownPlace: ContentName] = [:]
  /// Identifiers that this device had before.
  var former: Set<DeviceID> = []
  /// Segments under this device's identifiers whose changes it does not say again: it has done so, or another copy of it
  /// wrote them, which may be a thief's.
  var unrepeatable: Set<SegmentName> = []
  /// Versions in segments under its former identifiers that it has not said again, since somebody had removed or replaced
  /// them, or said the same. It does when that does not count any more.
  var unsaid: Set<RecordVersion> = []

  var remote = RemoteKnowledge()
  /// Another copy of this device writes.
  var isCloned = false
  /// The run under way. It is not kept: a process that starts has none.
  var run: Run?

  /// The objects of slots that the control log names, by hash.
  var slotObjects: [ObjectHash: [UInt8]] = [:]

  /// Captures of which a part is neither here nor at the remote, as the last run of this process found that listed packs.
  public internal(set) var lostElsewhere: Set<RecordID> = []

  /// Packs that are damaged at the remote, as this process has seen.
  var damagedPacks: Set<ObjectHash> = []

  /// Objects that were taken since ``takeNewObjects()``.
  var newObjects: [StoredObject] = []
  /// Records of which something changed since ``takeTouched()``.
  var touched: Set<RecordID> = []
  /// Versions of which a change left the outbox unsaid since ``takeUnreadable()``.
  var unreadable: Set<RecordVersion> = []
}

/// Packs that were sealed for the next segment, and its operations.
struct StagedSegment: Sendable {
  var packs: [(hash: ObjectHash, object: [UInt8])]
  var operations: [Operation]
  /// The broken rule: packs of earlier segments, named again.
  var shared: [PackReference] = []
  /// What it was made of; goes back into the outbox if it cannot be sent.
  var changes: [LocalChange]
  /// Packs that the remote has acknowledged and shows.
  var checked: Set<ObjectHash> = []
}

/// What this device knows of the remote from earlier runs.
struct RemoteKnowledge: Sendable {
  /// Objects that were seen there, in their folders.
  var seen: [Folder: Set<ObjectName>] = [:]
  /// Objects that will never be what their names say; nobody gets them again.
  var refused: Set<ObjectName> = []
  /// Objects of which it was said that something is missing, and the user has looked.
  var passedOver: Set<ObjectName> = []
  /// When all blocks were listed last.
  var fullListing: UInt64?
  /// Since when something has been missing that others name.
  var missingSince: [ObjectName: UInt64] = [:]

  func hasSeen(_ name: ObjectName) -> Bool { name.folder.flatMap { seen[$0] }?.contains(name) ?? false }

  mutating func noteSeen(_ name: ObjectName) {
    if let folder = name.folder { seen[folder, default: []].insert(name) }
  }

  mutating func forget(_ name: ObjectName) {
    if let folder = name.folder { seen[folder]?.remove(name) }
  }
}

extension History {
  /// Carries out what an event means.
  /// - Returns: what the driver is to do, in this order.
  public mutating func step(_ event: Event, on machine: inout some Machine) -> [Effect] {
    defer { (kept, carried, urlSecret) = ([:], [:], nil) }
    return switch event {
    case .add(let kind, let record, let frame, let further, let replacing, let now):
      add(kind, record, frame: frame, further: further, replacing: replacing, at: now)
    case .remove(let record, let seen, _):
      remove(record, seen)
    case .begin(let purpose, let now):
      begin(purpose, at: now, on: machine)
    case .answer(let request, let answer, let now):
      take(answer, to: request, at: now, on: &machine)
    case .account(let change, let slot, let now):
      changeAccount(change, with: slot, at: now, on: &machine)
    case .confirm(let device, let now):
      confirm(device, at: now, on: machine)
    }
  }

  /// A content, also if this step keeps it.
  func content(_ name: ContentName, on machine: some Machine) -> SharedSecretBytes? {
    if let frame = kept[name] ?? machine.frame(of: name) { return frame }
    return carried[name.version].flatMap { machine.frame(of: ContentName($0, part: name.part)) }
  }

  /// Whether a content is here, also if this step keeps it.
  func hasContent(_ name: ContentName, on machine: some Machine) -> Bool {
    kept[name] != nil || machine.hasFrame(of: name)
      || carried[name.version].map { machine.hasFrame(of: ContentName($0, part: name.part)) } ?? false
  }

  /// Whether any part of a version's content is here.
  func hasSomeContent(of name: RecordVersion, on machine: some Machine) -> Bool {
    (records.entry(name.record, name.version)?.parts ?? 0..<1).contains { part in
      hasContent(ContentName(name, part: part), on: machine)
    }
  }

  /// The account goes on at another place: what was seen at the former one, and read back there, says nothing of it. A run
  /// of purpose `verify` puts there what this device has.
  public mutating func moveToAnotherRemote() {
    let refused = remote.refused
    remote = RemoteKnowledge()
    remote.refused = refused
    (readBack, notReadBack) = ([:], [:])
  }

  /// The records of which something changed since the last call: who shows them looks at them again.
  public mutating func takeTouched() -> Set<RecordID> {
    defer { touched = [] }
    return touched
  }

  /// The versions that were to be said, and whose contents the machine could not give when they were asked for, since the
  /// last call. Nobody says them any more: the driver tells its user of them.
  public mutating func takeUnreadable() -> Set<RecordVersion> {
    defer { unreadable = [] }
    return unreadable
  }
}

// MARK: Records

/// A version as it is shown.
public struct ShownVersion: Hashable, Sendable {
  public let kind: RecordKind
  public let version: Version
  /// Of the parts of its content.
  public let hashes: [FrameHash]
}

extension History {
  /// All records of which something is shown, in no order.
  public var shownRecords: Set<RecordID> {
    var records: Set<RecordID> = []
    forEachShown { record, _ in records.insert(record) }
    return records
  }

  /// How many messages and captures are shown.
  public var shownCounts: (messages: Int, captures: Int) {
    var counts: [RecordKind: Int] = [:]
    forEachShown { _, kind in counts[kind, default: 0] += 1 }
    return (counts[.message] ?? 0, counts[.capture] ?? 0)
  }

  /// Hands every record of which something is shown to `body`, with the kind of its highest version.
  private func forEachShown(_ body: (RecordID, RecordKind) -> Void) {
    var pending = Dictionary(grouping: pendingChanges, by: \.record)
    for record in records.identifiers {
      let shown = shownVersions(of: record, pending: pending.removeValue(forKey: record) ?? [])
      if let first = shown.first { body(record, first.kind) }
    }
    for (record, changes) in pending {
      if let first = shownVersions(of: record, pending: changes).first { body(record, first.kind) }
    }
  }

  /// What a version is of; nil if no version of this name is known.
  public func kind(of name: RecordVersion) -> RecordKind? {
    records.entry(name.record, name.version)?.kind ?? pendingAddition(name)?.kind
  }

  /// The versions of a record that nobody removed or replaced, the highest first: the first is what is shown.
  public func shownVersions(of record: RecordID) -> [ShownVersion] {
    shownVersions(of: record, pending: pendingChanges(of: record))
  }

  func shownVersions(of record: RecordID, pending: [LocalChange]) -> [ShownVersion] {
    var shown: [Version: ShownVersion] = [:]
    for (version, entry) in records.versions(of: record)
    where counts(entry) && !isGone(record, version, heldCounts: false) {
      shown[version] = ShownVersion(kind: entry.kind, version: version, hashes: entry.hashes)
    }
    for change in pending {
      if case .add(let added) = change {
        shown[added.version] = ShownVersion(
          kind: added.kind, version: added.version, hashes: added.hashes)
      }
      for version in change.marked { shown[version] = nil }
    }
    return shown.values.sorted { $1.version < $0.version }
  }

  /// When a version was stored, as its author says; nil if no version of this name is known.
  public func storedAt(_ record: RecordID, _ version: Version) -> UInt64? {
    if let known = records.entry(record, version) { return known.storedAt }
    return pendingAddition(RecordVersion(record: record, version: version))?.storedAt
  }

  /// How many parts of a version's content a run gets; nil if no version of this name is known.
  public func wantedPartCount(of name: RecordVersion) -> Int? {
    records.entry(name.record, name.version)?.wantedParts.count
      ?? pendingAddition(name).map { $0.kind == .capture ? 1 : $0.hashes.count }
  }

  func pendingAddition(_ name: RecordVersion) -> PendingAddition? {
    for case .add(let added) in pendingChanges(of: name.record) where added.version == name.version {
      return added
    }
    return nil
  }

  /// Changes that no segment holds yet, in their order.
  var pendingChanges: [LocalChange] { (staged?.changes ?? []) + outbox }

  /// Those of one record.
  func pendingChanges(of record: RecordID) -> [LocalChange] {
    (staged?.changes ?? []).filter { $0.record == record } + outbox.changes(of: record)
  }

  /// Whether a version was brought by a segment that counts.
  func counts(_ entry: VersionEntry) -> Bool {
    entry.isAdded { counts($0) }
  }

  /// Whether an operation that counts removed or replaced a version; one that is held only if asked for.
  func isGone(_ record: RecordID, _ version: Version, heldCounts: Bool) -> Bool {
    guard let marks = records.marks[record]?[version] else { return false }
    for mark in marks where counts(mark.by) && (heldCounts || !isHeld(mark.by)) { return true }
    return false
  }

  /// The digest of all records that count here now.
  mutating func digest() -> StateDigest { buckets.digest() }

  /// The last segments and control operations that this device has verified. Devices with equal ones have the same
  /// history; their digests must be equal.
  public var position: HistoryPosition {
    HistoryPosition(frontier: chains.frontier, controlHeads: log.heads)
  }

  // MARK: Changes of this device

  private mutating func add(
    _ kind: RecordKind, _ record: RecordID, frame: SharedSecretBytes, further: [FrameHash],
    replacing: [Version], at now: UInt64
  ) -> [Effect] {
    guard frame.count <= Pack.frameByteCountLimit, further.count <= Addition.furtherPartLimit,
      kind == .capture || further.count < Addition.messagePartLimit
    else {
      return [.ended(.tooLarge)]
    }
    let hash = FrameHash(hashing: frame)
    let replaces = Array(replacing.sorted().suffix(LocalChange.versionLimit))
    let version = Addition.version(
      kind: kind, lamport: nextLamport, device: device, record: record, storedAt: now, replaces: replaces,
      frameHash: hash, further: further)
    let added = PendingAddition(
      kind: kind, record: record, storedAt: now, version: version, replaces: replaces, frameHash: hash,
      further: further)
    outbox += added.changes
    return [.keep(ContentName(record: record, version: version), frame)]
  }

  /// Removes what is shown. A version that was never sent goes without a trace.
  private mutating func remove(_ record: RecordID, _ seen: Set<Version>?) -> [Effect] {
    let versions = shownVersions(of: record).map(\.version).filter { seen?.contains($0) ?? true }
    guard !versions.isEmpty else { return [] }
    var known: [Version] = []
    for version in versions {
      let unsent = outbox.takeBack(version, of: record)
      known += unsent?.replaces ?? []
      // Some of its parts were sent; or another copy of this device has sent all.
      if unsent?.isWhole != true || records.entry(record, version) != nil { known.append(version) }
    }
    outbox += LocalChange.removals(of: record, Set(known).sorted())
    return versions.map { .drop(record: record, version: $0) }
  }
}

/// How much of the account's history a device has verified.
public struct HistoryPosition: Hashable, Sendable {
  public let frontier: [SegmentName]
  public let controlHeads: [ControlID]
}
