// SPDX-License-Identifier: Apache-2.0
//
// What the user does with a slot of the account in hand.

import Primitives

@testable import Histories

extension Simulation {
  mutating func performChange(_ deed: Deed) {
    switch deed {
    case .enrol(let by): enrol(by: index(by))
    case .restore(let slot): restore(slots[slot % slots.count])
    case .revoke(let device, let by, let without): revoke(index(device), by: index(by), without: without)
    case .handOutKeys(let by): change(.handOutKeys, by: index(by))
    case .addSlot(let by):
      guard let owner = slots.last?.owner else { return }
      let slot = newSlot(owner)
      if change(.addSlot(slot.entry), by: index(by)) { slots.append(slot) }
    case .replaceSlot(let by):
      guard let old = slots.last else { return }
      let slot = newSlot(old.owner)
      // Now and then with a new card.
      var machine = newMachine()
      let secret = slot.id.bytes[0] % 2 == 0 ? machine.randomSecret(Envelope.urlSecretByteCount) : nil
      if change(
        .replaceSlots(removing: [old.id], adding: [slot.entry], urlSecret: secret), by: index(by))
      {
        slots.append(slot)
      }
    case .removeSlot(let number, let by):
      change(.replaceSlots(removing: [slots[number % slots.count].id], adding: []), by: index(by))
    default: break
    }
  }

  private mutating func newSlot(_ owner: KeyPair) -> OpenedSlot {
    var machine = newMachine()
    return OpenedSlot(id: identifier(), agreement: machine.makeKeyPair(), owner: owner, anchor: nil)
  }

  /// Opens one slot after the other until a device accepts one.
  @discardableResult
  mutating func change(_ change: AccountChange, by index: Int, with given: OpenedSlot? = nil) -> Bool {
    // Nobody opens a slot on a device that they know to be stolen.
    guard !stolen.contains(computers[index].history.device) else { return false }
    let before = computers[index]
    let readable = readable(on: index)
    let known = Set(before.history.log.entries.keys)
    for slot in given.map({ [$0] }) ?? slots.reversed() {
      step(index, .account(change, slot, at: clock(index)))
      // Another slot may have the key of an epoch that this one was never sent.
      guard [.notOwner, .noSafeEpoch].contains(computers[index].outcome) else { break }
    }
    let history = computers[index].history
    for (id, entry) in history.log.entries where !known.contains(id) {
      // Operations that the slot opened were made by somebody else, and are known.
      guard !madeOperations.contains(id) else { continue }
      madeOperations.insert(id)
      for revocation in entry.rekey?.revocations ?? [] {
        revocations[revocation.device, default: []].append(versions(history, to: revocation.heads))
      }
    }
    switch change {
    case .revoke, .settle: break
    default: checkReadable(readable, on: index, was: before.history.device, after: change)
    }
    return computers[index].outcome == .complete
  }

  /// The versions that the segments to these heads bring.
  private func versions(_ history: History, to heads: [SegmentName]) -> Set<RecordVersion> {
    var found: Set<RecordVersion> = []
    for head in heads {
      var next: SegmentName? = head
      while let name = next, let segment = history.chains.entries[name]?.segment {
        for case .add(let addition) in segment.operations {
          found.insert(RecordVersion(record: addition.record, version: addition.version))
        }
        next = segment.predecessor
      }
    }
    return found
  }

  private mutating func join(machine: SimulatedMachine, entry: DeviceEntry) -> Int {
    var history = History(joining: computers[0].history.account, entry: entry)
    history.rules = setting.rules
    history.limits = setting.limits
    computers.append(SimulatedComputer(history: history, machine: machine))
    return computers.count - 1
  }

  private mutating func enrol(by index: Int) {
    guard computers.count < Self.deviceLimit else { return }
    let machine = newMachine()
    let entry = entry(machine, replaces: nil)
    if change(.approve(entry), by: index) { _ = join(machine: machine, entry: entry) }
  }

  /// A new machine gets everything with a slot alone.
  /// - Returns: its number; nil if the account did not let it in.
  @discardableResult
  mutating func restore(_ slot: OpenedSlot, order: UInt64 = 0, limit: Int = Simulation.deviceLimit) -> Int? {
    guard computers.count < limit else { return nil }
    let machine = newMachine()
    let entry = entry(machine, replaces: nil)
    let index = join(machine: machine, entry: entry)
    runQuietly(index, .sync, order: order)
    var isIn = change(.approve(entry), by: index, with: slot)
    for _ in 0..<4 where !isIn && computers[index].outcome == .ownerForked && settle(index) {
      isIn = change(.approve(entry), by: index, with: slot)
    }
    guard isIn else {
      lastRefusal = computers.removeLast().outcome
      return nil
    }
    runQuietly(index, .sync, order: order)
    return index
  }

  private mutating func revoke(_ index: Int, by: Int, without: Int) {
    let device = computers[index].history.device
    guard device != computers[by].history.device, computers[by].history.membership.isMember(device) else {
      return
    }
    var heads: [SegmentName]?
    if without > 0 || computers[index].isBad {
      heads = (computers[by].history.chains.heads[device] ?? []).compactMap { head in
        let line = computers[by].history.chains.lines(to: [head])
        let last =
          firstBadSegment[device].map { $0 - 1 }
          ?? (head.number > UInt64(without) ? head.number - UInt64(without) : 0)
        return line.filter { $0.number <= last }.max()
      }
    }
    if change(.revoke([device], heads: heads.map { Array(Set($0)).sorted() }), by: by) {
      stolen.insert(device)
    }
  }

  // MARK: What a device asks for

