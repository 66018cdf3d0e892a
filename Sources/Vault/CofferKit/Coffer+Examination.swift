// SPDX-License-Identifier: Apache-2.0
//
// The part of an examination that needs the keys of a coffer. It repairs nothing.

internal import Captures
internal import Enclaves
internal import Identities
internal import KeyCustody
internal import Keychains
internal import ProtectedData
internal import Secrets
internal import Storage
internal import Syncing
internal import Vaults

extension Coffer {
  /// Examines everything that keys can open.
  ///
  /// - Parameters:
  ///   - isDeep: whether to open every message, not just the rows that name them.
  ///   - progress: called with the number of messages done and of all messages.
  public func examine(isDeep: Bool, progress: (Int, Int) -> Void = { _, _ in }) throws -> Diagnosis {
    var diagnosis = Diagnosis()
    if let home {
      diagnosis.checkModes(home)
      diagnosis.checkExports(home)
    }
    // Uses the same connection: closing a second one would drop the locks of the first.
    try diagnosis.examineFile { file }
    for part in try file.outdatedParts() {
      diagnosis.add(.damage, StorageError.outdated(part).sentence)
    }
    diagnosis.checks.append("the states of all parts")
    try examineCounter(&diagnosis)
    try diagnosis.check("keychain items") { [keychain] in
      for account in try keychain.accounts() { _ = try keychain.requireSecret(forKey: account) }
      return nil
    }
    try diagnosis.check("settings and audit log") {
      let settings = try settings()
      _ = try auditLog()
      if let drill = settings.lastRecoveryDrill {
        if clock.now() - drill > 365 * 86_400 { return "the last recovery drill is more than a year ago" }
        return nil
      }
      return "the recovery phrase has never been tried: run 'coffer recovery drill'"
    }
    try diagnosis.check("the date of the last backup") { try backupAdvice() }
    try diagnosis.check("the device's registration") {
      try device() == nil ? "this machine is not registered: 'coffer unlock' registers it" : nil
    }
    try examineProtectedData(&diagnosis)
    try examineVault(&diagnosis)
    try examineIndex(&diagnosis, isDeep: isDeep)
    try examineCaptures(&diagnosis, isDeep: isDeep)
    if isDeep { try examineAccount(&diagnosis) }
    if isDeep { try examineMessages(&diagnosis, progress) }
    return diagnosis
  }

  /// Records an examination: adds an entry to the audit log, and ends the warnings about messages that were named.
  /// Call this after you have shown the diagnosis. ``examine(isDeep:progress:)`` itself changes nothing, so that it
  /// can be stopped at any time.
  public func record(_ diagnosis: Diagnosis) throws {
    if diagnosis.endsWarnings {
      let ended = try vault.clearFailures()
      if ended > 0 { audit(.failuresExamined, count: ended) }
    }
    let damage = diagnosis.findings.count { $0.severity == .damage }
    if damage > 0 { audit(.damageFound, count: damage) }
  }
}

extension Coffer {
  fileprivate func examineVault(_ diagnosis: inout Diagnosis) throws {
    try diagnosis.check("the vault's state and count") {
      let status = try vault.status()
      try vault.checkRows()
      if status.isRotating {
        return "a rotation was started and not finished: run 'coffer vault rotate --resume'"
      }
      if status.isRotationDue { return "the vault key is more than a year old: run 'coffer vault rotate'" }
      return nil
    }
  }

  /// A damaged index costs time, and no answer: it is advice.
  fileprivate func examineIndex(_ diagnosis: inout Diagnosis, isDeep: Bool) throws {
    let status: Vault.IndexStatus?
    do { status = try vault.indexStatus(isDeep: isDeep) } catch is VaultError {
      // The vault's state is a finding already.
      return
    } catch StorageError.outdated {
      return
    }
    guard let status else { return }
    let count = status.segmentCount == 1 ? "1 segment" : "\(status.segmentCount) segments"
    diagnosis.checks.append("the search index: " + (isDeep ? "\(count), every block" : count))
    switch status.trouble {
    case nil: break
    case .damaged:
      diagnosis.add(
        .advice,
        "the search index is damaged, so messages are read one by one: 'coffer doctor --reindex' makes it again"
      )
    case .disk:
      diagnosis.add(
        .advice, "the disk failed at the search index, so messages are read one by one: see to the disk")
    }
  }

