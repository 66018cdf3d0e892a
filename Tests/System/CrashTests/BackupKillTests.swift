// SPDX-License-Identifier: Apache-2.0
//
// kill -9 while a backup is made, or a coffer from one: a whole file or none, a whole coffer or none.

import Foundation
import Glibc
import Testing

extension CrashTests.KillTests {
  @Test("A killed backup leaves no file of its name that is not whole, and the coffer as it was")
  func backingUp() throws {
    let sample = try CofferFixture()
    let file = try sample.filledCoffer(count: 300)
    let seconds = try duration(sample, ["backup", sample.folder + "/backup"])
    try kill("backup", 12, seconds) { moment, fixture in
      try fixture.put(file)
      let folder = fixture.folder + "/backups"
      try? FileManager.default.removeItem(atPath: folder)
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      let run = try fixture.start(["backup", folder + "/first"]).wait(killAfter: moment)
      // The next one removes what the first has left under another name.
      let next = try fixture.run("backup", folder + "/next")
      var outcome = try fixture.check(run, acknowledged: [])
      if !next.isDone { outcome.problems.append("\(next)") }
      let names = Set(try FileManager.default.contentsOfDirectory(atPath: folder))
      if !names.isSubset(of: ["first", "next"]) { outcome.problems.append("left behind: \(names)") }
      if run.isDone, !names.contains("first") { outcome.problems.append("acknowledged, and not there") }
      if names.contains("first") {
        let restored = try fixture.restore(folder + "/first")
        if restored != 300 { outcome.problems.append("\(restored) messages in the backup") }
      }
      return outcome
    }
  }

  @Test("A killed restoration leaves a whole coffer, or none and the next attempt makes it")
  func restoring() throws {
    let sample = try CofferFixture()
    _ = try sample.filledCoffer(count: 300)
    let made = try sample.run("backup", sample.folder + "/backup")
    #expect(made.isDone, "\(made)")
    let backup = sample.folder + "/backup"
    try FileManager.default.removeItem(atPath: sample.home)
    let seconds = try duration(sample, ["restore", backup])
    try kill("restore", 12, seconds) { moment, fixture in
      try? FileManager.default.removeItem(atPath: fixture.home)
      let first = try fixture.start(["restore", backup]).wait(killAfter: moment)
      var last = first
      if !FileManager.default.fileExists(atPath: fixture.database) {
        last = try fixture.run("restore", backup)
        if !last.isDone {
          return Outcome(wasInTime: !first.isDone, problems: ["\(first), then \(last)"])
        }
      }
      var outcome = try fixture.check(last, acknowledged: [])
      outcome.wasInTime = !first.isDone
      if outcome.found != 300 { outcome.problems.append("\(outcome.found) messages") }
      return outcome
    }
  }
}

extension CofferFixture {
  /// Restores a backup elsewhere.
  /// - Returns: how many messages the coffer has that was made of it; -1 when none was.
  fileprivate func restore(_ backup: String) throws -> Int {
    let other = try CofferFixture()
    guard try other.run("restore", backup).isDone, try other.run("doctor", "--deep").isDone else { return -1 }
    return try other.run("message", "list", "--json").lines.count
  }
}
