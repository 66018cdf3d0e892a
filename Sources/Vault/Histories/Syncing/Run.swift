// SPDX-License-Identifier: Apache-2.0
//
// A run: list, get what is new, put back what the remote lacks, send what waits. Each stage asks for everything at once
// and ends when every request of it was answered.

/// The run under way.
struct Run: Sendable {
  enum Stage: Int, Sendable {
    /// Lists of the control log, of slots and of blocks of chains.
    case listing
    /// Control operations and slots, then segments, until nothing new comes.
    case getting
    /// Names that an earlier run saw and no list shows now.
    case looking
    /// Contents of messages.
    case contents
    /// What the remote lacks.
    case puttingBack
    /// Packs, and a look whether they are there.
    case packs, checkingPacks
    case segment
    /// Nothing is asked for.
    case closing
    case deleting
  }

  let purpose: Purpose
  let startedAt: UInt64
  /// The alarms that were open when it began.
  let alarmsBefore: Set<Alarm>
  var stage = Stage.listing
  var pending: Set<Request> = []
  var hasFailed = false
  /// Folders that were listed in this run.
  var folders: Set<Folder> = []
  /// What the lists showed, with lengths and dates.
  var listed: [ObjectName: ListedObject] = [:]
  /// Segments that were got and wait for a cause.
  var waiting: [SegmentName: [UInt8]] = [:]
  /// Objects that were asked for in this run.
  var asked: Set<ObjectName> = []
  /// Objects whose bytes do not have the hash in their name.
  var torn: Set<ObjectName> = []
  /// Packs that were asked for and are not there, or are not what their names say.
  var absentPacks: Set<ObjectName> = []
  /// What the remote lacks and gets next, the last first: of control operations those of one number at once, so that
  /// none is there before its parents.
  var puttingBack: [[Request]]?
  /// Whether this run lists every block.
  let isFull: Bool
  /// The server's time, as its last list had it; nil where there is no server's clock.
  var serverTime: UInt64?

  init(_ purpose: Purpose, at now: UInt64, isFull: Bool, alarms: Set<Alarm>) {
    self.purpose = purpose
    alarmsBefore = alarms
    startedAt = now
    self.isFull = isFull
  }
}

extension History {
  mutating func begin(_ purpose: Purpose, at now: UInt64, on machine: some Machine) -> [Effect] {
    noteRun(at: now)
    noteLateRemovals(at: now)
    openOwnEnvelopes(on: machine)
    let isFull = purpose != .sync || remote.fullListing.map { $0 + limits.fullListingInterval <= now } ?? true
    run = Run(purpose, at: now, isFull: isFull, alarms: alarms)
    lostElsewhere = []
    // What an earlier run saw may be gone.
    staged?.checked = []
    return ask([.list(.control), .list(.slots)] + blocksToList().map { .list($0) })
  }

  /// Why this device may not write or send anything at all; nil if it may.
  public var stop: Outcome? {
    if membership.revocations[device] != nil { return .revoked }
    return isCloned ? .cloned : nil
  }

  mutating func take(_ answer: Answer, to request: Request, at now: UInt64, on machine: inout some Machine)
    -> [Effect]
  {
    guard run?.pending.remove(request) != nil else { return [] }
    var effects: [Effect] = []
    switch (request, answer) {
    case (_, .failed):
      run?.hasFailed = true
    case (.list(let folder), .listed(let objects, let serverTime)):
      takeList(objects, of: folder)
      run?.serverTime = serverTime
    case (.get(.pack(let device, let hash)), .got(let object)):
      effects = takePack(object, hash: hash, of: device, at: now, on: machine)
    case (.get(let name), .missing) where name.isPack:
      run?.absentPacks.insert(name)
    case (.get(let name), .got(let object)):
      takeObject(object, name: name)
    case (.get(let name), .missing), (.stat(let name), .missing):
      takeAbsence(of: name, at: now)
    case (.stat(let name), .found(let byteCount)):
      takePresence(of: name, byteCount: byteCount)
    case (.put(let name, _), .done):
      takeAcknowledgement(of: name)
    default:
      break
    }
    guard run?.pending.isEmpty == true else { return effects }
    return effects + advance(at: now, on: &machine)
  }

  /// Sends requests and waits for their answers.
  mutating func ask(_ requests: [Request]) -> [Effect] {
    for request in requests { run?.pending.insert(request) }
    return requests.map { .request($0) }
  }

  /// Ends the run.
  mutating func end(_ outcome: Outcome) -> [Effect] {
    run = nil
    return [.ended(outcome)]
  }

  /// Goes on to the next stage that has something to ask for.
  mutating func advance(at now: UInt64, on machine: inout some Machine) -> [Effect] {
    if run?.hasFailed == true { return end(.unreachable) }
    var effects: [Effect] = []
    while let stage = run?.stage {
      if stage == .contents { effects += carryOverWhatIsLost(at: now, on: machine) }
      do throws(Outcome) {
        let requests = try nextRequests(after: stage, at: now, on: &machine)
        // All news are here, and nothing is sealed yet.
        if stage == .contents, run?.stage == .puttingBack {
          effects += sayAgainWhatIsCutOff(on: machine) + takeBackWhatIsRemoved(on: machine)
          removeWhatIsSaidAgain()
        }
        if !requests.isEmpty { return effects + ask(requests) }
        if stage == .deleting { return effects + end(.complete) }
        if run?.stage == .closing { effects += close(at: now, on: machine) }
      } catch {
        return effects + end(error)
      }
    }
    return effects
  }

