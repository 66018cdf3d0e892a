// SPDX-License-Identifier: Apache-2.0
//
// What must hold in every simulation (design/remote.md, 14). Each invariant compares devices with the simulation's own
// model, with each other, or with the bytes at the server.

import Primitives
import Secrets

@testable import Histories

enum Invariant: String, Sendable {
  case s1 = "S1", s2 = "S2", s3 = "S3", s4 = "S4", s5 = "S5", s6 = "S6", s7 = "S7", s8 = "S8", s9 = "S9"
  case s11 = "S11", s12 = "S12", s13 = "S13", s14 = "S14"
}

/// An invariant that does not hold, and what was found.
struct Breach: Error, Sendable, CustomStringConvertible {
  let invariant: Invariant
  let found: String

  var description: String { "\(invariant.rawValue): \(found)" }
}

// MARK: At every moment

extension Simulation {
  func checkAlways() throws(Breach) {
    if let breach { throw breach }
    try checkDigests()
    try checkRevoked()
    try checkCauses()
    try checkRevokedKeys()
    try checkMembership()
  }

  /// S2: devices at one position have one digest, unless the user chose between branches of owner keys.
  func checkDigests() throws(Breach) {
    var digests: [HistoryPosition: (StateDigest, Int)] = [:]
    for index in computers.indices {
      var history = computers[index].history
      guard history.membership.fork == nil, history.settled.isEmpty, history.log.genesis != nil else {
        continue
      }
      let digest = history.digest()
      if let (other, first) = digests[history.position], other != digest {
        throw Breach(invariant: .s2, found: "devices \(first) and \(index) have one position and two digests")
      }
      digests[history.position] = (digest, index)
    }
  }

  /// S5: of a revoked device, nothing counts that a revocation in the log of a device does not leave; compared with the
  /// names in the operations, and with all segments that anybody has: a head may be missing on the device itself.
  func checkRevoked() throws(Breach) {
    func predecessor(of name: SegmentName) -> SegmentName? {
      for computer in computers {
        if let entry = computer.history.chains.entries[name] { return entry.segment.predecessor }
      }
      return nil
    }
    for index in computers.indices {
      let history = computers[index].history
      for entry in history.log.entries.values where history.membership.counting.contains(entry.id) {
        for revocation in entry.rekey?.revocations ?? [] {
          var left: Set<SegmentName> = []
          for head in revocation.heads {
            var next: SegmentName? = head
            while let name = next {
              left.insert(name)
              next = predecessor(of: name)
            }
          }
          let all = history.chains.segments(of: revocation.device)
          if all.contains(where: { history.counts($0) && !left.contains($0) }) {
            throw Breach(invariant: .s5, found: "a segment after a revocation counts on device \(index)")
          }
        }
      }
    }
  }

  /// S6: what a device has verified was written by members, with everything that it names before it.
  func checkCauses() throws(Breach) {
    for index in computers.indices where !computers[index].isBad {
      let history = computers[index].history
      for (name, entry) in history.chains.entries {
        guard madeSegments.contains(name) else {
          throw Breach(invariant: .s6, found: "device \(index) took a segment that nobody wrote")
        }
        if let before = entry.segment.predecessor, history.chains.entries[before] == nil {
          throw Breach(invariant: .s6, found: "device \(index) took a segment without its predecessor")
        }
        // What a revocation leaves of a cause's past is here, even if the cause is not.
        for cause in entry.segment.frontier
        where history.chains.entries[cause] == nil && !history.isBeyondRevocation(cause) {
          throw Breach(invariant: .s6, found: "device \(index) took a segment without a cause")
        }
      }
    }
  }

  /// S13: what was sealed by a device that knew of a revocation opens with no key that the revoked device ever held.
  func checkRevokedKeys() throws(Breach) {
    for (sealed, name) in sealedAfter where heldKeys[sealed.revoked]?.contains(sealed.epoch) == true {
      throw Breach(
        invariant: .s13,
        found: "a revoked device has the key of epoch \(sealed.epoch.number), under which \(name.kind) "
          + "was sealed by somebody who knew of the revocation")
    }
  }

