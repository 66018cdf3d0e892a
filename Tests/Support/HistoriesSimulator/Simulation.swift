// SPDX-License-Identifier: Apache-2.0
//
// Devices of one account, the server between them, and the user. Beside them the simulation keeps a model of its own:
// what users wrote and saw acknowledged, what they removed, who was revoked and knew what. Invariants compare the
// devices with the model.

import Primitives
import Secrets
import SeededGenerators

@testable import Histories

/// What was on a simulated device's disk.
struct DiskCopy: Sendable {
  let history: History
  let machine: SimulatedMachine
  let objects: [StoredObject]
}

/// A device: its disk (history and contents), its process (requests under way), its clock.
struct SimulatedComputer: Sendable {
  var history: History
  var machine: SimulatedMachine
  var requests: [Request] = []
  var secondsAhead: Int64 = 0
  var saved: DiskCopy?
  /// Versions written here that no finished run has followed.
  var unacknowledged: [RecordVersion] = []
  /// How many of them were there when the run under way began.
  var beforeRun = 0
  var outcome: Outcome?
  var isBad = false
  /// The number of the first computer whose disk it has a copy of; nil if its disk is no copy.
  var original: Int?
  /// When its user could last see a version when a run began: the simulation's time, and its own.
  private(set) var lastShown: [RecordVersion: (time: UInt64, clock: UInt64)] = [:]

  /// The objects that are on its disk.
  private(set) var objects: [StoredObject] = []

  init(history: History, machine: SimulatedMachine) {
    self.history = history
    self.machine = machine
  }

  mutating func step(_ event: Event) -> [Effect] {
    defer { objects += history.takeNewObjects() }
    return history.step(event, on: &machine)
  }

  mutating func noteShown(at now: UInt64) {
    for record in history.shownRecords {
      for shown in history.shownVersions(of: record) {
        lastShown[RecordVersion(record: record, version: shown.version)] = (now, clock(now))
      }
    }
  }

  /// A copy of its disk.
  func saving() -> DiskCopy { DiskCopy(history: history, machine: machine, objects: objects) }

  /// Its disk is as it was before.
  mutating func putBack(_ saved: DiskCopy) {
    (history, machine, objects) = (saved.history, saved.machine, saved.objects)
    lastShown = [:]
  }

  /// The process ends, and another one reads what is on the disk.
  /// - Returns: what is another than before; nil if all is the same.
  mutating func restart() -> String? {
    objects += history.takeNewObjects()
    let before = history
    do {
      history = try History(
        restoring: history.localState(), objects: objects, keys: history.epochKeys, rules: history.rules,
        limits: history.limits, on: machine)
    } catch {
      preconditionFailure("what a device keeps of its history can be read again: \(error)")
    }
    guard history.log.entries.count == before.log.entries.count else { return nil }
    return history.difference(from: before, on: machine)
  }

  /// What is looked at after each step. It is a mutating method, as the following ones are, because reading a part of a
  /// computer in a list copies all of it first.
  mutating func glance() -> (device: DeviceID, keyCount: Int, alarms: Set<Alarm>, isForked: Bool) {
    (history.device, history.keys.count, history.alarms, history.membership.fork != nil)
  }

  mutating func clock(_ now: UInt64) -> UInt64 { UInt64(Int64(now) + secondsAhead) }
  mutating func requestCount() -> Int { requests.count }
  mutating func takeRequest(_ number: Int) -> Request { requests.remove(at: number) }
}

struct Simulation: Sendable {
  /// Something that a user wrote.
  struct Written: Sendable {
    let author: DeviceID
    /// The number of the computer that wrote it.
    let computer: Int
    let parts: [[UInt8]]
    var isAcknowledged = false
    /// Its author was put back to a state before it.
    var isOrphan = false

    var frame: [UInt8] { parts.flatMap(\.self) }
  }