  /// Opens what is kept of the account: its rows and the keys that they need.
  fileprivate func examineAccount(_ diagnosis: inout Diagnosis) throws {
    guard try account.exists() else { return }
    try diagnosis.check("what is kept of the account") {
      do { _ = try account.open() } catch KeychainError.secureEnclaveUnavailable {
        return "the chip with the keys of the account does not answer, so what is kept of it was not opened"
      }
      return nil
    }
  }

  fileprivate func examineCaptures(_ diagnosis: inout Diagnosis, isDeep: Bool) throws {
    var damagedCaptures: [CaptureID] = []
    try diagnosis.check(isDeep ? "every capture" : "the captures' rows and blobs") {
      let findings = try captures.examine(isDeep: isDeep)
      damagedCaptures = findings.damaged
      if findings.strayPartCount > 0 { throw CaptureError.corrupt(nil) }
      if findings.strayBlobCount > 0 {
        return
          "sealed files that belong to no capture: \(findings.strayBlobCount). A crash left them, or coffer.db is "
          + "older than they are. The next capture removes them; if you restored a backup, restore the newer coffer.db first"
      }
      return nil
    }
    diagnosis.damagedCaptures = damagedCaptures
    if !damagedCaptures.isEmpty {
      diagnosis.add(
        .damage,
        damagedCaptures.count == 1
          ? "1 capture is damaged; a backup of the coffer's folder may have it"
          : "\(damagedCaptures.count) captures are damaged; a backup of the coffer's folder may have them"
      )
    }
  }

  /// Opens every message, and ends the warnings about those that did not open.
  fileprivate func examineMessages(_ diagnosis: inout Diagnosis, _ progress: (Int, Int) -> Void) throws {
    var unreadable: [MessageID] = []
    var warned = 0
    try diagnosis.check("every message") {
      unreadable = try vault.unreadableMessages(progress: progress)
      warned = try vault.status().unexaminedFailures
      return nil
    }
    diagnosis.unreadable = unreadable
    if warned > 0 {
      diagnosis.endsWarnings = true
      diagnosis.add(
        .advice,
        "\(warned) messages did not open since the last deep examination; the warnings about them end now")
    }
    if !unreadable.isEmpty {
      diagnosis.add(
        .damage,
        unreadable.count == 1
          ? "1 message does not open; a backup of the coffer's folder may have it"
          : "\(unreadable.count) messages do not open; a backup of the coffer's folder may have them")
    }
  }

  /// Whether this machine's chip has keys of the coffer.
  fileprivate func usesChip() throws -> Bool {
    guard machine.chip is any CounterEnclave else { return false }
    return try device().map { $0.enclave.isHardware } ?? false || slots().contains { $0.kind == .enclave }
  }

  /// Asks the chip whether this is the latest state of the whole coffer.
  fileprivate func examineCounter(_ diagnosis: inout Diagnosis) throws {
    let verdict: CounterVerdict
    do { verdict = try counter.check() } catch StorageError.earlierState {
      return diagnosis.add(.damage, StorageError.earlierState.sentence)
    }
    switch verdict {
    case .noCounter:
      guard try usesChip() else { return }
      diagnosis.add(
        .advice,
        "the TPM has no counter for this coffer, so restoring an old copy of all of it would go unnoticed: "
          + "'coffer forget-device', then 'coffer unlock', requests one")
    case .unverifiable:
      diagnosis.add(
        .advice,
        "the TPM does not have this coffer's counter: it is unavailable, was cleared, or is another machine's. "
          + "If 'coffer self-test' finds it, 'coffer forget-device', then 'coffer unlock', makes a new one")
    case .latest, .chipOneBehind, .earlierState: diagnosis.checks.append("the counter in the TPM")
    }
  }

