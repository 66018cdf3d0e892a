// SPDX-License-Identifier: Apache-2.0
//
// Every exit code of `coffer`, and what leads to each. Specs/cli.md promises them.

internal import Agent
internal import Captures
internal import CofferKit
internal import Enclaves
internal import Glibc
internal import KeyCustody
internal import Keychains
internal import MessageFormats
internal import Primitives
internal import ProtectedData
internal import Secrets
internal import Storage
internal import UserAuthentication
internal import Vaults

/// The exit codes.
enum ExitCode: Int32, CaseIterable {
  case done = 0
  /// The words of the call are off.
  case usage = 2
  /// Locked, or a prompt is needed and there is no way to ask.
  case locked = 3
  /// Wrong passphrase, PIN or phrase.
  case wrongSecret = 4
  /// Tampered or corrupt data.
  case corrupt = 5
  /// No such item, or no coffer here.
  case missing = 6
  /// Refused by policy.
  case refused = 7
  /// Not enough memory or disk for this to be safe.
  case noRoom = 8
  /// In use by another process, or already there.
  case inUse = 9
  /// Hardware or a service missing or not answering.
  case noHardware = 10
  /// Our bug.
  case bug = 70
  /// Interrupted by SIGINT, SIGTERM or SIGHUP; 128 + SIGINT, as shells have it.
  case interrupted = 130
}

/// An error as it is told: to a person in a line and a hint, to a program as JSON.
struct Failure: Error {
  var exit: ExitCode
  /// For programs; stable.
  var code: String
  /// Lower case, no full stop.
  var message: String
  var hint: String?
  /// Identifiers of messages, or captures, that did not open.
  var unreadable: [String] = []
  /// What those are, in one word.
  var unreadableKind = "message"

  init(_ exit: ExitCode, _ code: String, _ message: String, hint: String? = nil) {
    self.exit = exit
    self.code = code
    self.message = message
    self.hint = hint
  }

  static func usage(_ message: String, hint: String? = nil) -> Failure {
    Failure(.usage, "usage", message, hint: hint)
  }

  /// Content that would act on the terminal it is written to.
  static func notForTerminal(_ message: String) -> Failure {
    Failure(
      .refused, "not_for_terminal", message,
      hint: "write it to a file or a pipe, or add --force")
  }

  /// Sorts the errors of every room.
  init(_ error: any Error) {
    switch error {
    case let failure as Failure: self = failure
    case let error as StorageError: self.init(storage: error)
    case let error as KeybagError: self.init(keybag: error)
    case let error as KeychainError: self.init(keychain: error)
    case let error as VaultError: self.init(vault: error)
    case let error as MessageFormatError: self.init(format: error)
    case let error as PromptError: self.init(prompt: error)
    case let error as PassphraseError: self.init(passphrase: error)
    case let error as RecoveryPhraseError: self.init(phrase: error)
    case let error as AgentError: self.init(agent: error)
    case CofferError.weakPassphrase(let problems):
      self.init(
        .refused, "weak_passphrase",
        "this passphrase is too weak: \(problems.map(\.description).joined(separator: "; "))",
        hint: "«coffer passphrase generate» makes a good one")
    case let error as CaptureError: self.init(capture: error)
    case let error as EnclaveError: self.init(enclave: error)
    case let error as ProtectedDataError: self.init(protectedData: error)
    case let error as CustodyError: self.init(custody: error)
    case let error as AuthenticationError: self.init(authentication: error)
    case let problem as PINPolicy.Problem:
      self.init(.refused, "weak_pin", problem.description)
    case CofferError.deviceNotRegistered:
      self.init(
        .missing, "no_device", "this machine was forgotten, and nothing signs its captures",
        hint: "«coffer unlock» registers it again")
    case CofferError.personRequired:
      self.init(.locked, "person_required", "this wants the passphrase, not a session")
    case CofferError.recoveryUnproven:
      self.init(
        .refused, "recovery_unproven", "no recovery drill has ever succeeded with this coffer",
        hint: "run «coffer recovery drill» first, or add --force")
    case SecretMemoryError.cannotLock:
      self.init(
        .noRoom, "no_locked_memory", "the system lets this process lock too little memory",
        hint: "raise the limit: ulimit -l 8192")
    default: self.init(.bug, "internal", "something happened that should not: \(type(of: error))")
    }
  }

