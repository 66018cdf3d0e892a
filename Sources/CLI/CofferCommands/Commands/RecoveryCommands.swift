// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import CofferKit
internal import Keychains
internal import Secrets
internal import Vaults

struct RecoverCommand: CofferCommand {
  static let configuration = CommandConfiguration(
    commandName: "recover", abstract: "Open with the recovery phrase and set a new passphrase.")
  static let page = """
    coffer recover: open with the twelve words and set a new passphrase

    usage: coffer recover [--kdf argon2id|pbkdf2] \(PhraseOptions.usage)
                          \(NewPassphraseOptions.usage)

    The new passphrase replaces the old one; if the coffer has several passphrases, it is added to them. One
    that opens the coffer already is refused. No data is lost, and the words keep working. Ends the session.

    example: coffer recover
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var phrase: PhraseOptions
  @OptionGroup var newPassphrase: NewPassphraseOptions
  @Option(help: "The key derivation for the passphrase.") var kdf: KDFName = .argon2id

  struct Answer: Encodable {
    let recovered: String
    let sessionEnded: Bool
  }

  func execute(_ context: CommandContext) throws {
    let coffer = try context.open(phrase)
    let new = try context.newPassphrase(newPassphrase.given(), policy: coffer.settings().policy)
    try PassphraseInterface.checkIsNew(new, coffer)
    let isReplaced = try coffer.resetPassphrase(to: new, kdf: kdf.kdf)
    let ending = SessionEnding(coffer)
    if context.isJSON {
      JSON.print(Answer(recovered: isReplaced ? "replaced" : "added", sessionEnded: ending.wasThere))
    }
    context.remark(
      isReplaced
        ? "The coffer opens with the new passphrase; the old one no longer does."
        : "The coffer opens with the new passphrase too; 'coffer slot list' shows the others.")
    try ending.tell(context)
    try AccountReminder(coffer, context).passphraseChanged(to: new)
  }
}

struct RecoveryCommand: CommandGroup {
  static let configuration = CommandConfiguration(
    commandName: "recovery", abstract: "Try the recovery phrase.", subcommands: [RecoveryDrillCommand.self])
  static let page = """
    coffer recovery: try the recovery phrase

    usage: coffer recovery drill [--remote]

    example: coffer recovery drill
    """
}

struct RecoveryDrillCommand: CofferCommand {
  static let configuration = CommandConfiguration(
    commandName: "drill", abstract: "Prove that the recovery phrase opens this coffer.")
  static let page = """
    coffer recovery drill: prove that the twelve words open this coffer

    usage: coffer recovery drill \(PhraseOptions.usage)
           coffer recovery drill --remote [the same | \(PassphraseOptions.usage.dropFirst().dropLast())]

    Changes only the date of the last drill. Try the words while you can still open the coffer without them.

      --remote  prove that a restore from the place of the account would bring everything that is here: gets
                and opens all of it, with the words, or with a passphrase that is given, and keeps nothing

    example: coffer recovery drill
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var phrase: PhraseOptions
  @OptionGroup var passphrase: PassphraseOptions
  @Flag(help: "Prove that a restore from the account's place would bring everything.") var remote = false

  func validate() throws {
    guard passphrase.isGiven else { return }
    if !remote { throw ValidationError("a passphrase goes with --remote: else the drill is about the words") }
    if phrase.isGiven {
      throw ValidationError("give a passphrase or the twelve words, not both")
    }
  }

  func execute(_ context: CommandContext) throws {
    if remote { return try RemoteDrill(passphrase: passphrase, phrase: phrase).execute(context) }
    let coffer = try context.open(phrase)
    try coffer.vault.checkRows()
    try coffer.noteRecoveryDrill()
    if context.isJSON { return JSON.print(["drill": "passed"]) }
    context.remark("The recovery phrase opens this coffer.")
  }
}
