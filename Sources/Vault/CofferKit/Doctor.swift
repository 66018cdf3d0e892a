// SPDX-License-Identifier: Apache-2.0
//
// The examination of a coffer. It repairs nothing.

public import Captures
internal import Enclaves
internal import Glibc
internal import KeyCustody
internal import Keychains
internal import ProtectedData
internal import Secrets
public import Storage
public import Vaults

/// What an examination found.
public struct Diagnosis: Sendable {
  /// How serious a finding is.
  public enum Severity: String, Sendable {
    /// Something is not what was stored.
    case damage
    /// Another user can read the coffer's files, or could have changed them.
    case exposure
    /// Nothing is wrong yet.
    case advice
  }

  /// One finding.
  public struct Finding: Sendable, Equatable {
    /// How serious it is.
    public let severity: Severity
    /// One sentence without identifiers.
    public let text: String
  }

  /// What was found, in the order of the checks.
  public var findings: [Finding] = []
  /// What was checked, one line each.
  public var checks: [String] = []
  /// Whether only parts that need no key were checked.
  public var isWithoutKeys = false
  /// Messages that do not open; only after a deep examination.
  public var unreadable: [MessageID] = []
  /// Captures that are damaged.
  public var damagedCaptures: [CaptureID] = []
  /// Whether every message was opened, so that the warnings about those that do not open can end.
  var endsWarnings = false

  /// Whether there is nothing worse than advice.
  public var isHealthy: Bool { findings.allSatisfy { $0.severity == .advice } }

  mutating func add(_ severity: Severity, _ text: String) {
    findings.append(Finding(severity: severity, text: text))
  }
}

extension Diagnosis {
  /// Examines what can be examined without a key: modes, header, schema, pages, indexes, slots.
  /// - Throws: `StorageError` when nothing could be examined; damage becomes a finding.
  public static func withoutKeys(home: String) throws -> Diagnosis {
    guard DatabaseFile.exists(home: home) else { throw StorageError.notFound }
    var diagnosis = Diagnosis()
    diagnosis.isWithoutKeys = true
    diagnosis.checkModes(home)
    diagnosis.checkExports(home)
    try diagnosis.examineFile { try DatabaseFile.open(home: home) }
    return diagnosis
  }

  /// Examines header, schema, pages, indexes and slots of the file that `open` gives.
  fileprivate mutating func examineFile(_ open: () throws -> DatabaseFile) throws {
    do {
      let file = try open()
      checks.append("header and schema")
      let findings = try file.integrityFindings()
      checks.append("every page and index")
      if !findings.isEmpty {
        add(.damage, "the file is damaged: \(findings.count) inconsistencies")
      }
      let keybag = try file.read(Keybag.load)
      try file.read(FileBinding.checkSlots)
      let slots = keybag.slots
      checks.append(slots.count == 1 ? "1 slot" : "\(slots.count) slots")
      if !slots.contains(where: { $0.kind == .recoveryPhrase }) {
        add(.advice, "there is no recovery phrase: if you forget the passphrase, everything is lost")
      }
      if keybag.keychain == .secretService { checkServiceKeychain(keybag, file) }
    } catch KeybagError.corrupt {
      add(.damage, "the slots are damaged, so nothing opens this coffer; restore a backup of its folder")
    } catch let error as StorageError where error.isDamage {
      add(.damage, "the file does not open: \(error.sentence)")
    }
  }

  /// Checks that the Secret Service has the coffer's items, as far as possible without a key.
  private mutating func checkServiceKeychain(_ keybag: Keybag, _ file: DatabaseFile) {
    do {
      if try keybag.openKeychain(file).items().isEmpty {
        add(
          .damage,
          "the Secret Service does not have this coffer's keychain: restore a backup of the keyring")
      }
      checks.append("the Secret Service's items")
    } catch  where error.isDamage {
      add(
        .damage,
        "the keychain in the Secret Service is not what was stored: restore a backup of the keyring")
    } catch {
      add(.advice, "the Secret Service is locked or does not answer: unlock the keyring and try again")
    }
  }

  fileprivate mutating func checkModes(_ home: String) {
    for (name, wanted) in [
      ("", mode_t(0o700)), (DatabaseFile.name, 0o600), (DatabaseFile.name + "-wal", 0o600),
      (DatabaseFile.name + "-shm", 0o600), (DatabaseFile.lockName, 0o600), (BlobFiles.folderName, 0o700),
      (UnfinishedExports.folderName, 0o700),
    ] {
      var status = stat()
      // The directory may be reached through a symbolic link; its target is checked.
      let isFound = unsafe name.isEmpty ? stat(home, &status) : lstat(home + "/" + name, &status)
      guard isFound == 0 else { continue }
      let shown = name.isEmpty ? "the coffer's directory" : name
      let kind = wanted == 0o700 ? S_IFDIR : S_IFREG
      guard status.st_mode & S_IFMT == kind else {
        add(.damage, "\(shown) is a link, a pipe or something else that is not the coffer's")
        continue
      }
      if kind == S_IFREG, status.st_nlink > 1 {
        add(.advice, "\(shown) also has another name: a hard link is not a copy, it changes with the file")
      }
      if status.st_mode & 0o077 != 0 {
        add(.exposure, "\(shown) is open to others; its mode should be \(String(wanted, radix: 8))")
      }
      if status.st_uid != geteuid() { add(.exposure, "\(shown) belongs to another user") }
    }
    checks.append("file modes")
  }
}

