// SPDX-License-Identifier: Apache-2.0
//
// The grace period (PD-12, PD-25): in mode standard, an agent with a session keeps the passcode of private keys for so
// long after the passphrase or PIN was given.

public import Agent
public import KeyCustody
internal import Keychains
public import ProtectedData
internal import Storage

extension Coffer {
  /// The protected settings. They must be unlocked.
  /// - Throws: `ProtectedDataError`.
  public func protectedSettings() throws -> ProtectedSettings { try protectedDomains().read() }

  /// Lets a session use private keys until the grace period ends, counted from when the slot was opened. Without a
  /// session, in high security, or if the settings cannot be read (PD-17), it does nothing.
  public func beginGrace() {
    guard let owner = keys.owner, let mode = try? authenticationMode(), !mode.isHighSecurity else { return }
    let grace = SessionGrace(settings: try? protectedSettings(), lastAuthentication: openedAt)
    let seconds = grace.secondsLeft(now: .now)
    guard seconds > 0 else { return }
    agents.keep(CustodyAuthorization.passcode(owner: owner), seconds: seconds)
  }

  /// Ends the grace period at once.
  /// - Throws: `AgentError.unreachable`, `.notAnswering`: an agent may still keep the passcode.
  public func endGrace() throws(AgentError) { try agents.dropPasscode() }

  /// The authorization within the grace period; nil outside of it.
  public func authorizationInGrace() -> CustodyAuthorization? {
    agents.passcode().map { CustodyAuthorization(handedOn: $0) }
  }

  /// Changes the protected settings, and ends the grace period, which may be shorter now.
  /// - Throws: `CofferError.slotRequired` when an agent's keys opened this coffer; `ProtectedDataError`; `AgentError`
  ///   when the settings are changed, and an agent may still keep the passcode.
  public func changeProtectedSettings(_ change: (inout ProtectedSettings) -> Void) throws {
    guard slot != nil else { throw CofferError.slotRequired }
    try protectedDomains().update(ProtectedSettings.self, change)
    audit(.settingsChanged)
    try endGrace()
  }

  /// Notes that the tutorial was completed. A session is enough: it changes nothing but a mention.
  /// - Throws: `ProtectedDataError`.
  public func noteTutorialCompleted() throws {
    try unlockProtectedData()
    guard try !protectedSettings().hasCompletedTutorial else { return }
    try protectedDomains().update(ProtectedSettings.self) { $0.hasCompletedTutorial = true }
  }

  /// Changes when sessions end, from the next one on (AM-20).
  /// - Parameter change: of limits of 1 to 86,400 seconds.
  /// - Throws: `CofferError.slotRequired` when an agent's keys opened this coffer; `KeychainError`.
  public func changeSessionLimits(_ change: (inout SessionLimits) -> Void) throws {
    guard slot != nil else { throw CofferError.slotRequired }
    try file.claimWriting()
    var settings = try settings()
    change(&settings.limits)
    try settings.save(keychain)
    audit(.settingsChanged)
  }
}
