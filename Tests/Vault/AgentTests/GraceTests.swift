// SPDX-License-Identifier: Apache-2.0
//
// The passcode of private keys, which an agent keeps for the grace period and no longer.

import Foundation
import Keychains
import Primitives
import Secrets
import Testing

@testable import Agent

@Suite("The grace period")
struct GraceTests {
  private let passcode = SharedSecretBytes(SystemRandom.secretBytes(count: 32))

  private func unlocked(_ watch: TestWatch? = nil) throws -> ServedHome {
    let served = try ServedHome(options: AgentOptions()) { watch }
    try served.client().give(someKeys(), binding: binding(), slot: UUID())
    return served
  }

  private func found(_ served: ServedHome) throws -> SharedSecretBytes? {
    do { return try served.client().passcode(binding: binding()) } catch AgentError.locked { return nil }
  }

  @Test("It is handed out until its end, counted from when it was given, and then erased without being asked")
  func ends() throws {
    let served = try unlocked()
    defer { served.end() }
    #expect(try found(served) == nil)
    try served.client().keep(passcode, seconds: 180, binding: binding())
    for _ in 0..<3 {
      #expect(isSame(try found(served), passcode))
      served.clock.advance(seconds: 59.9)
      _ = try served.client().keys(.all, binding: binding())
    }
    let waits = served.clock.waits
    served.clock.advance(seconds: 0.4)
    try eventually { served.clock.waits > waits && served.holder.page.held == 3 }
    #expect(try found(served) == nil)
    #expect(try served.client().keys(.all, binding: binding()).keys.whenUnlocked != nil)
  }

  @Test("It goes with lock, sleep, a new unlocking, and 0 seconds; a locked agent takes none")
  func erased() throws {
    let takings: [(ServedHome) throws -> Void] = [
      { try $0.client().lock() },
      { served in try served.client().give(someKeys(), binding: binding(), slot: UUID()) },
      { served in try served.client().keep(passcode, seconds: 0, binding: binding()) },
    ]
    for take in takings {
      let served = try unlocked()
      defer { served.end() }
      try served.client().keep(passcode, seconds: 3600, binding: binding())
      #expect(try found(served) != nil)
      try take(served)
      #expect(try found(served) == nil)
      #expect(served.holder.page.held & 4 == 0)
    }
    let served = try unlocked()
    defer { served.end() }
    try served.client().lock()
    try served.client().keep(passcode, seconds: 60, binding: binding())
    #expect(try found(served) == nil)
  }

  @Test("Another coffer gets and gives nothing, and nobody is kept longer than an hour")
  func bounds() throws {
    let served = try unlocked()
    defer { served.end() }
    #expect(throws: AgentError.otherCoffer) {
      try served.client().keep(passcode, seconds: 60, binding: binding("another"))
    }
    try served.client().keep(passcode, seconds: 100_000, binding: binding())
    #expect(throws: AgentError.otherCoffer) { _ = try served.client().passcode(binding: binding("another")) }
    for _ in 0..<36 {
      served.clock.advance(seconds: 100)
      _ = try served.client().keys(.all, binding: binding())
    }
    #expect(try found(served) == nil)
  }

  @Test("The class keys are handed out without it, and it without them")
  func apart() throws {
    let served = try unlocked()
    defer { served.end() }
    try served.client().keep(passcode, seconds: 60, binding: binding())
    let keys = try served.client().keys(.all, binding: binding()).keys
    #expect(!isSame(keys.whenUnlocked, passcode) && !isSame(keys.afterFirstUnlock, passcode))
    #expect(keys.owner == nil)
    #expect(try served.client().status().state == .unlocked)
  }

  @Test("The idle limit that a session asks for holds from then on")
  func idleLimit() throws {
    let served = try unlocked()
    defer { served.end() }
    try served.client().setIdleLimit(seconds: 900)
    #expect(try served.client().status().idleLimitSeconds == 900)
    served.clock.advance(seconds: 899)
    #expect(try served.client().status().state == .unlocked)
    served.clock.advance(seconds: 1)
    try served.wait(for: .locked)
    #expect(throws: AgentError.limitOutOfBounds) { try served.client().setIdleLimit(seconds: 86_401) }
  }

  @Test("A terminal is told of sessions once")
  func hint() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "coffer-hint-\(UUID().uuidString)")
    try FileManager.default.createDirectory(
      at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    defer { try? FileManager.default.removeItem(at: folder) }
    // The session of the tests may have lost its first process, or never had one here.
    let file = try #require(
      SessionFile("hint", home: folder.path(), runtime: folder.path(), session: getpid()))
    #expect(GivenHint(file: file).isFirst())
    #expect(!GivenHint(file: file).isFirst())
    #expect(SessionFile("hint", home: folder.path(), runtime: folder.path(), session: 0) == nil)
  }

  @Test(
    "The absolute limit that a session asks for is counted from its beginning, and is not prolonged by use")
  func absoluteLimit() throws {
    let served = try unlocked()
    defer { served.end() }
    try served.client().setIdleLimit(seconds: 86_400)
    served.clock.advance(seconds: 100)
    try served.client().setAbsoluteLimit(seconds: 600)
    let status = try served.client().status()
    #expect(status.absoluteLimitSeconds == 600 && status.secondsUntilAbsolute == 500)
    served.clock.advance(seconds: 499)
    _ = try served.client().keys(.all, binding: binding())
    served.clock.advance(seconds: 1)
    try served.wait(for: .locked)
    #expect(throws: AgentError.limitOutOfBounds) { try served.client().setAbsoluteLimit(seconds: 0) }
  }
}
