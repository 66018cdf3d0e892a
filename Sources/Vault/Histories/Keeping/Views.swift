// SPDX-License-Identifier: Apache-2.0
//
// What a driver and a user ask of a history between its steps.

public import Primitives
internal import Secrets

/// A device of the account, as a list shows it.
public struct DeviceView: Sendable {
  public let id: DeviceID
  /// Chosen by its user.
  public let name: String
  /// Where its keys are: 1 a chip, 2 software.
  public let level: UInt8
  /// The identifier under which it was a device before, if it joined again.
  public let replaces: DeviceID?
  public let isThisDevice: Bool
  public let isRevoked: Bool
  /// When this device took the last of its segments, in seconds since 1970 by the clock here; nil without one.
  public let lastNews: UInt64?
  /// Messages and captures that it removed or replaced, as far as that is held here.
  public let heldCount: Int
}

extension History {
  // MARK: Records

  /// How many changes no segment holds yet; the parts of one content are one change.
  public var waitingCount: Int {
    let staged = staged?.changes ?? []
    let count = outbox.count + staged.count
    let furtherCount = outbox.furtherPartCount + staged.count(where: \.isOfFurtherPart)
    return max(count - furtherCount, min(count, 1))
  }

  /// Whether a segment under this device's identifier was written by another copy of it, and came from the remote.
  public func isOfAnotherCopy(_ name: SegmentName) -> Bool {
    name.device == device && unrepeatable.contains(name)
  }

  /// How many changes of the account nobody was told of: the remote never had them, as far as this device has seen.
  public var untoldOperationCount: Int { log.entries.values.count { !remote.hasSeen($0.name) } }

  /// The versions of each record that nobody removed or replaced, the highest first; none for a record that is gone.
  public func shownVersions(of names: Set<RecordID>) -> [RecordID: [ShownVersion]] {
    Dictionary(uniqueKeysWithValues: names.map { ($0, shownVersions(of: $0)) })
  }

  /// Every version of a record that a segment brought, in no order.
  public func versions(of record: RecordID) -> [Version] { records.versions(of: record).map(\.version) }

  /// Whether a segment that counts brings a version.
  public func isShared(_ name: RecordVersion) -> Bool {
    records.entry(name.record, name.version).map(counts) ?? false
  }

  /// The highest version of a record that counts and whose content has these parts, shown or not; nil without one.
  public func version(of record: RecordID, with hashes: [FrameHash]) -> Version? {
    records.versions(of: record).filter { $0.entry.hashes == hashes && counts($0.entry) }.map(\.version).max()
  }

  /// The segments that name a version, or a pack in which a part of its content may be.
  public func segments(naming name: RecordVersion) -> [ObjectName] {
    guard let entry = records.entry(name.record, name.version) else { return [] }
    let placing = entry.parts.flatMap { places(of: ContentName(name, part: $0)).map(\.segment) }
    return Set(entry.addedBy + placing).sorted().map { .segment($0) }
  }

  /// The highest version of a record that counts and whose content begins with this part, shown or not; nil without one.
  public func version(of record: RecordID, withFirst hash: FrameHash) -> Version? {
    records.versions(of: record).filter { $0.entry.hash(ofPart: 0) == hash && counts($0.entry) }
      .map(\.version).max()
  }

  /// Whether a version waits here, or a segment that counts brings it.
  public func counts(_ name: RecordVersion) -> Bool { isShared(name) || pendingAddition(name) != nil }

  /// The hashes of the parts of a version's content; nil if no version of this name is known.
  public func hashes(of name: RecordVersion) -> [FrameHash]? {
    records.entry(name.record, name.version)?.hashes ?? pendingAddition(name)?.hashes
  }

  /// The captures that no segment holds yet, or not all of their parts.
  public var waitingCaptures: Set<RecordID> {
    Set(
      pendingChanges.compactMap { change in
        switch change {
        case .add(let added): added.kind == .capture ? added.record : nil
        case .place(.capture, let record, _, _, _): record
        case .place, .remove: nil
        }
      })
  }

  /// How many additions and removals a segment holds; 0 for one that is not here.
  public func operationCount(of name: SegmentName) -> Int {
    (chains.entries[name]?.segment.operations ?? []).count { operation in
      switch operation {
      case .add, .remove: true
      case .place, .unknown: false
      }
    }
  }

  /// How many contents a segment says to be at a new place; 0 for one that is not here.
  public func placeCount(of name: SegmentName) -> Int {
    (chains.entries[name]?.segment.operations ?? []).count { operation in
      guard case .place = operation, let content = operation.brought?.content else { return false }
      return !isFirstPlace(of: content, in: name)
    }
  }

