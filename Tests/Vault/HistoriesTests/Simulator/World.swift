// SPDX-License-Identifier: Apache-2.0
//
// Devices of one account, the remote between them, and the user. What happens is a script of actions, made from a seed
// or shortened from a longer one; the same script always does the same.

import Primitives
import SeededGenerators

@testable import Histories

/// One thing that happens. Devices and choices are numbers, taken modulo what there is, so that a script from which
/// actions were dropped still has a meaning.
enum Action: Hashable, Sendable {
  case add(device: Int, content: Int)
  case edit(device: Int, record: Int, content: Int)
  case remove(device: Int, record: Int)
  case begin(device: Int, Purpose)
  /// One request under way is answered.
  case deliver(device: Int, request: Int, Fault)
  /// The process ends; what was under way is lost.
  case crash(device: Int)
  case wait(seconds: UInt64)
  case enrol(by: Int)
  case revoke(device: Int, by: Int)
  case rekey(by: Int)
  case changeSlots(by: Int)
  /// The disk of a device is copied, and the copy runs as well.
  case copy(device: Int)
  /// A device is put back to an earlier state of its disk.
  case save(device: Int)
  case putBack(device: Int)
  /// The user says that held removals are right.
  case confirm(device: Int)
  /// A bad member names new places for everything that it shows, and puts noise there.
  case misplace(device: Int)
}

/// A device with its disk and the requests of its process.
struct SimulatedDevice: Sendable {
  var history: History
  var machine: KeyedHashMachine
  var requests: [Request] = []
  var saved: [(History, KeyedHashMachine)] = []
  /// Additions of this device that no finished run has followed.
  var unacknowledged: [RecordVersion] = []
  /// How many of them the run under way includes.
  var beforeRun = 0

  mutating func step(_ event: Event) -> [Effect] { history.step(event, on: &machine) }
}

struct World {
  /// What the user stored, and whether a run acknowledged it.
  struct Stored {
    let author: DeviceID
    let frame: [UInt8]
    var isAcknowledged = false
  }

  static let firstTime: UInt64 = 1_700_000_000

  private(set) var devices: [SimulatedDevice] = []
  var remote = SimulatedRemote()
  private let table = KeyTable()
  private var generator: SeededGenerator
  /// Slots that the user can open, the newest last.
  private(set) var slots: [OpenedSlot] = []
  private(set) var now = World.firstTime
  private var nextRun: UInt64

  /// The model: what invariants compare the devices with.
  private(set) var stored: [RecordVersion: Stored] = [:]
  /// Versions that some user removed or replaced after having seen them.
  private(set) var removed: Set<RecordVersion> = []
  /// What the user chose where an owner key forked: the same on every device.
  private var chosen: [ControlID: ControlID] = [:]
  /// Objects by who was revoked when their author sealed them, with the epoch.
  private(set) var sealedAfterRevocation: [(revoked: DeviceID, epoch: EpochName)] = []
  private(set) var outcomes: [Outcome: Int] = [:]
  /// A fault was injected that an alarm may follow.
  private(set) var hadCopies = false

  init(seed: UInt64, rules: Rules, limits: Limits) {
    generator = SeededGenerator(stream: seed)
    nextRun = seed &* 1_000 &+ 1_000_000_007
    var machine = KeyedHashMachine(run: SeededGenerator.first(of: nextRun), table: table)
    let owner = machine.makeKeyPair()
    let entry = World.entry(machine, replaces: nil, &generator)
    let opened = (0..<2).map { number in
      OpenedSlot(
        id: SlotID(beginningOf: [UInt8](repeating: UInt8(number + 1), count: 16)),
        agreement: machine.makeKeyPair(),
        owner: owner, anchor: nil)
    }
    var history = History.found(
      entry: entry, owner: owner, slots: opened.map { ($0.entry, $0.object) }, at: now, on: &machine)
    history.rules = rules
    history.limits = limits
    slots = opened
    devices = [SimulatedDevice(history: history, machine: machine)]
  }

  static func entry(_ machine: KeyedHashMachine, replaces: DeviceID?, _ generator: inout SeededGenerator)
    -> DeviceEntry
  {
    var id: [UInt8] = []
    id.append(bigEndian: generator.next())
    id.append(bigEndian: generator.next())
    return DeviceEntry(
      id: DeviceID(beginningOf: id), signingKey: machine.signing.publicKey,
      agreementKey: machine.agreement.publicKey, level: 2, name: "device", replaces: replaces)
  }

  // MARK: Actions

