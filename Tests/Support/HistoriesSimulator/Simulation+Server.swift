// SPDX-License-Identifier: Apache-2.0
//
// What a broken or hostile server does. It has no key of the account: it moves bytes, and makes up bytes.

import Primitives

@testable import Histories

extension Simulation {
  mutating func perform(_ deed: ServerDeed) {
    switch deed {
    case .late(let steps):
      injected.insert(.lateLists)
      server.lateness = steps
    case .backup(let steps):
      injected.insert(.backup)
      server.comeBack(from: steps)
    case .swap(let first, let second):
      let names = server.objectNames
      guard !names.isEmpty else { return }
      let (one, other) = (names[first % names.count], names[second % names.count])
      injected.insert(.tampering)
      let bytes = (server.current(one), server.current(other))
      server.write(bytes.1, as: one, by: -1)
      server.write(bytes.0, as: other, by: -1)
    case .truncate(let choice): change(choice) { Array($0.prefix($0.count / 2)) }
    case .flip(let choice):
      change(choice) { bytes in
        var changed = bytes
        if !changed.isEmpty { changed[choice % changed.count] ^= 1 }
        return changed
      }
    case .delete(let kind, let choice):
      injected.insert(.loss)
      let names = server.objectNames.filter(kind.includes)
      if !names.isEmpty { server.write(nil, as: names[choice % names.count], by: -1) }
    case .withhold(let kind, let choice):
      injected.insert(.withholding)
      for (number, name) in server.objectNames.filter(kind.includes).enumerated()
      where number % 3 == choice % 3 {
        server.withheld.insert(name)
      }
    case .olderState(let device, let steps):
      injected.insert(.withholding)
      let index = index(device)
      server.views[index] = .init(end: max(0, server.journal.count - steps), group: [index])
    case .nothing:
      injected.insert(.nothingShown)
      server.showsNothing = true
    case .split(let choice):
      injected.insert(.withholding)
      let groups = [false, true].map { side in
        Set((0..<Self.deviceLimit).filter { (choice >> $0 & 1 == 1) == side })
      }
      for group in groups {
        for device in group { server.views[device] = .init(end: server.journal.count, group: group) }
      }
    case .replay(let choice): replay(choice)
    case .ownAccount: offerAnotherAccount()
    case .junk(let choice): putJunk(choice)
    case .honest: server.becomeHonest()
    }
  }

  private mutating func change(_ choice: Int, _ change: ([UInt8]) -> [UInt8]) {
    injected.insert(.tampering)
    let names = server.objectNames
    guard !names.isEmpty, let bytes = server.current(names[choice % names.count]) else { return }
    server.write(change(bytes), as: names[choice % names.count], by: -1)
  }

  /// An old object comes again, at its own place or at one where it does not belong.
  private mutating func replay(_ choice: Int) {
    injected.insert(.tampering)
    let old = server.journal.filter { $0.bytes != nil }
    guard !old.isEmpty else { return }
    let write = old[choice % old.count]
    server.write(write.bytes, as: write.name, by: -1)
    switch write.name {
    case .control(let number, let hash):
      server.write(write.bytes, as: .control(number: number + 3, hash), by: -1)
    case .segment(let name):
      let device = computers[choice % computers.count].history.device
      let other = SegmentName(device: device, number: name.number + 1, hash: name.hash)
      server.write(write.bytes, as: .segment(other), by: -1)
    default: break
    }
  }

  /// Control operations and slots of an account that the server made.
  private mutating func offerAnotherAccount() {
    injected.insert(.tampering)
    var machine = newMachine()
    let owner = machine.makeKeyPair()
    let slot = OpenedSlot(id: identifier(), agreement: machine.makeKeyPair(), owner: owner, anchor: nil)
    let other = History.found(
      entry: entry(machine, replaces: nil), owner: owner, urlSecret: machine.randomSecret(16),
      slots: { _, _, _ in [(slot.entry, slot.object)] }, on: &machine)
    for entry in other.log.ordered { server.write(entry.object, as: entry.name, by: -1) }
    server.write(slot.object, as: .slot(ObjectHash(hashing: slot.object)), by: -1)
  }

  /// Bytes with the right hash in their name, and nothing in them; some with the head of an object of the account.
  private mutating func putJunk(_ choice: Int) {
    injected.insert(.tampering)
    let controls = server.objectNames.filter(ObjectClass.control.includes)
    let segments = server.objectNames.filter(ObjectClass.segment.includes)
    var junk = bytes(200)
    if !controls.isEmpty, choice % 2 == 0, let real = server.current(controls[choice % controls.count]) {
      junk = Array(real.prefix(48)) + [0, 0] + junk
    }
    server.write(junk, as: .control(number: UInt64(choice % 9), ObjectHash(hashing: junk)), by: -1)
    server.write(junk, as: .slot(ObjectHash(hashing: junk)), by: -1)
    if let last = segments.last, case .segment(let name) = last, let real = server.current(last) {
      let forged = Array(real.prefix(48)) + junk
      let next = SegmentName(device: name.device, number: name.number + 1, hash: ObjectHash(hashing: forged))
      server.write(forged, as: .segment(next), by: -1)
    }
  }
}
