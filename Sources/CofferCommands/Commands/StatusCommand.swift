// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import CofferKit
internal import Foundation
internal import Keychains
internal import MessageFormats
internal import Primitives
internal import Secrets
internal import Vaults

/// A slot as it is told to programs.
struct SlotAnswer: Encodable {
  let id: String
  let kind: String
  /// The name alone; its costs are members of their own.
  let kdf: String
  let iterations: Int?
  let memoryKiB: Int?
  let passes: Int?
  let lanes: Int?
  let created: String

  init(_ slot: KeySlot) {
    id = slot.id.uuidString.lowercased()
    kind = slot.kind.name
    created = Timestamp.format(slot.created)
    var costs: (Int?, Int?, Int?) = (nil, nil, nil)
    var rounds: Int?
    switch slot.kdf {
    case .pbkdf2(let iterations):
      kdf = "pbkdf2"
      rounds = Int(iterations)
    case .argon2id(let found):
      kdf = "argon2id"
      costs = (Int(found.memoryKiB), Int(found.passes), Int(found.lanes))
    case .seed: kdf = "bip39"
    }
    iterations = rounds
    (memoryKiB, passes, lanes) = costs
  }

  /// For people: id, kind, time, and what stretches it.
  var line: String {
    "\(id)  \(kind.padded(to: 10))  \(created)  \(stretching)"
  }

  private var stretching: String {
    if let iterations { return "pbkdf2, \(iterations) rounds" }
    if let memoryKiB, let passes {
      return "argon2id, \(memoryKiB >> 10) MiB, \(passes.counted("pass", "passes"))"
    }
    return "twelve words"
  }
}

extension SlotKind {
  var name: String {
    switch self {
    case .passphrase: "passphrase"
    case .recoveryPhrase: "recovery"
    }
  }
}

struct StatusCommand: CofferCommand {
  static let configuration = CommandConfiguration(
    commandName: "status", abstract: "What is here and whether it is open.")
  static let page = """
    coffer status: what is here, which slots open it, how much it holds

    usage: coffer status [--passphrase-fd N | --passphrase-file PATH]

    Asks for nothing. With a passphrase it also opens the coffer, confirms the count of messages and
    tells the age of the vault key and of the last recovery drill.

    example: coffer status
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var passphrase: PassphraseOptions

  struct Answer: Encodable {
    var home: String
    var state: String
    var fileByteCount: Int
    var messageCount: Int
    var slots: [SlotAnswer]
    var keyVersion: Int?
    var keyCreated: String?
    var lastRecoveryDrill: String?
    var recentFailures: Int?
  }

  func execute(_ session: Session) throws {
    let locked = try LockedCoffer(home: session.home)
    var answer = Answer(
      home: session.home, state: "locked", fileByteCount: locked.fileByteCount,
      messageCount: try locked.messageRowCount(), slots: locked.slots.map(SlotAnswer.init))
    if let given = try passphrase.opening() {
      let coffer = try locked.unlock(SlotCredential(given))
      let vault = try coffer.vault.status()
      try coffer.vault.checkCount()
      answer.state = "opens"
      answer.messageCount = vault.messageCount
      answer.keyVersion = vault.currentKeyVersion
      answer.keyCreated = vault.keys.first { $0.version == vault.currentKeyVersion }
        .map { Timestamp.format($0.created) }
      answer.lastRecoveryDrill = try coffer.settings().lastRecoveryDrill.map(Timestamp.format)
      answer.recentFailures = vault.recentFailures
    }
    if session.isJSON { return JSON.print(answer) }
    Terminal.print("home       \(answer.home)")
    Terminal.print(
      "state      \(answer.state == "locked" ? "locked; every command asks for the passphrase" : "opens with this passphrase")"
    )
    Terminal.print(
      "messages   \(answer.messageCount)\(answer.state == "locked" ? " (as the file says)" : "")")
    Terminal.print("file       \(ByteCount.text(answer.fileByteCount))")
    if let version = answer.keyVersion, let created = answer.keyCreated {
      Terminal.print("vault key  version \(version), made \(created)")
      Terminal.print("drill      \(answer.lastRecoveryDrill ?? "never: run «coffer recovery drill»")")
    }
    if let failures = answer.recentFailures, failures > 0 {
      Terminal.print("failures   \(failures.counted("message")) did not open in the last hour")
    }
    for slot in answer.slots { Terminal.print("slot       \(slot.line)") }
  }
}

enum ByteCount {
  /// A size for people, in decimal units.
  static func text(_ count: Int) -> String {
    switch count {
    case ..<1_000: count.counted("byte")
    case ..<1_000_000: "\(count / 1_000) kB"
    case ..<1_000_000_000: "\(count / 100_000 / 10).\(count / 100_000 % 10) MB"
    default: "\(count / 100_000_000 / 10).\(count / 100_000_000 % 10) GB"
    }
  }
}
