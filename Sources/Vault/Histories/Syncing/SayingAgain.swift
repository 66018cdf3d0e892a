// SPDX-License-Identifier: Apache-2.0
//
// What a device wrote under an identifier that it has no longer, and that a revocation cuts off: it says it again under
// its present one. The content is its own, and its user lost nothing. What another copy of it wrote stays cut off, since
// the copy may be in a thief's hands; a copy that is the user's says its changes again itself.

internal import Primitives
internal import Secrets

extension History {
  /// The changes of segments that this device wrote under former identifiers, that surely do not count, and that it has not
  /// said again.
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
    return lost.flatMap { $0.segment.operations.compactMap(LocalChange.init) }
  }

  /// Versions that were not said again, as far as what was in the way will not count any more. What one replaces that is
  /// still not said is not said either.
  private mutating func takeUnsaid() -> [LocalChange] {
    guard !unsaid.isEmpty else { return [] }
    let entries = former.flatMap { chains.segments(of: $0) }.compactMap { chains.entries[$0] }
    var replaced: Set<RecordVersion> = []
    var changes: [LocalChange] = []
    for entry in entries.sorted(by: { $1.order < $0.order }) {
      for case .add(let addition) in entry.segment.operations.reversed() {
        let name = RecordVersion(record: addition.record, version: addition.version)
        guard unsaid.contains(name) else { continue }
        if replaced.contains(name) || isInTheWay(of: addition) {
          for version in addition.replaces {
            replaced.insert(RecordVersion(record: name.record, version: version))
          }
        } else {
          unsaid.remove(name)
          changes.append(.add(PendingAddition(addition)))
        }
      }
    }
    return changes.reversed()
  }

  /// Whether a mark is against an addition that counts or may count again, or something brings the same content.
  private func isInTheWay(of addition: Addition) -> Bool {
    let (record, version) = (addition.record, addition.version)
    let isMarked = (records.marks[record]?[version] ?? []).contains { mark in
      counts(mark.by) || (membership.devices[mark.by.device] != nil && !isCutOff(mark.by))
    }
    let hashes = [addition.frameHash] + addition.further
    return isMarked
      || records.versions(of: record).contains { other, entry in
        other != version && entry.hashes == hashes && counts(entry)
      }
      || pendingChanges(of: record).contains {
        if case .add(let added) = $0 { added.hashes == hashes } else { false }
      }
  }

  /// In a run: what news of another revocation cut off, or brought back.
  mutating func sayAgainWhatIsCutOff(on machine: some Machine) -> [Effect] {
    guard counting.mayHaveToSayAgain, membership.isMember(device) else { return [] }
    counting.mayHaveToSayAgain = false
    let changes = takeUnsaid() + whatIsCutOff(of: former)
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
    removeWhatIsSaidAgain()
    return effects
  }

  /// A removal that waits is meant for the same addition too, as its author has said it again meanwhile.
  private mutating func removeWhatIsSaidAgain() {
    for case .remove(let record, let versions) in outbox {
      var waiting: Set<Version> = []
      for case .remove(_, let versions) in pendingChanges(of: record) { waiting.formUnion(versions) }
      let same = Set(versions.flatMap { sameAdditions(as: RecordVersion(record: record, version: $0)) })
      outbox += LocalChange.removals(of: record, same.subtracting(waiting).sorted())
    }
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
    let replaced = replacedByWhatIsGone(changes)
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
        guard isHere, !replaced.contains(name) else { continue }
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
        if let same = shownVersions(of: record).first(where: { $0.hashes == added.hashes }),
          same.version != old, hasContent(ContentName(record: record, version: same.version), on: machine)
        {
          renamed[name] = same.version
          if isSent { unsaid.insert(name) }
          continue
        }
        let replaced = added.replaces.map { renamed[RecordVersion(record: record, version: $0)] ?? $0 }
        let replaces = Set(replaced + (sent.isEmpty ? [] : [old])).sorted()
        let version = Addition.version(
          kind: added.kind, lamport: min(old.lamport, nextLamport), device: device, record: record,
          storedAt: added.storedAt,
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

  /// Whether somebody removed or replaced what an addition brings, in this version or as another copy said it.
  private func isGone(_ added: PendingAddition) -> Bool {
    isGone(added.record, added.version, heldCounts: false) || removedElsewhere(added) != nil
  }

  /// What additions replace that are gone, and those that these replace: it is older than what was removed.
  private func replacedByWhatIsGone(_ changes: [LocalChange]) -> Set<RecordVersion> {
    var replaced: Set<RecordVersion> = []
    for case .add(let added) in changes.reversed() {
      guard replaced.contains(RecordVersion(record: added.record, version: added.version)) || isGone(added)
      else { continue }
      for version in added.replaces { replaced.insert(RecordVersion(record: added.record, version: version)) }
    }
    return replaced
  }

  /// Versions that count, are not gone, and in which an author said the same addition again.
  private func sameAdditions(as name: RecordVersion) -> [Version] {
    guard let known = records.entry(name.record, name.version) else { return [] }
    return records.versions(of: name.record).filter { version, entry in
      version != name.version && entry.hashes == known.hashes && entry.storedAt == known.storedAt
        && counts(entry) && !isGone(name.record, version, heldCounts: false)
    }.map(\.version)
  }
}
