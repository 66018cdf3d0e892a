// SPDX-License-Identifier: Apache-2.0
//
// What a device wrote under an identifier that it has no longer, and that a revocation cuts off: it says it again under
// its present one. The content is its own, and its user lost nothing. What another copy of it wrote stays cut off, since
// the copy may be in a thief's hands; a copy that is the user's says its changes again itself.

internal import Primitives
internal import Secrets

extension History {
  /// The changes of segments that this device wrote under former identifiers, that surely do not count, and that it has not
  /// said again; in their order.
  mutating func whatIsCutOff(of devices: Set<DeviceID>) -> [LocalChange] {
    inOrder(cutOff(of: devices))
  }

  private mutating func cutOff(of devices: Set<DeviceID>) -> [OwnChange] {
    var changes: [OwnChange] = []
    for device in devices {
      let isForgotten = membership.devices[device] == nil
      for name in chains.segments(of: device) where !counts(name) && !unrepeatable.contains(name) {
        guard isForgotten || isGivenUp(name), let entry = chains.entries[name] else { continue }
        unrepeatable.insert(name)
        for (position, operation) in entry.segment.operations.enumerated() {
          guard let change = LocalChange(operation) else { continue }
          changes.append(OwnChange(order: entry.order, position: position, change: change))
        }
      }
    }
    return changes
  }

  /// Versions that were not said again and have nothing in their way any more. What one replaces that is still not said is
  /// not said either.
  private mutating func takeUnsaid(on machine: some Machine) -> [OwnChange] {
    guard !unsaid.isEmpty else { return [] }
    let entries = former.flatMap { chains.segments(of: $0) }.compactMap { chains.entries[$0] }
    var older: Set<RecordVersion> = []
    var changes: [OwnChange] = []
    for entry in entries.sorted(by: { $1.order < $0.order }) {
      for (position, operation) in entry.segment.operations.enumerated().reversed() {
        guard case .add(let addition) = operation else { continue }
        let added = PendingAddition(addition)
        guard unsaid.contains(added.name) else { continue }
        if older.contains(added.name) || isInTheWay(of: added, on: machine) {
          older.formUnion(added.replacedNames)
        } else {
          unsaid.remove(added.name)
          changes.append(OwnChange(order: entry.order, position: position, change: .add(added)))
        }
      }
    }
    return changes
  }

  /// Whether an addition counts, a mark that counts or may count again is against it, as it was said first or again, or
  /// something with the same content is shown.
  private func isInTheWay(of added: PendingAddition, on machine: some Machine) -> Bool {
    let marks = records.marks[added.record] ?? [:]
    let isMarked = records.versions(of: added.record).contains { version, entry in
      (version == added.version || entry.isSame(added.hashes, added.storedAt))
        && (marks[version] ?? []).contains { mayCount($0.by) }
    }
    return isMarked || records.entry(added.record, added.version).map(counts) == true
      || shownSame(as: added, on: machine) != nil
  }

  /// Whether a segment counts, or will when something comes or the user has chosen.
  private func mayCount(_ name: SegmentName) -> Bool {
    counts(name)
      || ((membership.devices[name.device] != nil || membership.fork != nil) && !isCutOff(name))
  }

  /// Another version that is shown, with the same content, which is here.
  private func shownSame(as added: PendingAddition, on machine: some Machine) -> Version? {
    shownVersions(of: added.record).first { shown in
      shown.version != added.version && shown.hashes == added.hashes
        && hasContent(ContentName(record: added.record, version: shown.version), on: machine)
    }?.version
  }

  private func inOrder(_ changes: [OwnChange]) -> [LocalChange] {
    changes.sorted { ($0.order, $0.position) < ($1.order, $1.position) }.map(\.change)
  }

  /// In a run: what news of another revocation cut off, or brought back.
  mutating func sayAgainWhatIsCutOff(on machine: some Machine) -> [Effect] {
    guard counting.mayHaveToSayAgain, membership.isMember(device) else { return [] }
    counting.mayHaveToSayAgain = false
    let changes = inOrder(takeUnsaid(on: machine) + cutOff(of: former))
    return changes.isEmpty ? [] : sayAgain(changes, on: machine)
  }

  /// In a run: an addition that waits is not sent if a user has removed what another copy of this device said of it. Here it
  /// is removed with that.
  mutating func takeBackWhatIsRemoved(on machine: some Machine) -> [Effect] {
    guard !former.isEmpty else { return [] }
    var effects: [Effect] = []
    var changed: Set<RecordID> = []
    for case .add(let added) in outbox {
      guard let version = removedElsewhere(added).first(where: { counts($0.entry) })?.version,
        outbox.takeBack(added.version, of: added.record) != nil
      else { continue }
      let name = RecordVersion(record: added.record, version: version)
      carried[name] = added.name
      effects.append(.carry(from: added.name, to: name))
      changed.insert(added.record)
    }
    refresh(changed, on: machine)
    return effects
  }

