// SPDX-License-Identifier: Apache-2.0
//
// Looking after a coffer: examination, audit log, the end.

internal import ArgumentParser
internal import CofferKit
internal import Keychains
internal import MessageFormats
internal import Primitives
internal import Storage
internal import Vaults

struct DoctorCommand: CofferCommand {
  static let configuration = CommandConfiguration(commandName: "doctor", abstract: "Examine the coffer.")
  static let page = """
    coffer doctor: examine the coffer; repairs nothing by itself

    usage: coffer doctor [--deep] [--accept-earlier-state] [--quiet]
                         [--passphrase-fd N | --passphrase-file PATH]

    Without a passphrase: file modes, header, schema, every page and index, the slots. With one, also
    every keychain item, the settings, the vault's count of messages, and the captures' rows and files. With
    --deep every message and capture is opened too. --quiet tells only what was found. Exit code 5 when
    anything is not what was stored.

    Where a TPM counts the changes of a coffer, one that was put back as a whole does not open. If you put
    it back yourself, --accept-earlier-state takes it for the present one, and then examines it.

    example: coffer doctor --deep
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var opening: OpeningOptions
  @Flag(help: "Open every message and capture.") var deep = false
  @Flag(help: "Take a coffer that was put back for the present one.") var acceptEarlierState = false

  struct Answer: Encodable {
    struct Finding: Encodable {
      let severity: String
      let text: String
    }
    let healthy: Bool
    let checks: [String]
    let findings: [Finding]
    let unreadable: [String]
    /// Absent where there are none.
    let damagedCaptures: [String]?
  }

  func execute(_ session: Session) throws {
    let diagnosis = try examine(session)
    if session.isJSON {
      JSON.print(
        Answer(
          healthy: diagnosis.isHealthy, checks: diagnosis.checks,
          findings: diagnosis.findings.map { .init(severity: $0.severity.rawValue, text: $0.text) },
          unreadable: diagnosis.unreadable.map(\.description),
          damagedCaptures: diagnosis.damagedCaptures.isEmpty
            ? nil : diagnosis.damagedCaptures.map(\.description)))
    } else {
      if !session.isQuiet { for check in diagnosis.checks { Terminal.print("checked   \(check)") } }
      for finding in diagnosis.findings {
        Terminal.print("\(finding.severity.rawValue.padded(to: 8))  \(finding.text)")
      }
      for id in diagnosis.unreadable { Terminal.print("damage    message \(id)") }
      for id in diagnosis.damagedCaptures { Terminal.print("damage    capture \(id)") }
      if diagnosis.isHealthy, !session.isQuiet {
        Terminal.print(
          diagnosis.isWithoutKeys
            ? "healthy, as far as it shows without a key: «coffer doctor --deep» examines the rest"
            : "healthy")
      }
    }
    guard diagnosis.isHealthy else {
      throw Failure(
        .corrupt, "unhealthy", "the coffer is not healthy",
        hint: diagnosis.findings.contains { $0.severity == .damage }
          ? "what is damaged may be whole in a copy of the coffer's folder"
          : "chmod -R go= -- \(ShellWord.quoted(session.home)) closes it to others; think of who may have read it"
      )
    }
  }

  private func examine(_ session: Session) throws -> Diagnosis {
    guard deep || acceptEarlierState || opening.isGiven else {
      return try interruptible(session) { try Diagnosis.withoutKeys(home: session.home) }
    }
    var bar = ProgressBar("examining", isQuiet: session.isQuiet || session.isJSON)
    defer { bar.finish() }
    do {
      let coffer = try open(session)
      return try interruptible(session) {
        try coffer.examine(isDeep: deep) { bar.update($0, of: $1, unit: "messages") }
      }
    } catch {
      // What does not even open is examined from outside, so that there is more to say than «corrupt».
      guard Failure(error).exit == .corrupt else { throw error }
      let outside = try Diagnosis.withoutKeys(home: session.home)
      if outside.isHealthy { throw error }
      return outside
    }
  }
}

extension DoctorCommand {
  private func open(_ session: Session) throws -> Coffer {
    guard acceptEarlierState else { return try session.open(opening) }
    var session = session
    session.acceptsEarlierState = true
    let coffer = try session.open(opening, needing: .person)
    session.note(
      try coffer.acceptEarlierState()
        ? "This state of the coffer is the present one now."
        : "This is the present state of the coffer already.")
    return coffer
  }

  /// Looking leaves nothing behind.
  private func interruptible(_ session: Session, _ work: () throws -> Diagnosis) throws -> Diagnosis {
    let words = Failure.interrupted(
      "the coffer was not examined to the end, and nothing was changed", hint: "begin again")
    return try Interruption.endingAtOnce(words, isJSON: session.isJSON, work)
  }
}

extension String {
  /// At least `width` characters, with spaces behind.
  func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
}

struct AuditCommand: CofferCommand {
  static let configuration = CommandConfiguration(commandName: "audit", abstract: "The log of what was done.")
  static let page = """
    coffer audit: the log of what was done to this coffer

    usage: coffer audit [--passphrase-fd N | --passphrase-file PATH]