  mutating func perform(_ action: Action) {
    switch action {
    case .add(let device, let content):
      let index = device % devices.count
      step(index, .add(record: record(), frame: frame(content), replacing: [], at: now))
    case .edit(let device, let record, let content):
      let index = device % devices.count
      guard let record = shownRecord(index, record) else { return }
      let versions = devices[index].history.shownVersions(of: record).map(\.version)
      for version in versions { removed.insert(RecordVersion(record: record, version: version)) }
      step(index, .add(record: record, frame: frame(content), replacing: versions, at: now))
    case .remove(let device, let record):
      let index = device % devices.count
      guard let record = shownRecord(index, record) else { return }
      for version in devices[index].history.shownVersions(of: record) {
        removed.insert(RecordVersion(record: record, version: version.version))
      }
      step(index, .remove(record: record, at: now))
    case .begin(let device, let purpose):
      let index = device % devices.count
      devices[index].requests = []
      devices[index].beforeRun = devices[index].unacknowledged.count
      step(index, .begin(purpose, at: now))
    case .deliver(let device, let request, let fault):
      deliver(device % devices.count, request, fault)
    case .crash(let device):
      let index = device % devices.count
      devices[index].requests = []
      devices[index].history.restart()
    case .wait(let seconds):
      now += seconds
      remote.now = now
    case .enrol(let by):
      enrol(by: by % devices.count)
    case .revoke(let device, let by):
      let id = devices[device % devices.count].history.device
      guard device % devices.count != by % devices.count,
        devices[by % devices.count].history.membership.isMember(id)
      else { return }
      change(.revoke([id], heads: nil), by: by % devices.count)
    case .rekey(let by):
      change(.handOutKeys, by: by % devices.count)
    case .changeSlots(let by):
      changeSlots(by: by % devices.count)
    case .copy(let device):
      guard devices.count < 6 else { return }
      hadCopies = true
      var copy = devices[device % devices.count]
      copy.requests = []
      copy.history.restart()
      copy.unacknowledged = []
      devices.append(copy)
    case .save(let device):
      let index = device % devices.count
      devices[index].saved.append((devices[index].history, devices[index].machine))
    case .putBack(let device):
      let index = device % devices.count
      guard let (history, machine) = devices[index].saved.last else { return }
      hadCopies = true
      devices[index].history = history
      devices[index].machine = machine
      devices[index].history.restart()
      devices[index].requests = []
      devices[index].unacknowledged = []
    case .confirm(let device):
      for other in devices.map(\.history.device) { step(device % devices.count, .confirm(other)) }
    case .misplace(let device):
      misplace(device % devices.count)
    }
  }

  private mutating func misplace(_ index: Int) {
    var noise: Set<RecordVersion> = []
    for record in devices[index].history.shownRecords.sorted(by: {
      $0.octets.lexicographicallyPrecedes($1.octets)
    }) {
      for shown in devices[index].history.shownVersions(of: record) {
        let version = RecordVersion(record: record, version: shown.version)
        guard devices[index].history.records.versions[record]?[shown.version] != nil else { continue }
        noise.insert(version)
        devices[index].history.outbox.append(
          .place(record: record, version: shown.version, frameHash: shown.frameHash))
      }
    }
    devices[index].machine.setNoise(noise)
  }

  /// Bad members stop being bad.
  mutating func endNoise() {
    for index in devices.indices { devices[index].machine.setNoise([]) }
  }

  private mutating func record() -> RecordID {
    var bytes: [UInt8] = []
    bytes.append(bigEndian: generator.next())
    bytes.append(bigEndian: generator.next())
    return RecordID(bytes.rawSpan) ?? RecordID()
  }

  private func frame(_ content: Int) -> [UInt8] {
    Array("the content of message number \(content), and more of it".utf8)
  }

  private func shownRecord(_ index: Int, _ number: Int) -> RecordID? {
    let shown = devices[index].history.shownRecords.sorted { $0.octets.lexicographicallyPrecedes($1.octets) }
    return shown.isEmpty ? nil : shown[number % shown.count]
  }

  // MARK: Steps

  /// One transaction of a device, and what it asks for.
  private mutating func step(_ index: Int, _ event: Event) {
    let effects = devices[index].step(event)
    for effect in effects {
      switch effect {
      case .keep(let record, let version, let frame):
        devices[index].machine.keep(frame, of: record, version)
        if case .add = event {
          let name = RecordVersion(record: record, version: version)
          if stored[name] == nil {
            stored[name] = Stored(author: devices[index].history.device, frame: frame)
          }
          devices[index].unacknowledged.append(name)
        }
      case .drop(let record, let version):
        devices[index].machine.drop(record, version)
      case .request(let request):
        noteSealed(request, by: index)
        devices[index].requests.append(request)
      case .ended(let outcome):
        outcomes[outcome, default: 0] += 1
        if case .account = event { continue }
        if outcome == .complete {
          for name in devices[index].unacknowledged.prefix(devices[index].beforeRun) {
            stored[name]?.isAcknowledged = true
          }
          devices[index].unacknowledged.removeFirst(
            min(devices[index].beforeRun, devices[index].unacknowledged.count))
        }
        devices[index].beforeRun = 0
      }
    }
  }

