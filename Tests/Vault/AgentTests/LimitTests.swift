// SPDX-License-Identifier: Apache-2.0
//
// The limits of time, on a clock that the test moves; and what logind says, played by the test.

import Extents
import Foundation
import Keychains
import Testing

@testable import Agent

@Suite("When the agent locks")
struct LimitTests {
  private func unlocked(
    _ options: AgentOptions = AgentOptions(), _ watch: TestWatch? = nil
  ) throws -> ServedHome {
    let served = try ServedHome(options: options) { watch }
    try served.client().give(someKeys(), binding: binding(), slot: UUID())
    return served
  }

  private func isLocked(_ served: ServedHome) throws -> Bool {
    let client = try served.client()
    let got = try client.keys(.all, binding: binding())
    return try got.keys.whenUnlocked == nil && client.status().state == .locked
  }

  @Test("The key goes when nobody has asked for it for the idle limit, without being asked then")
  func idle() throws {
    let served = try unlocked()
    defer { served.end() }
    served.clock.advance(seconds: 299.9)
    #expect(try served.client().status().state == .unlocked)
    let waits = served.clock.waits
    served.clock.advance(seconds: 0.1)
    // Nobody asks: the agent's own timer does it.
    try eventually { served.clock.waits > waits && served.holder.page.held == 2 }
    #expect(try isLocked(served))
  }

  @Test("Asking for the key begins the idle time anew; status, a look and the other key do not")
  func touch() throws {
    let served = try unlocked()
    defer { served.end() }
    served.clock.advance(seconds: 200)
    _ = try served.client().keys(.all, binding: binding())
    served.clock.advance(seconds: 200)
    #expect(try served.client().status().secondsUntilIdle == 100)
    _ = try served.client().keys(.afterFirstUnlock, binding: binding())
    #expect(try served.client().keys(.allForLook, binding: binding()).keys.whenUnlocked != nil)
    #expect(throws: AgentError.otherCoffer) {
      try served.client().keys(.all, binding: binding("another"))
    }
    served.clock.advance(seconds: 100)
    try served.wait(for: .locked)
  }

  @Test("The absolute limit comes however often the key is asked for")
  func absolute() throws {
    let served = try unlocked()
    defer { served.end() }
    for _ in 1..<144 {
      served.clock.advance(seconds: 200)
      #expect(try served.client().keys(.all, binding: binding()).keys.whenUnlocked != nil)
    }
    served.clock.advance(seconds: 200)
    try served.wait(for: .locked)
    #expect(try isLocked(served))
  }

  @Test("A machine that slept past a limit has no key left for the first who asks")
  func slept() throws {
    let served = try unlocked()
    defer { served.end() }
    let client = try served.client()
    served.clock.advance(seconds: 100_000)
    #expect(try client.keys(.all, binding: binding()).keys.whenUnlocked == nil)
  }

  @Test("The limits are those that were set")
  func configured() throws {
    var options = AgentOptions()
    options.idleLimitSeconds = 10
    options.absoluteLimitSeconds = 15
    let served = try unlocked(options)
    defer { served.end() }
    served.clock.advance(seconds: 9)
    _ = try served.client().keys(.all, binding: binding())
    #expect(try served.client().status().secondsUntilAbsolute == 6)
    served.clock.advance(seconds: 6)
    try served.wait(for: .locked)
  }

  @Test("Limits outside their bounds are refused", arguments: [(0, 60), (60, 0), (86_401, 60), (60, -1)])
  func bounds(limits: (Int, Int)) throws {
    var options = AgentOptions()
    (options.idleLimitSeconds, options.absoluteLimitSeconds) = limits
    let folder = try RuntimeFolder()
    #expect(throws: AgentError.limitOutOfBounds) { try AgentServer.run(home: folder.home, options: options) }
    #expect(throws: AgentError.limitOutOfBounds) {
      _ = try AgentLauncher.start(home: folder.home, executable: "/nonexistent", options: options)
    }
  }

  @Test("A locked screen locks")
  func screen() throws {
    let watch = TestWatch()
    let served = try unlocked(AgentOptions(), watch)
    defer { served.end() }
    #expect(try served.client().status().sessionWatch == .watched)
    watch.send(.locked)
    try served.wait(for: .locked)
    #expect(try isLocked(served))
  }

  @Test(
    "Before sleep keys are erased, and only then may the machine sleep",
    arguments: [false, true])
  func sleep(ordinary: Bool) throws {
    let watch = TestWatch()
    var options = AgentOptions()
    options.usesOrdinaryMemory = ordinary
    let served = try unlocked(options, watch)
    defer { served.end() }
    let memory = try served.client().status().keyMemory
    nonisolated(unsafe) let holder = served.holder
    watch.look.withLock { $0 = { holder.state } }
    watch.send(.fallingAsleep)
    watch.send(.awake)
    try eventually { watch.calls.withLock { $0.count } == 2 }
    // A hibernation image could carry an ordinary page.
    let after: AgentStatus.State = memory == .secret ? .locked : .neverUnlocked
    watch.calls.withLock {
      #expect($0.map(\.call) == ["allow", "delay"])
      #expect($0[0].seen == after)
    }
    watch.look.withLock { $0 = nil }
    #expect(try served.client().status().state == after)
  }

  @Test("Logout ends the agent and erases both keys")
  func loggedOut() throws {
    let watch = TestWatch()
    let served = try unlocked(AgentOptions(), watch)
    defer { served.end() }
    watch.send(.loggedOut)
    served.waitForEnd()
    #expect(served.holder.page.held == 0)
    #expect(AgentClient.connect(served.place) == nil)
  }

  @Test("Without a desktop any more, the limits go on")
  func lost() throws {
    let watch = TestWatch()
    let served = try unlocked(AgentOptions(), watch)
    defer { served.end() }
    watch.send(.lost)
    try eventually { try served.client().status().sessionWatch != .watched }
    served.clock.advance(seconds: 300)
    try served.wait(for: .locked)
  }

  @Test("The end erases both keys")
  func end() throws {
    let served = try unlocked()
    defer { served.end() }
    served.end()
    #expect(served.holder.page.held == 0)
    served.holder.page.withKeys(3) { #expect($0.byteCount == 0) }
  }

  @Test("The real clock wakes a poll at the moment set, and not before")
  func bootClock() throws {
    let clock = try BootClock()
    let begin = clock.now
    clock.wake(at: begin + 20_000_000)
    var polled = pollfd(fd: clock.descriptor, events: Int16(POLLIN), revents: 0)
    #expect(poll(&polled, 1, Patience.milliseconds) == 1)
    #expect(clock.now >= begin + 20_000_000)
    clock.wake(at: nil)
    #expect(poll(&polled, 1, 0) == 0)
    // A moment that is over already.
    clock.wake(at: begin)
    #expect(poll(&polled, 1, Patience.milliseconds) == 1)
  }

  @Test(
    "Memory pressure is watched where the kernel allows it, and only when asked for",
    arguments: [true, false])
  func pressure(isAskedFor: Bool) throws {
    var options = AgentOptions()
    options.locksOnMemoryPressure = isAskedFor
    let isPossible = MemoryPressure() != nil
    let served = try unlocked(options)
    defer { served.end() }
    // A trigger that has not fired locks nothing.
    let status = try served.client().status()
    #expect(status.isPressureWatched == (isAskedFor && isPossible))
    #expect(status.state == .unlocked)
  }
}
