// SPDX-License-Identifier: Apache-2.0
//
// A scenario: deeds drawn from a seed, or shortened from a longer list. It is played, then everything is brought to rest
// with an honest server, and all invariants are asked.

import SeededGenerators

@testable import Histories

/// What may happen in a scenario.
struct Climate: Sendable {
  var faults = true
  var accounts = true
  var copies = false
  var sweeps = true
  var clocks = false
  var badMember = false
  var backups = false
  /// Users write the same again and again, and sweep late and often.
  var repeats = false
  /// Packs are lost, one member writes their contents again, and is revoked soon after that.
  var moves = false
  /// Packs are lost before anybody has got them, and their author is revoked: nobody has their contents any more.
  var losses = false
  /// Half of all contents are in several parts.
  var parts = false
  /// A third of all contents are captures', whose parts devices get now and then.
  var captures = false
  /// What a hostile server does, now and then.
  var hostility: [Hostility] = []

  static let calm = Climate(faults: false, accounts: false, sweeps: false)
  static let everything = Climate(
    copies: true, clocks: true, badMember: true, backups: true, parts: true, captures: true,
    hostility: Hostility.allCases)

  /// All that tests play, by name.
  static let named: [(name: String, climate: Climate)] =
    [
      ("calm", .calm), ("faults", Climate(accounts: false)), ("accounts", Climate()),
      ("copies", Climate(copies: true)), ("clocks", Climate(clocks: true, backups: true)),
      ("badMember", Climate(badMember: true)), ("moves", Climate(faults: false, moves: true)),
      ("losses", Climate(faults: false, badMember: true, losses: true)),
      ("parts", Climate(copies: true, clocks: true, backups: true, parts: true)),
      ("captures", Climate(copies: true, backups: true, captures: true)),
      ("movedParts", Climate(faults: false, badMember: true, moves: true, parts: true)),
      ("everything", .everything),
    ] + Hostility.allCases.map { ("\($0)", Climate(faults: false, hostility: [$0])) }
}

/// The rows of design/remote.md, 9.
enum Hostility: String, CaseIterable, Hashable, Sendable {
  case ownAccount, swapped, truncated, junk, withheldControl, withheldSegments, deletedControl,
    deletedSegments
  case deletedPacks, olderState, lateLists, nothing, split, replay

  func deed(_ generator: inout SeededGenerator) -> ServerDeed {
    func pick(_ count: Int) -> Int { Int.random(in: 0..<count, using: &generator) }
    return switch self {
    case .ownAccount: .ownAccount
    case .swapped: pick(2) == 0 ? .swap(pick(1_000), pick(1_000)) : .flip(pick(100_000))
    case .truncated: .truncate(pick(1_000))
    case .junk: .junk(pick(1_000))
    case .withheldControl: .withhold(.control, pick(3))
    case .withheldSegments: .withhold(.segment, pick(3))
    case .deletedControl: .delete(.control, pick(100))
    case .deletedSegments: .delete(.segment, pick(100))
    case .deletedPacks: .delete(.pack, pick(100))
    case .olderState: .olderState(device: pick(5), steps: 1 + pick(40))
    case .lateLists: .late(1 + pick(30))
    case .nothing: .nothing
    case .split: .split(1 + pick(30))
    case .replay: .replay(pick(1_000))
    }
  }
}

struct Scenario: Sendable {
  var setting: Simulation.Setting
  var deeds: [Deed]
  /// Whether the costly invariants are asked too.
  var isThorough = true

  static let length = 90

  init(
    seed: UInt64, _ climate: Climate, length: Int = Scenario.length, rules: Rules = Rules(),
    isReal: Bool = false
  ) {
    setting = Simulation.Setting(seed: seed, rules: rules, isReal: isReal)
    var generator = SeededGenerator(stream: seed ^ 0x5EED_0F_DEED)
    deeds = [
      .run(device: 0, .sync, seed: 0), .enrol(by: 0), .run(device: 0, .sync, seed: 0),
      .run(device: 1, .sync, seed: 0),
    ]
    var away = 9
    while deeds.count < length {
      // Now and then a device is away for long.
      if deeds.count % 20 == 0 { away = Int.random(in: 0..<9, using: &generator) }
      deeds += Self.deeds(&generator, climate, away: away)
    }
  }

