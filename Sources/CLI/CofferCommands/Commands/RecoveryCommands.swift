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

    usage: coffer recover \(PhraseOptions.usage)
                          \(NewPassphraseOptions.usage)

    The new passphrase takes the place of the old one; where several people have one, it is added.
    Nothing is lost, and the words keep working. Ends the session.

    example: coffer recover
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var phrase: PhraseOptions
  @OptionGroup var newPassphrase: NewPassphraseOptions
  @Option(help: "What stretches the passphrase.") var kdf: KDFName = .argon2id

  struct Answer: Encodable {
    let recovered: String
    let sessionEnded: Bool
  }

  func execute(_ context: CommandContext) throws {
    let coffer = try context.open(phrase)
    let new = try context.newPassphrase(newPassphrase.given(), policy: coffer.settings().policy)
    let isReplaced = try coffer.resetPassphrase(to: new, kdf: kdf.kdf)
    let ending = SessionEnding(coffer)
    if context.isJSON {
      JSON.print(Answer(recovered: isReplaced ? "replaced" : "added", sessionEnded: ending.wasThere))
    }
    context.remark(
      isReplaced
        ? "The coffer opens with the new passphrase; the old one no longer does."
        : "The coffer opens with the new passphrase too; look at 'coffer slot list' for the others.")
    try ending.tell(context)
  }
}

struct RecoveryCommand: CommandGroup {
  static let configuration = CommandConfiguration(
    commandName: "recovery", abstract: "Try the recovery phrase.", subcommands: [RecoveryDrillCommand.self])
  static let page = """
    coffer recovery: try the recovery phrase

    usage: coffer recovery drill

    example: coffer recovery drill
    """
}

struct RecoveryDrillCommand: CofferCommand {
  static let configuration = CommandConfiguration(
    commandName: "drill", abstract: "Prove that the recovery phrase opens this coffer.")
  static let page = """
    coffer recovery drill: prove that the twelve words open this coffer

    usage: coffer recovery drill \(PhraseOptions.usage)

    Changes nothing but the date of the last drill. A backup that was never tried is a hope.

    example: coffer recovery drill
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var phrase: PhraseOptions

  func execute(_ context: CommandContext) throws {
    let coffer = try context.open(phrase)
    try coffer.vault.checkCount()
    try coffer.noteRecoveryDrill()
    if context.isJSON { return JSON.print(["drill": "passed"]) }
    context.remark("The recovery phrase opens this coffer.")
  }
}