  /// How many objects others name, or the remote has damaged, that this device waits for: those that it has, it puts back.
  public var awaitedCount: Int { remote.missingSince.keys.count { !$0.isPack && !putsBack($0) } }

  /// How many versions are shown whose content is not here, or not all of it.
  public var missingContentCount: Int { Set(contentsToGet.map(\.version)).count }

  // MARK: The account

  /// Whether a control log of this name is here, or was found at the remote and cannot be read.
  public var isThere: Bool { log.genesis != nil || !closedControl.isEmpty }

  /// What this device is called: whoever approved it may have given it another name than it asked for.
  public var deviceName: String { membership.devices[device]?.name ?? entry.name }

  /// Messages that devices changed at once, so that several contents of them count, in the order of their identifiers.
  public var messagesChangedTwice: [RecordID] {
    records.sortedIdentifiers.filter { record in
      guard records.versions(of: record).count > 1 else { return false }
      let shown = shownVersions(of: record)
      return shown.first?.kind == .message && Set(shown.map(\.hashes)).count > 1
    }
  }

  /// Whether this device has no key of the account yet: it asked to be enrolled, or began to join.
  public var awaitsKeys: Bool { keys.isEmpty }

  /// What this device asks to be enrolled as.
  public var deviceEntry: DeviceEntry { entry }

  /// Whether this device belongs to the account.
  public var isMember: Bool { membership.isMember(device) }

  /// Whether this device was ever added to the account.
  public var knowsThisDevice: Bool { membership.devices[device] != nil }

  /// All devices, this one first, then in the order of their names.
  public var devices: [DeviceView] {
    var held: [DeviceID: Set<RecordID>] = [:]
    for entry in chains.entries.values where isHeld(entry.name) && counts(entry.name) {
      for operation in entry.segment.operations where operation.removes {
        guard let record = operation.record, records.kind(of: record) != .label else { continue }
        held[entry.name.device, default: []].insert(record)
      }
    }
    return membership.devices.values.map { entry in
      let heads = (chains.heads[entry.id] ?? []).compactMap { chains.entries[$0]?.appliedAt }
      return DeviceView(
        id: entry.id, name: entry.name, level: entry.level, replaces: entry.replaces,
        isThisDevice: entry.id == device,
        isRevoked: membership.revocations[entry.id] != nil, lastNews: heads.max(),
        heldCount: held[entry.id]?.count ?? 0)
    }.sorted { ($0.isThisDevice ? 0 : 1, $0.name, $0.id) < ($1.isThisDevice ? 0 : 1, $1.name, $1.id) }
  }

  /// SHA-256 of all verified heads, of chains and of the control log, and of the control operations that do not count, since
  /// the user chose another continuation: equal on two devices with the same history.
  public var positionDigest: [UInt8] {
    var bytes = Array("coffer position v1".utf8)
    let position = position
    bytes.append(bigEndian: UInt32(position.frontier.count))
    for name in position.frontier { bytes.append(name) }
    for id in position.controlHeads { bytes += id.bytes }
    for id in log.entries.keys.filter({ !membership.counting.contains($0) }).sorted() { bytes += id.bytes }
    return SHA256.hash(bytes.rawSpan)
  }

  /// The digest of all records that count here now (Specs/remote.md, "State digest").
  public mutating func stateDigest() -> StateDigest { digest() }

  /// The packs in which the contents that count are looked for first, in the order of their names.
  public var neededPacks: [ObjectName] {
    var names: Set<ObjectName> = []
    for record in records.identifiers {
      for (version, entry) in records.versions(of: record)
      where counts(entry) && !isGone(record, version, heldCounts: false) {
        for part in entry.parts {
          let places = places(of: ContentName(record: record, version: version, part: part))
          let packs = places.compactMap { place in
            pack(at: place).map { ObjectName.pack(place.segment.device, $0.hash) }
          }
          // The best place may be at another remote: one that was seen here comes first.
          if let name = packs.first(where: remote.hasSeen) ?? packs.first { names.insert(name) }
        }
      }
    }
    return names.sorted()
  }

  /// The bytes of objects that the run under way has listed.
  public func listedByteCount(of names: [ObjectName]) -> Int {
    names.reduce(0) { $0 + (run?.listed[$1]?.byteCount ?? 0) }
  }

  /// Packs that were read and are not what their names say, or that are not there: the next run of purpose `verify` puts
  /// their contents, as far as they are here, into new ones.
  public mutating func noteDamaged(_ packs: Set<ObjectHash>) { damagedPacks = packs }
}
