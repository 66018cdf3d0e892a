// SPDX-License-Identifier: Apache-2.0
//
// Stops an operation at every call that changes the disk, and the recovery after that at every call of its own.
//
// An operation is run once and its calls are written down. A crash is then a number of calls that were made,
// and a choice of those that survived (DiskModel): the disk is put into that state, and the store is opened and
// judged. What the recovery does is written down too, and cut short in the same way. Nothing is killed, and
// nothing is left to chance.

import Glibc

/// Runs scenarios on a disk that is watched.
public final class CrashEnumeration {
  /// How much of it is run.
  public struct Extent: Sendable {
    /// How many crashes of each recovery, spread evenly over its calls; nil for all.
    public var doublesPerRecovery: Int?
    /// Of the runs with failing calls, every so many.
    public var failureStride = 1
    /// Whether scenarios may leave states out, as their own stride says.
    public var isSample = false
    /// The stride of a scenario that has a smaller one.
    public var leastStride = 1
    /// Which share is played, from 0: all of them together play exactly what one run without shares plays.
    public var share = 0
    public var shares = 1
    /// Which of ``parts`` processes this is, from 0; each takes a part of the share.
    public var part = 0
    public var parts = 1
    /// Whether each place is told that is played.
    public var listsPlaces = false

    public init() {}

    /// Whether the state or run of that number is in this share.
    fileprivate func isShared(_ number: Int) -> Bool { number % shares == share }
    /// Whether it is for this process, if it is played.
    fileprivate func isMine(_ number: Int) -> Bool { number / shares % parts == part }
  }

  private let disk: RecordedDisk
  private let extent: Extent
  private let report: (String) -> Void
  /// What crashes of the present operation may leave, and whether it had been acknowledged. A state that comes again
  /// is not judged again. The same for every share, so that each state has the same number in all of them.
  private var numbered: Set<SeenState> = []
  /// Those of them that were judged here, and those that crashes of recoveries have left.
  private var judged: Set<SeenState> = []

  private struct SeenState: Hashable {
    let digest: Int
    let isAcknowledged: Bool
  }

  /// - Parameter report: is handed a line about each loss and each mixed state, and about each place that is to be told.
  public init(_ disk: RecordedDisk, extent: Extent, report: @escaping (String) -> Void) {
    self.disk = disk
    self.extent = extent
    self.report = report
  }

  private var home: String { disk.path + "/home" }

  /// Enumerates one operation.
  /// - Throws: `DiskError` when the enumeration itself goes wrong; what the scenario throws undisturbed.
  public func run(_ scenario: some CrashScenario) throws -> CrashTally {
    var tally = CrashTally(store: scenario.store, operation: scenario.operation)
    let prepared = try prepare(scenario)
    let operation = try record(scenario, from: prepared)
    tally.calls = operation.calls.count
    guard !operation.calls.isEmpty, operation.acknowledged > 0 else {
      throw DiskError("\(scenario.operation) changes nothing")
    }
    (numbered, judged) = ([], [])
    try crash(scenario, operation, &tally)
    try fail(scenario, prepared, operation.calls.count, &tally)
    return tally
  }

  /// The calls of an operation, for people.
  public func calls(_ scenario: some CrashScenario) throws -> [String] {
    let operation = try record(scenario, from: prepare(scenario))
    var disk = operation.disk
    return try operation.calls.enumerated().map { index, call in
      try disk.apply(call)
      let mark = index + 1 == operation.acknowledged ? "  <- acknowledged" : ""
      return "\(index + 1)  \(call.description(of: disk.name))\(mark)"
    }
  }

  // MARK: Recording

  private func prepare(_ scenario: some CrashScenario) throws -> DiskImage {
    try DiskImage.empty(disk.path)
    guard mkdir(home, 0o700) == 0 else { throw DiskError("mkdir", errno) }
    try scenario.prepare(home)
    return try DiskImage(of: disk.path)
  }

  /// What was done, and to what.
  private struct Work {
    let disk: DiskModel
    let calls: [DiskCall]
    /// After how many calls it was acknowledged.
    var acknowledged = 0
  }

  private func record(_ scenario: some CrashScenario, from prepared: DiskImage) throws -> Work {
    let model = try DiskModel(prepared, inodes: prepared.write(to: disk.path))
    var acknowledged = 0
    let record = try disk.record { count in
      let store = try scenario.open(home)
      try scenario.operate(store)
      acknowledged = count()
      scenario.close(store)
    }
    try compare(model, record.calls)
    return Work(disk: model, calls: record.calls, acknowledged: acknowledged)
  }

  /// The calls that were written down must explain what is on the disk: none went past us.
  private func compare(_ model: DiskModel, _ calls: [DiskCall]) throws {
    var model = model
    for call in calls { try model.apply(call) }
    guard try model.everything.digest == DiskImage(of: disk.path).digest else {
      throw DiskError("the disk is not what the calls that were seen made of it")
    }
  }

