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
  /// Which other devices removed these records, as far as that counts and is not held; who removed most first.
  public func removals(of names: Set<RecordID>) -> [DeviceRemovals] {
    var found: [DeviceID: (records: Set<RecordID>, since: UInt64)] = [:]
    for record in names {
      for mark in (records.marks[record] ?? [:]).values.joined()
      where !mark.isReplacement && mark.by.device != device && counts(mark.by) && !isHeld(mark.by) {
        guard let cameAt = chains.entries[mark.by]?.cameAt else { continue }
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
