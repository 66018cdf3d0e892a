// SPDX-License-Identifier: Apache-2.0
//
// Removals and replacements that are here and hide nothing: they are held, or do not count, or this device is about to say
// itself what they remove. They may come into force much later. What they hide then is kept as long as if they had come at
// that time, since the user saw it until then.

internal import Primitives

/// Until when the removals of devices hid nothing.
struct LateRemovals: Equatable, Sendable {
  /// Of a device, from a segment on, until a time by this device's clock.
  struct Entry: Equatable, Sendable {
    let from: UInt64
    let until: UInt64
  }

  /// The entries of a device rise in both.
  private(set) var entries: [DeviceID: [Entry]] = [:]

  /// The time for the marks of a segment; nil if they hid what they name since it came.
  func until(_ name: SegmentName) -> UInt64? {
    entries[name.device]?.last { $0.from <= name.number }?.until
  }

  /// The removals of a device from a segment on hide nothing at a time.
  mutating func note(_ device: DeviceID, from number: UInt64, until time: UInt64) {
    let known = entries[device] ?? []
    let earlier = known.filter { $0.from < number }
    // A clock that was set back makes nothing older.
    let until = known.dropFirst(earlier.count).map(\.until).reduce(time, max)
    guard until > earlier.last?.until ?? 0 else { return entries[device] = earlier }
    entries[device] = earlier + [Entry(from: number, until: until)]
  }
}

extension History {
  /// Notes which removals hide nothing now, before anything is done that may bring them into force.
  mutating func noteLateRemovals(at now: UInt64) {
    let held = Set(holds.segments.keys.map(\.device))
    for device in chains.heads.keys {
      let isMember = membership.devices[device] != nil && membership.revocations[device] == nil
      guard !isMember || held.contains(device) || chains.forks[device] != nil else { continue }
      let idle = chains.segments(of: device).filter { name in
        (!counts(name) || isHeld(name))
          && chains.entries[name]?.segment.operations.contains(where: \.removes) == true
      }
      if let first = idle.map(\.number).min() { holds.late.note(device, from: first, until: now) }
    }
    // Another copy of this device said and removed what waits here.
    guard isCloned else { return }
    for case .add(let added) in pendingChanges {
      for mark in records.marks[added.record]?[added.version] ?? [] {
        holds.late.note(mark.by.device, from: mark.by.number, until: now)
      }
    }
  }
}
