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
}

extension History {
  /// Which other devices removed what is not here any more, by what came since a time; who removed most first.
  /// - Parameter time: seconds since 1970.
  public func removals(since time: UInt64) -> [DeviceRemovals] {
    removals(of: Set(records.marks.keys), since: time)
  }

  /// Which other devices removed what is not here any more of these records, as far as that counts and is not held.
  public func removals(of names: Set<RecordID>, since time: UInt64 = 0) -> [DeviceRemovals] {
    var found: [DeviceID: (records: Set<RecordID>, since: UInt64)] = [:]
    for record in names where shownVersions(of: record).isEmpty {
      for mark in (records.marks[record] ?? [:]).values.joined()
      where !mark.isReplacement && mark.by.device != device && counts(mark.by) && !isHeld(mark.by) {
        guard let cameAt = chains.entries[mark.by]?.cameAt, cameAt >= time else { continue }
        var removals = found[mark.by.device] ?? ([], cameAt)
        removals.records.insert(record)
        removals.since = min(removals.since, cameAt)
        found[mark.by.device] = removals
      }
    }
    return found.map { device, removals in
      DeviceRemovals(
        device: device, name: membership.devices[device]?.name ?? "", recordCount: removals.records.count,
        since: removals.since)
    }.sorted { ($1.recordCount, $0.device) < ($0.recordCount, $1.device) }
  }
}
