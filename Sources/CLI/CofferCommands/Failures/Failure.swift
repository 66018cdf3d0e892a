// SPDX-License-Identifier: Apache-2.0
//
// An error as a user or a program sees it. Only this folder turns errors into messages: one file for the errors of
// each module.

internal import Agent
internal import Backups
internal import Captures
internal import Clipboards
internal import CofferKit
internal import Contacts
internal import Correspondence
internal import Editing
internal import Enclaves
internal import GnuPG
internal import Histories
internal import Identities
internal import KeyCustody
internal import Keychains
internal import MessageFormats
internal import OpenPGP
internal import ProtectedData
internal import Remotes
internal import Secrets
internal import SecurityKeys
internal import Storage
internal import Syncing
internal import Texts
internal import UserAuthentication
internal import Vaults

/// An error as it is printed: for users a line and a hint, for programs JSON.
struct Failure: Error {
  var exit: ExitCode
  /// For programs; stable.
  var code: String
  /// Lower case, no full stop.
  var message: String
  var hint: String?
  /// Identifiers of messages, or captures, that did not open.
  var unreadable: [String] = []
  /// The kind of those, in one word.
  var unreadableKind = "message"
  /// Everybody who may be meant, when several are.
  var candidates: [Candidate] = []

  /// What is wrong with recipients of a message.
  var problems: [Problem] = []
  /// Whom a message is for, as far as it says: fingerprints or key IDs, nil for a hidden one.
  var recipients: [String?] = []

  /// What is wrong with one recipient.
  struct Problem: Encodable {
    let who: String
    let fingerprint: String?
    let reason: String
    let since: String?
  }

  /// A contact or an identity that may be meant.
  struct Candidate: Encodable {
    /// The name of a contact.
    var contact: String?
    /// The name of an identity.
    var identity: String?
    let fingerprint: String?
    let addresses: [String]
  }

  init(_ exit: ExitCode, _ code: String, _ message: String, hint: String? = nil) {
    self.exit = exit
    self.code = code
    self.message = message
    self.hint = hint
  }

  static func usage(_ message: String, hint: String? = nil) -> Failure {
    Failure(.usage, "usage", message, hint: hint)
  }

  /// Content that could control the terminal it is written to.
  static func notForTerminal(_ message: String) -> Failure {
    Failure(
      .refused, "not_for_terminal", message,
      hint: "write it to a file or a pipe, or add --force")
  }

  /// Translates the errors of every module.
  init(_ error: any Error) {
    switch error {
    case let failure as Failure: self = failure
    case let error as StorageError: self.init(storage: error)
    case let error as KeybagError: self.init(keybag: error)
    case let error as KeychainError: self.init(keychain: error)
    case let error as RecoveryPhraseError: self.init(phrase: error)
    case let problem as PINPolicy.Problem: self.init(pin: problem)
    case let error as VaultError: self.init(vault: error)
    case let error as CaptureError: self.init(capture: error)
    case let error as MessageFormatError: self.init(format: error)
    case let error as PromptError: self.init(prompt: error)
    case let error as AuthenticationError: self.init(authentication: error)
    case let error as PassphraseError: self.init(passphrase: error)
    case let error as SecretMemoryError: self.init(memory: error)
    case let error as AgentError: self.init(agent: error)
    case let error as EnclaveError: self.init(enclave: error)
    case let error as SecurityKeyError: self.init(securityKey: error)
    case let error as ProtectedDataError: self.init(protectedData: error)
    case let error as CustodyError: self.init(custody: error)
    case let error as IdentityError: self.init(identity: error)
    case let problem as UserIDProblem: self = .usage("--user-id: \(problem.sentence)")
    case let error as ContactError: self.init(contact: error)
    case let error as CorrespondenceError: self.init(correspondence: error)
    case let error as RecipientProblems: self.init(recipients: error)
    case let error as MailError: self.init(mail: error)
    case let error as MailTreeError: self.init(mailTree: error)
    case let error as MailDraftError: self.init(draft: error)
    case let error as SearchSyntaxError: self.init(search: error)
    case let error as OpenPGPError: self.init(openPGP: error)
    case let error as CofferError: self.init(coffer: error)
    case let error as BackupError: self.init(backup: error)
    case let error as SyncError: self.init(sync: error)
    case let error as AddressError: self.init(address: error)
    case let error as RemotePlaceError: self.init(place: error)
    case let error as RemoteError: self.init(remote: error)
    case let outcome as Outcome: self.init(outcome: outcome, nil)
    case let error as GnuPGError: self.init(gnupg: error)
    case let error as EditorError: self.init(editing: error)
    case let error as ClipboardError: self.init(clipboard: error)
    default: self.init(unsorted: "\(type(of: error))")
    }
  }

  /// An error that no module documents: a bug. Names its type but not its contents.
  init(unsorted type: String) {
    self.init(.bug, "internal", "internal error: \(type)")
  }

  static let fullExportHint = "nothing was left there; make room and try again"

  static let corruptHint =
    "run 'coffer doctor --deep'; a backup of the coffer's folder may have what is damaged"
}

extension Failure {
  /// The lines: for users, or one JSON document.
  func lines(isJSON: Bool) -> [ShownLine] {
    if isJSON {
      let body = Answer.Body(
        code: code, message: message, hint: hint, unreadable: unreadable.isEmpty ? nil : unreadable,
        candidates: candidates.isEmpty ? nil : candidates, problems: problems.isEmpty ? nil : problems,
        recipients: recipients.isEmpty ? nil : recipients)
      return ["\(JSON.text(Answer(error: body)))"]
    }
    return unreadable.map { "\(unreadableKind) \($0): corrupted or tampered" } + ["coffer: \(message)"]
      + (hint.map { ["hint: \($0)"] } ?? [])
  }

  private struct Answer: Encodable {
    struct Body: Encodable {
      let code: String
      let message: String
      let hint: String?
      let unreadable: [String]?
      let candidates: [Candidate]?
      let problems: [Problem]?
      let recipients: [String?]?
    }
    let error: Body
  }
}