  private init(storage error: StorageError) {
    let message = error.sentence
    switch error {
    case .notFound: self.init(.missing, "no_coffer", message, hint: "«coffer init» makes one")
    case .alreadyExists: self.init(.inUse, "already_exists", message, hint: "name another place with --home")
    case .notEmpty: self.init(.refused, "not_empty", message, hint: "name a new folder with --home")
    case .inUse: self.init(.inUse, "in_use", message, hint: "try again when it is done")
    case .full:
      self.init(
        .noRoom, "full", message, hint: "everything that was acknowledged is safe; make room and go on")
    case .notPermitted:
      self.init(
        .missing, "not_permitted", message,
        hint: "look at the owner and the modes of the folder")
    case .readOnly:
      self.init(
        .missing, "read_only", message,
        hint: "name a place where you can write with --home: a copy of the whole folder, say")
    case .foreign:
      self.init(
        .corrupt, "foreign_file", message,
        hint: "look what stands there, then restore what belongs there from a backup")
    case .inputOutput:
      self.init(.corrupt, "input_output", message, hint: "look at the disk, then run «coffer doctor»")
    case .corrupt, .unknownFormat: self.init(.corrupt, "corrupt", message, hint: Self.corruptHint)
    case .outdated:
      self.init(
        .corrupt, "outdated", message,
        hint: "put every file of the coffer back from one copy, not some of them")
    case .earlierState:
      self.init(
        .corrupt, "earlier_state", message,
        hint:
          "if you put a copy back yourself, «coffer doctor --accept-earlier-state» takes it for the present one"
      )
    case .foreignLog:
      self.init(
        .corrupt, "foreign_log", message,
        hint: "nothing was read from it; move coffer.db-wal and coffer.db-shm out of the folder, keep them, "
          + "and run «coffer doctor»")
    }
  }

  /// An error with the coffer in `home`; says where that is, since a wrong place is the likeliest cause.
  init(_ error: StorageError, home: String) {
    self.init(storage: error)
    switch error {
    case .notFound: message = "there is no coffer in «\(home)»"
    case .alreadyExists: message = "there is a coffer in «\(home)» already"
    case .notEmpty: message = "«\(home)» is not empty, and a coffer wants a folder of its own"
    case .readOnly: message = "«\(home)» is on a medium that cannot be written"
    case .notPermitted: message = "the coffer in «\(home)» cannot be read and written by this user"
    default: break
    }
  }

  private init(keybag error: KeybagError) {
    switch error {
    case .wrongSecret: self.init(.wrongSecret, "wrong_secret", "this opens no slot of the coffer")
    case .noSuchSlot:
      self.init(
        .missing, "no_such_slot", "the coffer has no such slot", hint: "«coffer slot list» shows them")
    case .corrupt:
      self.init(.corrupt, "corrupt", "the slots are corrupt or were tampered with", hint: Self.corruptHint)
    case .lastSlot:
      self.init(
        .refused, "last_slot", "this is the last passphrase or recovery phrase of the coffer",
        hint: "add another one first")
    case .enclave(let error): self.init(enclave: error)
    case .notHardware:
      self.init(.refused, "not_hardware", "a PIN without a chip that counts tries would protect nothing")
    case .tooManySlots(let limit):
      self.init(.refused, "too_many_slots", "a coffer has at most \(limit) slots")
    case .derivation(.notEnoughMemory(let needed, let available)):
      self.init(
        .noRoom, "not_enough_memory",
        "this key uses memory-intensive protection that exceeds this device's capacity: "
          + "\(needed >> 20) MiB needed, \(available >> 20) MiB available",
        hint: "close other programs, or open the coffer with the recovery phrase")
    case .derivation(.allocationFailed):
      self.init(.noRoom, "not_enough_memory", "the memory for the key derivation could not be had")
    case .derivation(.parameters):
      self.init(.corrupt, "corrupt", "the slot asks for an impossible key derivation")
    }
  }