extension Diagnosis {
  /// Looks for files that killed exports have left.
  fileprivate mutating func checkExports(_ home: String) {
    let found = UnfinishedExports(home: home).leftovers()
    for path in found.present {
      add(.advice, "a killed export left plaintext in '\(path)': the next export removes it")
    }
    for path in found.unreachable {
      add(
        .advice,
        "a killed export may have left plaintext in '\(path)', which cannot be reached now")
    }
  }
}

extension Coffer {
  /// Examines everything that keys can open.
  ///
  /// - Parameters:
  ///   - isDeep: whether to open every message, not just the rows that name them.
  ///   - progress: called with the number of messages done and of all messages.
  public func examine(isDeep: Bool, progress: (Int, Int) -> Void = { _, _ in }) throws -> Diagnosis {
    var diagnosis = Diagnosis()
    diagnosis.checkModes(home)
    diagnosis.checkExports(home)
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
    try diagnosis.check("the device's registration") {
      try device() == nil ? "this machine is not registered: 'coffer unlock' registers it" : nil
    }
    try examineProtectedData(&diagnosis)
    try diagnosis.check("the vault's state and count") {
      let status = try vault.status()
      try vault.checkCount()
      if status.isRotating {
        return "a rotation was started and not finished: run 'coffer vault rotate --resume'"
      }
      if status.isRotationDue { return "the vault key is more than a year old: run 'coffer vault rotate'" }
      return nil
    }
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
    if isDeep {
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
  /// Whether this machine's chip has keys of the coffer.
  fileprivate func usesChip() throws -> Bool {
    guard machine.chip is any CounterEnclave else { return false }
    return try device().map { $0.enclave != .software } ?? false || slots().contains { $0.kind == .enclave }
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
          + "'coffer forget-device', then 'coffer unlock', makes a new one")
    case .latest, .chipOneBehind, .earlierState: diagnosis.checks.append("the counter in the TPM")
    }
  }

  /// Checks that every domain opens and every private key has its envelope.
  fileprivate func examineProtectedData(_ diagnosis: inout Diagnosis) throws {
    do {
      let domains = try unlockProtectedData().domains.values
      let isWhole = try openPrivateKeys().custody.examine() == 0 && domains.allSatisfy { $0 == .open }
      guard isWhole else { throw CustodyError.corrupt }
      diagnosis.checks.append("protected data and private keys")
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
    case KeybagError.corrupt, VaultError.corrupt, VaultError.dataTampered: true
    case CaptureError.corrupt, CaptureError.encryptionKeyNotFound, CaptureError.badSignature: true
    default: false
    }
  }
}

extension StorageError {
  /// For people: what is wrong with the file.
  public var sentence: String {
    switch self {
    case .notFound: "there is no coffer here"
    case .alreadyExists: "there is already a coffer here"
    case .notEmpty: "the folder is not empty, and a coffer needs its own"
    case .inUse: "another process is writing to this coffer"
    case .full: "the disk is full"
    case .notPermitted: "the coffer's files cannot be read and written by this user"
    case .readOnly: "the coffer is on a read-only medium"
    case .placeTaken(let place):
      "\(place.rawValue) is a link, a pipe or something else that is not the coffer's"
    case .inputOutput: "the disk reports an error"
    case .corrupt: "the coffer's file is corrupt or was tampered with"
    case .outdated(let part):
      "\(part.words) not what was stored last: damaged, or put back to an earlier state"
    case .earlierState:
      "the whole coffer is in an earlier state: the TPM has counted changes that are not in it"
    case .staleLog:
      "coffer.db-wal is older than coffer.db, and does not belong to it"
    case .unknownFormat(let found, let known):
      "the coffer's format is \(found), this program knows \(known): it is newer, or damaged"
    }
  }
}

extension BoundPart {
  /// The part and its verb, for people.
  fileprivate var words: String {
    switch self {
    case .slots: "the slots are"
    case .keychain: "the keychain is"
    case .messages: "the messages are"
    case .captures: "the captures are"
    case .protectedData: "the protected data is"
    }
  }
}
