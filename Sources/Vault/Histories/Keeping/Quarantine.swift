// SPDX-License-Identifier: Apache-2.0
//
// What does not count, as its user looks through it: changes that a revocation cut off. They are kept and have no effect.

public import Primitives

/// What one segment that does not count would have changed.
public struct QuarantinedSegment: Sendable {
  public let name: SegmentName
  /// What its device was called.
  public let deviceName: String
  /// By the server's clock where there is one, else when this device took it; seconds since 1970.
  public let cameAt: UInt64
  /// Versions that nothing which counts brings, and whose content no version has that counts or waits here.
  public let versions: [(version: RecordVersion, storedAt: UInt64)]
  /// Records that it removed and that are there.
  public let removed: [RecordID]

  /// The same with some of it; nil if nothing is left.
  public func keeping(
    versions isKept: (RecordVersion) -> Bool, removed isRemoved: (RecordID) -> Bool
  ) -> QuarantinedSegment? {
    let (versions, removed) = (versions.filter { isKept($0.version) }, removed.filter(isRemoved))
    guard !versions.isEmpty || !removed.isEmpty else { return nil }
    return QuarantinedSegment(
      name: name, deviceName: deviceName, cameAt: cameAt, versions: versions, removed: removed)
  }
}

extension History {
  /// Segments that do not count and would change something, each device's in their order.
  public var quarantine: [QuarantinedSegment] {
    let devices = log.allDevices.filter { membership.devices[$0] == nil || membership.revocations[$0] != nil }
    return devices.sorted().flatMap { device in
      let name = log.device(device)?.name ?? ""
      return chains.segments(of: device).sorted { $0.number < $1.number }.compactMap { segment in
        quarantined(segment, deviceName: name)
      }
    }
  }

  private func quarantined(_ name: SegmentName, deviceName: String) -> QuarantinedSegment? {
    guard !counts(name), let entry = chains.entries[name] else { return nil }
    var versions: [(version: RecordVersion, storedAt: UInt64)] = []
    var removed: [RecordID] = []
    var seen: Set<RecordID> = []
    var effective: [RecordID: Set<[FrameHash]>] = [:]
    for operation in entry.segment.operations {
      switch operation {
      case .add(let addition):
        let version = RecordVersion(record: addition.record, version: addition.version)
        let there = effective[addition.record] ?? effectiveContents(of: addition.record)
        effective[addition.record] = there
        if isOnlyQuarantined(version, beside: there) { versions.append((version, addition.storedAt)) }
      case .remove(let removal):
        if seen.insert(removal.record).inserted, !shownVersions(of: removal.record).isEmpty {
          removed.append(removal.record)
        }
      case .place, .unknown: break
      }
    }
    guard !versions.isEmpty || !removed.isEmpty else { return nil }
    return QuarantinedSegment(
      name: name, deviceName: deviceName, cameAt: entry.cameAt, versions: versions, removed: removed)
  }

  /// The contents of a record that count, or wait here.
  private func effectiveContents(of record: RecordID) -> Set<[FrameHash]> {
    Set(records.versions(of: record).map(\.entry).filter(counts).map(\.hashes))
      .union(shownVersions(of: record).map(\.hashes))
  }

  /// Whether nothing that counts brings a version or its content, and no change that waits here.
  private func isOnlyQuarantined(_ version: RecordVersion, beside contents: Set<[FrameHash]>) -> Bool {
    guard let entry = records.entry(version.record, version.version), !counts(entry) else { return false }
    return !contents.contains(entry.hashes)
  }

  // MARK: Before a revocation

  /// The last segments of a device that came before a time, with all before them: one for each branch.
  /// - Parameter time: seconds since 1970.
  public func heads(of device: DeviceID, before time: UInt64) -> [SegmentName] {
    var kept: Set<SegmentName> = []
    // Each comes after its predecessor.
    for name in chains.segments(of: device) {
      guard let entry = chains.entries[name], entry.cameAt < time,
        entry.segment.predecessor.map(kept.contains) != false
      else { continue }
      kept.insert(name)
    }
    return kept.subtracting(kept.compactMap { chains.entries[$0]?.segment.predecessor }).sorted()
  }

  /// Whether a revocation with these heads would cut off a segment of a device that counts.
  public func cutsOff(of device: DeviceID, beyond heads: [SegmentName]) -> Bool {
    Set(chains.segments(of: device)).subtracting(chains.lines(to: heads)).contains { counts($0) }
  }

  /// What a revocation with these heads would cut off.
  public func cutOff(of device: DeviceID, beyond heads: [SegmentName]) -> CutOff {
    let names = Set(chains.segments(of: device)).subtracting(chains.lines(to: heads)).filter { counts($0) }
    var (cutOff, records) = (CutOff(), Set<RecordID>())
    for name in names { records.formUnion(recordsNamed(by: name)) }
    for record in records {
      guard let kind = self.records.kind(of: record), kind != .label else { continue }
      let before = Set(shownVersions(of: record).map(\.hashes))
      let left = self.records.versions(of: record).filter { version, entry in
        entry.isAdded { counts($0) && !names.contains($0) }
          && !(self.records.marks[record]?[version] ?? []).contains {
            isInForce($0.by) && !names.contains($0.by)
          }
      }
      let after = Set(left.map(\.entry.hashes))
      switch (before.isEmpty, after.isEmpty) {
      case (true, false): cutOff.removedCount += 1
      case (false, true): cutOff.addedCount += 1
      case (false, false) where before != after: cutOff.changedCount += 1
      default: break
      }
    }
    return cutOff
  }
}

/// Messages and captures that a revocation cuts off, without labels.
public struct CutOff: Sendable, Equatable {
  /// Those that only the device added: they are not shown any more.
  public internal(set) var addedCount = 0
  /// Those of which another version is shown then.
  public internal(set) var changedCount = 0
  /// Those that it removed: they come back.
  public internal(set) var removedCount = 0

  /// Whether there is nothing.
  public var isEmpty: Bool { addedCount + changedCount + removedCount == 0 }
}

extension ChainEntry {
  /// By the server's clock where there is one, else when this device applied it.
  var cameAt: UInt64 { writtenAt ?? appliedAt }
}
