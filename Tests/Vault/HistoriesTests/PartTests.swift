// SPDX-License-Identifier: Apache-2.0
//
// Contents that no pack has room for: their parts go before the addition, and live and die with the version.

import Primitives
import Secrets
import SeededGenerators
import Testing

@testable import Histories
@testable import HistoriesSimulator

@Suite("Contents in several parts")
struct PartTests {
  private static func shown(_ simulation: Simulation, _ index: Int) -> [[UInt8]] {
    simulation.shownRecords(index).flatMap { record in
      simulation.computers[index].history.shownVersions(of: record).compactMap {
        simulation.computers[index].machine.content(of: RecordVersion(record: record, version: $0.version))
      }
    }
  }

  private static func packs(_ simulation: Simulation) -> [ObjectName] {
    simulation.server.objectNames.filter(ObjectClass.pack.includes)
  }

  /// The operations of a device, oldest first.
  private static func operations(_ simulation: Simulation, _ index: Int) -> [Histories.Operation] {
    let history = simulation.computers[index].history
    return history.chains.segments(of: history.device).flatMap {
      history.chains.entries[$0]?.segment.operations ?? []
    }
  }

  @Test("The places of further parts come before the addition, in several segments; another device gets all")
  func order() throws {
    var simulation = RuleTests.pair()
    // Five parts: one more operation than a segment of a simulation has.
    let content = Simulation.firstInParts + 3
    simulation.perform(.add(device: 0, content: content))
    #expect(simulation.computers[0].history.waitingCount == 1)
    simulation.perform(.run(device: 0, .sync, seed: 0))
    let kinds = Self.operations(simulation, 0).map { operation in
      if case .add = operation { "add" } else { "place" }
    }
    #expect(kinds == ["place", "place", "place", "place", "add"])
    // Two contents in each; two packs of the first segment.
    #expect(Self.packs(simulation).count == 3)
    simulation.perform(.run(device: 1, .sync, seed: 0))
    #expect(Self.shown(simulation, 1) == [simulation.parts(content).flatMap(\.self)])
    #expect(simulation.computers[1].history.missingContentCount == 0)
    // The first places of parts are no later places, which would be read back.
    #expect(simulation.computers[0].history.notReadBack.isEmpty)
    let own = simulation.computers[0].history
    #expect(own.chains.segments(of: own.device).allSatisfy { own.placeCount(of: $0) == 0 })
    try simulation.comeToRest(isThorough: true)
  }

  @Test("A message has at most 16 parts: they are in memory together")
  func mostParts() {
    for (count, isRefused) in [(15, false), (16, true)] {
      var computer = RuleTests.pair().computers[0]
      let further = (0..<count).map { FrameHash(hashing: [UInt8($0)].span.bytes) }
      let effects = computer.history.step(
        .add(
          record: RecordID(), frame: SharedSecretBytes(SecretBytes(copying: [7].span.bytes)),
          further: further,
          replacing: [], at: 0), on: &computer.machine)
      var wasRefused = false
      if case .ended(.tooLarge)? = effects.first { wasRefused = true }
      #expect(wasRefused == isRefused && effects.count == 1)
    }
  }

  @Test("What is removed when a part of it was sent leaves nothing at the remote") func removedHalfway()
    throws
  {
    var simulation = RuleTests.pair()
    let device = simulation.computers[0].history.device
    let before = simulation.computers[0].history.chains.segments(of: device).count
    simulation.perform(.add(device: 0, content: Simulation.firstInParts + 3))
    simulation.perform(.begin(device: 0, .sync))
    var generator = SeededGenerator(stream: 1)
    for _ in 0..<100 where simulation.computers[0].history.chains.segments(of: device).count == before {
      simulation.answer(0, count: 1, &generator, faulty: false)
    }
    #expect(simulation.computers[0].history.chains.segments(of: device).count == before + 1)
    simulation.perform(.remove(device: 0, record: 0))
    #expect(simulation.shownRecords(0).isEmpty)
    simulation.perform(.crash(device: 0, sent: 9))
    let waiting = simulation.computers[0].history.pendingChanges
    #expect(waiting.count == 1)
    if case .remove? = waiting.first {} else { Issue.record("nothing removes the parts that were sent") }
    for device in 0..<2 { simulation.perform(.run(device: device, .sync, seed: 0)) }
    #expect(simulation.shownRecords(1).isEmpty && simulation.computers[1].history.missingContentCount == 0)
    #expect(Self.packs(simulation).count == 2)
    simulation.perform(.pass(seconds: 40 * 86_400))
    // Another device knows by the server's clock how long ago that was.
    simulation.perform(.run(device: 1, .sweep, seed: 0))
    #expect(simulation.computers[1].outcome == .complete)
    #expect(Self.packs(simulation).isEmpty)
    try simulation.comeToRest(isThorough: true)
  }

