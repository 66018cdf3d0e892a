// SPDX-License-Identifier: Apache-2.0
//
// What a device says again that was revoked and joined again, when others had removed it, and when that is undone.

import Primitives
import Testing

@testable import Histories
@testable import HistoriesSimulator

@Suite("What is said again")
struct SayingAgainTests {
  /// The user's device, the author's, and one more.
  private var simulation: Simulation
  private static let user = 0
  private static let author = 1
  private static let other = 2

  init() throws {
    var simulation = RuleTests.pair(5)
    for deed: Deed in [.enrol(by: 0), .run(device: 0, .sync, seed: 0), .run(device: 2, .sync, seed: 0)] {
      simulation.perform(deed)
    }
    self.simulation = simulation
    for index in [Self.author, Self.user] { run(index) }
    try #require(simulation.computers.count == 3)
  }

  private mutating func run(_ devices: Int...) {
    for device in devices { simulation.perform(.run(device: device, .sync, seed: 0)) }
  }

  /// What a device shows, of each message all versions, the first first.
  private func shown(_ index: Int) -> [[String]] {
    let computer = simulation.computers[index]
    return computer.history.shownRecords.sorted().map { record in
      computer.history.shownVersions(of: record).map { shown in
        let name = RecordVersion(record: record, version: shown.version)
        return computer.machine.content(of: name).map { String(decoding: $0, as: UTF8.self) } ?? "missing"
      }
    }
  }

  private func text(_ content: Int) -> String {
    String(decoding: simulation.parts(content).flatMap(\.self), as: UTF8.self)
  }

  /// How many segments a device has written.
  private func segmentCount(of index: Int) -> Int {
    let history = simulation.computers[index].history
    return Int(history.chains.lastNumber(of: history.device))
  }

  /// The user revokes a device with all that it wrote since so many segments.
  private mutating func revoke(_ index: Int, leaving count: Int) {
    revoke(simulation.computers[index].history.device, leaving: count)
  }

  private mutating func revoke(_ device: DeviceID, leaving count: Int) {
    let history = simulation.computers[Self.user].history
    let heads = history.chains.segments(of: device).filter { $0.number == UInt64(count) }
    simulation.change(.revoke([device], heads: heads), by: Self.user)
    run(Self.user)
  }

  private mutating func joinAgain(_ index: Int) throws {
    run(index)
    let hasJoined = simulation.rejoin(index)
    try #require(hasJoined)
    run(index)
  }

  private static let messageCount = 2

  /// Messages, each with its edit in the same segments of the author's.
  private mutating func writeAndEdit() -> Int {
    let segments = segmentCount(of: Self.author)
    for content in 0..<Self.messageCount { simulation.perform(.add(device: Self.author, content: content)) }
    for record in 0..<Self.messageCount {
      simulation.perform(.edit(device: Self.author, record: record, content: 100 + record))
    }
    run(Self.author, Self.user, Self.other)
    return segments
  }

  @Test("A message whose edit was removed with it comes back as it was last, and once")
  mutating func editedTwice() throws {
    let segments = writeAndEdit()
    let edited = shown(Self.user)
    try #require(edited.count == Self.messageCount && edited.allSatisfy { $0.count == 1 })
    let left = segmentCount(of: Self.other)
    simulation.perform(.misbehave(device: Self.other, .wideRemoval, choice: 0))
    run(Self.user)
    try #require(shown(Self.user).isEmpty)
    revoke(Self.author, leaving: segments)
    try joinAgain(Self.author)
    run(Self.user)
    try #require(shown(Self.user).isEmpty && shown(Self.author).isEmpty)
    revoke(Self.other, leaving: left)
    run(Self.author, Self.user)
    #expect(shown(Self.user) == edited)
    #expect(shown(Self.author) == edited)
  }

