import Foundation
import Testing
@testable import Histories
@Suite("debug") struct DebugTests {
  @Test func short() {
    let e = ProcessInfo.processInfo.environment
    let seed = UInt64(e["SEED"] ?? "1")!
    let w = e["WEATHER"] ?? "accounts"
    let weather = w == "accounts" ? Script.Weather() : w == "copies" ? Script.Weather(copies: true) : Script.Weather(copies: true, sweeps: true)
    let script = Script(seed: seed, length: 1_000, weather: weather).shortened()
    if case .failure(let v) = script.run() { print(v); for a in script.actions { print("  ", a) }; print(v.world) }
  }
  @Test func stats() {
    for (name, weather) in [("calm", Script.Weather(faults: false, accounts: false)), ("accounts", Script.Weather()), ("copies", Script.Weather(copies: true)), ("sweeps", Script.Weather(copies: true, sweeps: true))] {
      var failures: [String: (Int, UInt64)] = [:]
      var stored = 0, acked = 0, members = 0, objects = 0, segs = 0
      var outcomes: [Outcome: Int] = [:]
      let n = Int(ProcessInfo.processInfo.environment["SEEDS"] ?? "100")!
      for seed in 1...UInt64(n) {
        switch Script(seed: seed, length: 1_000, weather: weather).run() {
        case .failure(let v): let k = String(v.description.prefix(40)); failures[k] = ((failures[k]?.0 ?? 0) + 1, failures[k]?.1 ?? seed)
        case .success(let w):
          stored += w.stored.count; acked += w.stored.values.filter(\.isAcknowledged).count; members += w.members.count
          objects += w.remote.objects.count
          segs += w.devices[w.members.first ?? 0].history.chains.entries.count
          for (o, c) in w.outcomes { outcomes[o, default: 0] += c }
        }
      }
      print(name, "stored", stored / n, "acked", acked / n, "members", Double(members) / Double(n), "objects", objects / n, "segments", segs / n, outcomes.map { "\($0.key)".split(separator: ".").last! + " \($0.value)" })
      for (k, v) in failures.sorted(by: { $0.key < $1.key }) { print("  FAIL", k, v) }
    }
  }
}
