// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import CofferKit
internal import Enclaves
internal import Foundation
internal import Keychains
internal import Primitives
internal import Secrets
internal import Storage

struct InitCommand: CofferCommand {
  static let configuration = CommandConfiguration(commandName: "init", abstract: "Make a coffer.")
  static let page = """
    coffer init: make a coffer

    usage: coffer init [--kdf argon2id|pbkdf2] [--policy standard|strict|long]
                       [--attestation tpm|software] [--keychain file|secret-service]
                       [--recovery-phrase-out FILE] \(PassphraseOptions.usage)

    Asks for a passphrase, shows twelve words, and asks for three of them again. If you lose the passphrase,
    the words open the coffer: write them on paper. We cannot reset them.

      --kdf                  key derivation for the passphrase (default: argon2id)
      --policy               what a passphrase must satisfy: long (the default: 15 characters of any kind),
                             standard (12 characters, upper and lower case, a digit), strict (a symbol too);
                             all refuse what is easy to guess
      --attestation          where the key that signs captures is kept (default: the TPM if one answers,
                             else software)
      --keychain             where small secrets are kept, encrypted (default: in the coffer's file)
      --recovery-phrase-out  write the words to a new file (mode 0600) and do not ask for them

    example: coffer init
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var passphrase: PassphraseOptions
  @Option(help: "The key derivation for the passphrase.") var kdf: KDFName = .argon2id
  @Option(help: "What a passphrase must satisfy.") var policy: PassphrasePolicy = .usual
  @Option(help: "Where the key that signs captures is kept.") var attestation: AttestationPlace?
  @Option(help: "Where small secrets are kept.") var keychain: KeychainName = .file
  @Option(help: "Write the recovery phrase to a new file.", completion: .file()) var recoveryPhraseOut:
    String?

  func validate() throws { try FileArgument.check(recoveryPhraseOut) }

  struct Answer: Encodable {
    let home: String
    let slots: [SlotAnswer]
    let attestation: String
  }

  func execute(_ context: CommandContext) throws {
    try DatabaseFile.checkPlace(home: context.home)
    // Before anything is asked: can the words be shown?
    if recoveryPhraseOut == nil { try context.requireTerminalForWords() }
    context.warn(ofOpenFiles: passphrase.file.map { [$0] } ?? [])
    let passphrase = try context.newPassphrase(
      passphrase.given(), policy: policy, option: "--passphrase")
    let phrase = try PhraseHandover(context).makePhrase(file: recoveryPhraseOut)
    let coffer: Coffer
    do {
      coffer = try Coffer.create(
        home: context.home, passphrase: passphrase, recoveryPhrase: phrase, kdf: kdf.kdf, policy: policy,
        keychain: keychain.place, machine: context.machine, attestation: attestation?.kind)
    } catch {
      // Words that open nothing would only mislead.
      if let recoveryPhraseOut, opensNothing(phrase, context) { unsafe unlink(recoveryPhraseOut) }
      throw error
    }
    let device = try coffer.device()
    if context.isJSON {
      JSON.print(
        Answer(
          home: context.home, slots: try coffer.slots().map(SlotAnswer.init),
          attestation: device?.enclave.name ?? "none"))
    } else {
      context.remark("Vault created successfully: \(context.home)")
      if let device { context.remark("\(device.beginning(isChosen: attestation != nil))") }
      if let recoveryPhraseOut {
        context.remark(
          "The recovery phrase is in \(recoveryPhraseOut). Store recovery phrase safely; we cannot reset it.")
      }
    }
    context.remark("Next: coffer unlock, then coffer message add, or coffer identity generate for OpenPGP.")
    coffer.close()
  }

  /// Whether there is no coffer, or one that another process has created meanwhile. In doubt the words are kept.
  private func opensNothing(_ phrase: borrowing RecoveryPhrase, _ context: CommandContext) -> Bool {
    do {
      try context.locked().unlock(SlotCredential(phrase)).close()
      return false
    } catch StorageError.notFound, KeybagError.wrongSecret { return true } catch { return false }
  }
}
