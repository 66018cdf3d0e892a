// SPDX-License-Identifier: Apache-2.0

import Extents
import Foundation
import Keychains
import MemorySearch
import Synchronization
import Testing

@testable import Agent

@Suite("Starting the agent")
struct LauncherTests {
  /// A home whose agents are ended with the test.
  private final class Launched: Sendable {
    let folder: RuntimeFolder
    private let children = Mutex<[(pid_t, Watchdog)]>([])

    init() throws { folder = try RuntimeFolder() }

    deinit {
      for (child, _) in children.withLock({ $0 }) { kill(child, SIGKILL) }
      for (child, _) in children.withLock({ $0 }) { _ = wait(child) }
    }

    func start(
      executable: String = AgentProcess.binary, options: AgentOptions = AgentOptions()
    ) throws -> AgentLauncher.Started {
      let started = try AgentLauncher.start(
        home: folder.home, executable: executable, options: options, runtime: folder.path,
        deadlineMilliseconds: Int(Patience.milliseconds))
      if case .new(let child) = started {
        let watchdog = try Watchdog(victim: child)
        children.withLock { $0.append((child, watchdog)) }
      }
      return started
    }

    /// Starts an agent where there is none.
    func startNew() throws -> pid_t {
      _ = try start()
      return try #require(newest)
    }

    var newest: pid_t? { children.withLock { $0.last?.0 } }

    func client() throws -> AgentClient { try #require(AgentClient.connect(folder.place())) }

    /// Waits for a child's end.
    /// - Returns: what `waitpid` tells; nil when it is not a child any more.
    func wait(_ child: pid_t) -> Int32? {
      var status: Int32 = 0
      while waitpid(child, &status, 0) < 0 { if errno != EINTR { return nil } }
      return status
    }
  }

  @Test("It listens when the start returns, and a second start finds it")
  func start() throws {
    let launched = try Launched()
    let child = try launched.startNew()
    let status = try launched.client().status()
    #expect(status.processID == child && status.state == .neverUnlocked)
    #expect(try launched.start() == .alreadyThere)
    // A session of its own: no terminal, and no signals from one.
    #expect(getsid(child) == child)
    try launched.client().logout()
    #expect(launched.wait(child) == 0)
    #expect(try launched.start() != .alreadyThere)
  }