  /// What an account is made of.
  struct Setting: Sendable {
    let seed: UInt64
    var rules = Rules()
    var limits = Limits.simulated
    /// Real signatures and agreements.
    var isReal = false
    /// Whether it is noted what each run finds shown, which takes longer than a run if that is much.
    var notesShown = true
  }

  static let firstTime: UInt64 = 1_700_000_000
  static let deviceLimit = 5
  /// The number of the first content that is in several parts.
  static let firstInParts = 1_000
  /// The number of the first content that is a capture's.
  static let firstCapture = 10_000

  let setting: Setting
  var computers: [SimulatedComputer] = []
  var server = SimulatedServer()
  var generator: SeededGenerator
  var now = Simulation.firstTime
  let table = KeyTable()
  private var machinesMade: UInt64 = 0
  /// Slots that the user can open, the newest last.
  var slots: [OpenedSlot] = []

  // MARK: The model

  var written: [RecordVersion: Written] = [:]
  /// When a user who had seen it removed or replaced it.
  var removed: [RecordVersion: UInt64] = [:]
  /// When a bad member did.
  var spoiled: [RecordVersion: UInt64] = [:]
  /// For each revocation of a device, the versions of it that count.
  var revocations: [DeviceID: [Set<RecordVersion>]] = [:]
  /// Devices that the user does not want any more.
  var stolen: Set<DeviceID> = []
  /// The first segment that a bad member wrote by hand.
  var firstBadSegment: [DeviceID: UInt64] = [:]
  /// Segments that their own device wrote, each with the one before it, and control operations that the user asked for.
  var madeSegments: [SegmentName: SegmentName?] = [:]
  var madeOperations: Set<ControlID> = []
  /// Epoch keys that each device ever held.
  var heldKeys: [DeviceID: Set<EpochName>] = [:]
  /// Epochs of what was sealed by somebody who knew of a revocation.
  var sealedAfter: [Sealed: ObjectName] = [:]
  var sealedObjects: Set<ObjectName> = []
  var chosenBranches: [ControlID: ControlID] = [:]
  /// Of each owner key that the user wanted to go on, the successors that were there.
  var rejectedBranches: [ControlID: Set<ControlID>] = [:]
  var injected: Set<Injected> = []
  var outcomes: [Outcome: Int] = [:]
  /// Why a restore was refused.
  var lastRefusal: Outcome?
  var alarmsRaised: Set<String> = []
  /// Steps of all devices.
  private(set) var stepCount = 0
  /// The first thing that did not hold during a step.
  var breach: Breach?

  struct Sealed: Hashable, Sendable {
    let revoked: DeviceID
    let epoch: EpochName
  }

  init(_ setting: Setting) {
    self.setting = setting
    generator = SeededGenerator(stream: setting.seed)
    server.now = now
    var machine = newMachine()
    let owner = machine.makeKeyPair()
    let opened = (0..<2).map { _ in
      OpenedSlot(id: identifier(), agreement: machine.makeKeyPair(), owner: owner, anchor: nil)
    }
    let entry = entry(machine, replaces: nil)
    var history = History.found(
      entry: entry, owner: owner, urlSecret: machine.randomSecret(16),
      slots: { _, _, _ in opened.map { ($0.entry, $0.object) } }, on: &machine)
    history.rules = setting.rules
    history.limits = setting.limits
    slots = opened
    madeOperations = Set(history.log.entries.keys)
    computers = [SimulatedComputer(history: history, machine: machine)]
    noteKeys(0)
  }

  // MARK: Making things

  mutating func newMachine() -> SimulatedMachine {
    machinesMade += 1
    return SimulatedMachine(
      run: setting.seed &* 1_009 &+ machinesMade &+ 77_000_000_000, table: table, isReal: setting.isReal)
  }

  mutating func newMachine(with machine: SimulatedMachine) -> SimulatedMachine {
    machinesMade += 1
    return machine.renewed(run: setting.seed &* 1_009 &+ machinesMade &+ 77_000_000_000)
  }

