// SPDX-License-Identifier: Apache-2.0
//
// Scenarios in which an invariant did not hold once, found among very many seeds and shortened.

import Testing

@testable import HistoriesSimulator

@Suite("Scenarios that were found")
struct FoundScenarioTests {
  private static func breach(_ seed: UInt64, _ deeds: [Deed]) -> Breach? {
    var scenario = Scenario(seed: seed, .everything)
    scenario.deeds = deeds
    return scenario.play().breach
  }

  @Test("Segments that were there before a removal make it no older, when the clock was set back between")
  func clockSetBack() {
    let breach = Self.breach(
      2_036_477,
      [
        .run(device: 0, .sync, seed: 0), .pass(seconds: 691_200), .run(device: 3, .sync, seed: 0),
        .pass(seconds: 691_200), .add(device: 0, content: 1_002), .run(device: 2, .sync, seed: 0),
        .setClock(device: 2, seconds: 4_320_000), .run(device: 2, .sync, seed: 0),
        .setClock(device: 4, seconds: -3_456_000), .edit(device: 0, record: 83, content: 68),
        .run(device: 1, .sweep, seed: 0),
      ])
    #expect(breach == nil)
  }

  @Test("While the clock is behind, weeks pass that do not count")
  func clockBehind() {
    let breach = Self.breach(
      2_005_093,
      [
        .add(device: 1, content: 10_098), .add(device: 1, content: 1), .run(device: 3, .verify, seed: 0),
        .setClock(device: 2, seconds: -3_456_000), .edit(device: 0, record: 12, content: 10_611),
        .run(device: 0, .sync, seed: 0), .pass(seconds: 691_200), .run(device: 4, .sweep, seed: 0),
        .pass(seconds: 691_200), .run(device: 4, .sync, seed: 0), .pass(seconds: 691_200),
        .run(device: 1, .sync, seed: 0),
      ])
    #expect(breach == nil)
  }

  @Test("A clock that is behind after runs that brought nothing makes what is replaced no older")
  func clockBehindAfterRun() {
    let breach = Self.breach(
      2_396_024,
      [
        .enrol(by: 0), .add(device: 4, content: 862), .run(device: 2, .sync, seed: 0),
        .edit(device: 0, record: 21, content: 185), .addSlot(by: 2), .run(device: 3, .sweep, seed: 0),
        .add(device: 3, content: 428), .add(device: 3, content: 3), .run(device: 0, .sync, seed: 0),
        .pass(seconds: 3_456_000), .begin(device: 3, .verify), .setClock(device: 3, seconds: -3_456_000),
        .edit(device: 1, record: 37, content: 1_896), .run(device: 3, .sync, seed: 0),
      ])
    #expect(breach == nil)
  }

  @Test("What is here is shown as what a bad member says of it, whose pack comes back no more")
  func packOfTheSameContent() {
    let breach = Self.breach(
      4_124_750,
      [
        .enrol(by: 0), .add(device: 2, content: 10_002), .copy(device: 0, sameRandomness: true),
        .run(device: 0, .sweep, seed: 0), .run(device: 2, .verify, seed: 0), .attend(device: 2),
        .run(device: 2, .sync, seed: 0), .misbehave(device: 2, .unknownFrontier, choice: 559),
        .server(.backup(steps: 25)), .run(device: 2, .sweep, seed: 0),
      ])
    #expect(breach == nil)
  }

  @Test("What a bad member had removed when its author joined again is said when that member is revoked")
  func removedBeforeItWasSaidAgain() {
    let breach = Self.breach(
      2_016_630,
      [
        .enrol(by: 0), .copy(device: 4, sameRandomness: true), .run(device: 2, .verify, seed: 0),
        .add(device: 2, content: 10_429), .run(device: 0, .sweep, seed: 0), .run(device: 2, .sweep, seed: 0),
        .attend(device: 0), .restore(slot: 0), .misbehave(device: 3, .wideRemoval, choice: 944),
      ])
    #expect(breach == nil)
  }

