// SPDX-License-Identifier: Apache-2.0
//
// kill -9 while a capture is taken in: it is there whole or not at all, and the next capture sweeps what the
// killed one left.

import Foundation
import Testing

extension CrashTests.KillTests {
  @Test("A capture is there once its identifier was printed, and its leftovers go with the next")
  func capturing() throws {
    let sample = try CofferFixture()
    let files = try (1...2).map { try CaptureFiles($0, in: sample.folder) }
    let before = Set(try sample.coffer(withCaptures: [files[0]]))
    let next = sample.folder + "/next"
    try Data("no picture, and small".utf8).write(to: URL(filePath: next))
    let untouched = sample.folder + "/untouched"
    try FileManager.default.copyItem(atPath: sample.home, toPath: untouched)
    // The shortest of three: a moment behind the end kills nothing.
    let seconds =
      try (1...3).map { _ in
        try sample.put(copyOf: untouched)
        return try duration(sample, files[1].add)
      }.min() ?? 0

    try kill("capture add", 100, seconds) { moment, fixture in
      try fixture.put(copyOf: untouched)
      let run = try fixture.start(files[1].add).wait(killAfter: moment)
      var outcome = Outcome(wasInTime: run.end == .killed(SIGKILL))
      if !run.isDone, !outcome.wasInTime { outcome.problems.append("\(run)") }
      let acknowledged = Set(run.wholeLines)
      let stray = try fixture.strayFiles()
      if !stray.isEmpty { outcome.problems.append("left behind: \(stray)") }

      // As the crash left it: sealed files that belong to nothing are advice, not damage.
      let doctor = try fixture.run("doctor", "--deep")
      if !doctor.isDone { outcome.problems.append("at once: \(doctor)") }
      let list = try fixture.run("capture", "list", "--json")
      let found = Set(list.lines.map(\.messageID))
      outcome.acknowledged = acknowledged.count
      outcome.found = found.count - before.count
      outcome.leftovers = try fixture.blobs().count - 2 * found.count
      if !list.isDone || !found.isSuperset(of: acknowledged.union(before)) || found.count > before.count + 1 {
        outcome.problems.append("acknowledged \(acknowledged), found \(found): \(list)")
      }
      outcome.problems += try fixture.problemsOfNextCapture(next, found, again: files[1])
      return outcome
    }
  }
}

extension CofferFixture {
  /// What is wrong with a coffer that holds the captures `found` when the next capture is taken in.
  fileprivate func problemsOfNextCapture(
    _ next: String, _ found: Set<String>, again: CaptureFiles
  ) throws -> [String] {
    var problems: [String] = []
    let added = try run("capture", "add", next)
    if !added.isDone { problems.append("the next: \(added)") }
    // Each but the next one, which is small, has a photo and a depth map in blobs.
    if try blobs().count != 2 * found.count {
      problems.append("\(try blobs().count) blobs of \(found.count) captures")
    }
    for id in found.union(added.lines) {
      let verified = try run("capture", "verify", id)
      if !verified.isDone { problems.append("\(verified)") }
    }
    let doctor = try run("doctor", "--deep")
    if !doctor.isDone || doctor.lines.contains(where: { $0.contains("sealed file") }) {
      problems.append("after the next: \(doctor) \(doctor.lines)")
    }
    // What is not there can be taken in again, and what is there is a duplicate.
    let repeated = try start(again.add).wait()
    if repeated.end != .exited(found.count > 1 ? 9 : 0) { problems.append("again: \(repeated)") }
    return problems
  }
}
