// SPDX-License-Identifier: Apache-2.0
//
// Rules that a seed seldom meets: limits, and what a bad member or a server makes of them.

import Primitives
import Secrets
import Testing

@testable import Histories
@testable import HistoriesSimulator

@Suite("Rules of histories")
struct RuleTests {
  /// Two members that know each other.
  static func pair(_ seed: UInt64 = 1) -> Simulation {
    var simulation = Simulation(Simulation.Setting(seed: seed))
    for deed: Deed in [
      .run(device: 0, .sync, seed: 0), .enrol(by: 0), .run(device: 0, .sync, seed: 0),
      .run(device: 1, .sync, seed: 0), .run(device: 0, .sync, seed: 0),
    ] { simulation.perform(deed) }
    return simulation
  }

  @Test(
    "What was held for long is erased 30 days after the hold, and not at its end", arguments: [false, true])
  func heldForLong(hasFork: Bool) throws {
    var simulation = Self.pair()
    func run(_ device: Int) { simulation.perform(.run(device: device, .sync, seed: 0)) }
    func pass(days: UInt64) { simulation.perform(.pass(seconds: days * 86_400)) }
    // More than the brake lets through, or fewer.
    for content in 0..<(hasFork ? 5 : 9) { simulation.perform(.add(device: 0, content: content)) }
    run(0)
    run(1)
    if hasFork {
      simulation.perform(.misbehave(device: 1, .fork, choice: 0))
      run(0)
      simulation.perform(.misbehave(device: 1, .wideRemoval, choice: 0))
    } else {
      simulation.perform(.removeAll(device: 1))
      run(1)
    }
    func stored() -> Int {
      let computer = simulation.computers[0]
      let records = computer.history.records
      return records.identifiers.reduce(0) { count, record in
        count
          + records.versions(of: record).count {
            computer.machine.hasFrame(of: ContentName(record: record, version: $0.version))
          }
      }
    }
    run(0)
    func holdsSomething() -> Bool { simulation.computers[0].history.holdsSomething }
    try #require(holdsSomething())
    func shown() -> Int { simulation.computers[0].history.shownRecords.count }
    let before = (shown: shown(), stored: stored())
    // Long after the removals came, the user lets them be.
    for _ in 0..<6 {
      pass(days: 7)
      run(0)
    }
    if hasFork {
      // With all that it did.
      let bad = simulation.computers[1].history.device
      let isRevoked = simulation.change(.revoke([bad], heads: nil), by: 0)
      try #require(isRevoked)
      simulation.perform(.run(device: 0, .verify, seed: 0))
    } else {
      simulation.perform(.confirm(device: 0))
    }
    run(0)
    #expect(!holdsSomething() && shown() < before.shown)
    #expect(stored() == before.stored)
    for _ in 0..<4 {
      pass(days: 7)
      run(0)
      #expect(stored() == before.stored)
    }
    pass(days: 7)
    run(0)
    #expect(stored() < before.stored)
    try simulation.checkAlways()
  }

  @Test("A branch that does not count makes no removal late that is not in it")
  func lateBranches() {
    let device = DeviceID(beginningOf: [UInt8](repeating: 1, count: 16))
    func name(_ number: UInt64, _ branch: UInt8) -> SegmentName {
      SegmentName(device: device, number: number, hash: ObjectHash(hashing: [branch, UInt8(number)]))
    }
    let (root, a2, a3, b2, b3) = (name(1, 0), name(2, 1), name(3, 1), name(2, 2), name(3, 2))
    let chain: [(name: SegmentName, predecessor: SegmentName?)] = [
      (root, nil), (a2, root), (b2, root), (a3, a2), (b3, b2),
    ]
    func moment(_ time: UInt64, _ segmentCount: Int) -> LateRemovals.Moment {
      LateRemovals.Moment(time: time, segmentCount: segmentCount)
    }
    var late = LateRemovals()
    late.look(at: chain, moment(100, 5)) { $0 == b2 }
    #expect([root, a2, a3, b2, b3].map(late.until) == [nil, nil, nil, moment(100, 5), moment(100, 5)])
    late.look(at: chain, moment(200, 6)) { $0 == b3 }
    #expect([a3, b2, b3].map(late.until) == [nil, moment(100, 5), moment(200, 6)])
    #expect(late.beginnings == [b2: moment(100, 5), b3: moment(200, 6)])
    // A clock that was set back.
    late.look(at: chain, moment(50, 7)) { $0 == b2 || $0 == a3 }
    #expect([a2, a3, b2, b3].map(late.until) == [nil, moment(50, 7), moment(100, 7), moment(200, 7)])
    var restored = LateRemovals(late.beginnings)
    restored.look(at: chain, moment(300, 8)) { _ in false }
    #expect([root, a2, a3, b2, b3].map(restored.until) == [root, a2, a3, b2, b3].map(late.until))
  }

