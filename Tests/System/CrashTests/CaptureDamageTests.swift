// SPDX-License-Identifier: Apache-2.0
//
// Captures that somebody changed: the command ends with 5, and where a part is hit it says which.

import Extents
import Foundation
import Testing

extension CrashTests {
  @Suite("Damaged captures", .serialized)
  struct CaptureDamageTests {
    struct Outcome: Sendable {
      let damage: CaptureDamage
      var isNamed: Bool
      var problems: [String] = []
    }

    @Test("A change anywhere is noticed, and the part that it hit is named")
    func damages() throws {
      let sample = try CofferFixture()
      let files = try (1...2).map { try CaptureFiles($0, in: sample.folder) }
      let ids = try sample.coffer(withCaptures: files)
      let shares = Shares("damaged captures", count: 8)
      let damages = shares.of(try CaptureDamage.all(in: sample))
      let outcomes = try inParallel(damages) { damage, fixture in
        try fixture.put(copyOf: sample.home)
        try damage.apply(to: fixture)
        return try judge(damage, ids, fixture)
      }

      var table = [["deed", "tried", "named (5)", "problems"]]
      for kind in damages.map(\.kind).uniqued {
        let of = outcomes.filter { $0.damage.kind == kind }
        table.append([
          kind, "\(of.count)", "\(of.count(where: \.isNamed))", "\(of.count { !$0.problems.isEmpty })",
        ])
      }
      printTable("Damaged captures: \(damages.count) deeds", table)
      let problems = outcomes.flatMap { outcome in outcome.problems.map { "\(outcome.damage): \($0)" } }
      #expect(problems.isEmpty, "\(shares.again)\n\(problems.prefix(20).joined(separator: "\n"))")
    }

    private func judge(_ damage: CaptureDamage, _ ids: [String], _ fixture: CofferFixture) throws -> Outcome {
      let runs = try ids.map { try fixture.runWithin(["capture", "verify", $0]) }
      let refused = runs.filter { $0.end == .exited(5) }
      var outcome = Outcome(
        damage: damage,
        isNamed: refused.contains { run in
          damage.part.map { run.errors.contains("the capture's \($0) ") } ?? false
        })
      if let part = damage.part {
        if !outcome.isNamed { outcome.problems.append("\(part) is not named: \(runs)") }
        if runs.contains(where: { !$0.isDone && $0.end != .exited(5) }) { outcome.problems.append("\(runs)") }
      } else {
        // Hit is what stands above the parts: a list of all of them cannot be given.
        let list = try fixture.runWithin(["capture", "list"])
        outcome.isNamed = list.end == .exited(5)
        if !outcome.isNamed { outcome.problems.append("\(list)") }
        if runs.contains(where: { !$0.isDone && $0.end != .exited(5) }) { outcome.problems.append("\(runs)") }
      }
      // Nothing of a damaged capture comes out.
      let folder = fixture.folder + "/out"
      for (id, run) in zip(ids, runs) where !run.isDone {
        let export = try fixture.runWithin(["capture", "export", id, folder])
        let names = try? FileManager.default.contentsOfDirectory(atPath: folder)
        if export.end != run.end || names?.isEmpty == false { outcome.problems.append("\(export)") }
        try? FileManager.default.removeItem(atPath: folder)
      }
      let doctor = try fixture.runWithin(["doctor", "--deep"])
      if doctor.end != .exited(5) { outcome.problems.append("\(doctor)") }
      // Whatever is left of what was captured, the next capture does not sweep it away.
      let blobs = try fixture.blobs()
      _ = try fixture.runWithin(["capture", "add", fixture.phraseFile])
      if try fixture.blobs() != blobs { outcome.problems.append("blobs were swept") }
      return outcome
    }
  }
}

extension [String] {
  /// Each once, in the order in which they come.
  fileprivate var uniqued: [String] {
    var seen: Set<String> = []
    return filter { seen.insert($0).inserted }
  }
}
