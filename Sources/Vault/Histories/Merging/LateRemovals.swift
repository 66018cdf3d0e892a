// SPDX-License-Identifier: Apache-2.0
//
// Removals and replacements that are here and hide nothing: they are held, or do not count, or this device is about to say
// itself what they remove. They may come into force much later. What they hide then is kept as long as if they had come at
// that time, since the user saw it until then. Those that came while the clock was behind are later than they look, too.

internal import Primitives

/// Until when the marks of segments hid nothing, by this device's clock. With those of a segment, those of all that follow it
/// in its chain are taken to have hidden nothing until then.
struct LateRemovals: Sendable {
  /// When something was late.
  struct Moment: Hashable, Sendable {
    /// By this device's clock, in seconds since 1970.
    var time: UInt64
    /// How many segments this device had applied.
    var segmentCount: Int

    /// A clock that was set back makes nothing older.
    func latest(_ other: Moment?) -> Moment {
      guard let other else { return self }
      return Moment(time: max(time, other.time), segmentCount: max(segmentCount, other.segmentCount))
    }
  }

  /// The segments with a later moment than those before them; this is kept on the disk.
  private(set) var beginnings: [SegmentName: Moment] = [:]
  /// Of all segments from these on, as of the last look.
  private var moments: [SegmentName: Moment] = [:]

  init() {}

  init(_ beginnings: [SegmentName: Moment]) { self.beginnings = beginnings }

  /// Nil if the marks of a segment, and of all before it, hid what they name since they came.
  func until(_ name: SegmentName) -> Moment? { moments[name] }

  /// A segment that comes now is late.
  mutating func begin(at name: SegmentName, _ moment: Moment) {
    beginnings[name] = moment
    moments[name] = moment
  }

  /// Looks at the chain of a device.
  /// - Parameters:
  ///   - segments: of the device, each after its predecessor.
  ///   - isLate: whether marks of a segment hide nothing now.
  mutating func look(
    at segments: some Sequence<(name: SegmentName, predecessor: SegmentName?)>, _ now: Moment,
    isLate: (SegmentName) -> Bool
  ) {
    for (name, predecessor) in segments {
      let inherited = predecessor.flatMap { moments[$0] }
      var moment = inherited
      if let beginning = beginnings[name] { moment = beginning.latest(moment) }
      if isLate(name) { moment = now.latest(moment) }
      moments[name] = moment
      beginnings[name] = moment == inherited ? nil : moment
    }
  }
}

extension History {
  /// Notes which removals hide nothing now, before anything is done that may bring them into force.
  mutating func noteLateRemovals(at now: UInt64) {
    var devices = Set(late.beginnings.keys.map(\.device)).union(holds.segments.keys.map(\.device))
    devices.formUnion(chains.forks.keys)
    devices.formUnion(chains.heads.keys.filter { !membership.isMember($0) })
    // Another copy of this device said and removed what waits here.
    var waiting: Set<SegmentName> = []
    if isCloned {
      for case .add(let added) in pendingChanges {
        waiting.formUnion((records.marks[added.record]?[added.version] ?? []).map(\.by))
      }
      devices.formUnion(waiting.map(\.device))
    }
    var late = late
    let now = LateRemovals.Moment(time: steadyTime(now), segmentCount: chains.entries.count)
    for device in devices {
      // Each was applied after its predecessor.
      late.look(at: chains.segments(of: device).map { ($0, chains.entries[$0]?.segment.predecessor) }, now) {
        name in
        waiting.contains(name)
          || !isInForce(name)
            && chains.entries[name]?.segment.operations.contains(where: \.removes) == true
      }
    }
    self.late = late
  }

  /// A time of this device's clock, or the highest before it at which a segment was applied or a run began.
  private func steadyTime(_ now: UInt64) -> UInt64 {
    max(chains.steadyTime(now), min(latestRun, now + Chains.mostSetBack))
  }

  /// A run begins. A day is close enough.
  mutating func noteRun(at now: UInt64) {
    latestRun = min(latestRun, now + Chains.mostSetBack)
    if latestRun + Limits.day <= now { latestRun = now }
  }

  /// A removal comes while the clock is a day or more behind the time of an earlier run, which no segment tells after a
  /// restart.
  mutating func noteSetBackClock(_ entry: ChainEntry, at now: UInt64) {
    let time = steadyTime(now)
    guard entry.steadyTime + Limits.day <= time, entry.segment.operations.contains(where: \.removes) else {
      return
    }
    late.begin(at: entry.name, LateRemovals.Moment(time: time, segmentCount: entry.order + 1))
  }
}