  mutating func bytes(_ count: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    while bytes.count < count { bytes.append(bigEndian: generator.next()) }
    return Array(bytes.prefix(count))
  }

  mutating func identifier<Kind>() -> Identifier<Kind> { Identifier(beginningOf: bytes(16)) }

  mutating func entry(_ machine: SimulatedMachine, replaces: DeviceID?) -> DeviceEntry {
    DeviceEntry(
      id: identifier(), signingKey: machine.signing.publicKey, agreementKey: machine.agreement.publicKey,
      level: 2,
      name: "device", replaces: replaces)
  }

  /// What a content is, in one part or, from a number on, in several.
  func parts(_ content: Int) -> [[UInt8]] {
    guard content >= Self.firstInParts else {
      return [Array("what the message with the number \(content) says".utf8)]
    }
    return (0..<2 + content % 4).map { Array("part \($0) of what the message \(content) says".utf8) }
  }

  /// A user stores a content.
  mutating func add(_ content: Int, to record: RecordID, replacing versions: [Version], on index: Int) {
    let parts = parts(content)
    let frames = parts.map { SharedSecretBytes(testing: $0) }
    step(
      index,
      .add(
        kind: content < Self.firstCapture ? .message : .capture, record: record, frame: frames[0],
        further: frames.dropFirst().map { FrameHash(hashing: $0) },
        replacing: versions, at: clock(index)), further: Array(frames.dropFirst()))
  }

  // MARK: Steps

  mutating func clock(_ index: Int) -> UInt64 { computers[index].clock(now) }

  /// One transaction of a device, and what it asks for.
  /// - Parameter further: the further parts of what is stored.
  mutating func step(_ index: Int, _ event: Event, further: [SharedSecretBytes] = []) {
    stepCount += 1
    let effects = computers[index].step(event)
    let glance = computers[index].glance()
    if heldKeys[glance.device]?.count != glance.keyCount { noteKeys(index) }
    for case .keep(let content, let frame) in effects {
      computers[index].machine.keep(frame, of: content)
      for (part, frame) in further.enumerated() {
        computers[index].machine.keep(frame, of: ContentName(content.version, part: UInt16(part + 1)))
      }
    }
    for case .carry(let former, let name) in effects { computers[index].machine.carry(former, to: name) }
    for case .keep(let content, _) in effects { keepPartsOfTheSame(content.version, on: index) }
    for effect in effects {
      switch effect {
      case .carry(_, let name): noteCarried(name, on: index)
      case .keep(let content, let frame): noteKept(content, frame.testBytes, on: index, event)
      case .drop(let record, let version):
        drop(RecordVersion(record: record, version: version), on: index, event)
      case .request(let request):
        noteSealed(request, by: index)
        computers[index].requests.append(request)
      case .ended(let outcome):
        end(outcome, of: index, event)
      }
    }
    for alarm in glance.alarms { alarmsRaised.insert(alarm.kind) }
    if glance.isForked { injected.insert(.crossedOwners) }
  }

  private mutating func noteKept(_ content: ContentName, _ frame: [UInt8], on index: Int, _ event: Event) {
    let name = content.version
    switch event {
    case .add: noteWritten(name, on: index, isAgain: false)
    case .account where content.part == 0: noteWritten(name, on: index, isAgain: true)
    // News of another revocation: the device says again what it wrote under a former identifier.
    case .answer where content.part == 0 && written[name] == nil && isPending(name, on: index):
      noteWritten(name, on: index, isAgain: true)
    case .answer:
      if let original = written[name], original.parts[Int(content.part)] != frame {
        fail(.s6, "device \(index) took another content for a message than its author wrote")
      }
    default: break
    }
  }

