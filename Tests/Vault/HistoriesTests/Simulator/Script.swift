// SPDX-License-Identifier: Apache-2.0
//
// Scripts of actions: made from a seed, run, and shortened when an invariant does not hold.

import SeededGenerators

@testable import Histories

struct Script: Sendable {
  /// How often things go wrong, and what.
  struct Weather: Sendable {
    var faults = true
    var copies = false
    var accounts = true
    var sweeps = false
    /// Few different contents, and much is removed.
    var removals = false
    /// One member puts noise at new places.
    var badPlaces = false
  }

  let seed: UInt64
  var actions: [Action]
  var rules = Rules()

  static let limits: Limits = {
    var limits = Limits()
    limits.operationsPerSegment = 4
    limits.brakeCount = 6
    return limits
  }()

  init(seed: UInt64, length: Int, weather: Weather, rules: Rules = Rules()) {
    self.seed = seed
    self.rules = rules
    var generator = SeededGenerator(stream: seed ^ 0x5EED)
    actions = [.begin(device: 0, .sync)]
    for _ in 0..<12 { actions.append(.deliver(device: 0, request: 0, .none)) }
    actions.append(.enrol(by: 0))
    while actions.count < length { actions += Script.actions(&generator, weather) }
  }

  private static func actions(_ generator: inout SeededGenerator, _ weather: Weather) -> [Action] {
    func pick(_ count: Int) -> Int { Int.random(in: 0..<count, using: &generator) }
    let device = pick(6)
    switch pick(100) {
    case 0..<12: return [.add(device: device, content: pick(weather.removals ? 3 : 1_000))]
    case 12..<16: return [.edit(device: device, record: pick(100), content: pick(1_000))]
    case 16..<19:
      return (0..<(weather.removals ? 5 : 1)).map { _ in .remove(device: device, record: pick(100)) }
    case 19..<31:
      let purpose: Purpose = weather.sweeps && pick(4) == 0 ? .sweep : pick(8) == 0 ? .verify : .sync
      // Often a run goes to its end before anything else happens.
      let quiet =
        pick(2) == 0 ? (0..<30).map { _ in Action.deliver(device: device, request: pick(9), .none) } : []
      return [.begin(device: device, purpose)] + quiet
    case 31..<83:
      return (0..<3).map { _ in
        .deliver(device: pick(2) == 0 ? device : pick(6), request: pick(9), fault(&generator, weather))
      }
    case 83..<85: return [.crash(device: device)]
    case 85..<89: return [.wait(seconds: UInt64([60, 3_600, 86_400, 5 * 86_400, 40 * 86_400][pick(5)]))]
    case 89..<91: return weather.accounts ? [.enrol(by: device)] : []
    case 91..<92: return weather.accounts ? [.revoke(device: device, by: pick(6))] : []
    case 92..<93: return weather.accounts ? [.rekey(by: device)] : []
    case 93..<94: return weather.accounts ? [.changeSlots(by: device)] : []
    case 94..<95: return weather.copies ? [.copy(device: device)] : []
    case 95..<96: return weather.copies ? [.save(device: device)] : []
    case 96..<97: return weather.copies ? [.putBack(device: device)] : []
    case 97..<98: return weather.badPlaces ? [.misplace(device: 1)] : []
    default: return [.confirm(device: device)]
    }
  }

  private static func fault(_ generator: inout SeededGenerator, _ weather: Weather) -> Fault {
    guard weather.faults else { return .none }
    switch Int.random(in: 0..<40, using: &generator) {
    case 0: return .requestLost
    case 1: return .answerLost
    case 2: return .torn
    case 3, 4: return .late(Int.random(in: 1...20, using: &generator))
    default: return .none
    }
  }

  /// Runs the script.
  /// - Returns: the first violation and the number of actions that led to it, or the world at rest.
  func run() -> Result<World, Violation> {
    var world = World(seed: seed, rules: rules, limits: Script.limits)
    do {
      for (number, action) in actions.enumerated() {
        world.perform(action)
        if number % 16 == 0 { try world.checkAlways() }
      }
      try world.checkAtRest()
      return .success(world)
    } catch var violation as Violation {
      violation.world = world.summary
      return .failure(violation)
    } catch {
      return .failure(Violation(invariant: "?", found: "\(type(of: error))"))
    }
  }

  /// The script without actions that its violation does not need.
  func shortened() -> Script {
    guard case .failure(let violation) = run() else { return self }
    var short = self
    var size = max(1, actions.count / 2)
    var tries = 0
    while size > 0, tries < 3_000 {
      var start = 0
      while start < short.actions.count, tries < 3_000 {
        var shorter = short
        shorter.actions.removeSubrange(start..<min(start + size, short.actions.count))
        tries += 1
        if case .failure(let other) = shorter.run(), other.invariant == violation.invariant {
          short = shorter
        } else {
          start += size
        }
      }
      size /= 2
    }
    return short
  }
}