  /// Checks that every domain opens, and every private key can be opened as far as that can be told.
  fileprivate func examineProtectedData(_ diagnosis: inout Diagnosis) throws {
    do {
      let domains = try unlockProtectedData().domains.values
      let custody = try openPrivateKeys().custody
      guard domains.allSatisfy({ $0 == .open }) else { throw CustodyError.corrupt }
      diagnosis.checks.append("protected data and private keys")
      diagnosis.add(try custody.places().values)
      try examineUnlisted(custody, &diagnosis)
      try examineKinds(&diagnosis)
    } catch ProtectedDataError.unprotectedFiles {
      // The file modes are already a finding.
    } catch {
      switch error {
      case ProtectedDataError.frameworkRecovery(.resetInterrupted):
        return diagnosis.add(
          .damage, "a reset of protected data was interrupted: run 'coffer reset framework --yes' again")
      case let error as ProtectedDataError where error.isDamage: break
      case CustodyError.corrupt: break
      case is ProtectedDataError, is CustodyError, is EnclaveError:
        return diagnosis.add(.advice, "protected data does not open now: run 'coffer recovery-state'")
      default: throw error
      }
      diagnosis.add(
        .damage, "protected data does not open, or private keys are incomplete: run 'coffer recovery-state'")
    }
  }

  /// Private keys that open, and that nobody sees.
  private func examineUnlisted(_ custody: PrivateKeyCustody, _ diagnosis: inout Diagnosis) throws {
    let count = try IdentityStore(custody, protectedDomains()).unlisted().count { !$0.place.isLost }
    guard count > 0 else { return }
    diagnosis.add(
      .advice,
      "no identity lists \(count == 1 ? "1 private key" : "\(count) private keys"): "
        + "'coffer identity list', with what opens private keys, lists them again")
  }

  private func examineKinds(_ diagnosis: inout Diagnosis) throws {
    let kinds = try keyKinds()
    guard kinds.isMixed else { return }
    diagnosis.add(
      .advice,
      "the keys are not all of one kind: \(kinds.words). What is in software opens on every machine with the file and "
        + "the passphrase")
  }
}

extension Diagnosis {
  /// What the places of private keys say.
  fileprivate mutating func add(_ places: some Collection<PrivateKeyPlace>) {
    let lost = places.count(where: \.isLost)
    if lost > 0 {
      add(
        .damage,
        "\(lost) of \(places.count) private keys cannot be opened any more: 'coffer recovery-state' names them"
      )
    }
    let away = places.count { if case .away = $0.state { true } else { false } }
    if away > 0 {
      add(.advice, "the enclave of \(away) of \(places.count) private keys does not answer now")
    }
  }
}

extension ProtectedDataError {
  /// Whether something is lost, rather than unavailable for now.
  var isDamage: Bool {
    switch self {
    case .frameworkRecovery, .domainRecovery: true
    case .storage(let error): error.isDamage
    default: false
    }
  }
}

extension Diagnosis {
  /// Runs a check; damage becomes a finding, a sentence becomes advice, any other error is thrown.
  fileprivate mutating func check(_ what: String, _ body: () throws -> String?) throws {
    do {
      if let advice = try body() { add(.advice, advice) }
      checks.append(what)
    } catch StorageError.outdated {
      // Already a finding, which names the part.
    } catch {
      guard Self.isDamage(error) else { throw error }
      add(.damage, "\(what): not what was stored")
    }
  }

  private static func isDamage(_ error: any Error) -> Bool {
    switch error {
    case let error as StorageError: error.isDamage
    case KeychainError.itemNotFound: true
    case let error as KeychainError: error.isDamage
    case KeybagError.corrupt, VaultError.corrupt, VaultError.dataTampered, VaultError.decryptionFailed:
      true
    case SyncError.corrupt: true
    case CaptureError.corrupt, CaptureError.encryptionKeyNotFound, CaptureError.badSignature: true
    default: false
    }
  }
}