  /// A store has a capture once, whatever its version: the further parts of one that comes again are here.
  private mutating func keepPartsOfTheSame(_ name: RecordVersion, on index: Int) {
    let records = computers[index].history.records
    guard let entry = records.entry(name.record, name.version), entry.kind == .capture else { return }
    for (version, other) in records.versions(of: name.record)
    where version != name.version && other.hashes == entry.hashes {
      computers[index].machine.carry(RecordVersion(record: name.record, version: version), to: name)
    }
  }

  /// A device says something again; or it knows the content of what another one says.
  private mutating func noteCarried(_ name: RecordVersion, on index: Int) {
    let computer = computers[index]
    if isPending(name, on: index) || computer.history.isGone(name.record, name.version, heldCounts: false) {
      noteWritten(name, on: index, isAgain: true)
      return
    }
    let parts = computer.machine.parts(of: name)
    if parts.isEmpty || written[name].map({ $0.parts.starts(with: parts) }) == false {
      fail(.s6, "device \(index) took another content for a message than its author wrote")
    }
  }

  private func isPending(_ name: RecordVersion, on index: Int) -> Bool {
    computers[index].history.pendingChanges.contains { $0.adds(name) }
  }

  private mutating func noteWritten(_ name: RecordVersion, on index: Int, isAgain: Bool) {
    if written[name] == nil {
      written[name] = Written(
        author: computers[index].history.device, computer: index,
        parts: computers[index].machine.parts(of: name))
    }
    computers[index].unacknowledged.append(name)
    // A device says again what it wrote, also what it replaced itself.
    guard isAgain, let frame = written[name]?.frame else { return }
    for (other, note) in written
    where other.record == name.record && note.frame == frame && removed[other] != nil {
      removed[name] = removed[other]
    }
  }

  private mutating func drop(_ name: RecordVersion, on index: Int, _ event: Event) {
    computers[index].machine.drop(name)
    guard case .answer = event else { return }
    let delay = setting.limits.removalDelay
    if let shown = computers[index].lastShown[name], shown.time + delay > now,
      shown.clock + delay > clock(index)
    {
      fail(.s6, "device \(index) erased too early what it had shown")
    }
    guard removed[name] == nil, spoiled[name] == nil, !isSaidAgain(name, on: index),
      !isRemovedAsAnother(name, on: index)
    else { return }
    fail(.s6, "device \(index) erased what nobody removed")
  }

  /// Whether no user wrote a version, and it says what a user removed: a bad member said that again, and a removal that
  /// waited was meant for it too.
  private func isRemovedAsAnother(_ name: RecordVersion, on index: Int) -> Bool {
    let records = computers[index].history.records
    guard written[name] == nil, let entry = records.entry(name.record, name.version) else { return false }
    return records.versions(of: name.record).contains { version, other in
      other.hashes == entry.hashes && other.storedAt == entry.storedAt
        && removed[RecordVersion(record: name.record, version: version)] != nil
    }
  }

  /// Whether a version is replaced by another one, which a computer has and in which the author, or another copy of it, said
  /// the same again.
  private func isSaidAgain(_ name: RecordVersion, on index: Int) -> Bool {
    let computer = computers[index]
    guard let note = written[name], computer.history.isGone(name.record, name.version, heldCounts: false)
    else { return false }
    return computer.history.shownVersions(of: name.record).contains { shown in
      let other = RecordVersion(record: name.record, version: shown.version)
      return other != name && written[other].map { original(of: $0.computer) } == original(of: note.computer)
        && computer.machine.content(of: other) == note.frame
    }
  }

  private func original(of computer: Int) -> Int { computers[computer].original ?? computer }

  private mutating func end(_ outcome: Outcome, of index: Int, _ event: Event) {
    outcomes[outcome, default: 0] += 1
    computers[index].outcome = outcome
    if case .account = event { return }
    if outcome == .complete {
      for name in computers[index].unacknowledged.prefix(computers[index].beforeRun) {
        if removed[name] == nil, !computers[index].isBad { written[name]?.isAcknowledged = true }
      }
      computers[index].unacknowledged.removeFirst(
        min(computers[index].beforeRun, computers[index].unacknowledged.count))
    }
    computers[index].beforeRun = 0
  }