    The log is sealed, holds kinds and counts but no names, and keeps the newest thousand entries.

    example: coffer audit
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var opening: OpeningOptions

  struct Answer: Encodable {
    let time: String
    let event: String
    let count: Int
  }

  func execute(_ session: Session) throws {
    for entry in try session.open(opening).auditLog() {
      let time = Timestamp.format(entry.time)
      if session.isJSON {
        JSON.print(Answer(time: time, event: entry.event.code, count: entry.count))
      } else {
        let count = entry.count > 0 ? ": \(entry.count)" : ""
        Terminal.print("\(time)  \(entry.event.name)\(count)")
      }
    }
  }
}

extension AuditLog.Event {
  /// For programs; stable.
  var code: String {
    switch self {
    case .created: "created"
    case .passphraseChanged: "passphrase_changed"
    case .slotAdded: "slot_added"
    case .slotRemoved: "slot_removed"
    case .recovered: "recovered"
    case .recoveryDrill: "recovery_drill"
    case .messagesAdded: "messages_added"
    case .messagesRemoved: "messages_removed"
    case .messagesExported: "messages_exported"
    case .keyRotated: "key_rotated"
    case .keyRolledBack: "key_rolled_back"
    case .damageFound: "damage_found"
    case .deviceForgotten: "device_forgotten"
    case .deviceRegistered: "device_registered"
    case .captureAdded: "capture_added"
    case .captureRemoved: "capture_removed"
    case .captureExported: "capture_exported"
    case .modeSwitched: "mode_switched"
    case .domainReset: "domain_reset"
    case .protectedDataReset: "protected_data_reset"
    case .privateKeysIncomplete: "private_keys_incomplete"
    case .failuresWarned: "failures_warned"
    case .vaultLocked: "vault_locked"
    case .failuresExamined: "failures_examined"
    case .earlierStateAccepted: "earlier_state_accepted"
    }
  }

  var name: String {
    switch self {
    case .created: "coffer made"
    case .passphraseChanged: "passphrase changed"
    case .slotAdded: "slot added"
    case .slotRemoved: "slot removed"
    case .recovered: "recovered"
    case .recoveryDrill: "recovery drill"
    case .messagesAdded: "messages added"
    case .messagesRemoved: "messages removed"
    case .messagesExported: "messages exported"
    case .keyRotated: "vault key rotated"
    case .keyRolledBack: "vault key rolled back"
    case .damageFound: "damage found"
    case .deviceForgotten: "device forgotten"
    case .deviceRegistered: "device registered"
    case .captureAdded: "capture added"
    case .captureRemoved: "capture removed"
    case .captureExported: "capture exported"
    case .modeSwitched: "mode of private keys switched"
    case .domainReset: "domain of protected data reset"
    case .protectedDataReset: "protected data reset"
    case .privateKeysIncomplete: "private keys incomplete"
    case .failuresWarned: "messages did not open"
    case .vaultLocked: "messages did not open, and the vault locked itself"
    case .failuresExamined: "failures looked at"
    case .earlierStateAccepted: "earlier state accepted"
    }
  }
}

struct EraseCommand: CofferCommand {
  static let configuration = CommandConfiguration(commandName: "erase", abstract: "Destroy the coffer.")
  static let page = """
    coffer erase: destroy the coffer and everything in it

    usage: coffer erase [--yes] [--force] [--passphrase-fd N | --passphrase-file PATH]

    Asks twice. Refuses unless a recovery drill has succeeded, which shows that you know what you are
    giving up; --force skips that, and the passphrase with it.

      --yes    ask nothing
      --force  erase a coffer that was never drilled, or cannot be opened

    example: coffer erase
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var opening: OpeningOptions
  static let counterRemains: ShownLine =
    "The TPM may still have the coffer's counter, which takes room there and says nothing."

  @Flag(help: "Ask nothing.") var yes = false
  @Flag(help: "Erase without a recovery drill.") var force = false

  func execute(_ session: Session) throws {
    guard DatabaseFile.exists(home: session.home) else { throw StorageError.notFound }
    guard yes || session.hasTerminal else {
      throw Failure(
        .locked, "no_prompt", "erasing asks twice, and there is no terminal to ask on",
        hint: "add --yes if you are sure")
    }
    if !force {
      let coffer = try session.open(opening, needing: .person)
      try coffer.checkErasable()
      coffer.close()
    }
    if !yes {
      guard try session.confirm("Destroy the coffer in \(session.home)?"),
        try session.confirm("Everything in it will be gone for ever. Really?")
      else { throw Failure(.refused, "cancelled", "nothing was erased") }
    }
    let remains = try Erasure.erase(home: session.home, machine: session.machine)
    if session.isJSON { JSON.print(["erased": session.home]) }
    session.note("The coffer is erased.")
    if remains.agent {
      session.note("The agent does not answer and may still have the keys: end its process.")
    }
    if remains.counter {
      session.note(Self.counterRemains)
    }
    for path in remains.exports {
      session.note("An export that was killed may have left plain content in «\(path)».")
    }
    if remains.secretServiceItem {
      session.note(
        "The Secret Service still has its items «Coffer keychain»; nothing can read them any more.")
    }
  }
}
