// SPDX-License-Identifier: Apache-2.0
//
// kill -9 at random moments. What a command had acknowledged is there, a passphrase and the recovery phrase
// open the coffer, an examination finds nothing, and nothing is left lying about.

import CofferKit
import Extents
import Foundation
import Glibc
import MessageFormats
import Testing
import Vaults

extension CrashTests {
  @Suite("kill -9 at random moments", .serialized)
  struct KillTests {
    /// How many moments a share has.
    private static let shareCount = 8
    /// A rule is the same for any number of messages; where kills hit a command is spread over more pages with more.
    private static let importedCount = Shares("kill -9: import", count: shareCount).isWhole ? 20_000 : 2_500
    private static let rotatedCount = Shares("kill -9: rotation", count: shareCount).isWhole ? 5_000 : 1_000

    /// What one kill showed.
    struct Outcome: Sendable {
      /// Whether the command was still running.
      var wasInTime: Bool
      /// Messages or captures that were acknowledged, and all that are there.
      var acknowledged = 0
      var found = 0
      /// Sealed files that the next writer has to sweep.
      var leftovers = 0
      var problems: [String] = []
    }

    @Test("An import keeps every message that it acknowledged")
    func importing() throws {
      let sample = try CofferFixture()
      let mailbox = sample.folder + "/mails"
      try Mailbox.write(to: mailbox, count: Self.importedCount, bodyByteCount: 60)
      let empty = try sample.emptyCoffer()
      let words = ["message", "import", "mbox", mailbox, "--print-ids"]
      let seconds = try duration(sample, words)
      try kill("import", 60, seconds) { moment, fixture in
        try fixture.put(empty)
        let run = try fixture.start(words).wait(killAfter: moment)
        return try fixture.check(run, acknowledged: Set(run.wholeLines))
      }
    }

    @Test("A rotation, and the one that goes on with it, leave every message readable")
    func rotating() throws {
      let sample = try CofferFixture()
      let mailbox = sample.folder + "/mails"
      try Mailbox.write(to: mailbox, count: Self.rotatedCount, bodyByteCount: 60)
      _ = try sample.emptyCoffer()
      let imported = try sample.run("message", "import", "mbox", mailbox)
      #expect(imported.isDone, "\(imported)")
      let file = try Data(contentsOf: URL(filePath: sample.database))
      let before = try sample.run("message", "list", "--json").lines
      #expect(before.count == Self.rotatedCount)
      let ids = Set(before.map(\.messageID))
      let seconds = try duration(sample, ["vault", "rotate"])
      // Two kills each: the second hits the rotation that goes on.
      try kill("rotation", 25, seconds) { moment, fixture in
        try fixture.put(file)
        let first = try fixture.start(["vault", "rotate"]).wait(killAfter: moment)
        var outcome = try fixture.check(first, acknowledged: ids)
        let second = try fixture.start(["vault", "rotate"]).wait(killAfter: seconds - moment)
        outcome.problems += try fixture.check(second, acknowledged: ids).problems
        let last = try fixture.run("vault", "rotate")
        if !last.isDone { outcome.problems.append("\(last)") }
        let list = try fixture.run("message", "list", "--json")
        if !list.isDone || list.lines != before { outcome.problems.append("the messages changed: \(list)") }
        return outcome
      }
    }

    @Test("After a change of the passphrase the old or the new one opens")
    func changingPassphrase() throws {
      let sample = try CofferFixture()
      let file = try sample.filledCoffer(count: 20)
      let change = { @Sendable (fixture: CofferFixture) in
        ["passphrase", "change", "--new-passphrase-file", fixture.newPassphraseFile]
      }
      let seconds = try duration(sample, change(sample))
      try kill("passphrase change", 30, seconds) { moment, fixture in
        try fixture.put(file)
        let run = try fixture.start(change(fixture)).wait(killAfter: moment)
        let stray = try fixture.strayFiles()
        let old = try fixture.run("message", "list", "--json")
        let new = try fixture.run(
          "message", "list", "--json", secret: ["--passphrase-file", fixture.newPassphraseFile])
        var outcome = try fixture.check(
          run, acknowledged: [],
          passphraseFile: new.isDone ? fixture.newPassphraseFile : fixture.passphraseFile)
        if run.isDone && !new.isDone {
          outcome.problems.append("the new passphrase was acknowledged: \(new)")
        }
        if old.isDone == new.isDone { outcome.problems.append("\(old), \(new)") }
        if !stray.isEmpty { outcome.problems.append("left behind: \(stray)") }
        return outcome
      }
    }