  private init(capture error: CaptureError) {
    switch error {
    case .encryptionKeyNotFound:
      self.init(
        .corrupt, "capture_key_missing", "there are sealed captures here, and the coffer has no key for them",
        hint:
          "coffer.db may be older than they are: put the newer one back, or move the folder blobs away and keep it"
      )
    case .locked:
      self.init(.locked, "locked", "the coffer is locked", hint: "«coffer unlock» opens it")
    case .notFound:
      self.init(
        .missing, "capture_not_found", "no such capture", hint: "«coffer capture list» shows what there is")
    case .corrupt(let part):
      let what = part.map { "the capture's \($0.name)" } ?? "what is kept of the captures"
      self.init(
        .corrupt, "capture_corrupt", "\(what) is corrupt or was tampered with", hint: Self.corruptHint)
    case .badSignature:
      self.init(.corrupt, "bad_signature", "the signature is not of this capture", hint: Self.corruptHint)
    case .duplicate(let id):
      self.init(
        .inUse, "duplicate_capture", "this photo is there already, as \(id)",
        hint: "--allow-duplicate takes it in again")
    case .tooLarge(let part, let limit):
      self.init(.refused, "capture_too_large", "the \(part.name) may have at most \(ByteCount.text(limit))")
    case .malformedMetadata:
      self.init(.refused, "malformed", "the metadata are not a JSON object")
    case .cannotRead(let part):
      self.init(
        .missing, "no_such_file", "the file with the \(part.name) cannot be read, or changed meanwhile")
    case .alreadyExists:
      self.init(
        .inUse, "already_exists",
        "the directory is there already and not empty, and an export overwrites nothing")
    case .cannotWrite(let code) where code == 28 || code == 122:
      self.init(.noRoom, "full", "the disk is full", hint: Self.fullExportHint)
    case .interrupted: self = .interrupted("nothing was changed")
    case .cannotWrite: self.init(.missing, "not_permitted", "the files cannot be written there")
    }
  }

  /// The chip's answers: what each wants of the person differs.
  private init(enclave error: EnclaveError) {
    let message = error.sentence.prefix(1).lowercased() + error.sentence.dropFirst()
    let other = "use the passphrase"
    switch error {
    case .wrongPasscode:
      self.init(.wrongSecret, "wrong_pin", "wrong PIN; the TPM has counted it", hint: "or \(other)")
    case .lockedOut: self.init(.locked, "pin_locked_out", error.sentence, hint: other)
    case .otherChip:
      self.init(
        .noHardware, "other_chip", message,
        hint: "\(other), then «coffer forget-device» and «coffer slot add tpm»")
    case .unavailable:
      #if TPM
        self.init(.noHardware, "no_chip", "no TPM answers", hint: "\(other); COFFER_TCTI names the TPM")
      #else
        self.init(
          .noHardware, "no_chip", "no TPM answers", hint: "\(other); this coffer was built without the TPM")
      #endif
    case .notAnswering:
      self.init(.noHardware, "chip_not_answering", error.sentence, hint: "try again, or \(other)")
    case .corrupt, .wrongKind: self.init(.corrupt, "corrupt", message, hint: Self.corruptHint)
    case .biometryRefused, .authorizationRequired:
      self.init(.wrongSecret, "refused_by_chip", message, hint: other)
    case .invalidInput, .counterRefused, .counterGone, .failed:
      self.init(.noHardware, "chip_failed", message, hint: other)
    }
  }

