// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import ProtectedData

@Suite("Relocking protected data")
struct RelockTests {
  private struct Participant: RelockParticipant {
    let body: @Sendable () throws -> Void
    func relock() throws { try body() }
  }

  private struct Refusal: Error {}

  @Test("PD-23: after a relock nothing is read or changed until somebody unlocks again")
  func pd23Locked() throws {
    let fixture = try ProtectedDataFixture()
    let domains = try fixture.unlocked()
    try domains.relock()
    #expect(domains.state == .locked)
    #expect(domains.domains.isEmpty)
    #expect(domains.core.withLock { $0.session == nil })
    #expect(throws: ProtectedDataError.locked) { try domains.read(ProtectedSettings.self) }
    #expect(throws: ProtectedDataError.locked) { try domains.update(ProtectedSettings.self) { _ in } }
    #expect(throws: ProtectedDataError.locked) { try domains.resetDomain(.contacts) }
    #expect(try domains.unlock(.always).outcome == .opened)
    #expect(try domains.read() == ProtectedSettings.initial)
  }

  @Test("PD-23: every participant is told, and finds access blocked by then")
  func pd23FanOut() throws {
    let fixture = try ProtectedDataFixture()
    let domains = try fixture.unlocked()
    let seen = Guarded<[String]>([])
    for name in ["one", "other"] {
      domains.register(
        Participant {
          #expect(domains.state == .locked)
          #expect(throws: ProtectedDataError.locked) { try domains.read(ProtectedSettings.self) }
          #expect(throws: ProtectedDataError.locked) { try domains.unlock(.always) }
          seen.change { $0.append(name) }
        })
    }
    try domains.relock()
    try domains.relock()
    #expect(seen.value == ["one", "other", "one", "other"])
  }

  @Test("PD-23: one participant that fails latches «restart required», and the others are told all the same")
  func pd23Latched() throws {
    let fixture = try ProtectedDataFixture()
    let latch = RestartLatch()
    let domains = try fixture.domains(latch: latch)
    _ = try domains.unlock(.always)
    let told = Guarded(0)
    let fails = Guarded(true)
    domains.register(Participant { if fails.value { throw Refusal() } })
    domains.register(Participant { told.change { $0 += 1 } })
    #expect(throws: ProtectedDataError.restartRequired) { try domains.relock() }
    #expect(told.value == 1)
    #expect(domains.core.withLock { $0.session == nil })

    fails.change { $0 = false }
    let before = try fixture.content()
    func expectShut(_ domains: ProtectedDomains) {
      #expect(domains.state == .restartRequired)
      #expect(domains.recoveryState().steps == [.restart])
      #expect(throws: ProtectedDataError.restartRequired) { try domains.unlock(.always) }
      #expect(throws: ProtectedDataError.restartRequired) { try domains.read(ProtectedSettings.self) }
      #expect(throws: ProtectedDataError.restartRequired) { try domains.resetDomain(.contacts) }
      #expect(throws: ProtectedDataError.restartRequired) {
        try domains.resetFramework(.always, in: fixture.enclave)
      }
      #expect(throws: ProtectedDataError.restartRequired) { try domains.relock() }
    }
    expectShut(domains)
    // Nor for others in the same process. The next process has a latch of its own.
    #expect(throws: ProtectedDataError.restartRequired) { try fixture.domains(latch: latch) }
    #expect(try fixture.content() == before)
    _ = try fixture.unlocked()
  }

  @Test("PD-23: a relock waits for the access that is running, and what comes later is turned away")
  func pd23Running() throws {
    let fixture = try ProtectedDataFixture()
    let domains = try fixture.unlocked()
    let (entered, told) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    domains.register(Participant { told.signal() })
    let isDone = Guarded(false)
    let access = Thread {
      do {
        try domains.update(ProtectedSettings.self) { settings in
          settings.showsNextSteps = false
          entered.signal()
          // The participants are told while this goes on; the keys have to wait for its end.
          told.wait()
          isDone.change { $0 = true }
        }
      } catch { Issue.record(error) }
    }
    access.start()
    entered.wait()
    try domains.relock()
    #expect(isDone.value)
    #expect(domains.state == .locked)
    let stored: ProtectedSettings = try fixture.unlocked().read()
    #expect(!stored.showsNextSteps)
  }
}