  @Test("Of a content of which one pack is lost, that part alone is written again") func lostPart() throws {
    var simulation = RuleTests.pair()
    simulation.computers[0].history.limits.operationsPerSegment = 1
    let content = Simulation.firstInParts + 1
    simulation.perform(.add(device: 0, content: content))
    simulation.perform(.run(device: 0, .sync, seed: 0))
    #expect(Self.packs(simulation).count == 3)
    let history = simulation.computers[0].history
    let record = try #require(simulation.shownRecords(0).first)
    let version = try #require(history.shownVersions(of: record).first).version
    let lost = ContentName(record: record, version: version, part: 2)
    let place = try #require(history.places(of: lost).first)
    let pack = try #require(history.pack(at: place))
    simulation.injected.insert(.loss)
    simulation.server.write(nil, as: .pack(place.segment.device, pack.hash), by: -1)
    simulation.perform(.run(device: 1, .sync, seed: 0))
    #expect(simulation.computers[1].history.contentsToGet == [lost])
    #expect(simulation.computers[1].history.missingContentCount == 1)
    simulation.perform(.run(device: 0, .verify, seed: 0))
    let last = try #require(simulation.computers[0].history.chains.segments(of: history.device).last)
    #expect(simulation.computers[0].history.placeCount(of: last) == 1)
    simulation.perform(.run(device: 1, .sync, seed: 0))
    #expect(Self.shown(simulation, 1) == [simulation.parts(content).flatMap(\.self)])
    try simulation.comeToRest(isThorough: true)
  }

  @Test("A part that is another one than its addition says is passed over") func otherPart() throws {
    var simulation = RuleTests.pair()
    simulation.perform(.add(device: 0, content: Simulation.firstInParts))
    simulation.perform(.run(device: 0, .sync, seed: 0))
    simulation.perform(.run(device: 1, .sync, seed: 0))
    simulation.perform(.misbehave(device: 1, .placesToNoise, choice: 1))
    simulation.perform(.restore(slot: 0))
    let new = simulation.computers.count - 1
    simulation.perform(.run(device: new, .sync, seed: 0))
    #expect(Self.shown(simulation, new) == [simulation.parts(Simulation.firstInParts).flatMap(\.self)])
  }

  @Test("The parts of a capture have packs of their own, which a device gets when it is asked to")
  func capture() throws {
    var simulation = RuleTests.pair()
    simulation.computers[0].history.limits.operationsPerSegment = 100
    let content = Simulation.firstCapture + 1
    simulation.perform(.add(device: 0, content: 5))
    simulation.perform(.add(device: 0, content: content))
    simulation.perform(.add(device: 0, content: Simulation.firstInParts))
    simulation.perform(.run(device: 0, .sync, seed: 0))
    var kinds: [Set<Pack.EntryKind>] = []
    for name in Self.packs(simulation) {
      let object = try #require(simulation.server.current(name))
      let history = simulation.computers[0].history
      let keys = try #require(history.keys[Pack.epoch(of: object)])
      let directory = try Pack.directory(of: object, keys: keys, account: history.account)
      kinds.append(Set(directory.entries.map(\.kind)).subtracting([.padding]))
    }
    #expect(kinds.count == 3 && kinds.count { $0 == [.chunk] } == 1 && kinds.count { $0 == [.frame] } == 2)
    simulation.perform(.run(device: 1, .sync, seed: 0))
    let history = simulation.computers[1].history
    #expect(history.missingContentCount == 0 && history.contentsToGet.isEmpty)
    let whole = simulation.parts(content).flatMap(\.self)
    #expect(Self.shown(simulation, 1).count == 3 && !Self.shown(simulation, 1).contains(whole))
    simulation.perform(.fetch(device: 1))
    #expect(Self.shown(simulation, 1).contains(whole))
    // Gone with the capture, all parts.
    simulation.perform(.removeAll(device: 1))
    simulation.perform(.run(device: 1, .sync, seed: 0))
    simulation.perform(.run(device: 0, .sync, seed: 0))
    simulation.perform(.pass(seconds: 40 * 86_400))
    simulation.perform(.run(device: 0, .sweep, seed: 0))
    #expect(Self.packs(simulation).isEmpty)
    try simulation.comeToRest(isThorough: true)
  }

