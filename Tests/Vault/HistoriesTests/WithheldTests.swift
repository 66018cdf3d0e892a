// SPDX-License-Identifier: Apache-2.0
//
// What one object can stop that somebody withholds, loses or makes up: not much, and nothing for ever.

import Testing

@testable import Histories
@testable import HistoriesSimulator

@Suite("Objects that are withheld or made up")
struct WithheldTests {
  @Test("A head that a revocation names and a server withholds hides nothing that others had named")
  func withheldHead() throws {
    var simulation = RuleTests.pair()
    simulation.perform(.enrol(by: 0))
    for deed: Deed in [
      .run(device: 0, .sync, seed: 0), .run(device: 2, .sync, seed: 0), .add(device: 1, content: 1),
      .run(device: 1, .sync, seed: 0), .run(device: 0, .sync, seed: 0),
      // A week later the first device writes a segment that names the message.
      .pass(seconds: 8 * 86_400), .run(device: 0, .sync, seed: 0),
      .add(device: 1, content: 2), .run(device: 1, .sync, seed: 0), .run(device: 0, .sync, seed: 0),
    ] { simulation.perform(deed) }
    let gone = simulation.computers[1].history.device
    let head = try #require(simulation.computers[0].history.chains.heads[gone]?.last)
    simulation.server.withheld = [.segment(head)]
    simulation.perform(.revoke(device: 1, by: 0, without: 0))
    simulation.perform(.run(device: 0, .sync, seed: 0))
    simulation.server.withheld = [.segment(head)]
    simulation.perform(.run(device: 2, .sync, seed: 0))
    let history = simulation.computers[2].history
    #expect(history.chains.entries[head] == nil)
    #expect(history.membership.revocations[gone] != nil)
    #expect(simulation.shownRecords(2).count == 1)
    #expect(simulation.shownRecords(0).count == 2)
    try simulation.checkAlways()
    simulation.server.becomeHonest()
    simulation.perform(.run(device: 2, .sync, seed: 0))
    #expect(simulation.shownRecords(2).count == 2)
  }

  @Test("Junk asks for no slot, is said, and stops no sweep for ever") func junk() {
    var simulation = RuleTests.pair()
    for choice in 0..<4 { simulation.perform(.server(.junk(choice))) }
    simulation.perform(.run(device: 0, .sync, seed: 0))
    #expect(!simulation.computers[0].history.needsSlot)
    simulation.perform(.pass(seconds: 2 * 86_400))
    simulation.perform(.run(device: 0, .sync, seed: 0))
    #expect(!simulation.computers[0].history.alarms.isEmpty)
    #expect(!simulation.computers[0].history.needsSlot)
    for _ in 0..<2 { simulation.perform(.run(device: 0, .verify, seed: 0)) }
    simulation.perform(.run(device: 0, .sweep, seed: 0))
    #expect(simulation.computers[0].history.alarms.isEmpty)
    #expect(simulation.computers[0].outcome == .complete)
  }

  @Test("A pack that a device sealed before it rejoined is swept") func givenUp() throws {
    var simulation = RuleTests.pair()
    simulation.perform(.add(device: 0, content: 1))
    simulation.perform(.begin(device: 0, .sync))
    // Until the pack is there, and not the segment.
    var packs: [ObjectName] = []
    for _ in 0..<50 where packs.isEmpty {
      simulation.perform(.answers(device: 0, count: 1, seed: 0))
      packs = simulation.server.objectNames.filter(ObjectClass.pack.includes)
    }
    let pack = try #require(packs.first)
    simulation.perform(.crash(device: 0, sent: 0))
    let entry = simulation.entry(simulation.newMachine(), replaces: simulation.computers[0].history.device)
    simulation.step(0, .account(.rejoin(entry), simulation.slots[0], at: simulation.clock(0)))
    #expect(simulation.computers[0].outcome == .complete)
    #expect(simulation.computers[0].history.givenUp.contains { pack.hash == $0 })
    simulation.perform(.run(device: 0, .sync, seed: 0))
    #expect(simulation.computers[0].outcome == .complete)
    simulation.perform(.run(device: 0, .sweep, seed: 0))
    #expect(simulation.computers[0].outcome == .complete)
    #expect(simulation.server.current(pack) == nil)
    #expect(simulation.server.objectNames.filter(ObjectClass.pack.includes).count == 1)
    #expect(simulation.shownRecords(0).count == 1)
  }