  private static func deeds(_ generator: inout SeededGenerator, _ climate: Climate, away: Int) -> [Deed] {
    func pick(_ count: Int) -> Int { Int.random(in: 0..<count, using: &generator) }
    var device = pick(5)
    if device == away { device = (device + 1) % 5 }
    let seed = climate.faults && pick(2) == 0 ? UInt64(pick(1 << 30) + 1) : 0
    if climate.repeats, pick(3) == 0 {
      return [
        [.add(device: 0, content: 1), .run(device: 0, .sync, seed: 0)],
        [.remove(device: 0, record: pick(100)), .run(device: 0, .sync, seed: 0)],
        [.pass(seconds: 40 * 86_400), .run(device: 0, .sweep, seed: 0)],
      ][pick(3)]
    }
    if climate.moves, pick(3) == 0 {
      return [
        [
          .add(device: 0, content: pick(1_000) + base(&generator, climate)), .run(device: 0, .sync, seed: 0),
          .run(device: 1, .sync, seed: 0),
        ],
        [
          .server(.delete(.pack, pick(100))), .run(device: 1, .verify, seed: 0),
          .run(device: 0, .sync, seed: 0),
        ],
        [.revoke(device: 1, by: 0, without: 1), .run(device: 0, .sync, seed: 0)],
        [.restore(slot: pick(9))],
      ][pick(4)]
    }
    if climate.losses, pick(4) == 0 {
      return [
        [
          .add(device: 1, content: pick(1_000)), .run(device: 1, .sync, seed: 0),
          .server(.delete(.pack, pick(100))), .revoke(device: 1, by: 0, without: 0),
        ],
        [.server(.delete(.pack, pick(100))), .run(device: 0, .sync, seed: 0)],
        [.run(device: 0, .verify, seed: 0), .pass(seconds: 2 * 86_400), .run(device: 0, .sweep, seed: 0)],
        [.enrol(by: 0), .restore(slot: pick(9))],
      ][pick(4)]
    }
    if climate.captures, pick(12) == 0 { return [.fetch(device: device)] }
    switch pick(100) {
    case 0..<16:
      let content = pick(2) == 0 ? pick(4) : pick(1_000)
      return [.add(device: device, content: content + base(&generator, climate))]
    case 16..<19:
      let record = pick(100)
      return [
        .edit(device: device, record: record, content: pick(1_000) + base(&generator, climate))
      ]
    case 19..<22: return [.remove(device: device, record: pick(100))]
    case 22..<23: return [.removeAll(device: device)]
    case 23..<45: return [.run(device: device, purpose(&generator, climate), seed: seed)]
    case 45..<53: return [.begin(device: device, purpose(&generator, climate))]
    case 53..<68:
      return [
        .answers(device: device, count: 1 + pick(12), seed: climate.faults ? UInt64(pick(1 << 30) + 1) : 0)
      ]
    case 68..<71: return [.crash(device: device, sent: pick(4))]
    case 71..<77: return [.pass(seconds: UInt64([60, 3_600, 86_400, 8 * 86_400, 40 * 86_400][pick(5)]))]
    case 77..<79:
      guard climate.clocks else { return [] }
      return [.setClock(device: device, seconds: Int64([-40, -2, -1, 0, 1, 3, 50][pick(7)]) * 86_400)]
    case 79..<86: return climate.accounts ? accountDeeds(&generator, device) : []
    case 86..<89: return [.attend(device: device)]
    case 89..<90: return [.confirm(device: device)]
    case 90..<93:
      guard climate.copies else { return [] }
      return [
        [.copy(device: device, sameRandomness: pick(2) == 0)], [.save(device: device)],
        [.putBack(device: device)],
      ][pick(3)]
    case 93..<95:
      guard climate.badMember else { return [] }
      let misdeeds = Misdeed.allCases.filter { climate.parts || $0 != .missingParts }
      return [
        .misbehave(device: 1 + pick(4), misdeeds[pick(misdeeds.count)], choice: pick(1_000))
      ]
    case 95..<96: return climate.backups ? [.server(.backup(steps: 1 + pick(40)))] : []
    default:
      guard !climate.hostility.isEmpty else { return [] }
      return pick(3) == 0
        ? [.server(.honest)] : [.server(climate.hostility[pick(climate.hostility.count)].deed(&generator))]
    }
  }

