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
  /// Versions that are shown and whose content is not here.
  var wanted: Set<RecordVersion> = []
  /// Versions that are removed or replaced and whose content is still here.
  var hidden: Set<RecordVersion> = []

  /// Contents that this step keeps: the machine has them after it.
  var kept: [RecordVersion: SharedSecretBytes] = [:]

  /// Changes that wait for a segment.
  var outbox: Outbox = []
  var staged: StagedSegment?
  /// Own packs that were sealed and that no segment will name.
  var givenUp: Set<ObjectHash> = []
  /// Places that this device wrote and read back, with the time.
  var readBack: [KnownPlace: UInt64] = [:]
  /// Those that it wrote and has not read back.
  var notReadBack: [KnownPlace: RecordVersion] = [:]
  /// Identifiers that this device had before, and their segments whose changes it has said again.
  var former: Set<DeviceID> = []
  var saidAgain: Set<SegmentName> = []

  var remote = RemoteKnowledge()
  /// Another copy of this device writes.
  var isCloned = false
  /// The run under way. It is not kept: a process that starts has none.
  var run: Run?

  /// The objects of slots that the control log names, by hash.
  var slotObjects: [ObjectHash: [UInt8]] = [:]

  /// Packs that are damaged at the remote, as this process has seen.
  var damagedPacks: Set<ObjectHash> = []

  /// Objects that were taken since ``takeNewObjects()``.
  var newObjects: [StoredObject] = []
  /// Records of which something changed since ``takeTouched()``.
  var touched: Set<RecordID> = []
}

/// A version of a record.
public struct RecordVersion: Hashable, Comparable, Sendable {
  public let record: RecordID
  public let version: Version

  public init(record: RecordID, version: Version) {
    self.record = record
    self.version = version
  }

  public static func < (left: Self, right: Self) -> Bool {
    left.version == right.version
      ? left.record < right.record : left.version < right.version
  }
}

/// A change of this device that no segment holds yet.
enum LocalChange: Hashable, Sendable {
  case add(record: RecordID, storedAt: UInt64, version: Version, replaces: [Version], frameHash: FrameHash)
  case remove(record: RecordID, versions: [Version])
  case place(record: RecordID, version: Version, frameHash: FrameHash)

  /// How many versions one operation names: a bad member may write more of one record than a segment can hold.
  static let versionLimit = 1_000

  var record: RecordID {
    switch self {
    case .add(let record, _, _, _, _), .remove(let record, _), .place(let record, _, _): record
    }
  }

  /// The version whose content it brings; nil for a removal.
  var content: (record: RecordID, version: Version)? {
    switch self {
    case .add(let record, _, let version, _, _), .place(let record, let version, _): (record, version)
    case .remove: nil
    }
  }

  /// Bytes of its operation in a segment, or some more.
  var byteCount: Int {
    switch self {
    case .add(_, _, _, let replaces, _): 128 + 24 * replaces.count
    case .remove(_, let versions): 128 + 24 * versions.count
    case .place: 128
    }
  }

  /// Removals of these versions, in as many operations as it takes.
  static func removals(of record: RecordID, _ versions: [Version]) -> [LocalChange] {
    stride(from: 0, to: versions.count, by: versionLimit).map { start in
      .remove(record: record, versions: Array(versions[start..<min(start + versionLimit, versions.count)]))
    }
  }
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
    defer { kept = [:] }
    return switch event {
    case .add(let record, let frame, let replacing, let now):
      add(record, frame: frame, replacing: replacing, at: now)
    case .remove(let record, let seen, _):
      remove(record, seen)
    case .begin(let purpose, let now):
      begin(purpose, at: now, on: machine)
    case .answer(let request, let answer, let now):
      take(answer, to: request, at: now, on: &machine)
    case .account(let change, let slot, _):
      changeAccount(change, with: slot, on: &machine)
    case .confirm(let device):
      confirm(device, on: machine)
    }
  }

  /// The content of a version, also if this step keeps it.
  func content(of record: RecordID, _ version: Version, on machine: some Machine) -> SharedSecretBytes? {
    kept[RecordVersion(record: record, version: version)] ?? machine.frame(of: record, version: version)
  }

  /// Whether the content of a version is here, also if this step keeps it.
  func hasContent(of record: RecordID, _ version: Version, on machine: some Machine) -> Bool {
    kept[RecordVersion(record: record, version: version)] != nil
      || machine.hasFrame(of: record, version: version)
  }

  /// The records of which something changed since the last call: who shows them looks at them again.
  public mutating func takeTouched() -> Set<RecordID> {
    defer { touched = [] }
    return touched
  }
}

