// SPDX-License-Identifier: Apache-2.0
//
// Who removed something, and since when: what a user needs who did not.

public import Primitives

/// What one device removed.
public struct DeviceRemovals: Sendable, Equatable {
  public let device: DeviceID
  /// What it is called.
  public let name: String
  public let recordCount: Int
  /// When the first of these removals came, as ``History/heads(of:before:)`` counts; seconds since 1970.
  public let since: UInt64

  /// So many are a theft rather than somebody's tidying.
  static let muchCount = 10

  /// Whether it is said who removed.
  public var isMuch: Bool { recordCount >= Self.muchCount }
}

extension History {
  /// Which other devices removed what is not here any more, by what came since a time; who removed most first.
  /// - Parameter time: seconds since 1970.
  public func removals(since time: UInt64) -> [DeviceRemovals] {
    removals(of: Set(records.marks.keys), since: time)
  }

  /// Which other devices removed what is not here any more of these records, as far as that counts and is not held. Where
  /// many go at once after some that went one by one, only they are meant.
  public func removals(of names: Set<RecordID>, since time: UInt64 = 0) -> [DeviceRemovals] {
    var found: [DeviceID: [RecordID: UInt64]] = [:]
    for record in names where records.kind(of: record) != .label && shownVersions(of: record).isEmpty {
      for mark in (records.marks[record] ?? [:]).values.joined()
      where mark.by.device != device && removes(mark) {
        guard let cameAt = chains.entries[mark.by]?.cameAt, cameAt >= time else { continue }
        let first = found[mark.by.device]?[record] ?? cameAt
        found[mark.by.device, default: [:]][record] = min(first, cameAt)
      }
    }
    return found.map { device, records in
      let times = records.values.sorted()
      let burst = Self.burst(times)
      return DeviceRemovals(
        device: device, name: membership.devices[device]?.name ?? "", recordCount: burst.count,
        since: burst.first ?? 0)
    }.sorted { ($1.recordCount, $0.device) < ($0.recordCount, $1.device) }
  }

  /// Whether somebody removed something of a message, and whoever wrote this version of it had not seen that. A version that
  /// waited to be sent was older than its segment: then its own lamport number tells.
  /// - Parameter ofThisDeviceAlone: whether only removals of this device are meant.
  public func crossesRemoval(_ name: RecordVersion, ofThisDeviceAlone: Bool) -> Bool {
    if hasWaitingRemoval(of: name.record) { return true }
    guard let marks = records.marks[name.record], let entry = records.entry(name.record, name.version) else {
      return false
    }
    let removals = marks.values.joined().filter { mark in
      (!ofThisDeviceAlone || mark.by.device == device) && removes(mark)
    }
    return entry.isAdded { adder in
      removals.contains { removal in
        !chains.hasSeen(removal.by, adder)
          || name.version.lamport <= chains.entries[removal.by]?.segment.lamport ?? 0
      }
    }
  }

  /// Whether a removal of a record waits here.
  func hasWaitingRemoval(of record: RecordID) -> Bool {
    pendingChanges(of: record).contains { if case .remove = $0 { true } else { false } }
  }

  /// The times from the beginning of the last group of many that follow one another within an hour; all without one.
  private static func burst(_ times: [UInt64]) -> ArraySlice<UInt64> {
    var (start, found) = (times.startIndex, times.startIndex)
    for index in times.indices {
      if index > start, times[index] - times[index - 1] > 3_600 { start = index }
      if index - start + 1 == DeviceRemovals.muchCount { found = start }
    }
    return times[found...]
  }
}
