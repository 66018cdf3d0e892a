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

  fileprivate(set) var segments: [SegmentName: Reason] = [:]
  /// Segments that the user let through; the brake does not count them again.
  fileprivate(set) var confirmed: Set<SegmentName> = []

  /// Whether nothing is held.
  var isEmpty: Bool { segments.isEmpty }
}

extension History {
  /// Whether the removals and replacements of a segment hide nothing here.
  func isHeld(_ name: SegmentName) -> Bool {
    holds.segments[name] != nil || (chains.isAfterFork(name) && membership.revocations[name.device] == nil)
  }

  /// Whether anything is held that counts.
  var holdsSomething: Bool {
    chains.entries.values.contains { entry in
      counting.contains(entry.name) && isHeld(entry.name)
        && entry.segment.operations.contains(where: \.removes)
    }
  }

  /// Decides whether a segment that was just applied is held.
  mutating func hold(_ entry: ChainEntry) {
    guard entry.name.device != device, entry.segment.operations.contains(where: \.removes) else { return }
    if !alarms.isEmpty {
      holds.segments[entry.name] = .alarm
    } else {
      for name in segmentsThatBrake(entry) { holds.segments[name] = .brake }
    }
  }

  /// The segments of one device and day that remove or replace too much of what others wrote, this one among them; none
  /// if it is little.
  func segmentsThatBrake(_ entry: ChainEntry) -> [SegmentName] {
    let day =
      chains.entries.values.filter { other in
        other.name.device == entry.name.device && other.name != entry.name
          && other.appliedAt + 86_400 > entry.appliedAt && !holds.confirmed.contains(other.name)
      } + [entry]
    let removed = Set(day.flatMap { marksOnOthers($0) })
    guard removed.count > limits.brakeCount, removed.count * limits.brakePart > records.identifiers.count
    else {
      return []
    }
    return day.filter { $0.segment.operations.contains(where: \.removes) }.map(\.name)
  }

  /// The user says that what is held of a device is right.
  mutating func confirm(_ author: DeviceID, on machine: some Machine) -> [Effect] {
    for name in holds.segments.keys where name.device == author {
      holds.segments[name] = nil
      holds.confirmed.insert(name)
    }
    refreshAll(on: machine)
    return []
  }

  /// Every alarm is closed: what came meanwhile is believed, unless the brake holds it.
  mutating func releaseAfterAlarm(on machine: some Machine) {
    let released = holds.segments.filter { $0.value == .alarm }.keys
    guard !released.isEmpty else { return }
    for name in released { holds.segments[name] = nil }
    for name in released.sorted() {
      if let entry = chains.entries[name] { hold(entry) }
    }
    refreshAll(on: machine)
  }

  /// The versions of other devices' records that a segment removes or replaces.
  private func marksOnOthers(_ entry: ChainEntry) -> [RecordVersion] {
    entry.segment.operations.flatMap { operation -> [RecordVersion] in
      let (record, versions) = operation.marked
      return versions.filter { version in
        let authors = records.versions[record]?[version]?.addedBy.map(\.device) ?? []
        return !authors.contains(entry.name.device)
      }.map { RecordVersion(record: record, version: $0) }
    }
  }
}

extension Operation {
  /// Whether it removes or replaces something.
  var removes: Bool { !marked.versions.isEmpty }

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