  @Test("What a revocation cuts off is said again, also if a segment that it names is lost")
  func headThatIsLost() {
    let breach = Self.breach(
      2_047_172,
      [
        .enrol(by: 0), .run(device: 0, .sync, seed: 0), .run(device: 1, .sync, seed: 0),
        .add(device: 0, content: 10_404), .copy(device: 4, sameRandomness: false),
        .run(device: 0, .verify, seed: 0), .run(device: 2, .sync, seed: 774_091_124),
        .run(device: 2, .sweep, seed: 0), .add(device: 2, content: 10_003), .attend(device: 2),
        .run(device: 2, .sync, seed: 0), .misbehave(device: 2, .missingParts, choice: 862),
        .server(.backup(steps: 35)), .add(device: 0, content: 10_002), .run(device: 0, .sweep, seed: 0),
        .run(device: 2, .sync, seed: 0), .server(.junk(580)), .server(.backup(steps: 7)),
      ])
    #expect(breach == nil)
  }

  @Test("What comes before a segment that nobody has any more is said again by its author")
  func headThatWasGivenUp() {
    let breach = Self.breach(
      2_347_722,
      [
        .enrol(by: 0), .add(device: 2, content: 10_001), .run(device: 4, .sync, seed: 0),
        .add(device: 3, content: 1_003), .run(device: 1, .sync, seed: 0), .save(device: 3),
        .server(.backup(steps: 24)), .handOutKeys(by: 1), .remove(device: 3, record: 0),
        .server(.backup(steps: 27)), .run(device: 3, .sync, seed: 0), .putBack(device: 1),
        .server(.olderState(device: 4, steps: 12)), .enrol(by: 2), .run(device: 1, .sync, seed: 0),
        .attend(device: 4), .run(device: 1, .sync, seed: 0), .run(device: 2, .sync, seed: 0),
        .putBack(device: 1), .server(.backup(steps: 27)),
      ])
    #expect(breach == nil)
  }

  @Test("A fork of a device whose approval does not count holds nothing back for ever")
  func forkOfNoMember() {
    let breach = Self.breach(
      2_127_029,
      [
        .enrol(by: 0), .run(device: 0, .sync, seed: 0), .run(device: 1, .sync, seed: 0), .replaceSlot(by: 1),
        .enrol(by: 3), .enrol(by: 0), .copy(device: 2, sameRandomness: false),
        .run(device: 0, .sync, seed: 0), .add(device: 2, content: 10_002), .run(device: 3, .sync, seed: 0),
        .misbehave(device: 3, .fork, choice: 947), .edit(device: 2, record: 54, content: 948),
        .run(device: 0, .sync, seed: 0), .run(device: 1, .sweep, seed: 0),
      ])
    #expect(breach == nil)
  }

  @Test("That a pack lacks what a bad member says of it is said once, and not again for ever")
  func packWithoutContent() {
    let breach = Self.breach(
      2_203_976,
      [
        .enrol(by: 0), .run(device: 0, .sync, seed: 0), .run(device: 1, .sync, seed: 0),
        .add(device: 2, content: 10_761), .run(device: 0, .sync, seed: 0), .add(device: 3, content: 720),
        .addSlot(by: 4), .handOutKeys(by: 3), .server(.withhold(.control, 1)), .enrol(by: 4),
        .run(device: 1, .sync, seed: 0), .server(.backup(steps: 20)), .server(.late(16)),
        .run(device: 3, .sweep, seed: 0), .misbehave(device: 4, .placesToNoise, choice: 244),
        .run(device: 0, .sweep, seed: 0), .run(device: 1, .sync, seed: 0), .run(device: 1, .sync, seed: 0),
        .replaceSlot(by: 3), .revoke(device: 3, by: 1, without: 1),
      ])
    #expect(breach == nil)
  }
}