  // MARK: Crashes

  /// A state after a crash of the operation itself.
  private struct Point {
    let image: DiskImage
    let place: String
    let isAcknowledged: Bool
    /// Whether nothing was like it before.
    let isNew: Bool
    /// Among the new ones, or among the others.
    let number: Int
  }

  private func crash(_ scenario: some CrashScenario, _ operation: Work, _ tally: inout CrashTally) throws {
    var disk = operation.disk
    var count = 0
    var (states, repetitions) = (0, 0)
    var last: Point?
    for call in operation.calls {
      try disk.apply(call)
      let isAcknowledged = disk.number >= operation.acknowledged
      for (variant, image) in disk.crashes(after: call) {
        let state = SeenState(digest: image.digest, isAcknowledged: isAcknowledged)
        let isNew = numbered.insert(state).inserted
        count += 1
        guard count % stride(of: scenario) == 0 else { continue }
        if isNew { states += 1 } else { repetitions += 1 }
        let point = Point(
          image: image,
          place: "after call \(disk.number) of \(operation.calls.count), \(variant.description)",
          isAcknowledged: isAcknowledged, isNew: isNew, number: isNew ? states : repetitions)
        // The first is in every share, and so is the last: each sees the operation undone and done.
        let isPlayed = extent.isShared(point.number) || isNew && states == 1
        if isNew { last = isPlayed ? nil : point }
        if isPlayed { try crash(scenario, at: point, &tally) }
      }
    }
    if let last { try crash(scenario, at: last, &tally) }
  }

  private func crash(_ scenario: some CrashScenario, at point: Point, _ tally: inout CrashTally) throws {
    guard extent.isMine(point.number) else { return }
    list(scenario, point.place)
    tally.points += 1
    guard point.isNew else { return }
    tally.states += 1
    judged.insert(SeenState(digest: point.image.digest, isAcknowledged: point.isAcknowledged))
    guard
      let (verdict, recovery) = try judge(
        scenario, point.image, point.place, &tally, isAcknowledged: point.isAcknowledged)
    else { return }
    try crashAgain(scenario, recovery, verdict, point.place, turn: point.number, &tally)
  }

  private func stride(of scenario: some CrashScenario) -> Int {
    max(extent.isSample ? scenario.stride : 1, extent.leastStride)
  }

  /// - Parameters:
  ///   - verdict: of the recovery when it was not cut short. Somebody may have seen that once the first thing that it wrote
  ///     is on the disk: it undoes what is half done before anything is told. Until then it is as if it had not been: the
  ///     database writes over the log of a change that was cut off, and a page that both leave alike may complete that.
  ///   - turn: counts the recoveries: samples of one begin where those of the last did not.
  private func crashAgain(
    _ scenario: some CrashScenario, _ recovery: Work, _ verdict: CrashVerdict, _ place: String, turn: Int,
    _ tally: inout CrashTally
  ) throws {
    var disk = recovery.disk
    var written: Set<UInt> = []
    var isSeen = false
    for (index, call) in recovery.calls.enumerated() {
      try disk.apply(call)
      switch call {
      case .write(let file, _, _), .resize(let file, _): written.insert(file)
      case .synchronise(let file): isSeen = isSeen || written.contains(file)
      case .synchroniseRecords: isSeen = true
      default: break
      }
      let samples = sampleCount(at: index + turn, of: recovery.calls.count)
      if samples == 0 { continue }
      let crashes = disk.crashes(after: call)
      for sample in 0..<min(samples, crashes.count) {
        let (variant, image) = crashes[(sample + index + turn) % crashes.count]
        let place =
          "\(place); recovery, after call \(disk.number) of \(recovery.calls.count), \(variant.description)"
        list(scenario, place)
        tally.doublePoints += 1
        let state = SeenState(digest: image.digest, isAcknowledged: verdict == .after)
        guard judged.insert(state).inserted else { continue }
        tally.states += 1
        let found = try judge(scenario, image, place, &tally, isAcknowledged: verdict == .after)?.verdict
        if verdict == .before, found == .after, isSeen {
          count(.mixed("the recovery went back, and then forward"), scenario, place, &tally)
        }
      }
    }
  }

  /// How many samples are taken after a call, so that there are as many as wanted after all `count` together.
  private func sampleCount(at index: Int, of count: Int) -> Int {
    guard let wanted = extent.doublesPerRecovery else { return Int.max }
    let place = index % count
    return (place + 1) * wanted / count - place * wanted / count
  }