  @Test("What was edited before it was removed does not come back in its older text")
  mutating func olderText() throws {
    let segments = writeAndEdit()
    simulation.perform(.removeAll(device: Self.other))
    run(Self.other, Self.user)
    simulation.perform(.confirm(device: Self.user))
    try #require(shown(Self.user).isEmpty)
    revoke(Self.author, leaving: segments)
    try joinAgain(Self.author)
    run(Self.user, Self.other)
    for index in 0..<3 { #expect(shown(index).isEmpty) }
  }

  @Test("What a removal is against that may count later is not said meanwhile")
  mutating func removalBehindMissingHead() throws {
    let before = (author: segmentCount(of: Self.author), other: segmentCount(of: Self.other))
    simulation.perform(.add(device: Self.author, content: 1))
    run(Self.author, Self.other)
    simulation.perform(.remove(device: Self.other, record: 0))
    run(Self.other, Self.author)
    simulation.perform(.add(device: Self.other, content: 2))
    run(Self.other, Self.user)
    let remover = simulation.computers[Self.other].history.device
    let head = try #require(simulation.computers[Self.user].history.chains.heads[remover]?.last)
    simulation.server.withheld = [.segment(head)]
    revoke(Self.author, leaving: before.author)
    try joinAgain(Self.author)
    // Until the head comes, the author does not know whether the removal counts.
    revoke(Self.other, leaving: segmentCount(of: Self.other))
    run(Self.author)
    try #require(simulation.computers[Self.author].history.chains.entries[head] == nil)
    #expect(shown(Self.author).isEmpty)
    simulation.server.becomeHonest()
    run(Self.author, Self.user)
    for index in [Self.author, Self.user] { #expect(shown(index) == [[text(2)]]) }
    revoke(remover, leaving: before.other)
    run(Self.author, Self.user)
    for index in [Self.author, Self.user] { #expect(shown(index) == [[text(1)]]) }
  }

  @Test("What was said again since a segment seemed lost stays when that comes, with the same content")
  mutating func headThatComesBack() throws {
    simulation.perform(.add(device: Self.author, content: 1))
    run(Self.author, Self.user)
    simulation.perform(.save(device: Self.author))
    simulation.perform(.add(device: Self.author, content: 2))
    run(Self.author, Self.user)
    let former = simulation.computers[Self.author].history.device
    let head = try #require(simulation.computers[Self.user].history.chains.heads[former]?.last)
    simulation.server.withheld = [.segment(head)]
    simulation.perform(.putBack(device: Self.author))
    revoke(Self.author, leaving: Int(head.number))
    try joinAgain(Self.author)
    try #require(shown(Self.author).isEmpty)
    simulation.perform(.pass(seconds: 2 * 86_400))
    for purpose: Purpose in [.sync, .verify, .sync] {
      simulation.perform(.run(device: Self.author, purpose, seed: 0))
    }
    #expect(shown(Self.author) == [[text(1)]])
    simulation.server.becomeHonest()
    run(Self.user, Self.author)
    for index in [Self.user, Self.author] {
      #expect(Set(shown(index).map(Set.init)) == [[text(1)], [text(2)]])
    }
  }

  @Test("What was edited here, and not sent yet, is not said again in its older text")
  mutating func editThatWaits() throws {
    let before = segmentCount(of: Self.author)
    simulation.perform(.add(device: Self.author, content: 1))
    run(Self.author, Self.user)
    let former = simulation.computers[Self.author].history.device
    revoke(Self.author, leaving: before + 1)
    try joinAgain(Self.author)
    try #require(shown(Self.author) == [[text(1)]])
    simulation.perform(.edit(device: Self.author, record: 0, content: 2))
    revoke(former, leaving: before)
    run(Self.author, Self.user)
    for index in [Self.author, Self.user] { #expect(shown(index) == [[text(2)]]) }
  }

  @Test("What is said again, and whose pack is lost, has a new one from a device that has the content")
  mutating func contentThatIsHere() throws {
    let before = segmentCount(of: Self.author)
    simulation.perform(.add(device: Self.author, content: 1))
    run(Self.author, Self.user)
    revoke(Self.author, leaving: before)
    try #require(shown(Self.user).isEmpty)
    try joinAgain(Self.author)
    let device = simulation.computers[Self.author].history.device
    simulation.server.withheld = Set(simulation.server.objectNames.filter { $0.folder == .packs(device) })
    try #require(!simulation.server.withheld.isEmpty)
    // The pack may only be late.
    run(Self.user, Self.other)
    #expect(shown(Self.user) == [["missing"]] && shown(Self.other) == [["missing"]])
    simulation.perform(.pass(seconds: 2 * 86_400))
    run(Self.user, Self.other)
    for index in [Self.user, Self.other] {
      #expect(shown(index) == [[text(1)]])
      #expect(simulation.computers[index].history.wanted.isEmpty)
      #expect(simulation.computers[index].history.alarms.isEmpty)
    }
  }

  @Test("What a user removed is not shown again because a bad member says the same without its content")
  mutating func contentOfWhatWasRemoved() throws {
    simulation.perform(.add(device: Self.user, content: 1))
    run(Self.user, Self.other, Self.author)
    simulation.perform(.edit(device: Self.user, record: 0, content: 2))
    run(Self.user, Self.other, Self.author)
    simulation.perform(.remove(device: Self.user, record: 0))
    run(Self.user, Self.author)
    simulation.perform(.misbehave(device: Self.other, .wideReplacement, choice: 1))
    run(Self.user, Self.author)
    for index in [Self.user, Self.author] {
      #expect(shown(index) == [["missing", "missing"]])
      #expect(simulation.computers[index].history.outbox.isEmpty)
    }
  }

  @Test("A deleted message stays deleted when what said it again is cut off, too")
  mutating func twin() throws {
    simulation.perform(.add(device: Self.author, content: 1))
    simulation.perform(.copy(device: Self.author, sameRandomness: true))
    let copy = simulation.computers.count - 1
    // Both send the same segment, which counts until the user revokes their identifier once more.
    let former = simulation.computers[Self.author].history.device
    run(Self.author, copy, Self.user)
    revoke(former, leaving: 2)
    try joinAgain(Self.author)
    try joinAgain(copy)
    run(Self.user)
    revoke(former, leaving: 1)
    run(Self.author, copy, Self.user)
    try #require(shown(Self.user) == [[text(1)]])
    simulation.perform(.remove(device: Self.user, record: 0))
    run(Self.user, copy, Self.author)
    revoke(Self.author, leaving: 0)
    run(copy, Self.user)
    for index in [Self.user, copy] { #expect(shown(index).isEmpty) }
  }

  @Test("A removal that is said again reaches what its author said again meanwhile")
  mutating func removalSaidAgain() throws {
    simulation.perform(.add(device: Self.author, content: 1))
    run(Self.author, Self.other)
    let left = segmentCount(of: Self.other)
    simulation.perform(.remove(device: Self.other, record: 0))
    run(Self.other, Self.user)
    revoke(Self.other, leaving: left)
    revoke(Self.author, leaving: 1)
    try joinAgain(Self.author)
    run(Self.user)
    try #require(shown(Self.user) == [[text(1)]])
    try joinAgain(Self.other)
    run(Self.user, Self.author)
    for index in 0..<3 { #expect(shown(index).isEmpty) }
  }

  @Test("What is said again is not before what was written later")
  mutating func lamport() throws {
    simulation.perform(.add(device: Self.author, content: 1))
    run(Self.author, Self.user)
    let before = try #require(
      simulation.computers[Self.user].history.shownRecords.first.flatMap {
        simulation.computers[Self.user].history.shownVersions(of: $0).first?.version.lamport
      })
    for content in 3..<6 {
      simulation.perform(.add(device: Self.user, content: content))
      run(Self.user)
    }
    revoke(Self.author, leaving: 1)
    try joinAgain(Self.author)
    run(Self.user)
    let history = simulation.computers[Self.user].history
    let lamports = history.shownRecords.flatMap { history.shownVersions(of: $0).map(\.version.lamport) }
    #expect(lamports.count == 4 && lamports.min() == before)
  }

  @Test("A bad member that says that contents are in others' packs hides them from nobody")
  mutating func placesInForeignPacks() throws {
    simulation.perform(.add(device: Self.author, content: 1))
    run(Self.author, Self.user, Self.other)
    simulation.perform(.misbehave(device: Self.other, .placesToNoise, choice: 1))
    run(Self.user)
    let slot = try #require(simulation.slots.last)
    let restored = simulation.restore(slot)
    let new = try #require(restored)
    run(new)
    #expect(shown(new) == [[text(1)]])
  }
}