  /// - Returns: whether something was done.
  @discardableResult
  mutating func attend(_ index: Int) -> Bool {
    let history = computers[index].history
    guard !stolen.contains(history.device), !computers[index].isBad else { return false }
    if history.membership.fork != nil { return settle(index) }
    if let (at, branch) = otherChoice(history) {
      change(.settle(at: at, on: branch), by: index)
      return true
    }
    if history.isCloned || history.membership.revocations[history.device] != nil || isForgotten(history) {
      return rejoin(index)
    }
    guard history.needsSlot else { return false }
    // A slot that was added elsewhere may not have what is missing here.
    for slot in slots.reversed() where computers[index].history.needsSlot {
      change(.handOutKeys, by: index, with: slot)
    }
    // What the slot opened may be another branch, which the user chooses next.
    return computers[index].outcome == .complete || computers[index].history.membership.fork != nil
  }

  /// It was approved by an operation that does not count.
  private func isForgotten(_ history: History) -> Bool {
    history.membership.devices[history.device] == nil && history.log.device(history.device) != nil
  }

  private mutating func settle(_ index: Int) -> Bool {
    guard let fork = computers[index].history.membership.fork,
      let branch = choice(at: fork.at, among: fork.branches)
    else { return false }
    let before = computers[index].history.settled[fork.at]
    change(.settle(at: fork.at, on: branch), by: index)
    let history = computers[index].history
    // The slot may have opened one more branch, so that there is something to choose at this place again.
    guard history.membership.fork?.at != fork.at || history.settled[fork.at] != before else { return false }
    let known = chosenBranches[fork.at]
    if known == nil || (known == fork.at && branch != fork.at) { chosenBranches[fork.at] = branch }
    if branch == fork.at {
      rejectedBranches[fork.at, default: []].formUnion(fork.branches.filter { $0 != branch })
    }
    return true
  }

  /// What a user chooses who remembers what they chose on another device.
  private func choice(at owner: ControlID, among branches: [ControlID]) -> ControlID? {
    // Who chose the former key has seen the other branches; what this key did later is right.
    let open = branches.filter { rejectedBranches[owner]?.contains($0) != true }
    let successor = open.filter { $0 != owner }.min()
    switch chosenBranches[owner] {
    case owner: return successor ?? owner
    case let known? where branches.contains(known): return known
    default:
      // Now and then the user wants the former key to go on.
      guard let first = successor ?? branches.min() else { return nil }
      return branches.contains(owner) && first.bytes[0] % 2 == 0 ? owner : first
    }
  }

  /// A branch that the user chose on another device, and that this one did not know when it was asked.
  private func otherChoice(_ history: History) -> (at: ControlID, branch: ControlID)? {
    for (at, choice) in history.settled.sorted(by: { $0.key < $1.key }) {
      guard case .successor(let branch) = choice, let right = chosenBranches[at], right != at,
        right != branch,
        history.log.entries[right] != nil
      else { continue }
      return (at, right)
    }
    return nil
  }

  mutating func rejoin(_ index: Int) -> Bool {
    let machine = computers[index].machine
    computers[index].machine = newMachine(with: machine)
    let entry = entry(computers[index].machine, replaces: computers[index].history.device)
    if change(.rejoin(entry), by: index) { return true }
    if computers[index].history.device != entry.id { computers[index].machine = machine }
    return false
  }

  // MARK: S8

  private func readable(on index: Int) -> Set<RecordVersion> {
    let computer = computers[index]
    return Set(
      computer.history.shownRecords.flatMap { record in
        computer.history.shownVersions(of: record).compactMap { shown -> RecordVersion? in
          let name = RecordVersion(record: record, version: shown.version)
          // Not a capture whose parts nobody has asked for.
          guard let content = computer.machine.content(of: name) else { return nil }
          return content == written[name]?.frame ? name : nil
        }
      })
  }

  private mutating func checkReadable(
    _ before: Set<RecordVersion>, on index: Int, was device: DeviceID, after change: AccountChange
  ) {
    let computer = computers[index]
    for name in before.sorted() {
      // A device that rejoined shows the same under another version.
      let frames = computer.history.shownVersions(of: name.record).compactMap {
        computer.machine.content(of: RecordVersion(record: name.record, version: $0.version))
      }
      guard let frame = written[name]?.frame, !frames.contains(frame), removed[name] == nil,
        spoiled[name] == nil
      else { continue }
      // The slot opened a revocation whose heads are not here yet.
      let author = written[name]?.author ?? device
      let heads = computer.history.membership.revocations[author] ?? []
      if heads.flatMap(\.heads).contains(where: { computer.history.chains.entries[$0] == nil }) { continue }
      // Or one that cuts another author off.
      if author != device, !heads.isEmpty || computer.history.membership.devices[author] == nil { continue }
      // The slot opened news: this device is no member, and its own messages wait on its disk.
      if !computer.history.membership.isMember(computer.history.device),
        computer.machine.content(of: name) == frame
      {
        continue
      }
      fail(
        .s8,
        "a message that device \(index) showed is gone after \("\(change)".prefix(12)): \(String(decoding: frame.suffix(12), as: UTF8.self)) of lamport \(name.version.lamport), shown \(frames.map { String(decoding: $0.suffix(12), as: UTF8.self) })"
      )
    }
  }
}

extension OpenedSlot {
  /// A stand-in for the slot's object; slots of a simulation are opened by their keys.
  var object: [UInt8] { Array("slot".utf8) + id.bytes }

  var entry: SlotEntry {
    SlotEntry(id: id, kind: .words, agreementKey: agreement.publicKey, object: ObjectHash(hashing: object))
  }
}