  private init(keychain error: KeychainError) {
    switch error {
    case .locked: self.init(.locked, "locked", "the coffer is locked")
    case .serviceLocked:
      self.init(
        .locked, "keyring_locked", "the desktop's keyring is locked, and this coffer's keychain is in it",
        hint: "unlock the keyring where you manage it, or log in to the desktop; nothing is lost")
    case .itemNotFound: self.init(.missing, "no_such_item", "there is no such item")
    case .duplicateItem: self.init(.inUse, "already_exists", "there is such an item already")
    case .secureEnclaveUnavailable: self.init(.noHardware, "no_enclave", "no chip holds keys here")
    case .serviceUnavailable:
      #if SecretService
        self.init(
          .noHardware, "no_secret_service", "there is no Secret Service, or it has no default collection",
          hint: "start the desktop's keyring in this session and make a default keyring")
      #else
        self.init(
          .noHardware, "no_secret_service", "this coffer was built without the Secret Service",
          hint: "one that was built with the trait SecretService can use it")
      #endif
    case .saveFailed(let status), .loadFailed(let status), .deleteFailed(let status),
      .unexpectedError(let status):
      switch status {
      case StorageError.full.status: self.init(storage: .full)
      case StorageError.inUse.status: self.init(storage: .inUse)
      case StorageError.notPermitted.status: self.init(storage: .notPermitted)
      case StorageError.readOnly.status: self.init(storage: .readOnly)
      // A negative one is no code of the coffer's file.
      case ..<0:
        self.init(
          .noHardware, "secret_service_failed", "the Secret Service does not answer as it should (\(status))",
          hint: "nothing is lost; try again, or start the desktop's keyring anew")
      default:
        self.init(
          .corrupt, "input_output", "the keychain cannot be read or written (\(status))",
          hint: Self.corruptHint)
      }
    case .invalidData, .encodingFailed, .decodingFailed:
      self.init(.corrupt, "corrupt", "the keychain is corrupt or was tampered with", hint: Self.corruptHint)
    }
  }

  private init(vault error: VaultError) {
    let code = error.code.lowercased()
    switch error {
    case .dataTampered, .decryptionFailed:
      self.init(.corrupt, code, "message corrupted or tampered", hint: Self.corruptHint)
    case .corrupt:
      self.init(.corrupt, code, "data corruption detected; restore from backup", hint: Self.corruptHint)
    case .lockedAfterFailures:
      self.init(
        .locked, code,
        "data corruption detected; restore from backup: more than 100 messages did not open within an hour, and "
          + "the vault has locked itself",
        hint: "«coffer unlock» asks who you are; then «coffer doctor --deep» names the messages")
    case .keychainAccessDenied: self.init(.locked, code, "the coffer is locked")
    case .keychainNotAvailable(let error): self.init(keychain: error)
    case .messageNotFound:
      self.init(.missing, code, "no such message", hint: "«coffer message list» shows what there is")
    case .weakPassphrase: self.init(.refused, code, "the passphrase is too weak")
    case .messageTooLarge(let limit):
      self.init(.refused, code, "a message may have at most \(limit >> 20) MiB")
    case .metadataOutOfBounds:
      self.init(.refused, code, "title, tags or date are longer than a message can have")
    case .noRotationUnderWay:
      self.init(.missing, code, "no rotation is under way", hint: "«coffer vault rotate» begins one")
    case .nothingToRollBack:
      self.init(
        .missing, code, "no former key is kept", hint: "former keys are kept for \(Vault.retiredKeyDays) days"
      )
    case .keyDerivationFailed, .encryptionFailed: self.init(.bug, code, "the key could not be used")
    }
  }

  private init(format error: MessageFormatError) {
    switch error {
    case .notFound: self.init(.missing, "no_such_file", "there is no such file or directory")
    case .wrongKind:
      self.init(
        .usage, "wrong_kind", "it is not of that kind",
        hint: "mbox and jsonl are files; maildir and directory are directories")
    case .alreadyExists:
      self.init(.inUse, "already_exists", "there is such a file already, and an export overwrites nothing")
    case .cannotWrite where error.isOutOfSpace:
      self.init(
        .noRoom, "full", "the disk is full", hint: Self.fullExportHint)
    case .entry(_, let error): self.init(format: error)
    case .cannotRead, .cannotWrite: self.init(.missing, "not_permitted", "the file cannot be read or written")
    default: self.init(.refused, "malformed", "the file is not of that format")
    }
  }