  /// S14: operations of the control log are those that the user asked for, and members, slots and epochs come from them.
  func checkMembership() throws(Breach) {
    for index in computers.indices {
      let history = computers[index].history
      guard history.log.entries.keys.allSatisfy(madeOperations.contains) else {
        throw Breach(
          invariant: .s14, found: "device \(index) has a control operation that the user did not ask for")
      }
      let devices = Set(history.log.entries.values.compactMap { $0.operation.newDevice?.id })
      let slots = Set(history.log.entries.values.flatMap { $0.operation.newSlots.map(\.id) })
      guard devices.isSuperset(of: history.membership.devices.keys),
        slots.isSuperset(of: history.membership.slots.keys)
      else { throw Breach(invariant: .s14, found: "device \(index) knows a member that no operation added") }
    }
  }
}

// MARK: At rest

extension Simulation {
  /// Computers that belong to the account, are the user's and keep the rules.
  var goodMembers: [Int] {
    computers.indices.filter { index in
      let history = computers[index].history
      return !computers[index].isBad && !stolen.contains(history.device) && !history.isCloned
        && history.membership.isMember(history.device)
    }
  }

  /// S1: what a run acknowledged is shown on every member with its content, unless somebody who had seen it removed it,
  /// or a revocation cut its author off before it.
  func checkAcknowledged() throws(Breach) {
    for (name, note) in written.sorted(by: { $0.key < $1.key })
    where note.isAcknowledged && mustBeThere(name, note) {
      for index in goodMembers {
        let shown = computers[index].history.shownVersions(of: name.record)
        let frames = shown.compactMap { computers[index].machine.frame(of: name.record, version: $0.version) }
        guard frames.contains(note.frame) else {
          throw Breach(
            invariant: .s1,
            found:
              "device \(index) does not show the message \(String(decoding: note.frame.suffix(12), as: UTF8.self))"
              + " of \(note.author.short) with lamport number \(name.version.lamport); shown: \(shown.count), contents: \(frames.count)"
          )
        }
      }
    }
  }

  private var isRemoteKept: Bool {
    injected.isDisjoint(with: [.backup, .loss, .tampering, .withholding, .nothingShown])
  }

  private func mustBeThere(_ name: RecordVersion, _ note: Written) -> Bool {
    guard removed[name] == nil else { return false }
    // What the remote lost, its author puts back; not one that is bad, gone, or lost it with a part of its disk.
    if !isRemoteKept,
      note.isOrphan || stolen.contains(note.author)
        || computers.contains(where: { $0.isBad && $0.history.device == note.author })
    {
      return false
    }
    if let spoiledAt = spoiled[name] {
      // A removal by a bad member is undone if it is revoked within thirty days.
      guard !injected.contains(.clocks), spoiledAt + 29 * 86_400 > now else { return false }
    }
    let left = revocations[note.author] ?? []
    // Its author may have been added by an operation that does not count.
    let isForgotten = goodMembers.contains { computers[$0].history.membership.devices[note.author] == nil }
    if !isForgotten, left.allSatisfy({ $0.contains(name) }) { return true }
    if stolen.contains(note.author) || note.isOrphan { return false }
    // The computer that wrote it says it again under its new identifier, also if it hears of a revocation later.
    guard computers.indices.contains(note.computer), !computers[note.computer].isBad,
      !stolen.contains(computers[note.computer].history.device)
    else { return false }
    return !computers.contains { $0.history.device == note.author }
  }