    @Test(
      "A slot that was acknowledged opens, and the former ones go on opening",
      arguments: ["passphrase", "recovery"])
    func addingSlot(kind: String) throws {
      let sample = try CofferFixture()
      let file = try sample.filledCoffer(count: 20)
      let add = { @Sendable (fixture: CofferFixture) in
        ["slot", "add", kind]
          + (kind == "recovery"
            ? ["--recovery-phrase-out", fixture.folder + "/words"]
            : ["--new-passphrase-file", fixture.newPassphraseFile])
      }
      let seconds = try duration(sample, add(sample))
      try kill("slot add \(kind)", 15, seconds) { moment, fixture in
        try fixture.put(file)
        unlink(fixture.folder + "/words")
        let run = try fixture.start(add(fixture)).wait(killAfter: moment)
        var outcome = try fixture.check(run, acknowledged: [])
        guard run.isDone else { return outcome }
        let opened =
          kind == "recovery"
          ? try fixture.run("recovery", "drill", secret: ["--phrase-file", fixture.folder + "/words"])
          : try fixture.run("message", "list", secret: ["--passphrase-file", fixture.newPassphraseFile])
        if !opened.isDone { outcome.problems.append("the slot was acknowledged: \(opened)") }
        return outcome
      }
    }

    @Test("A message is there once its identifier was printed")
    func adding() throws {
      let sample = try CofferFixture()
      let file = try sample.filledCoffer(count: 20)
      let add = ["message", "add", "--title", "new", sample.phraseFile]
      let seconds = try duration(sample, add)
      try kill("message add", 30, seconds) { moment, fixture in
        try fixture.put(file)
        let run = try fixture.start(add).wait(killAfter: moment)
        var outcome = try fixture.check(run, acknowledged: Set(run.wholeLines))
        if ![20, 21].contains(outcome.found) { outcome.problems.append("\(outcome.found) messages") }
        return outcome
      }
    }

    @Test("A coffer is made complete or not at all, and can then be made again")
    func making() throws {
      let sample = try CofferFixture()
      let make = ["init", "--recovery-phrase-out"]
      let seconds = try duration(sample, make + [sample.folder + "/words"])
      try kill("init", 20, seconds) { moment, fixture in
        try? FileManager.default.removeItem(atPath: fixture.home)
        unlink(fixture.folder + "/words")
        var run = try fixture.start(make + [fixture.folder + "/words"]).wait(killAfter: moment)
        let wasInTime = !run.isDone
        if !FileManager.default.fileExists(atPath: fixture.database) {
          unlink(fixture.folder + "/words")
          run = try fixture.start(make + [fixture.folder + "/words"]).wait()
          if !run.isDone { return Outcome(wasInTime: wasInTime, problems: ["making it again: \(run)"]) }
        }
        let outcome = try fixture.check(run, acknowledged: [], phraseFile: fixture.folder + "/words")
        return Outcome(wasInTime: wasInTime, problems: outcome.problems)
      }
    }

    // MARK: -

    /// How long a command takes when nobody kills it.
    func duration(_ fixture: CofferFixture, _ words: [String]) throws -> Double {
      let run = try fixture.start(words).wait()
      #expect(run.isDone, "\(run)")
      return run.seconds
    }

    /// Tries random moments of a command that takes `seconds`, and prints what they showed.
    /// - Parameter count: how many in the extent `full`.
    func kill(
      _ name: String, _ count: Int, _ seconds: Double,
      _ body: @Sendable (Double, CofferFixture) throws -> Outcome
    ) throws {
      let shares = Shares("kill -9: " + name, count: Self.shareCount)
      let moments = shares.generators(full: count).map { random in
        var random = random
        return Double.random(in: 0..<seconds, using: &random)
      }
      let outcomes = try inParallel(moments, body)
      printTable(
        "kill -9: \(name), \(shares.again)",
        [
          ["kills", "\(moments.count)"], ["in time", "\(outcomes.count(where: \.wasInTime))"],
          ["within ms", "\(Int(seconds * 1_000))"],
          ["acknowledged", "\(outcomes.reduce(0) { $0 + $1.acknowledged })"],
          ["found", "\(outcomes.reduce(0) { $0 + $1.found })"],
          ["with leftovers to sweep", "\(outcomes.count { $0.leftovers > 0 })"],
          ["problems", "\(outcomes.count { !$0.problems.isEmpty })"],
        ])
      let problems = outcomes.flatMap(\.problems)
      #expect(problems.isEmpty, "\(shares.again)\n\(problems.prefix(10).joined(separator: "\n"))")
    }
  }
}