  /// In a run: a removal that waits is meant for the same addition too, as its author has said it again meanwhile.
  mutating func removeWhatIsSaidAgain() {
    for case .remove(let record, let versions) in pendingChanges {
      let same = Set(versions.flatMap { sameAdditions(as: RecordVersion(record: record, version: $0)) })
      if same.isEmpty { continue }
      var waiting: Set<Version> = []
      for case .remove(_, let versions) in pendingChanges(of: record) { waiting.formUnion(versions) }
      outbox += LocalChange.removals(of: record, same.subtracting(waiting).sorted())
    }
  }

  /// Other versions in which the same addition was said, by a copy of this device or again, and which a user who saw it
  /// removed since.
  private func removedElsewhere(_ added: PendingAddition) -> [(version: Version, entry: VersionEntry)] {
    records.versions(of: added.record).filter { version, entry in
      version != added.version && entry.isSame(added.hashes, added.storedAt)
        && (records.marks[added.record]?[version] ?? []).contains { removes($0) }
    }
  }

  /// Says changes again in the name of the device's present identifier. Their versions change with it. What others have
  /// removed is not said again as long as that counts, nor what counts anyway; the former contents stay, since they are kept
  /// aside.
  mutating func sayAgain(_ changes: [LocalChange], on machine: some Machine) -> [Effect] {
    var effects: [Effect] = []
    var renamed: [RecordVersion: Version] = [:]
    let older = olderThanWhatIsGone(changes)
    for change in changes {
      switch change {
      case .add(let added):
        let (record, old, further) = (added.record, added.version, added.further)
        // A device that was put back to an earlier state, or a copy of it, has sent this before. What is left of an identifier
        // that was revoked may be cut off by another revocation.
        let sent = records.entry(record, old)?.addedBy.filter(counts) ?? []
        if sent.contains(where: { !former.contains($0.device) }) { continue }
        let name = added.name
        let isHere = (0...UInt16(further.count)).allSatisfy {
          hasContent(ContentName(name, part: $0), on: machine)
        }
        guard isHere, !older.contains(name) else { continue }
        let isSent = records.entry(record, old) != nil
        if isGone(added) {
          if isSent { unsaid.insert(name) }
          continue
        }
        guard let frame = content(ContentName(name), on: machine) else {
          unreadable.insert(name)
          continue
        }
        // Another copy of this device said it.
        if let same = shownSame(as: added, on: machine) {
          renamed[name] = same
          if isSent { unsaid.insert(name) }
          continue
        }
        let replaced = added.replacedNames.flatMap { [renamed[$0] ?? $0.version] + sameAdditions(as: $0) }
        let replaces = Array(
          Set(replaced + (sent.isEmpty ? [] : [old])).sorted().suffix(LocalChange.versionLimit))
        let version = Addition.version(
          kind: added.kind, lamport: min(old.lamport, nextLamport), device: device, record: record,
          storedAt: added.storedAt, replaces: replaces, frameHash: added.frameHash, further: further)
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
          carried[new] = carried[name] ?? name
          effects.append(.carry(from: name, to: new))
        }
        // What no segment holds is not kept aside.
        if !isSent { effects.append(.drop(record: record, version: old)) }
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

  /// Whether somebody removed or replaced what an addition brings, here too and not sent yet, or removed the same in another
  /// version.
  private func isGone(_ added: PendingAddition) -> Bool {
    isGone(added.record, added.version, heldCounts: false) || !removedElsewhere(added).isEmpty
      || pendingChanges(of: added.record).contains { $0.marked.contains(added.version) }
  }

  /// What additions replace that are gone, and those that these replace: it is older than what was removed.
  private func olderThanWhatIsGone(_ changes: [LocalChange]) -> Set<RecordVersion> {
    var older: Set<RecordVersion> = []
    for case .add(let added) in changes.reversed() {
      if older.contains(added.name) || isGone(added) { older.formUnion(added.replacedNames) }
    }
    return older
  }

  /// Versions that count, are not gone, and in which an author said the same addition again.
  private func sameAdditions(as name: RecordVersion) -> [Version] {
    guard let known = records.entry(name.record, name.version) else { return [] }
    return records.versions(of: name.record).filter { version, entry in
      version != name.version && entry.isSame(known.hashes, known.storedAt)
        && counts(entry) && !isGone(name.record, version, heldCounts: false)
    }.map(\.version)
  }
}

/// A change of a segment of this device's, with its place among all.
private struct OwnChange {
  /// Of the segment, as this device applied it.
  let order: Int
  /// In the segment.
  let position: Int
  let change: LocalChange
}

extension VersionEntry {
  /// Whether a version brings the same as an addition of these contents, stored at this time.
  fileprivate func isSame(_ hashes: [FrameHash], _ storedAt: UInt64) -> Bool {
    self.hashes == hashes && self.storedAt == storedAt
  }
}