  /// S4: the contents of all messages that were acknowledged, and were not removed thirty days ago, are in a pack at the
  /// server that somebody opens.
  func checkContents() throws(Breach) {
    var keys: [EpochName: EpochKeys] = [:]
    for computer in computers { keys.merge(computer.history.keys) { first, _ in first } }
    let account = computers[0].history.account
    var stored: Set<FrameHash> = []
    for name in server.objectNames where ObjectClass.pack.includes(name) {
      guard let object = server.current(name), name.hash == ObjectHash(hashing: object),
        let epoch = try? Pack.epoch(of: object), let keys = keys[epoch],
        let directory = try? Pack.directory(of: object, keys: keys, account: account)
      else { continue }
      for number in directory.entries.indices {
        if let frame = try? Pack.entry(
          UInt32(number + 1), of: object, directory: directory, keys: keys, account: account)
        {
          stored.insert(FrameHash(hashing: frame))
        }
      }
    }
    let isKept = isRemoteKept && !injected.contains(.clocks)
    for (name, note) in written.sorted(by: { $0.key < $1.key }) where note.isAcknowledged {
      // Nobody puts back what the remote lost after it was removed.
      let isYoung = [removed[name], spoiled[name]].compactMap(\.self).min().map {
        isKept && $0 + 29 * 86_400 > now
      }
      guard isYoung == true || mustBeThere(name, note), !stolen.contains(note.author), !note.isOrphan,
        revocations[note.author] == nil
      else { continue }
      if !stored.contains(FrameHash(hashing: note.frame)) {
        throw Breach(
          invariant: .s4,
          found: "no pack holds a message of \(note.author.short)"
            + (isYoung == true ? " that was removed lately" : ""))
      }
    }
  }

  /// S3, S4 and S8: a new device that gets everything from the server in another order shows what a member shows.
  /// Each slot in force opens everything.
  func checkRestores() throws(Breach) {
    guard let member = goodMembers.first, !computers[member].history.needsSlot else { return }
    let inForce = computers[member].history.membership.slots
    var digests: [StateDigest] = []
    for (number, slot) in slots.filter({ inForce[$0.id] != nil }).suffix(2).enumerated() {
      var world = self
      world.breach = nil
      guard let index = world.restore(slot, order: UInt64(number + 1), limit: 99) else {
        throw Breach(
          invariant: .s8,
          found: "a slot in force does not let a new device in: \(world.lastRefusal.map { "\($0)" } ?? "-")")
      }
      world.runQuietly(index, .sync, order: UInt64(number + 1))
      if let breach = world.breach { throw breach }
      for author in Set(world.computers.map(\.history.device)).sorted() {
        world.step(index, .confirm(author))
      }
      world.runQuietly(index, .sync)
      digests.append(world.computers[index].history.digestNow)
      for record in shownRecords(member) {
        let theirs = contents(of: record, on: member)
        let new = world.contents(of: record, on: index)
        guard new.isSuperset(of: theirs) else {
          throw Breach(
            invariant: .s4,
            found: "a restored device does not show a message that device \(member) shows: "
              + "\(theirs.subtracting(new).map { String(decoding: $0.suffix(12), as: UTF8.self) }), shown \(world.computers[index].history.shownVersions(of: record).count); places \(world.placesOf(record, on: index))"
          )
        }
      }
      // Settled branches are a choice of this user's devices; a new device chooses with its slot.
      guard computers[member].history.settled.isEmpty else { continue }
      if computers[member].history.digestNow != world.computers[index].history.digestNow {
        throw Breach(
          invariant: .s3,
          found: "a device that got everything in another order has another digest than device \(member)")
      }
    }
  }

  private func contents(of record: RecordID, on index: Int) -> Set<[UInt8]> {
    Set(
      computers[index].history.shownVersions(of: record).compactMap {
        computers[index].machine.frame(of: record, version: $0.version)
      })
  }

  /// S7: after every crash the next run ends the work. S11: nobody asks for a slot that was opened.
  func checkEnded() throws(Breach) {
    for index in goodMembers {
      let history = computers[index].history
      if history.needsSlot {
        throw Breach(invariant: .s11, found: "device \(index) asks for a slot for ever")
      }
      guard history.run == nil, history.outbox.isEmpty, history.staged == nil,
        computers[index].outcome == .complete
      else {
        throw Breach(
          invariant: .s7,
          found:
            "device \(index) does not end its work: \(computers[index].outcome.map { "\($0)" } ?? "no run"), outbox \(history.outbox.count)"
        )
      }
    }
  }

