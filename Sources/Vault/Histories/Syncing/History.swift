// SPDX-License-Identifier: Apache-2.0
//
// The history of one device: what it knows of its account, and the rules by which it learns more. It is a value without
// clock, thread, disk or network; `step` is the only way in.

public import Primitives

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
  /// The branch that the user chose, for each operation whose owner key has two successors.
  var settled: [ControlID: ControlID] = [:]
  var membership: Membership
  var keys: [EpochName: EpochKeys] = [:]

  var chains = Chains()
  /// The segments that count, by the membership that is known now.
  var counting: Set<SegmentName> = []
  /// Which segments name a pack.
  var packs: [ObjectHash: [SegmentName]] = [:]
  var records = Records()
  var buckets = DigestBuckets()
  var holds = Holds()
  /// Versions that are shown and whose content is not here.
  var wanted: Set<RecordVersion> = []

  var outbox: [LocalChange] = []
  var staged: StagedSegment?
  /// Own packs that were sealed and that no segment will name.
  var givenUp: Set<ObjectHash> = []
  /// Places that this device wrote and read back, with the time.
  var readBack: [KnownPlace: UInt64] = [:]

  var remote = RemoteKnowledge()
  /// Another copy of this device writes.
  var isCloned = false
  /// The run under way. It is not stored: a process that starts has none.
  var run: Run?

  /// The slots' objects that are known, by hash.
  var slotObjects: [ObjectHash: [UInt8]] = [:]
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
      ? left.record.octets.lexicographicallyPrecedes(right.record.octets) : left.version < right.version
  }
}

/// A change of this device that no segment holds yet.
enum LocalChange: Hashable, Sendable {
  case add(record: RecordID, storedAt: UInt64, version: Version, replaces: [Version], frameHash: FrameHash)
  case remove(record: RecordID, versions: [Version])
  case place(record: RecordID, version: Version, frameHash: FrameHash)
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
  /// Objects that were seen there.
  var seen: Set<ObjectName> = []
  /// When all blocks were listed last.
  var fullListing: UInt64?
  /// Since when something has been missing that others name.
  var missingSince: [ObjectName: UInt64] = [:]
}

extension History {
  /// Carries out what an event means.
  /// - Returns: what the driver is to do, in this order.
  public mutating func step(_ event: Event, on machine: inout some Machine) -> [Effect] {
    switch event {
    case .add(let record, let frame, let replacing, let now):
      add(record, frame: frame, replacing: replacing, at: now)
    case .remove(let record, _):
      remove(record)
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

  /// A process starts: a run that was under way is over.
  public mutating func restart() { run = nil }
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
    var shown = Set(records.identifiers.filter { !shownVersions(of: $0).isEmpty })
    for case .add(let record, _, _, _, _) in pendingChanges where !shownVersions(of: record).isEmpty {
      shown.insert(record)
    }
    return shown
  }

  /// The versions of a record that nobody removed or replaced, the highest first: the first is what is shown.
  public func shownVersions(of record: RecordID) -> [ShownVersion] {
    var shown: [Version: FrameHash] = [:]
    for (version, entry) in records.versions[record] ?? [:]
    where counts(entry) && !isGone(record, version, heldCounts: false) {
      shown[version] = entry.frameHash
    }
    for change in pendingChanges {
      switch change {
      case .add(record, _, let version, let replaces, let hash):
        shown[version] = hash
        for replaced in replaces { shown[replaced] = nil }
      case .remove(record, let versions):
        for version in versions { shown[version] = nil }
      case .add, .remove, .place: break
      }
    }
    return shown.map { ShownVersion(version: $0.key, frameHash: $0.value) }.sorted { $1.version < $0.version }
  }

  /// Changes that no segment holds yet, in their order.
  var pendingChanges: [LocalChange] { (staged?.changes ?? []) + outbox }

  /// Whether a version was brought by a segment that counts.
  func counts(_ entry: VersionEntry) -> Bool { entry.addedBy.contains { counting.contains($0) } }

  /// Whether an operation that counts removed or replaced a version; one that is held only if asked for.
  func isGone(_ record: RecordID, _ version: Version, heldCounts: Bool) -> Bool {
    (records.marks[record]?[version] ?? []).contains { mark in
      counting.contains(mark.by) && (heldCounts || !isHeld(mark.by))
    }
  }

  /// The digest of all records that count here now.
  mutating func digest() -> StateDigest { buckets.digest() }

  /// The last segments and control operations that this device has verified. Devices with equal ones have the same
  /// history; their digests must be equal.
  public var position: HistoryPosition {
    HistoryPosition(frontier: chains.frontier, controlHeads: log.heads)
  }

  // MARK: Changes of this device

  private mutating func add(_ record: RecordID, frame: [UInt8], replacing: [Version], at now: UInt64)
    -> [Effect]
  {
    let hash = FrameHash(hashing: frame)
    let replaces = replacing.sorted()
    let version = Addition.version(
      lamport: chains.lamport + 1, device: device, record: record, storedAt: now, replaces: replaces,
      frameHash: hash)
    outbox.append(.add(record: record, storedAt: now, version: version, replaces: replaces, frameHash: hash))
    return [.keep(record: record, version: version, frame: frame)]
  }

  /// Removes what is shown. A version that was never sent goes without a trace.
  private mutating func remove(_ record: RecordID) -> [Effect] {
    let versions = shownVersions(of: record).map(\.version)
    guard !versions.isEmpty else { return [] }
    var known: [Version] = []
    for version in versions {
      let unsent = outbox.firstIndex { change in
        if case .add(record, _, version, _, _) = change { true } else { false }
      }
      guard let unsent, case .add(_, _, _, let replaces, _) = outbox[unsent] else {
        known.append(version)
        continue
      }
      outbox.remove(at: unsent)
      known += replaces
    }
    if !known.isEmpty { outbox.append(.remove(record: record, versions: Set(known).sorted())) }
    return versions.map { .drop(record: record, version: $0) }
  }
}

/// How much of the account's history a device has verified.
public struct HistoryPosition: Hashable, Sendable {
  public let frontier: [SegmentName]
  public let controlHeads: [ControlID]
}
