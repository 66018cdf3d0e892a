// SPDX-License-Identifier: Apache-2.0
//
// What an examination of a coffer finds, and the part of it that needs no key. It repairs nothing.

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
    /// Something differs from its stored form.
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

  /// The findings, in the order of the checks.
  public var findings: [Finding] = []
  /// The checks that were made, one line each.
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
  /// Examines everything that needs no key: modes, header, schema, pages, indexes, slots.
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
  mutating func examineFile(_ open: () throws -> DatabaseFile) throws {
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

  mutating func checkModes(_ home: String) {
    for (name, wanted) in [
      ("", mode_t(0o700)), (DatabaseFile.name, 0o600), (DatabaseFile.name + "-wal", 0o600),
      (DatabaseFile.name + "-shm", 0o600), (DatabaseFile.lockName, 0o600), (BlobFiles.folderName, 0o700),
      (BlobFiles.searchFolderName, 0o700),
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
  mutating func checkExports(_ home: String) {
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
    case .account: "the account is"
    }
  }
}