  /// Ends a stage whose answers are all here.
  /// - Returns: what the next one asks for; nothing if it is to be ended at once.
  private mutating func nextRequests(
    after stage: Run.Stage, at now: UInt64, on machine: inout some Machine
  ) throws(Outcome) -> [Request] {
    switch stage {
    case .listing, .getting:
      let requests = takeInAndAskFurther(at: now, on: machine)
      if !requests.isEmpty { return requests }
      // A device that must not write still reads: to be enrolled again, it needs the control log.
      if let stop { throw stop }
      run?.stage = .looking
      return namesToLookFor()
    case .looking:
      // The account is there again, as on a stick that is back; or its user wants everything put back, whatever is there.
      if isListed || run?.purpose != .sync { alarms.remove(.empty) }
      if alarms.contains(.empty) {
        // Where nothing is, nothing was taken back.
        let before = run?.alarmsBefore ?? []
        alarms = alarms.filter { if case .rolledBack = $0 { before.contains($0) } else { true } }
        throw .empty
      }
      reportWhatIsMissing(at: now)
      run?.stage = .contents
      return packsToGet() + packsToReadBack()
    case .contents:
      let requests = packsToGet()
      if !requests.isEmpty { return requests }
      reportIncompletePacks(at: now, on: machine)
      run?.stage = .puttingBack
      let objects = objectsToPutBack()
      run?.puttingBack = objects
      return run?.puttingBack?.popLast() ?? []
    case .puttingBack:
      if let requests = run?.puttingBack?.popLast() { return requests }
      if let run, run.isFull { remote.fullListing = run.startedAt }
      guard membership.isMember(device) else { throw .notMember }
      run?.stage = .packs
      return try stagePacks(at: now, on: &machine)
    case .packs:
      run?.stage = .checkingPacks
      return packsToCheck()
    case .checkingPacks:
      run?.stage = .segment
      return try writeSegment(at: now, on: &machine)
    case .segment:
      if needsSegment(at: now) {
        run?.stage = .packs
        return try stagePacks(at: now, on: &machine)
      }
      run?.stage = .closing
      return []
    case .closing:
      run?.stage = .deleting
      return try packsToDelete(at: now)
    case .deleting:
      return []
    }
  }

  /// Whether this run's lists show the account's first operation.
  private var isListed: Bool { log.genesis.map { run?.listed[$0.name] != nil } ?? false }

  /// The end of a run: alarms that a whole comparison did not find again are closed, and contents that have been removed
  /// for long are erased.
  private mutating func close(at now: UInt64, on machine: some Machine) -> [Effect] {
    lostElsewhere = recordsLostElsewhere(on: machine)
    if run?.purpose == .verify {
      passOver()
      alarms = alarms.filter(isStillTrue)
      if alarms.isEmpty { releaseAfterAlarm(on: machine) }
    }
    var effects: [Effect] = []
    for name in hidden.sorted() where isDead(name.record, name.version, at: now) {
      hidden.remove(name)
      guard hasSomeContent(of: name, on: machine) else { continue }
      effects.append(.drop(record: name.record, version: name.version))
    }
    return effects
  }

  private func isStillTrue(_ alarm: Alarm) -> Bool {
    switch alarm {
    case .forked(let device): chains.forks[device] != nil && membership.isMember(device)
    case .ownerForked: membership.fork != nil
    // Who lied was revoked, or who lost something.
    case .digestDiffers(let name): counts(name)
    case .incomplete(let name):
      // A sweep deletes packs whose removals a device did not know when it looked for them. One that is there may lack what
      // was looked for in it.
      (run?.listed[name] == nil || run?.absentPacks.contains(name) == true)
        && wanted.contains { content in
          !isGone(content.version.record, content.version.version, heldCounts: true)
            && places(of: content).contains { pack(at: $0)?.hash == name.hash }
        }
    case .rolledBack(let name): run?.listed[name] == nil && !putsBack(name)
    case .tampered, .missing: true
    case .empty: false
    }
  }

  /// What was said before this run, and that neither this device nor the remote can mend, is not said any more: the user
  /// has looked. Anybody who may write at the remote could else stop sweeps for ever, by an object that nobody can open or
  /// that goes again.
  private mutating func passOver() {
    for alarm in run?.alarmsBefore ?? [] {
      switch alarm {
      case .missing(let name):
        remote.passedOver.insert(name)
        // What comes before a head that is lost may be this device's own.
        counting.mayHaveToSayAgain = true
      case .rolledBack(let name) where !putsBack(name): remote.forget(name)
      // It is asked for at every run, and said again if news want a content of it.
      case .incomplete(let name): remote.passedOver.insert(name)
      case .tampered: break
      default: continue
      }
      alarms.remove(alarm)
    }
  }
}