  /// Puts the disk into a state, opens what is there, and counts what it is.
  ///
  /// - Returns: the verdict and what the recovery did; nil when there was something to report.
  private func judge(
    _ scenario: some CrashScenario, _ image: DiskImage, _ place: String, _ tally: inout CrashTally,
    isAcknowledged: Bool
  ) throws -> (verdict: CrashVerdict, recovery: Work)? {
    let model = try DiskModel(image, inodes: image.write(to: disk.path))
    var found: Result<CrashVerdict, CrashFinding>?
    let record = disk.record { _ in found = verdict(scenario) }
    guard let found else { return nil }
    do {
      let verdict = try found.get()
      guard verdict == .after || !isAcknowledged else {
        throw CrashFinding.lost("it was acknowledged, and is not there")
      }
      if verdict == .before { tally.before += 1 } else { tally.after += 1 }
      return (verdict, Work(disk: model, calls: record.calls))
    } catch let finding as CrashFinding {
      count(finding, scenario, place, &tally)
      return nil
    }
  }

  private func verdict(_ scenario: some CrashScenario) -> Result<CrashVerdict, CrashFinding> {
    do {
      let store = try scenario.open(home)
      defer { scenario.close(store) }
      return .success(try scenario.judge(store))
    } catch let finding as CrashFinding {
      return .failure(finding)
    } catch {
      return .failure(.lost("\(error)"))
    }
  }

  private func list(_ scenario: some CrashScenario, _ place: String) {
    if extent.listsPlaces { report("PLAYED  \(scenario.store), \(scenario.operation), \(place)") }
  }

  private func count(
    _ finding: CrashFinding, _ scenario: some CrashScenario, _ place: String, _ tally: inout CrashTally
  ) {
    switch finding {
    case .lost(let what):
      tally.losses += 1
      report("LOST  \(scenario.store), \(scenario.operation), \(place): \(what)")
    case .mixed(let what):
      tally.mixed += 1
      report("MIXED  \(scenario.store), \(scenario.operation), \(place): \(what)")
    }
  }

  // MARK: Failing calls

  /// Which calls fail after the first, and what each then says: a run for each of both at each call.
  private static let failurePeriods: [@Sendable (Int) -> Int] = [{ _ in 0 }, { _ in 1 }, { $0 }]
  private static let failureCodes = [ENOSPC, EIO]

  /// Runs the operation with one call failing, with all from one on, and with every so many.
  private func fail(
    _ scenario: some CrashScenario, _ prepared: DiskImage, _ callCount: Int, _ tally: inout CrashTally
  ) throws {
    let ofEachCall = Self.failurePeriods.count * Self.failureCodes.count
    let stride = extent.failureStride * self.stride(of: scenario)
    let count = callCount * ofEachCall / stride
    for number in 0..<count where extent.isMine(number) {
      // There is at least one in each share.
      guard extent.isShared(number) || count < extent.shares && number == extent.share % count
      else { continue }
      let (call, kind) = (stride * (number + 1) - 1).quotientAndRemainder(dividingBy: ofEachCall)
      let (period, code) = kind.quotientAndRemainder(dividingBy: Self.failureCodes.count)
      let failure = RecordedDisk.Failure(
        first: call + 1, period: Self.failurePeriods[period](call + 1), code: Self.failureCodes[code])
      tally.failedWrites += 1
      try fail(scenario, prepared, failure, &tally)
    }
  }

  private func fail(
    _ scenario: some CrashScenario, _ prepared: DiskImage, _ failure: RecordedDisk.Failure,
    _ tally: inout CrashTally
  ) throws {
    let place =
      "call \(failure.first) fails, every \(failure.period) after it, "
      + String(cString: strerror(failure.code))
    list(scenario, place)
    let model = try DiskModel(prepared, inodes: prepared.write(to: disk.path))
    var isAcknowledged = false
    var returned = 0
    var live: CrashVerdict?
    let record = disk.record(failing: failure) { count in
      let store: _? = try? scenario.open(home)
      if let store {
        do {
          try scenario.operate(store)
          isAcknowledged = true
        } catch {}
        returned = count()
        disk.heal()
        // What the process that lives on sees; where it sees nothing, the next one must.
        live = try? scenario.judge(store)
        scenario.close(store)
      } else {
        returned = count()
      }
    }
    if isAcknowledged, live == .before {
      count(.lost("it was acknowledged, and is not there"), scenario, place, &tally)
    }
    let expected = isAcknowledged || live == .after
    let after = try DiskImage(of: disk.path)
    let verdict = try judge(scenario, after, place + "; reopened", &tally, isAcknowledged: expected)?.verdict
    if live == .before, verdict == .after {
      count(.mixed("the operation was not seen, and came later"), scenario, place, &tally)
    }
    // The power fails as soon as the operation has returned.
    var cut = model
    for call in record.calls.prefix(returned) { try cut.apply(call) }
    guard let image = CrashVariant.lost.image(cut, last: nil) else { return }
    _ = try judge(scenario, image, place + "; power lost", &tally, isAcknowledged: isAcknowledged)
  }
}
