// SPDX-License-Identifier: Apache-2.0

import Extents
import Foundation
import Testing

@testable import Agent

@Suite("Finding the agents of a coffer")
struct FinderTests {
  /// A coffer of this test alone: agents of the other tests, which all have the same one, are not for it to find.
  private let own = AgentBinding(to: UUID().uuidString.utf8Span.span.bytes)

  /// What has become of the agent's place since it was started.
  enum Change: CaseIterable, Sendable {
    case nothing, folderOpenToOthers, otherRuntimeFolder, homeMoved, homeGone
  }

  @Test(
    "An agent is found, and locks, whatever has become of the place where it listens",
    arguments: Change.allCases)
  func found(change: Change) throws {
    let served = try ServedHome()
    defer { served.end() }
    let keys = someKeys()
    try served.client().give(keys, binding: own, slot: UUID())
    var (home, runtime) = (served.folder.home, served.folder.path)
    switch change {
    case .nothing: break
    case .folderOpenToOthers: for path in [runtime, runtime + "/coffer"] { chmod(path, 0o755) }
    case .otherRuntimeFolder: runtime = "/nonexistent"
    case .homeMoved:
      #expect(rename(home, home + "-moved") == 0)
      (home, runtime) = (home + "-moved", "/nonexistent")
    case .homeGone: #expect(rmdir(home) == 0)
    }
    let finder = AgentFinder(home: home, binding: own, runtime: runtime)
    #expect(isSame(finder.keys(.all)?.keys.whenUnlocked, keys.whenUnlocked))
    #expect(finder.look().status?.state == .unlocked)
    #expect(try finder.lock())
    #expect(finder.look().status?.state == .locked)
    #expect(finder.keys(.all)?.keys.whenUnlocked == nil)
    #expect(isSame(finder.keys(.all)?.keys.afterFirstUnlock, keys.afterFirstUnlock))
    #expect(try finder.end())
    served.waitForEnd()
    #expect(finder.look() == AgentFinder.Sight())
  }

  @Test("Without the coffer's id the agent of its home is found, wherever that listens")
  func withoutBinding() throws {
    let served = try ServedHome()
    defer { served.end() }
    try served.client().give(someKeys(), binding: own, slot: UUID())
    let finder = AgentFinder(home: served.folder.home, binding: nil, runtime: "/nonexistent")
    #expect(try finder.lock())
    #expect(try served.client().status().state == .locked)
  }

  @Test("The agent of another coffer is left alone")
  func otherCoffer() throws {
    let served = try ServedHome()
    defer { served.end() }
    try served.client().give(someKeys(), binding: own, slot: UUID())
    let other = try RuntimeFolder()
    let finder = AgentFinder(
      home: other.home, binding: AgentBinding(to: UUID().uuidString.utf8Span.span.bytes), runtime: other.path)
    #expect(finder.keys(.all) == nil)
    #expect(finder.look() == AgentFinder.Sight())
    #expect(try !finder.lock())
    #expect(try !finder.end())
    #expect(try served.client().status().state == .unlocked)
  }

  /// An agent in a process of its own, with keys.
  private final class Started {
    let folder: RuntimeFolder
    let place: AgentPlace
    let process: pid_t
    private let watchdog: Watchdog

    private let binding: AgentBinding

    init(_ binding: AgentBinding) throws {
      self.binding = binding
      folder = try RuntimeFolder()
      place = try folder.place()
      let started = try AgentLauncher.start(
        home: folder.home, executable: AgentProcess.binary, options: AgentOptions(), runtime: folder.path,
        deadlineMilliseconds: Int(Patience.milliseconds))
      guard case .new(let child) = started else { throw POSIXError(.EEXIST) }
      process = child
      watchdog = try Watchdog(victim: child)
      let client = try #require(AgentClient.connect(place))
      try client.give(someKeys(), binding: binding, slot: UUID())
    }

    var finder: AgentFinder { AgentFinder(home: folder.home, binding: binding, runtime: folder.path) }

    /// Whether the process has ended; collects it.
    func hasEnded() -> Bool {
      var status: Int32 = 0
      return waitpid(process, &status, WNOHANG) == process
    }

    deinit {
      kill(process, SIGKILL)
      var status: Int32 = 0
      while waitpid(process, &status, 0) < 0 && errno == EINTR {}
    }
  }

  enum Trouble: CaseIterable, Sendable { case socketGone, folderGone, stopped }

  @Test(
    "An agent that cannot be asked is never taken for none, and can be ended", arguments: Trouble.allCases)
  func unreachable(trouble: Trouble) throws {
    let agent = try Started(own)
    switch trouble {
    case .socketGone: #expect(unlink(agent.place.socket) == 0)
    case .folderGone: try FileManager.default.removeItem(atPath: agent.folder.path + "/coffer")
    case .stopped: kill(agent.process, SIGSTOP)
    }
    let finder = agent.finder
    #expect(finder.keys(.all) == nil)
    #expect(finder.look() == AgentFinder.Sight(status: nil, hasSilentAgent: true))
    #expect(throws: AgentError.unreachable(processID: agent.process)) { try finder.lock() }
    #expect(throws: AgentError.unreachable(processID: agent.process)) { try finder.dropPasscode() }
    #expect(!agent.hasEnded())
    #expect(try finder.end())
    #expect(agent.hasEnded())
    #expect(finder.look() == AgentFinder.Sight())
    #expect(try !finder.lock())
    try finder.dropPasscode()
  }

  @Test(
    "A process is an agent of a home by its program, its command and its home",
    arguments: [
      (["coffer", "agent", "--home", "/nowhere/home", "--idle-limit", "300"], true),
      (["/usr/bin/coffer", "--home=/nowhere/home", "agent"], true),
      (["coffer", "agent", "--home", "/nowhere/./home/"], false),
      (["coffer", "agent", "--home", "/nowhere/other"], false),
      (["coffer", "agent", "--home"], false), (["coffer", "agent"], false),
      (["coffer", "status", "--home", "/nowhere/home"], false),
      (["sh", "-c", "coffer", "agent", "--home", "/nowhere/home"], false), ([], false),
    ])
  func commandLine(words: [String], isAgent: Bool) {
    let line = Array(words.map { $0 + "\0" }.joined().utf8)
    #expect(RunningAgents.isAgent(line, of: "/nowhere/home") == isAgent)
  }

  @Test(
    "A path is an agent's by the names of its last three parts",
    arguments: [
      ("/run/user/1000/coffer/0123456789abcdef0123456789abcdef/agent.sock", true),
      ("/run/user/1000/coffer/0123456789abcdef0123456789abcde/agent.sock", false),
      ("/run/user/1000/other/0123456789abcdef0123456789abcdef/agent.sock", false),
      ("/run/user/1000/coffer/0123456789abcdef0123456789abcdef/agent.lock", false),
      ("/agent.sock", false), ("", false),
    ])
  func socketName(path: String, isAgents: Bool) {
    #expect((AgentPlace.homeName(of: path) == "0123456789abcdef0123456789abcdef") == isAgents)
  }
}
