// SPDX-License-Identifier: Apache-2.0
//
// Which segments count: all of a member's, and of a revoked device those that every revocation leaves. It is a function
// of the segments and the control operations that are here, whatever the order in which they came.

internal import Primitives
internal import Secrets

/// What is known of revoked devices' segments.
struct Counting: Sendable {
  /// Of each revoked device that was looked at, the segments that all revocations leave.
  fileprivate(set) var left: [DeviceID: Set<SegmentName>] = [:]
  /// Revoked devices of which a head that a revocation names is not here, so that more segments may count later.
  fileprivate(set) var open: Set<DeviceID> = []
  /// Whether segments came since `open` was looked at.
  fileprivate var isDue = false
  /// Whether news came by which this device may have to say something again.
  var mayHaveToSayAgain = false
}

extension History {
  /// Whether a segment counts.
  func counts(_ name: SegmentName) -> Bool {
    guard membership.devices[name.device] != nil else { return false }
    guard membership.revocations[name.device] != nil else { return true }
    return counting.left[name.device]?.contains(name) ?? false
  }

  /// Whether nothing has to wait for a segment, since a revocation does not leave it, and what counts of its past is here:
  /// the revocation's heads are, and the segment is not before them.
  func isBeyondRevocation(_ name: SegmentName) -> Bool { isLeftOut(name) { _ in false } }

  /// Whether a segment that is here will never count, since a revocation does not leave it. Its heads may be missing: none
  /// of them comes after the segment.
  func isCutOff(_ name: SegmentName) -> Bool { isLeftOut(name) { $0.number <= name.number } }

  /// Whether a segment that is here is cut off, or would count only with a head that the user has looked for in vain.
  func isGivenUp(_ name: SegmentName) -> Bool {
    isLeftOut(name) { $0.number <= name.number || remote.passedOver.contains(.segment($0)) }
  }

  /// Whether a segment is before no head of a revocation.
  /// - Parameter isNotAfter: whether a head that is not here is surely not after the segment.
  private func isLeftOut(_ name: SegmentName, missing isNotAfter: (SegmentName) -> Bool) -> Bool {
    (membership.revocations[name.device] ?? []).contains { revocation in
      revocation.heads.allSatisfy { head in
        guard chains.entries[head] != nil else { return isNotAfter(head) }
        // What is before a head that is here is here.
        return chains.entries[name] == nil || !chains.isOnLine(name, to: head)
      }
    }
  }

  /// The log changed: who belongs to the account, and which segments count.
  mutating func membershipChanged(on machine: some Machine) {
    let before = membership
    membership = Membership(log, settled: settled)
    // What came before its operation is compared now.
    keys = keys.filter { log.fits($0.value) }
    if membership.fork == nil { alarms.remove(.ownerForked) } else { alarms.insert(.ownerForked) }
    // Revoked, or the operation that added it does not count.
    for device in chains.forks.keys where membership.isMember(device) != before.isMember(device) {
      let alarm = Alarm.forked(device)
      if membership.isMember(device) { alarms.insert(alarm) } else { alarms.remove(alarm) }
    }
    var records: Set<RecordID> = []
    for device in chains.heads.keys where membership.differs(from: before, of: device) {
      count(device)
      records.formUnion(chains.segments(of: device).flatMap { recordsNamed(by: $0) })
    }
    refresh(records, on: machine)
  }

  /// A segment was applied: what counts may change, of its own device or of one that it names.
  mutating func noteForCounting(_ name: SegmentName) {
    if membership.revocations[name.device] != nil, counting.left[name.device] == nil { count(name.device) }
    if !rules.membershipIsTheLog, membership.revocations[name.device] != nil {
      counting.open.insert(name.device)
    }
    counting.isDue = true
  }