  /// What is added to the number of a content, so that it is in several parts.
  private static func base(_ generator: inout SeededGenerator, _ climate: Climate) -> Int {
    if climate.captures, Int.random(in: 0..<3, using: &generator) == 0 { return Simulation.firstCapture }
    return climate.parts && Bool.random(using: &generator) ? Simulation.firstInParts : 0
  }

  private static func accountDeeds(_ generator: inout SeededGenerator, _ device: Int) -> [Deed] {
    func pick(_ count: Int) -> Int { Int.random(in: 0..<count, using: &generator) }
    switch pick(12) {
    case 0..<4: return [.enrol(by: device)]
    case 4: return [.restore(slot: pick(9))]
    case 5..<7: return [.revoke(device: pick(5), by: device, without: pick(3))]
    case 7: return [.handOutKeys(by: device)]
    case 8: return [.addSlot(by: device)]
    case 9..<11: return [.replaceSlot(by: device)]
    // Two members act before they hear of each other.
    default:
      return [
        .revoke(device: pick(5), by: device, without: 0), .revoke(device: pick(5), by: pick(5), without: 0),
      ]
    }
  }

  private static func purpose(_ generator: inout SeededGenerator, _ climate: Climate) -> Purpose {
    switch Int.random(in: 0..<8, using: &generator) {
    case 0, 1: climate.sweeps ? .sweep : .sync
    case 2: .verify
    default: .sync
    }
  }

  // MARK: Playing

  /// Plays the scenario.
  /// - Returns: the simulation at its end, with the first thing that did not hold.
  func play() -> (end: Simulation, breach: Breach?) {
    var simulation = Simulation(setting)
    do throws(Breach) {
      for (number, deed) in deeds.enumerated() {
        simulation.perform(deed)
        if number % 8 == 0 || simulation.breach != nil { try simulation.checkAlways() }
      }
      try simulation.comeToRest(isThorough: isThorough)
      return (simulation, nil)
    } catch {
      return (simulation, error)
    }
  }

  /// The deeds, one a line.
  var script: String { deeds.map { "  .\($0)" }.joined(separator: "\n") }

  /// The scenario without deeds that its breach does not need (delta debugging); as it is where real signatures would
  /// make that slow.
  func shortened(tries limit: Int = 1_200) -> Scenario {
    guard !setting.isReal, let breach = play().breach else { return self }
    var short = self
    var size = max(1, deeds.count / 2)
    var tries = 0
    func stillFails(_ scenario: Scenario) -> Bool {
      tries += 1
      return tries < limit && scenario.play().breach?.invariant == breach.invariant
    }
    while size > 0, tries < limit {
      var start = 0
      while start < short.deeds.count, tries < limit {
        var shorter = short
        shorter.deeds.removeSubrange(start..<min(start + size, short.deeds.count))
        if stillFails(shorter) { short = shorter } else { start += size }
      }
      size /= 2
    }
    for index in short.deeds.indices {
      for simpler in short.deeds[index].simpler {
        var shorter = short
        shorter.deeds[index] = simpler
        if stillFails(shorter) { short = shorter }
      }
    }
    return short
  }
}

