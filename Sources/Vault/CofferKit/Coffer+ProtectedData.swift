// SPDX-License-Identifier: Apache-2.0
//
// The protected app data and private keys of an open coffer. Opening the coffer does not open them: reading messages
// needs neither the root secret nor the chip.

internal import Captures
public import Enclaves
public import KeyCustody
internal import Keychains
internal import Logging
public import ProtectedData
internal import Secrets
internal import Synchronization
public import UserAuthentication
internal import Vaults

/// The keys of messages and captures that are kept in memory: whenever protected data is locked, they go too (PD-23).
private struct CachedKeys: RelockParticipant {
  let vault: Vault
  let captures: CaptureStore

  func relock() {
    vault.clearCache()
    captures.clearCache()
  }
}

/// The private keys, after recovery from an interrupted change.
public struct OpenPrivateKeys: Sendable {
  /// Reads and changes the keys.
  public let custody: PrivateKeyCustody
  /// How an interrupted change ended. Tell the user if it is `CustodyRecovery.unrecoverable`.
  public let recovery: CustodyRecovery
}

extension Coffer {
  /// The protected data, in whatever state it is. Only the registry is read (PD-21).
  /// - Throws: `ProtectedDataError.unprotectedFiles` when other users can reach the files (PD-24); `.restartRequired`.
  public func protectedDomains() throws -> ProtectedDomains {
    try protectedData.withLock { kept in
      if let kept { return kept }
      let machine = machine
      let domains = try ProtectedDomains(
        file: file, keychain: keychain, enclaves: { machine.enclave($0) })
      domains.register(CachedKeys(vault: vault, captures: captures))
      kept = domains
      return domains
    }
  }

  /// Opens every domain that can be opened. The open coffer authorises this (PD-09).
  /// - Throws: `ProtectedDataError`.
  @discardableResult
  public func unlockProtectedData() throws -> UnlockReport { try protectedDomains().unlock(session) }

  /// The private keys, after recovery from an interrupted change (AM-11).
  /// - Throws: `ProtectedDataError`; `CustodyError`; `EnclaveError.unavailable`.
  public func openPrivateKeys() throws -> OpenPrivateKeys {
    try unlockProtectedData()
    let domains = try protectedDomains()
    let machine = machine
    guard let enclave = machine.enclave(try domains.enclaveKind()) else { throw EnclaveError.unavailable }
    let custody = PrivateKeyCustody(
      file: file, keychain: keychain, records: domains, enclave: enclave,
      enclaveOfKind: { machine.enclave($0) })
    let recovery = try custody.recover()
    if recovery == .unrecoverable { audit(.privateKeysIncomplete) }
    return OpenPrivateKeys(custody: custody, recovery: recovery)
  }

  /// The mode of the private keys, without opening protected data.
  /// - Throws: `CustodyError`.
  public func authenticationMode() throws -> AuthenticationMode { try PrivateKeyCustody.mode(keychain) }

  /// The security keys that open the guard, without opening protected data; nil for another guard.
  /// - Throws: `CustodyError`.
  public func guardKeys() throws -> GuardKeys? { try PrivateKeyCustody.guardKeys(keychain) }

  /// The count of wrong fingers over all commands.
  public var fingerCount: KeychainFingerCount { KeychainFingerCount(keychain) }

  /// The authorization from the passphrase or PIN that opened this coffer, and from a finger.
  /// - Throws: `AuthenticationError` when the context has expired.
  public func authorization(
    _ custody: PrivateKeyCustody, finger: borrowing AuthenticatedContext
  ) throws -> CustodyAuthorization {
    CustodyAuthorization(finger: try custody.fingerVerifier(finger), owner: keys.owner)
  }

  /// The same without a finger.
  public func authorization() -> CustodyAuthorization { CustodyAuthorization(owner: keys.owner) }

  /// Changes the authentication mode of all private keys, or of none if it fails.
  /// - Parameters:
  ///   - newGuard: the guard of the next mode, if that has a guard record.
  ///   - left: the keys that are not sealed again.
  /// - Throws: `CofferError.slotRequired` when an agent's keys opened this coffer; `CustodyError`.
  public func switchMode(
    _ custody: PrivateKeyCustody, to mode: AuthenticationMode, _ authorization: CustodyAuthorization,
    guard newGuard: NewGuard? = nil, leaving left: LeftKeys = .none, acknowledgesMissingBackup: Bool
  ) throws {
    guard slot != nil else { throw CofferError.slotRequired }
    try custody.switchMode(
      to: mode, authorization, guard: newGuard, leaving: left,
      acknowledgesMissingBackup: acknowledgesMissingBackup)
    if left == .underLostGuard { audit(.guardGivenUp, count: try custody.examine()) }
    audit(.modeSwitched)
  }

  /// Deletes a domain and creates an empty one; its data is lost.
  /// - Throws: `CofferError.slotRequired`; `ProtectedDataError`.
  public func reset(_ domain: ProtectedDomain) throws {
    guard slot != nil else { throw CofferError.slotRequired }
    try unlockProtectedData()
    try protectedDomains().resetDomain(domain)
    audit(.domainReset)
  }

  /// Deletes all protected data and creates empty domains, bound to the chip if one answers; the data is lost.
  /// Private keys stay where they are, and cannot be used if their enclave is gone.
  /// - Parameter kind: where the new binding key is made, as the user says; nil if they say nothing.
  /// - Returns: where it was made.
  /// - Throws: `CofferError.slotRequired`; `CofferError.hardwareRequired`, before anything was changed;
  ///   `ProtectedDataError`; `EnclaveError`.
  @discardableResult
  public func resetProtectedData(in kind: EnclaveKind? = nil) throws -> EnclaveKind {
    guard slot != nil else { throw CofferError.slotRequired }
    let enclave = try enclaveForNewKeys(kind)
    try protectedDomains().resetFramework(session, in: enclave)
    audit(.protectedDataReset)
    return enclave.kind
  }

  /// Lasts as long as the longest authentication context; the coffer is open for one command.
  private var session: SessionAuthorization {
    SessionAuthorization(deadline: .now.advanced(by: AuthenticationLimits.longestContextLifetime)) { true }
  }
}
