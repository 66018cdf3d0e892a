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
  /// The same, as ``Chains/steadyTime(_:)`` says.
  let steadyTime: UInt64
  /// When the server says that it was written; nil where there is no server's clock, and for our own.
  let writtenAt: UInt64?
  /// Its place in the order in which this device applied segments.
  let order: Int
}

/// Why a segment is not taken.
enum SegmentRefusal: Error, Equatable, Sendable {
  /// A predecessor or another chain's segment, which is named here, is not here yet; or a control operation, an epoch key
  /// or something else that no segment brings.
  case causeMissing(SegmentName?)
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
  /// The highest time at which this device applied a segment.
  private var latestTime: UInt64 = 0
  /// The highest lamport number that is here.
  private(set) var lamport: UInt64 = 0
  /// The segments of each device, in the order in which this device applied them.
  private var ofDevice: [DeviceID: [SegmentName]] = [:]
  private var ofBlock: [Folder: [SegmentName]] = [:]

  /// The last segments of all devices, in rising order.
  var frontier: [SegmentName] { heads.values.joined().sorted() }

  /// The frontier as segments and control operations name it: of a chain with very many branches the last few, so that
  /// nobody's segment becomes too large by what another device writes.
  var namedFrontier: [SegmentName] {
    heads.values.flatMap { $0.suffix(Segment.branchLimit) }.sorted()
  }

  /// Every segment, in the order in which this device applied them.
  var ordered: [ChainEntry] { entries.values.sorted { $0.order < $1.order } }

  /// A time of this device's clock, or the highest at which a segment was applied before it: a clock that was set back makes
  /// nothing older. One that was wrong by years delays nothing for years.
  func steadyTime(_ now: UInt64) -> UInt64 { max(now, min(latestTime, now + Self.mostSetBack)) }

  static let mostSetBack: UInt64 = 60 * 86_400

  /// The segments of one device, in the order in which this device applied them.
  func segments(of device: DeviceID) -> [SegmentName] { ofDevice[device] ?? [] }

  /// The segments of a block.
  func segments(in block: Folder) -> [SegmentName] { ofBlock[block] ?? [] }

  /// The highest number of a chain that is here; 0 if there is no segment.
  func lastNumber(of device: DeviceID) -> UInt64 { heads[device]?.last?.number ?? 0 }

  mutating func insert(_ entry: ChainEntry) {
    let name = entry.name
    let predecessor = entry.segment.predecessor
    if isAnotherAfter(predecessor, device: name.device) {
      forks[name.device] = min(forks[name.device] ?? .max, name.number)
    }
    entries[name] = entry
    lamport = max(lamport, entry.segment.lamport)
    latestTime = max(latestTime, entry.appliedAt)
    ofDevice[name.device, default: []].append(name)
    if let block = ObjectName.segment(name).folder { ofBlock[block, default: []].append(name) }
    var heads = heads.removeValue(forKey: name.device) ?? []
    if let predecessor, let index = heads.firstIndex(of: predecessor) { heads.remove(at: index) }
    heads.insert(name, at: heads.firstIndex { name < $0 } ?? heads.count)
    self.heads[name.device] = heads
  }

  /// All of these segments that are here, with all before them in their own chains.
  func lines(to names: [SegmentName]) -> Set<SegmentName> {
    var found: Set<SegmentName> = []
    for name in names {
      var next: SegmentName? = name
      while let name = next, let entry = entries[name], found.insert(name).inserted {
        next = entry.segment.predecessor
      }
    }
    return found
  }

  /// Whether a segment is another one, or before it in its chain. Both are here.
  func isOnLine(_ name: SegmentName, to end: SegmentName) -> Bool {
    guard name.device == end.device, name.number <= end.number else { return false }
    if forks[name.device] == nil { return true }
    var next = end
    while next.number > name.number {
      guard let predecessor = entries[next]?.segment.predecessor else { return false }
      next = predecessor
    }
    return next == name
  }

  /// All segments that these name, and those name, and so on, as far as they are here; with the last that are not.
  func past(of frontier: [SegmentName]) -> Set<SegmentName> {
    var found = Set(frontier)
    var stack = frontier
    while let name = stack.popLast() {
      for cause in entries[name]?.segment.frontier ?? [] where found.insert(cause).inserted {
        stack.append(cause)
      }
    }
    return found
  }

  /// Whether the author of a segment that is here had another one when it was written, as far as the frontier tells.
  func hasSeen(_ other: SegmentName, _ name: SegmentName) -> Bool {
    if other.device == name.device { return other.number <= name.number }
    return entries[name]?.segment.frontier.contains {
      $0.device == other.device && $0.number >= other.number
    } ?? false
  }

  /// Whether no segment follows this one.
  func isHead(_ name: SegmentName) -> Bool { heads[name.device]?.contains(name) ?? false }

  /// Whether a segment comes after the number at which its chain forked.
  func isAfterFork(_ name: SegmentName) -> Bool { forks[name.device].map { name.number >= $0 } ?? false }

  /// Whether another segment follows the same predecessor.
  func isFork(_ segment: Segment) -> Bool { isAnotherAfter(segment.predecessor, device: segment.device) }

  private func isAnotherAfter(_ predecessor: SegmentName?, device: DeviceID) -> Bool {
    guard let predecessor else { return heads[device] != nil }
    return !isHead(predecessor)
  }
}