  /// An error with a file that the person named; their own word is told back to them.
  init(_ error: MessageFormatError, naming path: String) {
    self.init(format: error)
    if path == "-", exit == .noRoom { hint = "the output is not complete; make room and begin again" }
    if path != "-", exit != .noRoom { message = "«\(path)»: \(message)" }
  }

  private init(prompt error: PromptError) {
    switch error {
    case .cancelled: self.init(.locked, "cancelled", "cancelled")
    case .noTerminal:
      self.init(
        .locked, "no_prompt", "a passphrase is needed and there is no terminal to ask on",
        hint: "use --passphrase-fd, --passphrase-file, or COFFER_PINENTRY")
    case .promptProgramMissing, .promptProgramFailed:
      self.init(.locked, "no_prompt", "the pinentry program does not answer", hint: "look at COFFER_PINENTRY")
    case .timedOut:
      self.init(
        .locked, "no_answer", "the pinentry program gave no answer in time, and was ended",
        hint: "it waits for 5 minutes; try again, or look at COFFER_PINENTRY")
    default: self.init(.locked, "no_prompt", "the answer could not be read")
    }
  }

  private init(passphrase error: PassphraseError) {
    switch error {
    case .unreadable(.cannotOpen(ENOENT)):
      self.init(
        .usage, "no_passphrase", "there is no such file to read the passphrase from",
        hint: "look at --passphrase-file")
    case .unreadable:
      self.init(
        .usage, "no_passphrase", "the passphrase cannot be read",
        hint: "look at --passphrase-file and --passphrase-fd")
    case .empty: self.init(.refused, "weak_passphrase", "the passphrase is empty")
    case .tooLong:
      self.init(
        .refused, "bad_passphrase", "the passphrase is longer than \(Passphrase.byteCountLimit) bytes")
    case .notUTF8, .containsNUL: self.init(.refused, "bad_passphrase", "the passphrase is not text in UTF-8")
    }
  }

  private init(phrase error: RecoveryPhraseError) {
    switch error {
    case .wrongWordCount(let expected, let found):
      self.init(.wrongSecret, "bad_phrase", "a recovery phrase has \(expected) words, this has \(found)")
    case .unknownWord(let position):
      self.init(.wrongSecret, "bad_phrase", "word \(position) is not in the list of words")
    case .checksumMismatch:
      self.init(
        .wrongSecret, "bad_phrase",
        "the words do not fit each other: one is wrong, or two have changed places")
    }
  }

  private init(agent error: AgentError) {
    switch error {
    case .locked, .otherCoffer:
      self.init(.locked, "locked", "the coffer is locked", hint: "«coffer unlock» opens it")
    case .notAnswering, .malformedAnswer:
      self.init(
        .noHardware, "agent_not_answering", "the agent does not answer", hint: "«coffer lock --all» ends it")
    case .unreachable(let process):
      self.init(
        .noHardware, "agent_not_answering",
        "an agent of this coffer, process \(process), cannot be asked, and may have the keys",
        hint: "«coffer lock --all» ends it; if that fails: kill -KILL \(process)")
    case .alreadyServed:
      self.init(.inUse, "already_served", "an agent serves this coffer already")
    case .noHome: self.init(.missing, "no_coffer", "there is no coffer", hint: "«coffer init» makes one")
    case .noRuntimeDirectory, .pathTooLong:
      self.init(
        .refused, "no_runtime_directory", "there is no safe place for the agent's socket",
        hint: "set XDG_RUNTIME_DIR to a folder of mode 0700 with a short name")
    case .limitOutOfBounds: self.init(.usage, "usage", "a limit is out of bounds")
    case .noLockedMemory: self.init(SecretMemoryError.cannotLock)
    case .unprotected: self.init(.refused, "unprotected", "the agent's process could not be protected")
    case .startFailed, .system: self.init(.inUse, "agent_failed", "the agent could not be started")
    case .missingKey: self.init(.bug, "internal", "a key is missing")
    }
  }

  private static let fullExportHint = "nothing was left there; make room and begin again"

  private static let corruptHint =
    "run «coffer doctor --deep»; what is damaged may be whole in a copy of the coffer's folder"
}