  mutating func fail(_ invariant: Invariant, _ found: String) {
    if breach == nil { breach = Breach(invariant: invariant, found: found) }
  }

  private mutating func noteKeys(_ index: Int) {
    let history = computers[index].history
    heldKeys[history.device, default: []].formUnion(history.keys.keys)
  }

  /// Remembers what a device writes, and what it seals while it knows that others are revoked.
  private mutating func noteSealed(_ request: Request, by index: Int) {
    guard case .put(let name, let bytes) = request, !sealedObjects.contains(name) else { return }
    let history = computers[index].history
    let epoch: EpochName?
    switch name {
    case .segment(let segment) where segment.device == history.device:
      epoch = try? SegmentSeal.epoch(of: bytes)
      madeSegments[segment] = .some(history.chains.entries[segment]?.segment.predecessor)
    case .pack(history.device, _): epoch = try? Pack.epoch(of: bytes)
    default: return
    }
    sealedObjects.insert(name)
    guard let epoch else { return }
    for entry in history.log.entries.values {
      for revocation in entry.rekey?.revocations ?? [] {
        sealedAfter[Sealed(revoked: revocation.device, epoch: epoch)] = name
      }
    }
  }

  // MARK: Requests

  /// Answers so many requests of a device.
  mutating func answer(_ index: Int, count: Int, _ generator: inout SeededGenerator, faulty: Bool) {
    var remaining = count
    while remaining > 0, breach == nil {
      let waiting = computers[index].requestCount()
      guard waiting > 0 else { return }
      remaining -= 1
      let number = faulty ? Int.random(in: 0..<waiting, using: &generator) : 0
      let request = computers[index].takeRequest(number)
      let fault = faulty ? NetworkFault.drawn(from: &generator, for: request) : nil
      switch fault {
      case .torn: injected.insert(.torn)
      case .requestLost: injected.insert(.lostRequests)
      case .late: injected.insert(.lateLists)
      default: break
      }
      let answer = server.answer(request, to: index, fault: fault)
      step(index, .answer(request, answer, at: clock(index)))
    }
  }

  /// A whole run without faults.
  mutating func runQuietly(_ index: Int, _ purpose: Purpose, order: UInt64 = 0) {
    perform(.begin(device: index, purpose))
    var generator = SeededGenerator(stream: order)
    var remaining = 4_000
    while computers[index].requestCount() > 0, remaining > 0, breach == nil {
      remaining -= 1
      if order > 0 { computers[index].requests.shuffle(using: &generator) }
      answer(index, count: 1, &generator, faulty: false)
    }
    if remaining == 0 { fail(.s7, "a run of device \(index) has no end") }
  }
}

extension NetworkFault {
  /// A fault in one of ten requests.
  static func drawn(from generator: inout SeededGenerator, for request: Request) -> NetworkFault? {
    let number = Int.random(in: 0..<60, using: &generator)
    let steps = Int.random(in: 1...30, using: &generator)
    switch (number, request) {
    case (0, _): return .requestLost
    case (1, _): return .answerLost
    case (2, .put): return .torn
    case (3, .put): return .repeated
    case (2...7, .list): return .late(steps)
    case (8, .list): return .late(steps * 10)
    default: return nil
    }
  }
}

extension LocalChange {
  /// Whether it brings a version.
  fileprivate func adds(_ name: RecordVersion) -> Bool {
    content == ContentName(name)
      && { if case .add = self { true } else { false } }()
  }
}

extension Limits {
  /// Small, so that a few devices reach them.
  static let simulated: Limits = {
    var limits = Limits()
    limits.operationsPerSegment = 4
    limits.contentsPerPack = 2
    limits.brakeCount = 6
    return limits
  }()
}