  @Test("Operations of another account that come and go are nobody's loss") func otherAccount() {
    var simulation = RuleTests.pair()
    let before = simulation.server.journal.count
    simulation.perform(.server(.ownAccount))
    simulation.perform(.run(device: 0, .sync, seed: 0))
    simulation.server.comeBack(from: simulation.server.journal.count - before)
    simulation.perform(.run(device: 0, .sync, seed: 0))
    #expect(simulation.computers[0].history.alarms.isEmpty)
    simulation.perform(.run(device: 0, .verify, seed: 0))
    simulation.perform(.run(device: 0, .sweep, seed: 0))
    #expect(simulation.computers[0].history.alarms.isEmpty)
    #expect(simulation.computers[0].outcome == .complete)
  }

  @Test("A pack that nobody has is said, passed over when the user has looked, and said again after news")
  func lostPack() throws {
    var simulation = RuleTests.pair()
    simulation.perform(.add(device: 1, content: 1))
    simulation.perform(.run(device: 1, .sync, seed: 0))
    let author = simulation.computers[1].history.device
    let sent = try #require(simulation.computers[1].history.chains.heads[author]?.last)
    simulation.perform(.server(.delete(.pack, 0)))
    let name = try #require(simulation.written.keys.first)
    simulation.computers[1].machine.drop(name)

    func run(_ purpose: Purpose, after days: UInt64 = 0) -> Set<Alarm> {
      simulation.perform(.pass(seconds: days * 86_400))
      simulation.perform(.run(device: 0, purpose, seed: 0))
      return simulation.computers[0].history.alarms
    }
    // It may only be late.
    #expect(run(.sync).isEmpty)
    let alarms = run(.sync, after: 2)
    guard case .incomplete(let pack) = alarms.first, alarms.count == 1 else {
      Issue.record("what is open: \(alarms)")
      return
    }
    #expect(run(.sweep) == alarms)
    #expect(simulation.computers[0].outcome == .sweepRefused)
    #expect(run(.verify).isEmpty)
    #expect(run(.sweep, after: 2).isEmpty)
    #expect(simulation.computers[0].outcome == .complete)
    // It is wanted for ever.
    #expect(simulation.computers[0].history.wanted == [ContentName(name)])

    // A removal hides the message, and a revocation takes the removal back.
    simulation.perform(.remove(device: 1, record: 0))
    simulation.perform(.run(device: 1, .sync, seed: 0))
    #expect(run(.sync).isEmpty)
    #expect(simulation.computers[0].history.wanted.isEmpty)
    simulation.change(.revoke([author], heads: [sent]), by: 0)
    #expect(simulation.computers[0].history.wanted == [ContentName(name)])
    _ = run(.sync)
    #expect(run(.sync, after: 2) == [.incomplete(pack)])
  }

  @Test("Who replaces messages by the same, in a pack that has none, takes nothing away")
  func replacedByTheSame() throws {
    var simulation = RuleTests.pair()
    for content in [1, 2] { simulation.perform(.add(device: 0, content: content)) }
    for device in [0, 1] { simulation.perform(.run(device: device, .sync, seed: 0)) }
    simulation.perform(.misbehave(device: 1, .wideReplacement, choice: 1))
    let device = simulation.computers[0].history.device
    simulation.perform(.run(device: 0, .sync, seed: 0))
    let before = Set(simulation.server.objectNames)
    simulation.perform(.pass(seconds: 2 * 86_400))
    simulation.perform(.run(device: 0, .sync, seed: 0))
    // What this device has put there is lost, and it does not believe that the other pack has the contents.
    let packs = Set(simulation.server.objectNames).subtracting(before).filter { $0.folder == .packs(device) }
    try #require(!packs.isEmpty)
    simulation.server.withheld = packs
    // Long enough that the replaced versions are swept.
    for _ in 0..<6 {
      for purpose: Purpose in [.sync, .verify, .sweep] {
        simulation.perform(.run(device: 0, purpose, seed: 0))
      }
      simulation.perform(.pass(seconds: 8 * 86_400))
    }
    let history = simulation.computers[0].history
    #expect(history.wanted.isEmpty && history.alarms.isEmpty && simulation.breach == nil)
    simulation.perform(.enrol(by: 0))
    for device in [0, 2] { simulation.perform(.run(device: device, .sync, seed: 0)) }
    try #require(simulation.computers.count == 3)
    for index in [0, 2] {
      let texts = simulation.shownRecords(index).flatMap { simulation.contents(of: $0, on: index) }
      #expect(Set(texts) == Set([1, 2].map { simulation.parts($0).flatMap(\.self) }))
    }
  }

