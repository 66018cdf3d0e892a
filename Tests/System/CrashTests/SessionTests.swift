// SPDX-License-Identifier: Apache-2.0
//
// A session over many commands, and one whose agent dies or hangs.
//
//   COFFER_SESSION_COMMANDS   so many commands against one agent; else 300 in the extent full, 100 in the others

import Agent
import Extents
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
      let shares = Shares("session commands", count: 3)
      let count = max(given ?? (shares.isWhole ? 300 : 100), 100)
      shares.note(played: count, of: 300)
      let session = try SessionFixture()
      #expect(try session.fixture.run("message", "add", session.fixture.phraseFile).isDone)
      #expect(try session.fixture.run("capture", "add", session.fixture.phraseFile).isDone)
      let agent = try #require(try session.agent())
      var table = [["commands", "agent KiB", "descriptors", "in the chip"]]
      var sizes: [(residentKiB: Int, descriptors: Int?)] = []
      for number in 1...count {
        let words =
          number % 20 == 10
          ? ["unlock", "--pin-file", session.pinFile]
          : [["status"], ["message", "list"], ["capture", "list"]][number % 3]
        let run = try session.run(words)
        guard run.isDone else { throw UnexpectedRun(run: run) }
        guard number % 50 == 0 else { continue }
        sizes.append(try SessionFixture.size(of: agent))
        let loaded = try session.tpm.loadedCount()
        #expect(loaded == 0, "after \(number) commands")
        let size = sizes[sizes.count - 1]
        table.append([
          "\(number)", "\(size.residentKiB)", size.descriptors.map { "\($0)" } ?? "-", "\(loaded)",
        ])
      }
      printTable("One agent, one chip", table)
      #expect(try session.agent() == agent)
      // The first fifty warm it up.
      let (first, last) = (sizes[0], sizes[sizes.count - 1])
      #expect(last.residentKiB <= first.residentKiB + 256)
      #expect(last.descriptors == first.descriptors)
    }

    @Test("Without its agent a command works as before")
    func agentKilled() throws {
      let session = try SessionFixture()
      #expect(try session.run("message", "list").isDone)
      let former = try #require(try session.agent())
      #expect(kill(former, SIGKILL) == 0)
      try session.waitForEnd(of: former)

      #expect(try session.run("message", "list").end == .exited(3))
      #expect(try session.run("capture", "add", session.fixture.phraseFile).end == .exited(3))
      let status = try session.run("--json", "status")
      #expect(status.lines.first?.contains("\"state\":\"locked\"") == true, "\(status)")
      #expect(try session.fixture.run("message", "list").isDone)
      #expect(try session.run("message", "list", "--pin-file", session.pinFile).isDone)
      #expect(try session.run("lock").isDone)

      // Its socket and its lock are no hindrance to the next.
      #expect(try session.run("unlock", "--pin-file", session.pinFile).isDone)
      #expect(try session.run("message", "list").isDone)
      #expect(try session.agent() != nil)
    }

    @Test("An agent that hangs keeps no command waiting for longer than its deadline of less than a second")
    func agentHangs() throws {
      let session = try SessionFixture()
      let agent = try #require(try session.agent())
      let calls: [(words: [String], end: CofferRun.End)] = [
        (["message", "list", "--passphrase-file", session.fixture.passphraseFile], .exited(0)),
        (["message", "list"], .exited(3)), (["status"], .exited(0)),
        (["capture", "list", "--pin-file", session.pinFile], .exited(0)),
        (["capture", "add", session.fixture.phraseFile], .exited(3)),
      ]
      #expect(AgentClient.deadlineMilliseconds < 1_000)
      let usual = try calls.map { try session.run($0.words).seconds }
      #expect(kill(agent, SIGSTOP) == 0)
      var table = [["command", "usual ms", "hung agent ms"]]
      for (call, usual) in zip(calls, usual) {
        let run = try session.run(call.words)
        #expect(run.end == call.end, "\(run)")
        table.append([
          call.words.prefix(2).joined(separator: " "), "\(Int(usual * 1_000))", "\(Int(run.seconds * 1_000))",
        ])
        // It ended while the agent still hangs: no answer came, so it was the deadline that ended the waiting.
        #expect(try SessionFixture.isStopped(agent), "\(run)")
      }
      printTable("An agent that hangs", table)
      // Nor must the passcode of private keys be told to be gone, which it may have.
      let secret = ["--passphrase-file", session.fixture.passphraseFile]
      let grace = try session.run(["settings", "grace-period", "0"] + secret)
      #expect(grace.end == .exited(10) && grace.errors.contains("may still use private keys"), "\(grace)")
      let stored = try session.run(["settings", "--json"] + secret)
      #expect(stored.lines.contains { $0.contains("\"gracePeriodSeconds\":0") }, "\(stored)")
      // Keys that are still there must not be told to be gone.
      let lock = try session.run(["lock"])
      #expect(lock.end == .exited(10), "\(lock)")
      // Awake, it does what it was told meanwhile, before it answers anybody else.
      #expect(kill(agent, SIGCONT) == 0)
      #expect(try session.run("message", "list").end == .exited(3))
      #expect(kill(agent, SIGSTOP) == 0)
      let end = try session.run(["lock", "--all"])
      #expect(end.end == .exited(0), "\(end)")
      try session.waitForEnd(of: agent)
      #expect(try session.run("message", "list").end == .exited(3))
    }
  }
}