  @Test("An addition whose chain does not say where its parts are is refused, and stops nobody")
  func missingParts() throws {
    var simulation = RuleTests.pair()
    simulation.perform(.misbehave(device: 1, .missingParts, choice: 1))
    simulation.perform(.run(device: 0, .sync, seed: 0))
    let history = simulation.computers[0].history
    #expect(history.shownRecords.isEmpty && history.missingContentCount == 0)
    #expect(history.alarms.contains { if case .tampered(.segment) = $0 { true } else { false } })
    #expect(simulation.computers[0].outcome == .complete)
  }

  @Test("A part that cannot be read any more takes its version with it: others take what comes after it")
  func unreadablePart() throws {
    var simulation = RuleTests.pair()
    simulation.perform(.add(device: 0, content: Simulation.firstInParts + 1))
    let name = try #require(simulation.computers[0].history.pendingChanges.last?.content).version
    let first = try #require(simulation.computers[0].machine.frame(of: ContentName(name)))
    simulation.computers[0].machine.drop(name)
    simulation.computers[0].machine.keep(first, of: ContentName(name))
    simulation.perform(.add(device: 0, content: 7))
    simulation.perform(.run(device: 0, .sync, seed: 0))
    #expect(simulation.computers[0].outcome == .complete)
    simulation.perform(.run(device: 1, .sync, seed: 0))
    #expect(Self.shown(simulation, 1) == [simulation.parts(7).flatMap(\.self)])
    #expect(simulation.computers[1].history.alarms.isEmpty)
  }

  @Test("An addition names its parts, and its version depends on each") func bytes() throws {
    var samples = Samples()
    let one = samples.addition()
    func addition(_ further: [FrameHash], version: Version? = nil) -> Addition {
      Addition(
        record: one.record, storedAt: one.storedAt,
        version: version
          ?? Addition.version(
            lamport: 9, device: samples.device, record: one.record, storedAt: one.storedAt,
            replaces: one.replaces,
            frameHash: one.frameHash, further: further), replaces: one.replaces, frameHash: one.frameHash,
        place: one.place, further: further)
    }
    let hashes: [FrameHash] = [samples.hash(), samples.hash()]
    let two = addition(hashes)
    #expect(two.hasItsVersion(device: samples.device))
    let versions = [RecordKind.capture, .label].map { kind in
      Addition.version(
        kind: kind, lamport: 9, device: samples.device, record: one.record, storedAt: one.storedAt,
        replaces: one.replaces, frameHash: one.frameHash, further: hashes)
    }
    #expect(Set(versions + [two.version]).count == 3)
    for other in [[], [hashes[0]], [hashes[1], hashes[0]], hashes + [hashes[0]]] {
      #expect(!addition(other, version: two.version).hasItsVersion(device: samples.device))
    }
    var segment = samples.segment()
    segment.operations = [
      .place(
        NewPlace(
          record: one.record, version: two.version, part: 2, frameHash: hashes[1],
          place: Place(pack: 0, entry: 2))), .add(two),
    ]
    let body = segment.body() + [UInt8](repeating: 0x5A, count: 64)
    #expect(try Segment.parse(body).segment == segment)
    for (kind, version) in zip([RecordKind.capture, .label], versions) {
      var other = segment
      other.operations = [
        .add(
          Addition(
            kind: kind, record: one.record, storedAt: one.storedAt, version: version, replaces: one.replaces,
            frameHash: one.frameHash, place: one.place, further: hashes))
      ]
      #expect(try Segment.parse(other.body() + [UInt8](repeating: 0x5A, count: 64)).segment == other)
    }
    // A hash that is cut off.
    let odd = Array(body).replacingLength(of: two, by: -1)
    #expect(throws: FormatError.self) { try Segment.parse(odd) }
  }
}

extension [UInt8] {
  /// A body whose last operation, an addition, says another length than it has.
  fileprivate func replacingLength(of addition: Addition, by difference: Int) -> [UInt8] {
    let count = 16 + 8 + 24 + 2 + 24 * addition.replaces.count + 6 + 32 * (1 + addition.further.count)
    let field: [UInt8] = [1, 1, 0, 0, UInt8(count >> 8), UInt8(count & 255)]
    var bytes = self
    for start in indices where Array(self[start...].prefix(6)) == field {
      let changed = count + difference
      bytes.replaceSubrange(start + 4..<start + 6, with: [UInt8(changed >> 8), UInt8(changed & 255)])
    }
    return bytes
  }
}
