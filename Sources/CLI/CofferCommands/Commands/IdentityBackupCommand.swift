// SPDX-License-Identifier: Apache-2.0
//
// A backup of one identity. Everything that can be refused without its private part is refused first.

internal import ArgumentParser
internal import CofferKit
internal import Identities
internal import Keychains
internal import Secrets

struct IdentityBackupCommand: CofferCommand {
  static let configuration = CommandConfiguration(
    commandName: "backup", abstract: "Write a backup of an identity.")
  static let page = """
    coffer identity backup: write the private part of an identity to a file, under a passphrase of its own

    usage: coffer identity backup WHO FILE
               \(BackupPassphraseOptions.usage)
               \(OpeningOptions.usage)

    Every OpenPGP program of its profile can read the file. Offers a generated passphrase on a terminal.
    Reads the file back and opens it before it says that there is a backup. Overwrites nothing.

    example: coffer identity backup ada@example.org /media/stick/ada-backup.asc
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var opening: OpeningOptions
  @OptionGroup var backupPassphrase: BackupPassphraseOptions
  @Argument(help: "The identity.", completion: Completions.identities) var who: String
  @Argument(help: "A new file.", completion: .file()) var file: String

  func validate() throws { try FileArgument.check(file) }

  struct Answer: Encodable {
    let output: String
    let fingerprint: String
    let protection: String
    let verified = true
  }

  func execute(_ context: CommandContext) throws {
    let coffer = try context.open(opening)
    let (open, identities) = try context.identities(coffer)
    let identity = try identities.chosen(who)
    let view = IdentityView(identity, among: identities)
    try open.store.checkBackup(identity)
    let target: BackupTarget
    do { target = try CommandSurroundings.current.files.backup(file) } catch {
      throw Failure(error, naming: file)
    }
    if !backupPassphrase.isGiven, context.hasTerminal {
      context.remark("The backup has a passphrase of its own. Who has both has your identity.")
    }
    let passphrase = try context.newPassphrase(
      backupPassphrase.given(), policy: coffer.settings().policy, option: "--backup-passphrase")
    let parts = try context.privateParts(coffer, opening, "to back up \(view.name)", sealing: true)
    do {
      try parts.coffer.backUp(
        identity, parts.coffer.openIdentities(), to: target, under: SharedSecretBytes(passphrase),
        parts.authorization)
    } catch let error as IdentityError { throw Failure(error, naming: file) }
    if context.isJSON {
      let protection = BackupProtection(identity).rawValue
      return JSON.print(Answer(output: file, fingerprint: identity.fingerprint, protection: protection))
    }
    context.remark("Written and read back: it opens with that passphrase, and holds")
    for line in view.card { context.remark(line) }
    if CommandSurroundings.current.files.isOnDisk(of: context.home, file) {
      context.remark("This is the disk that the coffer is on: if it breaks, both are lost.")
    }
    context.remark("It holds your private part: keep it where this machine is not, and give it to nobody.")
    context.nextSteps(parts.coffer, "Others get your public part: coffer identity export \(view.word)")
  }
}