  @Test("A place that is empty takes no alarm back that was said before") func emptyPlace() throws {
    var simulation = RuleTests.pair()
    simulation.perform(.add(device: 1, content: 1))
    for device in [1, 0] { simulation.perform(.run(device: device, .sync, seed: 0)) }
    let author = simulation.computers[1].history.device
    let head = try #require(simulation.computers[0].history.chains.heads[author]?.last)
    simulation.server.write(nil, as: .segment(head), by: -1)
    func run(_ purpose: Purpose) -> Set<Alarm> {
      simulation.perform(.run(device: 0, purpose, seed: 0))
      return simulation.computers[0].history.alarms
    }
    #expect(run(.sync) == [.rolledBack(.segment(head))])
    simulation.perform(.server(.nothing))
    #expect(run(.sync) == [.rolledBack(.segment(head)), .empty])
    #expect(simulation.computers[0].outcome == .empty)
    simulation.server.becomeHonest()
    #expect(run(.sync) == [.rolledBack(.segment(head))])
    #expect(run(.verify).isEmpty)
    #expect(simulation.shownRecords(0).count == 1)
  }

  @Test("Slots that no operation names are neither held nor put back") func junkSlots() {
    var simulation = RuleTests.pair()
    let real = simulation.slots.map(\.entry.object)
    for choice in 0..<4 { simulation.perform(.server(.junk(choice))) }
    func slots() -> [ObjectName] { simulation.server.objectNames.filter(ObjectClass.slot.includes) }
    let junk = slots().filter { $0.hash.map(real.contains) == false }
    #expect(junk.count == 4)
    for device in 0..<2 { simulation.perform(.run(device: device, .verify, seed: 0)) }
    for index in 0..<2 {
      #expect(Set(simulation.computers[index].history.slotObjects.keys) == Set(real))
    }
    // What is real is put back by a device that got it from the server.
    for name in slots() { simulation.server.write(nil, as: name, by: -1) }
    simulation.perform(.run(device: 1, .verify, seed: 0))
    #expect(Set(slots().compactMap(\.hash)) == Set(real))
  }

  @Test("No control operation is put back before its parents") func parentsFirst() {
    var simulation = RuleTests.pair()
    for _ in 0..<3 { simulation.perform(.handOutKeys(by: 0)) }
    simulation.perform(.begin(device: 0, .sync))
    var numbers: [Set<UInt64>] = []
    for _ in 0..<200 where !simulation.computers[0].requests.isEmpty {
      var put: Set<UInt64> = []
      for case .put(.control(let number, _), _) in simulation.computers[0].requests { put.insert(number) }
      if !put.isEmpty, numbers.last != put { numbers.append(put) }
      simulation.perform(.answers(device: 0, count: 1, seed: 0))
    }
    #expect(numbers.count == 3)
    #expect(numbers.allSatisfy { $0.count == 1 })
    #expect(numbers.map { $0.first ?? 0 } == numbers.map { $0.first ?? 0 }.sorted())
  }

  @Test("After the former owner key was chosen, its next one is followed") func formerOwner() throws {
    var simulation = RuleTests.pair()
    simulation.perform(.replaceSlot(by: 1))
    simulation.perform(.revoke(device: 1, by: 0, without: 0))
    simulation.perform(.run(device: 1, .sync, seed: 0))
    simulation.perform(.run(device: 0, .sync, seed: 0))
    let fork = try #require(simulation.computers[0].history.membership.fork)
    #expect(fork.branches.contains(fork.at))
    simulation.change(.settle(at: fork.at, on: fork.at), by: 0)
    #expect(simulation.computers[0].history.membership.owner == fork.at)
    let slot = try #require(simulation.slots.first)
    var machine = simulation.newMachine()
    let new = OpenedSlot(
      id: simulation.identifier(), agreement: machine.makeKeyPair(), owner: slot.owner, anchor: nil)
    simulation.change(.replaceSlots(removing: [slot.id], adding: [new.entry]), by: 0, with: slot)
    #expect(simulation.computers[0].outcome == .complete)
    let history = simulation.computers[0].history
    #expect(history.membership.fork == nil)
    #expect(history.membership.owner != fork.at)
    #expect(!fork.branches.contains(try #require(history.membership.owner)))
  }
}