  /// Remembers what a device seals while it knows that others are revoked.
  private mutating func noteSealed(_ request: Request, by index: Int) {
    guard case .put(let name, let bytes) = request else { return }
    let epoch: EpochName? =
      switch name {
      case .segment(let segment) where segment.device == devices[index].history.device:
        devices[index].history.chains.heads[segment.device]?.contains(segment) == true
          ? try? SegmentSeal.epoch(of: bytes) : nil
      default: nil
      }
    guard let epoch, case .segment(let segment) = name,
      let knew = devices[index].history.chains.entries[segment]?.segment.controlHeads
    else { return }
    let log = devices[index].history.log
    let known = knew.reduce(into: Set(knew)) { $0.formUnion(log.entries[$1]?.ancestors ?? []) }
    for id in known {
      for revocation in log.entries[id]?.rekey?.revocations ?? [] {
        sealedAfterRevocation.append((revocation.device, epoch))
      }
    }
  }

  private mutating func deliver(_ index: Int, _ number: Int, _ fault: Fault) {
    guard !devices[index].requests.isEmpty else { return }
    let request = devices[index].requests.remove(at: number % devices[index].requests.count)
    let answer = remote.answer(request, fault: fault)
    step(index, .answer(request, answer, at: now))
  }

  // MARK: The account

  /// The user opens slots until one is accepted.
  private mutating func change(_ change: AccountChange, by index: Int) {
    // Nobody opens a slot on a device that they have revoked, except to enrol it again; which takes one right branch.
    let id = devices[index].history.device
    let isRevoked = devices.contains { $0.history.membership.revocations[id] != nil }
    switch change {
    case .rejoin, .settle: break
    default: if isRevoked { return }
    }
    for slot in slots.reversed() {
      let before = outcomes[.complete] ?? 0
      step(index, .account(change, slot, at: now))
      if (outcomes[.complete] ?? 0) > before { return }
    }
  }

  private mutating func enrol(by index: Int) {
    guard devices.count < 5 else { return }
    nextRun += 1
    let machine = KeyedHashMachine(run: SeededGenerator.first(of: nextRun), table: table)
    let entry = World.entry(machine, replaces: nil, &generator)
    var history = History(joining: devices[index].history.account, entry: entry)
    history.rules = devices[0].history.rules
    history.limits = devices[0].history.limits
    devices.append(SimulatedDevice(history: history, machine: machine))
    change(.approve(entry), by: index)
  }

  private mutating func changeSlots(by index: Int) {
    guard let old = slots.last else { return }
    nextRun += 1
    var id: [UInt8] = []
    id.append(bigEndian: generator.next())
    id.append(bigEndian: generator.next())
    let slot = OpenedSlot(
      id: SlotID(beginningOf: id), agreement: devices[index].machine.makeKeyPair(), owner: old.owner,
      anchor: nil)
    let before = outcomes[.complete] ?? 0
    change(.replaceSlots(removing: [old.id], adding: [slot.entry]), by: index)
    if (outcomes[.complete] ?? 0) > before { slots.append(slot) }
  }

  /// A device that was stopped gets a new identifier.
  mutating func rejoin(_ index: Int) {
    let before = devices[index].machine
    nextRun += 1
    devices[index].machine.renewDeviceKeys(run: SeededGenerator.first(of: nextRun))
    let entry = World.entry(devices[index].machine, replaces: devices[index].history.device, &generator)
    change(.rejoin(entry), by: index)
    // Refused: the old keys stay.
    if devices[index].history.device != entry.id { devices[index].machine = before }
  }

  mutating func settle(_ index: Int) {
    guard let fork = devices[index].history.membership.fork, let first = fork.branches.min() else { return }
    let branch = chosen[fork.at] ?? first
    change(.settle(at: fork.at, on: branch), by: index)
    if devices[index].history.settled[fork.at] == branch { chosen[fork.at] = branch }
  }

  // MARK: Quiet

  /// A whole run of one device without faults.
  mutating func runQuietly(_ index: Int, _ purpose: Purpose) {
    perform(.begin(device: index, purpose))
    var remaining = 10_000
    while !devices[index].requests.isEmpty, remaining > 0 {
      perform(.deliver(device: index, request: 0, .none))
      remaining -= 1
    }
  }
}

extension OpenedSlot {
  /// A stand-in for the slot's object; slots of this world are opened by their keys.
  var object: [UInt8] { Array("slot".utf8) + id.bytes }

  var entry: SlotEntry {
    SlotEntry(id: id, kind: .words, agreementKey: agreement.publicKey, object: ObjectHash(hashing: object))
  }
}
