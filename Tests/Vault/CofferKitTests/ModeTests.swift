// SPDX-License-Identifier: Apache-2.0
//
// The mode of private keys, as an open coffer changes it. No command does yet.

import Enclaves
import KeyCustody
import Keychains
import ScriptedPrompts
import TemporaryHomes
import Testing
import UserAuthentication

@testable import CofferKit

@Suite("The mode of private keys in a coffer")
struct ModeTests {
  private func finger(
    _ event: ScriptedFingerprintReader.Event, in coffer: Coffer, _ custody: PrivateKeyCustody
  ) throws -> CustodyAuthorization {
    var limits = AuthenticationLimits()
    limits.contextLifetime = AuthenticationLimits.longestContextLifetime
    let authenticator = UserAuthenticator(
      prompt: ScriptedPrompt(), reader: ScriptedFingerprintReader(events: [event, event, event]),
      limits: limits)
    let context = try authenticator.evaluate(.deviceOwnerWithBiometrics, passcode: PromptRequest("finger")) {
      _ in false
    }
    return try coffer.authorization(custody, finger: context)
  }

  @Test("A finger brings the keys under high security, and back; without it nothing changes")
  func thereAndBack() throws {
    let home = try TemporaryHome()
    let coffer = try makeCoffer(home.path)
    let custody = try coffer.openPrivateKeys().custody
    #expect(try custody.mode() == .standard)
    #expect(throws: AuthenticationError.failed) { _ = try finger(.noMatch, in: coffer, custody) }
    #expect(throws: CustodyError.fingerRequired) {
      try coffer.switchMode(
        custody, to: .highSecurityWithFinger, coffer.authorization(), acknowledgesMissingBackup: true)
    }
    #expect(try custody.mode() == .standard)

    try coffer.switchMode(
      custody, to: .highSecurityWithFinger, finger(.match, in: coffer, custody),
      acknowledgesMissingBackup: true)
    #expect(try custody.mode() == .highSecurityWithFinger)
    coffer.close()
    let again = try Coffer.open(
      home: home.path, credential: SlotCredential(passphrase()),
      machine: Machine(enclaves: [SoftwareEnclave()]))
    let reopened = try again.openPrivateKeys().custody
    #expect(try reopened.mode() == .highSecurityWithFinger)
    try again.switchMode(
      reopened, to: .standard, finger(.match, in: again, reopened), acknowledgesMissingBackup: false)
    #expect(try reopened.mode() == .standard)
    #expect(try again.auditLog().filter { $0.event == .modeSwitched }.count == 2)
  }
}