  @Test("A replacement that came while the clock was behind is as young after a restart as it is")
  func setBackClockAndRestarts() throws {
    var simulation = Self.pair()
    func run(_ device: Int) { simulation.perform(.run(device: device, .sync, seed: 0)) }
    func restart() { simulation.perform(.crash(device: 0, sent: 0)) }
    simulation.perform(.add(device: 1, content: 1))
    for device in [1, 0] { run(device) }
    let name = try #require(simulation.written.keys.first)
    simulation.perform(.edit(device: 1, record: 0, content: 2))
    run(1)
    let days: UInt64 = 40 * 86_400
    simulation.perform(.pass(seconds: days))
    // No segment tells of this run.
    simulation.perform(.begin(device: 0, .sync))
    restart()
    simulation.perform(.setClock(device: 0, seconds: -Int64(days)))
    run(0)
    simulation.perform(.setClock(device: 0, seconds: 0))
    restart()
    run(0)
    try #require(simulation.computers[0].history.isGone(name.record, name.version, heldCounts: false))
    #expect(simulation.computers[0].machine.hasFrame(of: ContentName(name)))
    #expect(simulation.breach == nil)
  }

  @Test("What a user removed is not said again by a copy that still had it to say")
  func removedElsewhere() throws {
    var simulation = Simulation(Simulation.Setting(seed: 3))
    func run(_ device: Int) { simulation.perform(.run(device: device, .sync, seed: 0)) }
    func shown(_ index: Int) -> Int { simulation.computers[index].history.shownRecords.count }
    simulation.perform(.enrol(by: 0))
    for device in [0, 1, 0] { run(device) }
    simulation.perform(.add(device: 0, content: 1))
    simulation.perform(.copy(device: 0, sameRandomness: false))
    // It joins again before it has sent anything.
    let hasRejoined = simulation.rejoin(0)
    try #require(hasRejoined && simulation.computers.count == 3)
    for device in [0, 1] { run(device) }
    try #require(shown(1) == 1)
    simulation.perform(.remove(device: 1, record: 0))
    for device in [1, 0, 2] { run(device) }
    simulation.perform(.attend(device: 2))
    for device in [2, 1, 0] { run(device) }
    #expect((0..<3).map(shown) == [0, 0, 0])
    try simulation.comeToRest(isThorough: true)
  }

  @Test("What a device had to say when it was put back is not lost with an identifier that is revoked twice")
  func putBack() throws {
    var simulation = Simulation(Simulation.Setting(seed: 2))
    func run(_ device: Int, _ purpose: Purpose = .sync) {
      simulation.perform(.run(device: device, purpose, seed: 0))
    }
    simulation.perform(.enrol(by: 0))
    simulation.perform(.copy(device: 0, sameRandomness: false))
    run(0)
    simulation.perform(.add(device: 0, content: 1))
    // The copy joins again, and knows nothing of the message.
    run(2)
    simulation.perform(.attend(device: 2))
    // The device says it, forgets that it did, and joins again, too.
    simulation.perform(.save(device: 0))
    run(0)
    simulation.perform(.putBack(device: 0))
    try simulation.comeToRest(isThorough: true)
    for index in simulation.computers.indices {
      let history = simulation.computers[index].history
      let shown = history.shownRecords.flatMap { record in
        history.shownVersions(of: record).map { RecordVersion(record: record, version: $0.version) }
      }
      let texts = shown.map { simulation.computers[index].machine.content(of: $0) }
      #expect(texts == [simulation.parts(1)[0]])
    }
  }

