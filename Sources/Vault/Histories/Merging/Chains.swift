// SPDX-License-Identifier: Apache-2.0
//
// The chains of all devices: segments that were verified, each linked to its predecessor. A chain may fork; then every
// branch is kept, and every branch counts.

/// A verified segment with the bytes that it came in.
struct ChainEntry: Sendable {
  let name: SegmentName
  let segment: Segment
  /// The sealed bytes, kept so that a remote that lost them gets them back.
  let object: [UInt8]
  let epoch: EpochName
  /// When this device applied it, by its own clock.
  let appliedAt: UInt64
  /// When the server says that it was written; nil where there is no server's clock, and for our own.
  let writtenAt: UInt64?
  /// Its place in the order in which this device applied segments.
  let order: Int
}

/// Why a segment is not taken.
enum SegmentRefusal: Error, Equatable, Sendable {
  /// A predecessor, another chain's segment, a control operation or an epoch key is not here yet.
  case causeMissing
  /// It is not by the device that it names, or breaks a rule.
  case invalid
}

/// Verified segments of all devices.
struct Chains: Sendable {
  private(set) var entries: [SegmentName: ChainEntry] = [:]
  /// Of each device, the segments that no other follows, in rising order: one, unless its chain forked.
  private(set) var heads: [DeviceID: [SegmentName]] = [:]
  /// The segments of a chain that have its first number with two successors behind them: they come after a fork.
  private(set) var forks: [DeviceID: UInt64] = [:]

  /// The last segments of all devices, in rising order.
  var frontier: [SegmentName] { heads.values.joined().sorted() }

  /// Every segment, in the order in which this device applied them.
  var ordered: [ChainEntry] { entries.values.sorted { $0.order < $1.order } }

  /// The highest number of a chain that is here; 0 if there is no segment.
  func lastNumber(of device: DeviceID) -> UInt64 { heads[device]?.map(\.number).max() ?? 0 }

  /// The highest lamport number that is here.
  var lamport: UInt64 { heads.values.joined().compactMap { entries[$0]?.segment.lamport }.max() ?? 0 }

  mutating func insert(_ entry: ChainEntry) {
    let name = entry.name
    let predecessor = entry.segment.predecessor
    if isAnotherAfter(predecessor, device: name.device) {
      forks[name.device] = min(forks[name.device] ?? .max, name.number)
    }
    entries[name] = entry
    heads[name.device] = ((heads[name.device] ?? []).filter { $0 != predecessor } + [name]).sorted()
  }

  /// The segment and all before it in its own chain.
  func line(to name: SegmentName) -> [SegmentName] {
    var line: [SegmentName] = []
    var next: SegmentName? = name
    while let name = next, let entry = entries[name] {
      line.append(name)
      next = entry.segment.predecessor
    }
    return line
  }

  /// Whether a segment comes after the number at which its chain forked.
  func isAfterFork(_ name: SegmentName) -> Bool { forks[name.device].map { name.number >= $0 } ?? false }

  /// Segments of a frontier that are not here.
  func missing(of frontier: [SegmentName]) -> [SegmentName] { frontier.filter { entries[$0] == nil } }

  /// Whether everything in `older` that is here is at or before an entry of `newer`, chain by chain.
  func covers(_ newer: [SegmentName], _ older: [SegmentName]) -> Bool {
    let present = Set(newer)
    return older.allSatisfy { name in
      entries[name] == nil || present.contains(name)
        || newer.contains { newer in
          newer.device == name.device && newer.number > name.number
            && (entries[newer] == nil || line(to: newer).contains(name))
        }
    }
  }

  /// Whether another segment follows the same predecessor.
  func isFork(_ segment: Segment) -> Bool { isAnotherAfter(segment.predecessor, device: segment.device) }

  private func isAnotherAfter(_ predecessor: SegmentName?, device: DeviceID) -> Bool {
    if let predecessor {
      return !(heads[device] ?? []).contains(predecessor)
    }
    return heads[device] != nil
  }
}
