// SPDX-License-Identifier: Apache-2.0
//
// A session over many commands, and one whose agent dies or hangs.
//
//   COFFER_SESSION_COMMANDS   so many commands against one agent; else 300

import Foundation
import Glibc
import SoftwareTPM
import Testing

extension CrashTests {
  @Suite("Sessions", .serialized, .enabled(if: SoftwareTPM.isInstalled, "needs swtpm and tpm2-tools"))
  struct SessionTests {
    @Test("Neither agent nor chip hold more after many commands than after a few")
    func manyCommands() throws {
      let given = ProcessInfo.processInfo.environment["COFFER_SESSION_COMMANDS"].flatMap { Int($0) }
      let count = max(given ?? 300, 100)
      let bench = try SessionBench()
      #expect(try bench.place.run("message", "add", bench.place.phraseFile).isDone)
      #expect(try bench.place.run("capture", "add", bench.place.phraseFile).isDone)
      let agent = try #require(try bench.agent())
      var table = [["commands", "agent KiB", "descriptors", "in the chip"]]
      var sizes: [(residentKiB: Int, descriptors: Int?)] = []
      for number in 1...count {
        let words =
          number % 20 == 10
          ? ["unlock", "--pin-file", bench.pinFile]
          : [["status"], ["message", "list"], ["capture", "list"]][number % 3]
        let run = try bench.run(words)
        guard run.isDone else { throw UnexpectedRun(run: run) }
        guard number % 50 == 0 else { continue }
        sizes.append(try SessionBench.size(of: agent))
        let loaded = try bench.tpm.loadedCount()
        #expect(loaded == 0, "after \(number) commands")
        let size = sizes[sizes.count - 1]
        table.append([
          "\(number)", "\(size.residentKiB)", size.descriptors.map { "\($0)" } ?? "-", "\(loaded)",
        ])
      }
      printTable("One agent, one chip", table)
      #expect(try bench.agent() == agent)
      // The first fifty warm it up.
      let (first, last) = (sizes[0], sizes[sizes.count - 1])
      #expect(last.residentKiB <= first.residentKiB + 256)
      #expect(last.descriptors == first.descriptors)
    }

    @Test("Without its agent a command works as before")
    func agentKilled() throws {
      let bench = try SessionBench()
      #expect(try bench.run("message", "list").isDone)
      let former = try #require(try bench.agent())
      #expect(kill(former, SIGKILL) == 0)
      try bench.waitForEnd(of: former)

      #expect(try bench.run("message", "list").end == .exited(3))
      #expect(try bench.run("capture", "add", bench.place.phraseFile).end == .exited(3))
      let status = try bench.run("--json", "status")
      #expect(status.lines.first?.contains("\"state\":\"locked\"") == true, "\(status)")
      #expect(try bench.place.run("message", "list").isDone)
      #expect(try bench.run("message", "list", "--pin-file", bench.pinFile).isDone)
      #expect(try bench.run("lock").isDone)

      // Its socket and its lock are no hindrance to the next.
      #expect(try bench.run("unlock", "--pin-file", bench.pinFile).isDone)
      #expect(try bench.run("message", "list").isDone)
      #expect(try bench.agent() != nil)
    }

    @Test("An agent that hangs keeps a command waiting for less than a second")
    func agentHangs() throws {
      let bench = try SessionBench()
      let agent = try #require(try bench.agent())
      let calls: [(words: [String], end: CofferRun.End)] = [
        (["message", "list", "--passphrase-file", bench.place.passphraseFile], .exited(0)),
        (["message", "list"], .exited(3)), (["status"], .exited(0)),
        (["capture", "list", "--pin-file", bench.pinFile], .exited(0)),
        (["capture", "add", bench.place.phraseFile], .exited(3)),
      ]
      let usual = try calls.map { try bench.run($0.words).seconds }
      #expect(kill(agent, SIGSTOP) == 0)
      var table = [["command", "usual ms", "hung agent ms"]]
      for (call, usual) in zip(calls, usual) {
        let run = try bench.run(call.words)
        #expect(run.end == call.end, "\(run)")
        table.append([
          call.words.prefix(2).joined(separator: " "), "\(Int(usual * 1_000))", "\(Int(run.seconds * 1_000))",
        ])
        #expect(run.seconds < usual + 1, "\(run)")
      }
      printTable("An agent that hangs", table)
      // Keys that are still there must not be told to be gone.
      let lock = try bench.run(["lock"])
      #expect(lock.end == .exited(10), "\(lock)")
      // Awake, it does what it was told meanwhile, before it answers anybody else.
      #expect(kill(agent, SIGCONT) == 0)
      #expect(try bench.run("message", "list").end == .exited(3))
      #expect(kill(agent, SIGSTOP) == 0)
      let end = try bench.run(["lock", "--all"])
      #expect(end.end == .exited(0), "\(end)")
      try bench.waitForEnd(of: agent)
      #expect(try bench.run("message", "list").end == .exited(3))
    }
  }
}