  /// Asks again what counts of revoked devices of which something was missing; after a step took segments in.
  mutating func countAgain(on machine: some Machine) {
    guard counting.isDue else { return }
    counting.isDue = false
    var changed: Set<SegmentName> = []
    for device in counting.open {
      let before = counting.left[device] ?? []
      count(device)
      changed.formUnion(before.symmetricDifference(counting.left[device] ?? []))
    }
    refresh(Set(changed.flatMap { recordsNamed(by: $0) }), on: machine)
  }

  /// The records that the operations of a segment are about.
  func recordsNamed(by name: SegmentName) -> [RecordID] {
    (chains.entries[name]?.segment.operations ?? []).compactMap(\.record)
  }

  private mutating func count(_ device: DeviceID) {
    if former.contains(device) || !unsaid.isEmpty { counting.mayHaveToSayAgain = true }
    guard let revocations = membership.revocations[device] else {
      counting.left[device] = nil
      counting.open.remove(device)
      return
    }
    var left = Set(chains.segments(of: device))
    for revocation in revocations { left.formIntersection(segments(of: device, leftBy: revocation)) }
    if !rules.membershipIsTheLog {
      left.formUnion(chains.segments(of: device).filter { !knewRevocation($0) })
    }
    counting.left[device] = left
    let isOpen = revocations.contains { $0.heads.contains { chains.entries[$0] == nil } }
    if isOpen { counting.open.insert(device) } else { counting.open.remove(device) }
  }

  /// The segments that a revocation surely leaves. A head that is not here hides nothing that its author is known to have
  /// had: what the author had of the device is before the heads, unless the author left some of it out.
  private func segments(of device: DeviceID, leftBy revocation: Membership.Revocation) -> Set<SegmentName> {
    let ends = revocation.heads.filter { chains.entries[$0] != nil }
    let had = revocation.frontier.filter { $0.device == device }
    guard ends.count < revocation.heads.count,
      had == revocation.heads || (had.count == 1 && revocation.heads.count == 1),
      let highest = revocation.heads.map(\.number).max()
    else { return chains.lines(to: ends) }
    let known = chains.past(of: revocation.frontier).filter { $0.device == device }
    return chains.lines(to: ends + known).filter { $0.number <= highest }
  }

  /// The broken rule: whether the segment's own control heads knew that its author was revoked.
  private func knewRevocation(_ name: SegmentName) -> Bool {
    log.upTo(chains.entries[name]?.segment.controlHeads ?? []).contains { id in
      log.entries[id]?.rekey?.revocations.contains { $0.device == name.device } ?? false
    }
  }
}

// MARK: What follows

extension History {
  /// Renews what depends on records: their digests, which contents are wanted, and which may be erased one day.
  mutating func refresh(_ changed: Set<RecordID>, on machine: some Machine) {
    touched.formUnion(changed)
    for record in changed {
      for (version, entry) in records.versions(of: record) {
        let name = RecordVersion(record: record, version: version)
        let isHidden = isGone(record, version, heldCounts: false)
        let isNeeded = !isHidden && counts(entry)
        var isHere = false
        for part in entry.wantedParts {
          let content = ContentName(name, part: part)
          if hasContent(content, on: machine) {
            isHere = true
          } else if isNeeded {
            if wanted.insert(content).inserted { sayAgainThatMissing(content) }
            continue
          }
          if !wanted.isEmpty { wanted.remove(content) }
        }
        if isHidden, isHere { hidden.insert(name) } else if !hidden.isEmpty { hidden.remove(name) }
      }
      buckets.set(record, to: countedVersions(of: record))
    }
  }

  /// The versions of a record that count, with whether a removal or replacement counts, held or not: what digests see.
  func countedVersions(of record: RecordID) -> [(version: Version, isGone: Bool)] {
    var counted: [(version: Version, isGone: Bool)] = []
    for (version, entry) in records.versions(of: record) where counts(entry) {
      counted.append((version, isGone(record, version, heldCounts: true)))
    }
    return counted
  }
}