  @Test("The highest lamport number is taken, and stops nobody") func lamport() throws {
    var simulation = Self.pair()
    for _ in 0..<3 { simulation.perform(.misbehave(device: 1, .highLamport, choice: 0)) }
    for number in 0..<3 {
      simulation.perform(.add(device: 0, content: number))
      simulation.perform(.run(device: 0, .sync, seed: 0))
    }
    let history = simulation.computers[0].history
    #expect(history.alarms.isEmpty)
    #expect(history.chains.lamport >= 3 * Segment.lamportStep)
    // Its own chain rose by one step a segment.
    let own = history.chains.segments(of: history.device).compactMap {
      history.chains.entries[$0]?.segment.lamport
    }
    #expect(zip(own, own.dropFirst()).allSatisfy { $1 > $0 && $1 - $0 <= Segment.lamportStep })
    try simulation.checkAlways()
    simulation.perform(.misbehave(device: 1, .overflowingLamport, choice: 0))
    simulation.perform(.run(device: 0, .sync, seed: 0))
    #expect(
      simulation.computers[0].history.alarms.contains { if case .tampered = $0 { true } else { false } })
  }

  @Test("What a thief writes with a copy of a device that has joined again stays cut off")
  func thief() throws {
    var simulation = Self.pair()
    func run(_ device: Int) { simulation.perform(.run(device: device, .sync, seed: 0)) }
    for content in 0..<3 { simulation.perform(.add(device: 0, content: content)) }
    run(0)
    run(1)
    let shown = simulation.computers[1].history.shownRecords
    try #require(shown.count == 3)
    simulation.perform(.copy(device: 1, sameRandomness: false))
    let thief = simulation.computers.count - 1
    simulation.perform(.add(device: thief, content: 3))
    run(thief)
    run(1)
    try #require(simulation.computers[1].history.isCloned)
    simulation.perform(.attend(device: 1))
    run(1)
    simulation.perform(.misbehave(device: thief, .wideRemoval, choice: 0))
    run(1)
    // The user revokes it once more on the other device.
    simulation.perform(.revoke(device: thief, by: 0, without: 0))
    for _ in 0..<2 {
      run(1)
      run(0)
    }
    for computer in simulation.computers[..<2] {
      #expect(computer.history.shownRecords == shown && computer.history.outbox.isEmpty)
    }
    try simulation.checkAlways()
  }

  @Test("More crossed operations than one can name are brought together") func manyHeads() {
    var simulation = Self.pair()
    let start = simulation
    var objects: [(ObjectName, [UInt8])] = []
    for number in 0..<300 {
      var other = start
      var machine = other.computers[0].machine
      for _ in 0...number { _ = machine.random(8) }
      other.computers[0].machine = machine
      other.perform(.addSlot(by: 0))
      let known = Set(start.computers[0].history.log.entries.keys)
      for entry in other.computers[0].history.log.entries.values where !known.contains(entry.id) {
        objects.append((entry.name, entry.object))
        simulation.madeOperations.insert(entry.id)
      }
    }
    for (name, object) in objects { simulation.server.write(object, as: name, by: 1) }
    simulation.perform(.run(device: 1, .sync, seed: 0))
    #expect(simulation.computers[1].history.log.heads.count >= 300)
    simulation.perform(.add(device: 1, content: 1))
    simulation.perform(.run(device: 1, .sync, seed: 0))
    simulation.perform(.enrol(by: 1))
    #expect(simulation.computers[1].outcome == .complete)
    #expect(simulation.computers[1].history.log.heads.count == 1)
    #expect(!simulation.computers[1].history.needsSlot)
  }

  @Test("A message that no pack can hold is refused, and stops nothing") func largeMessage() {
    var simulation = Self.pair()
    let record = RecordID()
    func add(_ byteCount: Int) {
      let frame = SharedSecretBytes(SecretBytes(zeroed: byteCount))
      simulation.step(0, .add(record: record, frame: frame, replacing: [], at: 7))
    }
    let most = Pack.frameByteCountLimit
    add(most + 1)
    #expect(simulation.computers[0].outcome == .tooLarge)
    #expect(simulation.computers[0].history.shownRecords.isEmpty)
    // Two that fill two packs, and a small one after them.
    for byteCount in [most, most - 1, 1] { add(byteCount) }
    simulation.perform(.run(device: 0, .sync, seed: 0))
    #expect(simulation.computers[0].outcome == .complete)
    simulation.perform(.run(device: 1, .sync, seed: 0))
    let history = simulation.computers[1].history
    let shown = history.shownVersions(of: record)
    #expect(shown.count == 3)
    for version in shown {
      #expect(
        simulation.computers[1].machine.hasFrame(of: ContentName(record: record, version: version.version)))
      #expect(history.storedAt(record, version.version) == 7)
      #expect(simulation.computers[0].history.storedAt(record, version.version) == 7)
    }
    #expect(history.storedAt(RecordID(), shown[0].version) == nil)
  }

  @Test("A key has one use") func keys() throws {
    var simulation = Self.pair()
    let slot = try #require(simulation.slots.first)
    func entry(signing: [UInt8], agreement: [UInt8]) -> DeviceEntry {
      DeviceEntry(
        id: simulation.identifier(), signingKey: signing, agreementKey: agreement, level: 2, name: "device",
        replaces: nil)
    }
    let machine = simulation.newMachine()
    let (signing, agreement) = (machine.signing.publicKey, machine.agreement.publicKey)
    for refused in [
      entry(signing: signing, agreement: signing), entry(signing: slot.owner.publicKey, agreement: agreement),
      entry(signing: signing, agreement: slot.owner.publicKey),
    ] {
      simulation.step(0, .account(.approve(refused), slot, at: 1))
      #expect(simulation.computers[0].outcome == .keyInUse)
      #expect(simulation.computers[0].history.membership.devices[refused.id] == nil)
    }
    let right = entry(signing: signing, agreement: agreement)
    simulation.step(0, .account(.approve(right), slot, at: 1))
    #expect(simulation.computers[0].history.membership.devices[right.id] != nil)
  }

  @Test("Very many versions of one record are removed in several operations") func manyVersions() {
    let record = RecordID()
    let versions = (0..<2_500).map {
      Version(lamport: UInt64($0), tag: Identifier(beginningOf: Array(repeating: 0, count: 16)))
    }
    let removals = LocalChange.removals(of: record, versions)
    #expect(removals.count == 3)
    let named = removals.flatMap { change -> [Version] in
      if case .remove(_, let versions) = change { versions } else { [] }
    }
    #expect(named == versions)
  }

  @Test("A frontier names a few branches of a chain that has very many") func manyBranches() {
    var simulation = Self.pair()
    for _ in 0..<20 { simulation.perform(.misbehave(device: 1, .fork, choice: 0)) }
    simulation.perform(.run(device: 0, .sync, seed: 0))
    simulation.perform(.add(device: 0, content: 1))
    simulation.perform(.run(device: 0, .sync, seed: 0))
    let history = simulation.computers[0].history
    let bad = simulation.computers[1].history.device
    #expect((history.chains.heads[bad] ?? []).count > Segment.branchLimit)
    #expect(history.chains.namedFrontier.filter { $0.device == bad }.count == Segment.branchLimit)
    #expect(simulation.computers[0].outcome == .complete)
  }
}
