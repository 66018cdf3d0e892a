// SPDX-License-Identifier: Apache-2.0
//
// What must hold when everything was sent and every device has heard of everything.

import Primitives
import Secrets

@testable import Histories

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
        let frames = shown.compactMap {
          computers[index].machine.content(of: RecordVersion(record: name.record, version: $0.version))
        }
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
        || computers.enumerated().contains(where: {
          ($1.isBad && ($0 == note.computer || $1.history.device == note.author))
            || ($0 == note.computer && stolen.contains($1.history.device))
        })
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
      if !note.parts.allSatisfy({ stored.contains(FrameHash(hashing: $0)) }) {
        throw Breach(
          invariant: .s4,
          found: "no pack holds a message of \(note.author.short)"
            + (isYoung == true ? " that was removed lately" : ""))
      }
    }
  }

  /// S4: a content that a member lacks is at no place that anybody ever named; else its run found it.
  func checkHints() throws(Breach) {
    for index in goodMembers where computers[index].outcome == .complete {
      let history = computers[index].history
      for name in history.wanted.sorted() {
        guard let entry = history.records.entry(name.version.record, name.version.version),
          let hash = entry.hash(ofPart: name.part)
        else { continue }
        for place in entry.places(ofPart: name.part) where holds(hash, at: place, of: history) {
          throw Breach(
            invariant: .s4, found: "device \(index) does not find a content that is where a segment says")
        }
      }
    }
  }

  /// Whether the server has a content at a place, in a pack that a device can open.
  private func holds(_ hash: FrameHash, at place: KnownPlace, of history: History) -> Bool {
    guard let pack = history.pack(at: place),
      let object = server.current(.pack(place.segment.device, pack.hash)),
      ObjectHash(hashing: object) == pack.hash, let epoch = try? Pack.epoch(of: object),
      let keys = history.keys[epoch],
      let directory = try? Pack.directory(of: object, keys: keys, account: history.account),
      let frame = try? Pack.entry(
        place.place.entry, of: object, directory: directory, keys: keys, account: history.account)
    else { return false }
    return FrameHash(hashing: frame) == hash
  }

  /// S7: after every crash the next run ends the work. S11: nobody asks for a slot that was opened, and there is always one
  /// to open.
  func checkEnded() throws(Breach) {
    for index in goodMembers {
      let history = computers[index].history
      if history.needsSlot {
        throw Breach(invariant: .s11, found: "device \(index) asks for a slot for ever")
      }
      guard !history.membership.slots.isEmpty else {
        throw Breach(invariant: .s11, found: "device \(index) knows of no slot in force")
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
    for (name, note) in written { secrets += note.parts + [name.record.octets] }
    for computer in computers { secrets += computer.history.keys.values.map { $0.key.testBytes } }
    let beginnings = Set(secrets.map { beginning($0[...]) })
    // Most words end like none of them.
    var ends = [Bool](repeating: false, count: 1 << 16)
    for word in beginnings { ends[Int(word & 0xffff)] = true }
    var last: Set<ObjectHash> = []
    for write in server.journal {
      guard let bytes = write.bytes, bytes.count > 8, last.insert(ObjectHash(hashing: bytes)).inserted else {
        continue
      }
      var word = bytes[..<7].reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
      for byte in bytes[7...] {
        word = word << 8 | UInt64(byte)
        if ends[Int(word & 0xffff)], beginnings.contains(word) {
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

  /// S2: of a member whose chain forked, every device says so.
  func checkForks() throws(Breach) {
    for index in goodMembers {
      let history = computers[index].history
      for device in history.chains.forks.keys
      where history.membership.isMember(device) && !history.alarms.contains(.forked(device)) {
        throw Breach(invariant: .s2, found: "device \(index) does not say that a chain forked")
      }
    }
  }

  /// S11: what the user has looked at, and what neither a device nor the remote can mend, stops no sweep for ever.
  func checkPassedOver() throws(Breach) {
    for index in goodMembers {
      for alarm in computers[index].history.alarms {
        switch alarm {
        case .tampered, .incomplete, .rolledBack, .missing, .empty:
          throw Breach(invariant: .s11, found: "device \(index) says for ever \(alarm)")
        case .forked, .ownerForked, .digestDiffers: break
        }
      }
    }
  }

  /// S8: members that follow one owner key know one secret of the URL.
  func checkURLSecrets() throws(Breach) {
    var known: [ControlID: [UInt8]] = [:]
    for index in goodMembers {
      let history = computers[index].history
      // The first device may never have been told: it made the secret.
      guard let owner = history.membership.owner, let last = history.lastEnvelope else { continue }
      let secret = history.urlSecret(from: last, on: computers[index].machine)?.testBytes
      guard let secret, known[owner] ?? secret == secret else {
        throw Breach(invariant: .s8, found: "device \(index) knows no secret of the URL, or another one")
      }
      known[owner] = secret
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

extension Identifier {
  /// The first bytes, for messages of failures.
  var short: String {
    bytes.prefix(2).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
  }
}

extension ObjectName {
  var kind: String { String("\(self)".prefix { $0 != "(" }) }
}
