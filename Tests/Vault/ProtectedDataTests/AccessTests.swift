// SPDX-License-Identifier: Apache-2.0

import Foundation
import OpenPGP
import Storage
import Testing

@testable import ProtectedData

@Suite("Reading and changing protected data")
struct AccessTests {
  @Test("A new coffer's domains hold what they begin with")
  func beginning() throws {
    let fixture = try ProtectedDataFixture()
    let domains = try fixture.unlocked()
    #expect(domains.state == .unlocked)
    #expect(try domains.read() == PrivateKeyControl.initial)
    #expect(try domains.read() == KeyMetadata.initial)
    #expect(try domains.read() == ProtectedSettings.initial)
    #expect(try domains.read() == ContactsSnapshot.initial)
    #expect(try domains.read() == FrameworkSentinel.initial)
    #expect(domains.recoveryState().steps.isEmpty)
  }

  @Test("What was changed is there for the next process, in every domain")
  func changes() throws {
    let fixture = try ProtectedDataFixture()
    let domains = try fixture.unlocked()
    try Sample.store(domains)
    try Sample.expectStored(domains)
    try Sample.expectStored(fixture.unlocked())
    let copy = try fixture.another(at: fixture.snapshot())
    #expect(try copy.unlock(.always).outcome == .opened)
    try Sample.expectStored(copy)
  }

  @Test("One process's change is seen by another that is unlocked, and not undone by it")
  func twoProcesses() throws {
    let fixture = try ProtectedDataFixture()
    let (one, other) = try (fixture.unlocked(), fixture.unlocked())
    try one.update(ProtectedSettings.self) { $0.gracePeriodSeconds = 7 }
    let seen: ProtectedSettings = try other.read()
    #expect(seen.gracePeriodSeconds == 7)
    try other.update(ProtectedSettings.self) { $0.showsNextSteps = false }
    let both: ProtectedSettings = try one.read()
    #expect(both.gracePeriodSeconds == 7 && !both.showsNextSteps)
  }

  @Test("A change that throws, or changes nothing, writes nothing")
  func nothingWritten() throws {
    struct Refusal: Error {}
    let fixture = try ProtectedDataFixture()
    let domains = try fixture.unlocked()
    let before = try fixture.content()
    #expect(throws: Refusal.self) {
      try domains.update(ProtectedSettings.self) { settings in
        settings.showsNextSteps = false
        throw Refusal()
      }
    }
    #expect(try domains.update(ProtectedSettings.self) { $0.encryptToSelf } == true)
    #expect(try fixture.content() == before)
  }

  @Test("What somebody else stored in the middle of a change is not overwritten")
  func changedMeanwhile() throws {
    let fixture = try ProtectedDataFixture()
    let domains = try fixture.unlocked()
    let row = try fixture.seal([0, 0, 0, 1, 1, 1, 1], .protectedSettings, generation: 2)
    #expect(throws: ProtectedDataError.storage(.inUse)) {
      try domains.update(ProtectedSettings.self) { settings in
        settings.showsNextSteps = false
        try fixture.set(.protectedSettings, row)
      }
    }
    #expect(try fixture.image.rows[.protectedSettings] == row)
  }

  @Test("A value that breaks a rule of its domain is refused, and nothing is written")
  func invalidValues() throws {
    let fixture = try ProtectedDataFixture()
    let domains = try fixture.unlocked()
    try Sample.store(domains)
    let before = try fixture.content()
    #expect(throws: ProtectedDataError.invalidValue(.protectedSettings)) {
      try domains.update(ProtectedSettings.self) { $0.gracePeriodSeconds = 3601 }
    }
    #expect(throws: ProtectedDataError.invalidValue(.keyMetadata)) {
      try domains.update(KeyMetadata.self) { $0.identities.append($0.identities[0]) }
    }
    #expect(throws: ProtectedDataError.invalidValue(.keyMetadata)) {
      try domains.update(KeyMetadata.self) {
        $0.identities[0].fingerprint = Fingerprint(version: 4, bytes: [1, 2, 3])
      }
    }
    #expect(throws: ProtectedDataError.invalidValue(.contacts)) {
      try domains.update(ContactsSnapshot.self) {
        $0.contacts[0].keys[0].certificate = [UInt8](
          repeating: 0, count: Contact.certificateByteCountLimit + 1)
      }
    }
    #expect(throws: ProtectedDataError.invalidValue(.privateKeyControl)) {
      try domains.update(PrivateKeyControl.self) {
        $0.recoveryJournal?.fingerprints[0] = Fingerprint(version: 6, bytes: [1, 2, 3])
      }
    }
    #expect(try fixture.content() == before)
    try Sample.expectStored(domains)
  }

  @Test("A payload may be as large as its limit and no larger")
  func largest() throws {
    let fixture = try ProtectedDataFixture()
    let domains = try fixture.unlocked()
    let certificate = [UInt8](repeating: 7, count: Contact.certificateByteCountLimit)
    func contact() -> Contact {
      Sample.contact(certificate: certificate)
    }
    // Each takes 53 bytes more than its certificate.
    let many = ContactsSnapshot(contacts: (0..<15).map { _ in contact() })
    try domains.update(ContactsSnapshot.self) { $0 = many }
    #expect(throws: ProtectedDataError.invalidValue(.contacts)) {
      try domains.update(ContactsSnapshot.self) { $0.contacts.append(contact()) }
    }
    try domains.update(ContactsSnapshot.self) {
      var last = contact()
      last.keys[0].certificate = Array(certificate.dropLast(16 * 53 + 2))
      $0.contacts.append(last)
    }
    let stored: ContactsSnapshot = try domains.read()
    #expect(stored.contacts.count == 16)
    #expect(try fixture.unlocked().read() == stored)
  }

  @Test("While another process writes, reading goes on and writing is refused")
  func inUse() throws {
    let fixture = try ProtectedDataFixture()
    try fixture.file.claimWriting()
    let other = try fixture.another()
    #expect(try other.unlock(.always).outcome == .opened)
    #expect(try other.read() == ProtectedSettings.initial)
    #expect(throws: ProtectedDataError.storage(.inUse)) {
      try other.update(ProtectedSettings.self) { $0.showsNextSteps = false }
    }
  }

  @Test("Guarded data are made once")
  func onlyOnce() throws {
    let fixture = try ProtectedDataFixture()
    let before = try fixture.content()
    #expect(throws: ProtectedDataError.alreadyExists) {
      try ProtectedDomains.create(file: fixture.file, keychain: fixture.keychain, enclave: fixture.enclave)
    }
    try fixture.set(record: nil)
    #expect(throws: ProtectedDataError.alreadyExists) {
      try ProtectedDomains.create(file: fixture.file, keychain: fixture.keychain, enclave: fixture.enclave)
    }
    #expect(try fixture.content().count == before.count - 1)
  }
}