extension Deed {
  /// The same without faults.
  fileprivate var simpler: [Deed] {
    switch self {
    case .run(let device, let purpose, let seed) where seed != 0: [.run(device: device, purpose, seed: 0)]
    case .answers(let device, let count, let seed) where seed != 0:
      [.answers(device: device, count: count, seed: 0)]
    case .begin(let device, let purpose): [.run(device: device, purpose, seed: 0)]
    default: []
    }
  }
}

// MARK: Rest

extension Simulation {
  /// The server becomes honest, clocks are right, users do what devices ask for, and everything is sent.
  mutating func comeToRest(isThorough: Bool) throws(Breach) {
    server.becomeHonest()
    dropDamagedPacks()
    for index in computers.indices { computers[index].secondsAhead = 0 }
    // A day, so that all blocks are listed.
    perform(.pass(seconds: 2 * 86_400))
    var isQuiet = false
    for round in 0..<10 where !isQuiet {
      isQuiet = round > 3
      // Before anybody writes again what is not where it was.
      if round == 2 { try checkHints() }
      for index in computers.indices where !computers[index].isBad {
        runQuietly(index, round == 2 ? .verify : .sync)
        // The user looks at the place, and says that it is the right one.
        if computers[index].outcome == .empty { runQuietly(index, .verify) }
        // Everybody has heard of everything before the user chooses a branch.
        if computers[index].history.membership.fork != nil, round < 2 { continue }
        if attend(index) {
          isQuiet = false
          runQuietly(index, round > 1 ? .verify : .sync)
        }
      }
      // Not while the owner key is forked: then the user chooses a branch first.
      revokeBadMembers()
      try checkAlways()
    }
    for index in goodMembers { perform(.confirm(device: index)) }
    // S11: two rounds are enough once lists are right.
    for _ in 0..<2 {
      for index in computers.indices where !computers[index].isBad { runQuietly(index, .sync) }
    }
    // What is missing is said after a day. The user looks whether the alarms are still true: what is neither here nor there is
    // said once more, then given up. Who wrote what depends on it says that again.
    let lacksSomething = goodMembers.contains { !computers[$0].history.remote.missingSince.isEmpty }
    if lacksSomething { perform(.pass(seconds: 2 * 86_400)) }
    for _ in 0..<2 {
      for index in computers.indices where !computers[index].isBad { runQuietly(index, .verify) }
    }
    for _ in 0..<(lacksSomething ? 2 : 1) {
      for index in computers.indices where !computers[index].isBad { runQuietly(index, .sync) }
    }
    for index in goodMembers { fetch(index) }
    try checkAlways()
    try checkEnded()
    let positions = Set(goodMembers.map { computers[$0].history.position })
    guard positions.count <= 1 else {
      throw Breach(invariant: .s11, found: "\(goodMembers.count) members are at \(positions.count) positions")
    }
    let digests = Set(goodMembers.map { computers[$0].history.positionDigest })
    guard digests.count <= 1 else {
      throw Breach(invariant: .s2, found: "members with one history show \(digests.count) digests of it")
    }
    try checkAcknowledged()
    try checkContents()
    try checkAlarms()
    try checkForks()
    try checkPassedOver()
    try checkFormerSlots()
    try checkURLSecrets()
    guard isThorough else { return }
    try checkRestores()
    try checkSecrecy()
  }

  /// Nobody reads whole packs again when only a list is compared: a damaged one is deleted, so that it is missed.
  private mutating func dropDamagedPacks() {
    for name in server.objectNames where ObjectClass.pack.includes(name) {
      if let bytes = server.current(name), ObjectHash(hashing: bytes) != name.hash {
        server.write(nil, as: name, by: -1)
      }
    }
  }

  private mutating func revokeBadMembers() {
    for index in computers.indices where computers[index].isBad {
      let device = computers[index].history.device
      // A revocation that nobody sent is none.
      for by in goodMembers where computers[by].history.membership.isMember(device) {
        perform(.revoke(device: index, by: by, without: 0))
        runQuietly(by, .sync)
      }
    }
  }
}
