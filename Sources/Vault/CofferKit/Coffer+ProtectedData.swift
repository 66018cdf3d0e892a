// SPDX-License-Identifier: Apache-2.0
//
// Protected app data and the custody of private keys, as an open coffer has them. Neither is opened with the
// coffer: whoever only reads messages needs no root secret, and no chip.

internal import Enclaves
public import KeyCustody
internal import Keychains
internal import Logging
public import ProtectedData
internal import Secrets
internal import Synchronization
public import UserAuthentication

/// What private keys are changed with, once an interrupted change was ended.
public struct OpenPrivateKeys: Sendable {
  public let custody: PrivateKeyCustody
  /// How an interrupted change ended; to be told when it was `CustodyRecovery.unrecoverable`.
  public let recovery: CustodyRecovery
}

extension Coffer {
  /// The protected data, locked or not as they are. Only the registry is read (PD-21).
  /// - Throws: `ProtectedDataError.unprotectedFiles` where others can reach the files (PD-24); `.restartRequired`.
  public func protectedDomains() throws -> ProtectedDomains {
    try protectedData.withLock { kept in
      if let kept { return kept }
      let machine = machine
      let domains = try ProtectedDomains(
        file: file, keychain: keychain, enclaves: { machine.enclave($0) })
      kept = domains
      return domains
    }
  }

  /// Opens every domain that opens. The coffer is open, which is the session that authorises it (PD-09).
  /// - Throws: `ProtectedDataError`.
  @discardableResult
  public func unlockProtectedData() throws -> UnlockReport { try protectedDomains().unlock(session) }

  /// The private keys, after what an interrupted change left was dealt with (AM-11).
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

  /// What the person has shown: the passphrase or PIN that opened this coffer, and a finger if there is one.
  /// - Throws: `AuthenticationError` when the context does not count any more.
  public func authorization(
    _ custody: PrivateKeyCustody, finger: borrowing AuthenticatedContext
  ) throws -> CustodyAuthorization {
    CustodyAuthorization(finger: try custody.fingerVerifier(finger), owner: keys.owner)
  }

  /// The same without a finger.
  public func authorization() -> CustodyAuthorization { CustodyAuthorization(owner: keys.owner) }

  /// Brings all private keys under another mode; all or none.
  /// - Throws: `CofferError.personRequired` when an agent's keys opened this coffer; `CustodyError`.
  public func switchMode(
    _ custody: PrivateKeyCustody, to mode: AuthenticationMode, _ authorization: CustodyAuthorization,
    acknowledgesMissingBackup: Bool
  ) throws {
    guard slot != nil else { throw CofferError.personRequired }
    try custody.switchMode(to: mode, authorization, acknowledgesMissingBackup: acknowledgesMissingBackup)
    audit(.modeSwitched)
  }

  /// Deletes a domain and makes it anew; what it held is lost.
  /// - Throws: `CofferError.personRequired`; `ProtectedDataError`.
  public func reset(_ domain: ProtectedDomain) throws {
    guard slot != nil else { throw CofferError.personRequired }
    try unlockProtectedData()
    try protectedDomains().resetDomain(domain)
    audit(.domainReset)
  }

  /// Deletes all protected data and makes them anew, bound to the chip if one answers; what they held is lost.
  /// Private keys stay, but in an enclave that is gone they cannot be used.
  /// - Throws: `CofferError.personRequired`; `ProtectedDataError`; `EnclaveError`.
  public func resetProtectedData() throws {
    guard slot != nil else { throw CofferError.personRequired }
    try protectedDomains().resetFramework(session, in: machine.enclaveForNewKeys())
    audit(.protectedDataReset)
  }

  /// As long as the longest context counts; the coffer is open for one command.
  private var session: SessionAuthorization {
    SessionAuthorization(deadline: .now.advanced(by: AuthenticationLimits.longestContextLifetime)) { true }
  }
}