// MARK: Records

/// A version as it is shown.
public struct ShownVersion: Hashable, Sendable {
  public let version: Version
  public let frameHash: FrameHash
}

extension History {
  /// All records of which something is shown, in no order.
  public var shownRecords: Set<RecordID> {
    let pending = Dictionary(grouping: pendingChanges, by: \.record)
    return Set(records.identifiers).union(pending.keys).filter { record in
      !shownVersions(of: record, pending: pending[record] ?? []).isEmpty
    }
  }

  /// The versions of a record that nobody removed or replaced, the highest first: the first is what is shown.
  public func shownVersions(of record: RecordID) -> [ShownVersion] {
    shownVersions(of: record, pending: pendingChanges(of: record))
  }

  func shownVersions(of record: RecordID, pending: [LocalChange]) -> [ShownVersion] {
    var shown: [Version: FrameHash] = [:]
    for (version, entry) in records.versions[record] ?? [:]
    where counts(entry) && !isGone(record, version, heldCounts: false) {
      shown[version] = entry.frameHash
    }
    for change in pending {
      switch change {
      case .add(_, _, let version, let replaces, let hash):
        shown[version] = hash
        for replaced in replaces { shown[replaced] = nil }
      case .remove(_, let versions):
        for version in versions { shown[version] = nil }
      case .place: break
      }
    }
    return shown.map { ShownVersion(version: $0.key, frameHash: $0.value) }.sorted { $1.version < $0.version }
  }

  /// When a version was stored, as its author says; nil if no version of this name is known.
  public func storedAt(_ record: RecordID, _ version: Version) -> UInt64? {
    if let known = records.versions[record]?[version] { return known.storedAt }
    for case .add(_, let storedAt, version, _, _) in pendingChanges(of: record) { return storedAt }
    return nil
  }

  /// Changes that no segment holds yet, in their order.
  var pendingChanges: [LocalChange] { (staged?.changes ?? []) + outbox }

  /// Those of one record.
  private func pendingChanges(of record: RecordID) -> [LocalChange] {
    (staged?.changes ?? []).filter { $0.record == record } + outbox.changes(of: record)
  }

  /// Whether a version was brought by a segment that counts.
  func counts(_ entry: VersionEntry) -> Bool {
    for name in entry.addedBy where counts(name) { return true }
    return false
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
    _ record: RecordID, frame: SharedSecretBytes, replacing: [Version], at now: UInt64
  )
    -> [Effect]
  {
    guard frame.count <= Pack.frameByteCountLimit else { return [.ended(.tooLarge)] }
    let hash = FrameHash(hashing: frame)
    let replaces = Array(replacing.sorted().suffix(LocalChange.versionLimit))
    let version = Addition.version(
      lamport: nextLamport, device: device, record: record, storedAt: now, replaces: replaces,
      frameHash: hash)
    outbox.append(.add(record: record, storedAt: now, version: version, replaces: replaces, frameHash: hash))
    return [.keep(record: record, version: version, frame: frame)]
  }

  /// Removes what is shown. A version that was never sent goes without a trace.
  private mutating func remove(_ record: RecordID, _ seen: Set<Version>?) -> [Effect] {
    let versions = shownVersions(of: record).map(\.version).filter { seen?.contains($0) ?? true }
    guard !versions.isEmpty else { return [] }
    var known: [Version] = []
    for version in versions {
      let unsent = outbox.takeBack(version, of: record)
      known += unsent ?? []
      // Another copy of this device may have sent it.
      if unsent == nil || records.versions[record]?[version] != nil { known.append(version) }
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
