// SPDX-License-Identifier: Apache-2.0
//
// What a device wrote under an identifier that it has no longer, and that a revocation cuts off: it says it again under
// its present one. The content is its own, and its user lost nothing. What another copy of it wrote stays cut off, since
// the copy may be in a thief's hands; a copy that is the user's says its changes again itself.

internal import Primitives
internal import Secrets

extension History {
  /// The changes of segments that this device wrote under former identifiers, that surely do not count, and that it has not
  /// said again; and the versions that were removed before it could, and are not any more.
  mutating func whatIsCutOff(of devices: Set<DeviceID>) -> [LocalChange] {
    var lost: [ChainEntry] = []
    for device in devices {
      let isForgotten = membership.devices[device] == nil
      for name in chains.segments(of: device) where !counts(name) && !unrepeatable.contains(name) {
        guard isForgotten || isCutOff(name), let entry = chains.entries[name] else { continue }
        lost.append(entry)
        unrepeatable.insert(name)
      }
    }
    lost.sort { $0.order < $1.order }
    return takeUnsaid() + lost.flatMap { $0.segment.operations.compactMap(LocalChange.init) }
  }

  /// Versions that were not said again since others had removed or replaced them, as far as that does not count any more.
  private mutating func takeUnsaid() -> [LocalChange] {
    var changes: [(order: Int, change: LocalChange)] = []
    for name in unsaid where !isGone(name.record, name.version, heldCounts: false) {
      unsaid.remove(name)
      guard let known = records.entry(name.record, name.version), !counts(known),
        let entry = known.addedBy.compactMap({ chains.entries[$0] }).first(where: {
          former.contains($0.name.device)
        }), let addition = entry.segment.addition(of: name)
      else { continue }
      changes.append((entry.order, .add(PendingAddition(addition))))
    }
    return changes.sorted { $0.order < $1.order }.map(\.change)
  }

  /// In a run: what news of another revocation cut off.
  mutating func sayAgainWhatIsCutOff(on machine: some Machine) -> [Effect] {
    guard counting.saysAgain, membership.isMember(device) else { return [] }
    counting.saysAgain = false
    let changes = whatIsCutOff(of: former)
    return changes.isEmpty ? [] : sayAgain(changes, on: machine)
  }

  /// In a run: an addition that waits is not sent if a user has removed what another copy of this device said of it. Here it
  /// is removed with that.
  mutating func takeBackWhatIsRemoved(on machine: some Machine) -> [Effect] {
    guard !former.isEmpty else { return [] }
    var effects: [Effect] = []
    var changed: Set<RecordID> = []
    for case .add(let added) in outbox {
      guard let version = removedElsewhere(added), outbox.takeBack(added.version, of: added.record) != nil
      else { continue }
      let name = RecordVersion(record: added.record, version: version)
      let waiting = RecordVersion(record: added.record, version: added.version)
      carried[name] = waiting
      effects.append(.carry(from: waiting, to: name))
      changed.insert(added.record)
    }
    refresh(changed, on: machine)
    return effects
  }

  /// A version in which another copy of this device said the same addition, and which a user who saw it removed since.
  private func removedElsewhere(_ added: PendingAddition) -> Version? {
    records.versions(of: added.record).first { version, entry in
      version != added.version && entry.hashes == added.hashes && entry.storedAt == added.storedAt
        && counts(entry)
        && (records.marks[added.record]?[version] ?? []).contains { mark in
          !mark.isReplacement && isInForce(mark.by)
        }
    }?.version
  }

  /// Says changes again in the name of the device's present identifier. Their versions change with it. What others have
  /// removed is not said again as long as that counts, nor what counts anyway; the former contents stay, since they are kept
  /// aside.
  mutating func sayAgain(_ changes: [LocalChange], on machine: some Machine) -> [Effect] {
    var effects: [Effect] = []
    var renamed: [RecordVersion: Version] = [:]
    for change in changes {
      switch change {
      case .add(let added):
        let (record, old, further) = (added.record, added.version, added.further)
        // A device that was put back to an earlier state, or a copy of it, has sent this before. What is left of an identifier
        // that was revoked may be cut off by another revocation.
        let sent = records.entry(record, old)?.addedBy.filter(counts) ?? []
        if sent.contains(where: { !former.contains($0.device) }) { continue }
        let name = RecordVersion(record: record, version: old)
        let isHere = (0...UInt16(further.count)).allSatisfy {
          hasContent(ContentName(name, part: $0), on: machine)
        }
        guard isHere, removedElsewhere(added) == nil else { continue }
        if isGone(record, old, heldCounts: false) {
          unsaid.insert(name)
          continue
        }
        guard let frame = content(ContentName(name), on: machine) else {
          unreadable.insert(name)
          continue
        }
        // Another copy of this device said it.
        if let same = shownVersions(of: record).first(where: { $0.hashes == added.hashes }),
          same.version != old, hasContent(ContentName(record: record, version: same.version), on: machine)
        {
          renamed[name] = same.version
          continue
        }
        let replaced = added.replaces.map { renamed[RecordVersion(record: record, version: $0)] ?? $0 }
        let replaces = Set(replaced + (sent.isEmpty ? [] : [old])).sorted()
        let version = Addition.version(
          kind: added.kind, lamport: nextLamport, device: device, record: record, storedAt: added.storedAt,
          replaces: replaces, frameHash: added.frameHash, further: further)
        renamed[name] = version
        outbox +=
          PendingAddition(
            kind: added.kind, record: record, storedAt: added.storedAt, version: version, replaces: replaces,
            frameHash: added.frameHash, further: further
          ).changes
        let new = RecordVersion(record: record, version: version)
        if further.isEmpty {
          kept[ContentName(new)] = frame
          effects.append(.keep(ContentName(new), frame))
        } else {
          carried[new] = name
          effects.append(.carry(from: name, to: new))
        }
        // What no segment holds is not kept aside.
        if records.entry(record, old) == nil { effects.append(.drop(record: record, version: old)) }
      case .remove(let record, let versions):
        let versions = versions.map { renamed[RecordVersion(record: record, version: $0)] ?? $0 }
        outbox.append(.remove(record: record, versions: Set(versions).sorted()))
      case .place(_, let record, let version, let part, let hash):
        guard let known = records.entry(record, version), counts(known) else { continue }
        outbox.append(
          .place(kind: known.kind, record: record, version: version, part: part, frameHash: hash))
      }
    }
    return effects
  }
}

extension Segment {
  /// The operation that brings a version.
  fileprivate func addition(of name: RecordVersion) -> Addition? {
    for case .add(let addition) in operations
    where addition.record == name.record && addition.version == name.version {
      return addition
    }
    return nil
  }
}
