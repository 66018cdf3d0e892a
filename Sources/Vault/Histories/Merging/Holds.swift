// SPDX-License-Identifier: Apache-2.0
//
// Removals and replacements that are in the set and hide nothing yet: of a device that removes much at once, of a chain
// that forked, and of whatever came while an alarm was open. What is held depends on this device; digests do not see it.

internal import Primitives
internal import Secrets

/// Segments whose removals and replacements are held here.
struct Holds: Sendable {
  enum Reason: Hashable, Sendable {
    /// Their author removed or replaced too much in a day.
    case brake
    /// An alarm was open when they came.
    case alarm
  }

  /// What one device removed or replaced of others within a day.
  fileprivate struct Day: Sendable {
    /// Its segments that remove something, the oldest first.
    var segments: ArraySlice<(name: SegmentName, appliedAt: UInt64, versions: [RecordVersion])> = []
    /// How many of them remove a version.
    var removed: [RecordVersion: Int] = [:]
    /// Whether they are held already.
    var isHeld = false

    mutating func add(_ entry: ChainEntry, _ versions: [RecordVersion]) {
      while let first = segments.first, first.appliedAt + Limits.day <= entry.appliedAt {
        segments.removeFirst()
        forget(first.versions)
      }
      segments.append((entry.name, entry.appliedAt, versions))
      for version in versions { removed[version, default: 0] += 1 }
    }

    mutating func forget(_ versions: [RecordVersion]) {
      for version in versions {
        let left = (removed[version] ?? 1) - 1
        removed[version] = left == 0 ? nil : left
      }
    }
  }

  var segments: [SegmentName: Reason] = [:]
  /// Segments that the user let through; the brake does not count them again.
  var confirmed: Set<SegmentName> = []
  fileprivate var days: [DeviceID: Day] = [:]

  /// Whether nothing is held.
  var isEmpty: Bool { segments.isEmpty }
}

extension History {
  /// Whether the removals and replacements of a segment hide nothing here.
  func isHeld(_ name: SegmentName) -> Bool {
    holds.segments[name] != nil || (chains.isAfterFork(name) && membership.revocations[name.device] == nil)
  }

  /// Whether the removals and replacements of a segment hide what they name here.
  func isInForce(_ name: SegmentName) -> Bool { counts(name) && !isHeld(name) }

  /// Whether a mark is of a removal, and in force.
  func removes(_ mark: Mark) -> Bool { !mark.isReplacement && isInForce(mark.by) }

  /// Whether anything is held that counts.
  var holdsSomething: Bool {
    chains.entries.values.contains { entry in
      counts(entry.name) && isHeld(entry.name) && entry.segment.operations.contains(where: \.removes)
    }
  }

  /// Decides whether a segment that was just applied is held.
  /// - Returns: the segments that are held now and were not.
  mutating func hold(_ entry: ChainEntry) -> [SegmentName] {
    guard entry.name.device != device, entry.segment.operations.contains(where: \.removes),
      !holds.confirmed.contains(entry.name)
    else { return [] }
    var day = holds.days.removeValue(forKey: entry.name.device) ?? Holds.Day()
    defer { holds.days[entry.name.device] = day }
    day.add(entry, marksOnOthers(entry))
    if !alarms.isEmpty {
      holds.segments[entry.name] = .alarm
      return [entry.name]
    }
    guard isTooMuch(day) else {
      day.isHeld = false
      return []
    }
    let names = day.isHeld ? [entry.name] : day.segments.map(\.name)
    day.isHeld = true
    for name in names { holds.segments[name] = .brake }
    return names
  }

  /// The broken rule: whether a segment removes or replaces so much that the brake holds it.
  func brakes(_ entry: ChainEntry) -> Bool {
    guard entry.segment.operations.contains(where: \.removes) else { return false }
    var day = holds.days[entry.name.device] ?? Holds.Day()
    day.add(entry, marksOnOthers(entry))
    return isTooMuch(day)
  }

  private func isTooMuch(_ day: Holds.Day) -> Bool {
    day.removed.count > limits.brakeCount
      && day.removed.count * limits.brakePart > records.identifiers.count
  }

  /// The user says that what is held of a device is right.
  mutating func confirm(_ author: DeviceID, at now: UInt64, on machine: some Machine) -> [Effect] {
    noteLateRemovals(at: now)
    let names = holds.segments.keys.filter { $0.device == author }
    for name in names {
      holds.segments[name] = nil
      holds.confirmed.insert(name)
    }
    var day = holds.days[author] ?? Holds.Day()
    for segment in day.segments where holds.confirmed.contains(segment.name) { day.forget(segment.versions) }
    day.segments.removeAll { holds.confirmed.contains($0.name) }
    day.isHeld = false
    holds.days[author] = day
    refresh(Set(names.flatMap { recordsNamed(by: $0) }), on: machine)
    return []
  }

  /// Every alarm is closed: what came meanwhile is believed, unless the brake holds it.
  mutating func releaseAfterAlarm(on machine: some Machine) {
    let released = holds.segments.filter { $0.value == .alarm }.keys.sorted()
    for name in released { holds.segments[name] = nil }
    var changed = released
    for author in Set(released.map(\.device)).sorted() {
      holds.days[author] = nil
      for name in chains.segments(of: author) where !holds.confirmed.contains(name) {
        if let entry = chains.entries[name] { changed += hold(entry) }
      }
    }
    refresh(Set(changed.flatMap { recordsNamed(by: $0) }), on: machine)
  }

  /// The versions of other devices' records that a segment removes or replaces.
  private func marksOnOthers(_ entry: ChainEntry) -> [RecordVersion] {
    let versions = entry.segment.operations.flatMap { operation -> [RecordVersion] in
      let (record, versions) = operation.marked
      return versions.filter { version in
        records.entry(record, version)?.isAdded { $0.device == entry.name.device } != true
      }.map { RecordVersion(record: record, version: $0) }
    }
    return Array(Set(versions))
  }
}

extension Operation {
  /// Whether it removes or replaces something.
  var removes: Bool { !marked.versions.isEmpty }

  /// The record that it is about, if that is known.
  var record: RecordID? {
    switch self {
    case .add(let addition): addition.record
    case .remove(let removal): removal.record
    case .place(let new): new.record
    case .unknown: nil
    }
  }

  /// The content that it brings, and where.
  var brought: (content: ContentName, place: Place)? {
    switch self {
    case .add(let addition):
      (ContentName(record: addition.record, version: addition.version), addition.place)
    case .place(let new): (ContentName(record: new.record, version: new.version, part: new.part), new.place)
    case .remove, .unknown: nil
    }
  }

  /// The versions that it removes or replaces.
  var marked: (record: RecordID, versions: [Version]) {
    switch self {
    case .add(let addition): (addition.record, addition.replaces)
    case .remove(let removal): (removal.record, removal.versions)
    case .place(let new): (new.record, [])
    case .unknown: (Operation.noRecord, [])
    }
  }

  private static let noRecord = RecordID(Array(repeating: 0, count: 16).rawSpan) ?? RecordID()
}