  @Test(
    "It has nothing of who started it", .enabled(if: geteuid() == 0, "only root can look; not tested here"))
  func nothingInherited() throws {
    let launched = try Launched()
    // Open, and not marked to be closed.
    let left = open("/dev/zero", O_RDONLY)
    defer { close(left) }
    let child = try launched.startNew()
    let view = ProcessView(processID: child)
    // The start returns with the byte; the pipe is closed right behind it.
    try eventually { try !view.descriptors().values.contains { $0.hasPrefix("pipe:") } }
    let descriptors = try view.descriptors()
    for number in 0...2 { #expect(descriptors[number] == "/dev/null") }
    #expect(!descriptors.values.contains("/dev/zero"))
    let names = try view.text("environ").split(separator: "\0").map { $0.prefix { $0 != "=" } }
    let allowed: Set<Substring> = [
      "XDG_RUNTIME_DIR", "DBUS_SYSTEM_BUS_ADDRESS", "LD_LIBRARY_PATH", "GLIBC_TUNABLES", "LLVM_PROFILE_FILE",
    ]
    #expect(Set(names).isSubset(of: allowed))
  }

  @Test("Starts at the same time end with one agent")
  func together() throws {
    let launched = try Launched()
    let results = Mutex<[AgentLauncher.Started]>([])
    DispatchQueue.concurrentPerform(iterations: 6) { _ in
      do {
        let started = try launched.start()
        results.withLock { $0.append(started) }
      } catch { Issue.record(error) }
    }
    let all = results.withLock { $0 }
    #expect(all.count == 6)
    #expect(all.filter { $0 != .alreadyThere }.count == 1)
    #expect(try launched.client().status().processID == launched.newest)
  }

  @Test("After a death without farewell the next start takes the place")
  func afterDeath() throws {
    let launched = try Launched()
    let child = try launched.startNew()
    kill(child, SIGKILL)
    #expect(launched.wait(child) == SIGKILL)
    #expect(try FileManager.default.fileExists(atPath: launched.folder.place().socket))
    #expect(AgentClient.connect(try launched.folder.place()) == nil)
    #expect(try launched.start() != .alreadyThere)
    #expect(try launched.client().status().state == .neverUnlocked)
  }

  @Test("A signal to end ends it in good order", arguments: [SIGTERM, SIGINT, SIGHUP])
  func signals(signal: Int32) throws {
    let launched = try Launched()
    let child = try launched.startNew()
    try launched.client().give(someKeys(), binding: binding(), slot: UUID())
    kill(child, signal)
    #expect(launched.wait(child) == 0)
    #expect(try !FileManager.default.fileExists(atPath: launched.folder.place().socket))
  }

  @Test("An agent that stands still costs a client its deadline, and answers when it goes on")
  func stopped() throws {
    let launched = try Launched()
    let child = try launched.startNew()
    let keys = someKeys()
    try launched.client().give(keys, binding: binding(), slot: UUID())
    kill(child, SIGSTOP)
    let client = try launched.client()
    client.deadlineMilliseconds = AgentClient.deadlineMilliseconds
    #expect(throws: AgentError.notAnswering) { try client.keys(.all, binding: binding()) }
    // It holds its place: nobody takes over.
    #expect(try launched.start() == .alreadyThere)
    kill(child, SIGCONT)
    let got = try launched.client().keys(.all, binding: binding()).keys
    #expect(isSame(got.whenUnlocked, keys.whenUnlocked))
  }

  @Test("The limits that were asked for are set, and the real clock locks")
  func limits() throws {
    let launched = try Launched()
    var options = AgentOptions()
    options.idleLimitSeconds = 1
    options.absoluteLimitSeconds = 7
    options.usesOrdinaryMemory = true
    _ = try launched.start(options: options)
    let client = try launched.client()
    let status = try client.status()
    #expect(status.idleLimitSeconds == 1 && status.absoluteLimitSeconds == 7 && status.keyMemory == .locked)
    try client.give(someKeys(), binding: binding(), slot: UUID())
    try eventually { try client.status().state == .locked }
    #expect(try client.keys(.all, binding: binding()).keys.whenUnlocked == nil)
  }

  @Test("A start that fails says why")
  func failures() throws {
    let launched = try Launched()
    #expect(throws: AgentError.system(ENOENT)) { try launched.start(executable: "/nonexistent/coffer") }
    #expect(throws: AgentError.startFailed(exitCode: 1)) { try launched.start(executable: "/bin/false") }
    #expect(throws: AgentError.noHome) {
      _ = try AgentLauncher.start(
        home: launched.folder.path + "/no", executable: AgentProcess.binary, options: AgentOptions(),
        runtime: launched.folder.path)
    }
  }

  @Test("Giving and getting leave no keys in the memory of who gave and got")
  func clientMemory() async {
    await #expect(processExitsWith: .success) {
      recordingErrors {
        let launched = try Launched()
        _ = try launched.start()
        let needles = try LauncherTests().useKeys(launched)
        for needle in needles { try ProcessMemory.expectGone(needle) }
      }
    }
  }

  /// Gives and gets keys in frames that are gone afterwards.
  @inline(never)
  private func useKeys(_ launched: Launched) throws -> [Needle] {
    let keys = someKeys()
    let needles = [keys.whenUnlocked, keys.afterFirstUnlock].compactMap { $0?.withBytes { Needle($0) } }
    try #require(needles.count == 2)
    let client = try launched.client()
    try client.give(keys, binding: binding(), slot: UUID())
    for _ in 1...20 {
      let got = try client.keys(.all, binding: binding())
      #expect(got.keys.whenUnlocked?.count == 32)
      #expect(try client.keys(.afterFirstUnlock, binding: binding()).keys.afterFirstUnlock?.count == 32)
    }
    // They can be found while they are there.
    #expect(try !ProcessMemory.places(of: needles[0]).isEmpty)
    #expect(keys.whenUnlocked?.count == 32)
    return needles
  }
}
