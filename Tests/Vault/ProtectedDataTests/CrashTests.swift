// SPDX-License-Identifier: Apache-2.0
//
// What every change leaves when the process ends between two of its steps. A step is one transaction, so copies of the
// files before and after each of the keychain's are all the states there are between them.

import Foundation
import Keychains
import Storage
import Testing

@testable import ProtectedData

@Suite("Changes of protected data that are cut off")
struct CrashTests {
  /// Does `operation`, and hands each state that a crash could have left to `check`.
  private func everyState(
    _ fixture: ProtectedDataFixture, atLeast count: Int, _ operation: (ProtectedDomains) throws -> Void,
    _ check: (ProtectedDomains, UnlockReport?, FrameworkFault?) throws -> Void
  ) throws {
    let domains = try fixture.domains()
    let home = fixture.home.path
    let copies = Guarded<[String]>([])
    fixture.store.observe {
      let copy = home + "-copy-\(UUID().uuidString)"
      do { try FileManager.default.copyItem(atPath: home, toPath: copy) } catch { Issue.record(error) }
      copies.change { $0.append(copy) }
    }
    try operation(domains)
    fixture.store.observe(nil)
    copies.change { $0.append((try? fixture.snapshot()) ?? "") }
    #expect(copies.value.count >= count)
    for copy in copies.value {
      let found = try fixture.another(at: copy)
      do {
        let report = try found.unlock(.always)
        try check(found, report, nil)
        // What was healed stays so.
        let again = try fixture.another(at: copy)
        #expect(try again.unlock(.always).domains == found.domains)
      } catch ProtectedDataError.frameworkRecovery(let fault) {
        try check(found, nil, fault)
        try found.resetFramework(.always, in: fixture.enclave)
        #expect(try found.unlock(.always).outcome == .opened)
      }
      try FileManager.default.removeItem(atPath: copy)
    }
  }

  @Test("A change is there as a whole or not at all")
  func update() throws {
    let fixture = try ProtectedDataFixture()
    try Sample.store(fixture.unlocked())
    var changed = Sample.settings
    changed.gracePeriodSeconds = 9
    let states = Guarded<Set<UInt32>>([])
    try everyState(
      fixture, atLeast: 3,
      { domains in
        _ = try domains.unlock(.always)
        try domains.update(ProtectedSettings.self) { $0.gracePeriodSeconds = 9 }
      }
    ) { found, report, _ in
      #expect(report?.domains.values.allSatisfy { $0 == .open } == true)
      let settings: ProtectedSettings = try found.read()
      #expect(settings == Sample.settings || settings == changed)
      states.change { $0.insert(settings.gracePeriodSeconds) }
      try expectStored(Sample.contacts, in: found)
      try found.update(ProtectedSettings.self) { $0.gracePeriodSeconds = 10 }
    }
    #expect(states.value.contains(9))
  }

  @Test("A reset leaves the domain as it was, absent, or new; the others open")
  func resetDomain() throws {
    let fixture = try ProtectedDataFixture()
    try Sample.store(fixture.unlocked())
    let seen = Guarded<[String]>([])
    try everyState(
      fixture, atLeast: 9,
      { domains in
        _ = try domains.unlock(.always)
        try domains.resetDomain(.contacts)
      }
    ) { found, report, _ in
      for domain in ProtectedDataFixture.all where domain != .contacts {
        #expect(report?.domains[domain] == .open)
      }
      try expectStored(Sample.settings, in: found)
      switch report?.domains[.contacts] {
      case .open:
        let contacts: ContactsSnapshot = try found.read()
        #expect(contacts == Sample.contacts || contacts == .initial)
        seen.change { $0.append(contacts == .initial ? "new" : "old") }
      case .recovery(.absent): seen.change { $0.append("absent") }
      default: Issue.record("\(String(describing: report?.domains[.contacts]))")
      }
      try found.resetDomain(.contacts)
      try expectStored(ContactsSnapshot.initial, in: found)
    }
    #expect(Set(seen.value).isSuperset(of: ["absent", "new"]))
    #expect(seen.value.last == "new")
  }

  @Test("A reset of the framework leaves the old one, the news that it was cut off, or the new one")
  func resetFramework() throws {
    let fixture = try ProtectedDataFixture()
    try Sample.store(fixture.unlocked())
    let seen = Guarded<[String]>([])
    try everyState(
      fixture, atLeast: 3, { try $0.resetFramework(.always, in: fixture.enclave) }
    ) { found, _, fault in
      if let fault {
        #expect(fault == .resetInterrupted)
        seen.change { $0.append("interrupted") }
        // Run again, it ends.
        try found.resetFramework(.always, in: fixture.enclave)
        _ = try found.unlock(.always)
        try expectStored(ContactsSnapshot.initial, in: found)
      } else {
        let contacts: ContactsSnapshot = try found.read()
        #expect(contacts == Sample.contacts || contacts == .initial)
        seen.change { $0.append(contacts == .initial ? "new" : "old") }
      }
    }
    #expect(seen.value == ["old", "interrupted", "new", "new", "new"])
  }

  @Test("An upgrade of root secret and settings loses nothing")
  func upgrade() throws {
    let fixture = try ProtectedDataFixture()
    try Sample.store(fixture.unlocked())
    let generation = try fixture.ledger().generations[.protectedSettings]
    try fixture.set(
      .protectedSettings,
      fixture.seal([0, 0, 0, 14, 16, 1, 3, 0], .protectedSettings, schema: 1, generation: generation))
    try fixture.makeFirstFormat()
    var settings = Sample.settings
    // The first schema does not know of the tutorial.
    settings.hasCompletedTutorial = false
    try everyState(fixture, atLeast: 7, { _ = try $0.unlock(.always) }) { found, report, _ in
      #expect(report?.domains.values.allSatisfy { $0 == .open } == true)
      try expectStored(settings, in: found)
      try expectStored(Sample.contacts, in: found)
    }
  }

  @Test("Settling what was pending can be cut off")
  func pending() throws {
    for state in [Registry.EntryState.pendingCreate, .pendingDelete] {
      let fixture = try ProtectedDataFixture()
      try Sample.store(fixture.unlocked())
      try fixture.changeRegistry { $0.entries[.contacts] = state }
      try everyState(fixture, atLeast: 3, { _ = try $0.unlock(.always) }) { found, report, _ in
        #expect(report?.domains[.contacts] == .recovery(.absent))
        try expectStored(Sample.settings, in: found)
      }
    }
  }
}