  /// S9: no content, no identifier of a record and no epoch key is in any byte that the server ever got.
  func checkSecrecy() throws(Breach) {
    var secrets: [[UInt8]] = []
    for (name, note) in written { secrets += [note.frame, name.record.octets] }
    for computer in computers { secrets += computer.history.keys.values.map { $0.key.testBytes } }
    let beginnings = Set(secrets.map { beginning($0[...]) })
    var last: Set<ObjectHash> = []
    for write in server.journal {
      guard let bytes = write.bytes, bytes.count > 8, last.insert(ObjectHash(hashing: bytes)).inserted else {
        continue
      }
      var word = bytes[..<7].reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
      for byte in bytes[7...] {
        word = word << 8 | UInt64(byte)
        if beginnings.contains(word) {
          throw Breach(invariant: .s9, found: "a secret is in \(write.name.kind)")
        }
      }
    }
  }

  private func beginning(_ bytes: ArraySlice<UInt8>) -> UInt64 {
    bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
  }

  /// S12: no alarm is open that no injected fault explains.
  func checkAlarms() throws(Breach) {
    for index in goodMembers {
      for alarm in computers[index].history.alarms where alarm.causes.isDisjoint(with: injected) {
        // A removal of thirty days ago was swept, and a revocation took it back: what is said is true.
        let history = computers[index].history
        if case .incomplete(let name) = alarm, server.wasSwept(name),
          history.chains.entries.keys.contains(where: { !history.counts($0) })
        {
          continue
        }
        throw Breach(invariant: .s12, found: "device \(index) says \(alarm)")
      }
    }
  }

  /// S13: a slot that was removed, and the key of a revoked device, open no later envelope.
  func checkFormerSlots() throws(Breach) {
    guard let member = goodMembers.first else { return }
    let history = computers[member].history
    for slot in slots where history.membership.removedSlots.contains(slot.id) {
      var held: Set<EpochName> = []
      for entry in history.log.ordered {
        let tag = Envelope.tag(publicKey: slot.agreement.publicKey, epoch: entry.epoch)
        for envelope in (try? ControlSeal.envelopes(of: entry.object)) ?? []
        where (try? Envelope.tag(of: envelope)) == tag {
          let contents = try? Envelope.open(
            envelope, recipient: .slot(slot.id), publicKey: slot.agreement.publicKey,
            key: .memory(slot.agreement),
            epoch: entry.epoch, account: history.account, machine: computers[member].machine)
          held.formUnion(contents?.epochKeys.map(\.name) ?? [])
        }
      }
      for entry in history.chains.entries.values where held.contains(entry.epoch) {
        let known = entry.segment.controlHeads.reduce(into: Set(entry.segment.controlHeads)) {
          $0.formUnion(history.log.entries[$1]?.ancestors ?? [])
        }
        if known.contains(where: { history.log.entries[$0]?.rekey?.removedSlots.contains(slot.id) == true }) {
          throw Breach(
            invariant: .s13, found: "a removed slot opens a segment whose author knew of the removal")
        }
      }
    }
  }
}

extension History {
  fileprivate var digestNow: StateDigest {
    var history = self
    return history.digest()
  }
}

extension Identifier {
  /// The first bytes, for messages of failures.
  var short: String {
    bytes.prefix(2).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
  }
}

extension ObjectName {
  fileprivate var kind: String { String("\(self)".prefix { $0 != "(" }) }
}

extension Simulation {
  /// Where a device looks for the contents of a record, for messages of failures.
  fileprivate func placesOf(_ record: RecordID, on index: Int) -> [String] {
    let history = computers[index].history
    return history.shownVersions(of: record).flatMap { shown in
      (history.records.versions[record]?[shown.version]?.places ?? []).map { place in
        guard let pack = history.pack(at: place) else { return "no pack" }
        let object = server.current(.pack(place.segment.device, pack.hash))
        let epoch = object.flatMap { try? Pack.epoch(of: $0) }
        return "\(place.segment.device.short)/\(place.segment.number) "
          + (object == nil ? "absent" : object?.count == Int(pack.byteCount) ? "whole" : "torn")
          + (epoch.map { history.keys[$0] == nil ? " no key" : "" } ?? " no epoch")
      }
    }
  }
}
