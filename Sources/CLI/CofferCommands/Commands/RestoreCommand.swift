// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Backups
internal import CofferKit
internal import Enclaves
internal import Keychains
internal import Primitives
internal import Secrets
internal import Storage
internal import Texts
internal import UserAuthentication

struct RestoreCommand: CofferCommand {
  static let configuration = CommandConfiguration(
    commandName: "restore", abstract: "Make a coffer from a backup.")
  static let page = """
    coffer restore: make a coffer from a backup, on this machine

    usage: coffer [--home DIR] restore FILE [--words] [--attestation tpm|software]
                                  \(PassphraseOptions.usage)
                                  \(PhraseOptions.usage)

    The place must be new or empty. Asks for a passphrase that the coffer had when the backup was made; with
    --words for its recovery phrase. The coffer keeps its passphrases and words. What was sealed to the old
    machine is sealed to this one, and its PIN and its key for captures are left behind. The coffer appears
    when all of it is there. Changing devices? Use recovery phrase or passphrase.

      --words        open it with the twelve words
      --attestation  where new keys are kept (default: the TPM if one answers; software only if the old
                     machine's keys were in software too)

    example: coffer restore /media/stick/2026-11-22.coffer-backup
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var passphrase: PassphraseOptions
  @OptionGroup var phrase: PhraseOptions
  @Flag(help: "Open it with the twelve words.") var words = false
  @Option(help: "Where new keys are kept.") var attestation: AttestationPlace?
  @Argument(help: "The backup.", completion: .file()) var file: String

  struct Answer: Encodable {
    struct Identity: Encodable {
      let fingerprint: String
      let name: String

      init(_ identity: RestoredCoffer.Identity) {
        fingerprint = identity.fingerprint
        name = identity.name
      }
    }
    let home: String
    let made: String
    let messages: Int
    let captures: Int
    let contacts: Int
    let identities: [Identity]
    let missingIdentities: [Identity]
    /// The kinds of slots that were left out.
    let slotsLeftOut: [String]
    let attestation: String
  }

  private var usesWords: Bool { words || phrase.isGiven }

  func validate() throws {
    try FileArgument.check(file)
    if usesWords, passphrase.isGiven {
      throw ValidationError("give a passphrase or the twelve words, not both")
    }
  }

  func execute(_ context: CommandContext) throws {
    try DatabaseFile.checkPlace(home: context.home)
    let backup = try LockedBackup(path: file)
    let keys = try usesWords ? openByWords(backup, context) : openByPassphrase(backup, context)
    Interruption.catchOnce()
    var bar = ProgressBar("restoring", isQuiet: context.isQuiet || context.isJSON)
    defer { bar.finish() }
    let restored = try Coffer.restore(
      backup, keys, to: context.home, machine: context.machine, attestation: attestation?.kind
    ) { done, total in
      bar.update(bytes: done, of: total)
      return !Interruption.isRequested
    }
    bar.finish()
    tell(restored, context)
    restored.coffer.close()
  }

  // MARK: Opening

  private static let wrong = Failure(
    .wrongSecret, "wrong_secret", "wrong passphrase: it opens no slot of this backup",
    hint: "it opens with a passphrase of the time when it was made; --words takes the recovery phrase")

  private static let wrongWords = Failure(
    .wrongSecret, "wrong_secret", "wrong recovery phrase: the words are sound, but not of this backup")

  private func openByPassphrase(_ backup: LockedBackup, _ context: CommandContext) throws -> ClassKeys {
    do {
      if let given = try passphrase.opening() { return try backup.unlock(SlotCredential(given)) }
      return try asking(context, try context.prompt(), "passphrase of the backup", "wrong passphrase") {
        typed in
        try backup.unlock(SlotCredential(Passphrase(utf8: typed)))
      }
    } catch KeybagError.wrongSecret { throw Self.wrong }
  }

  private func openByWords(_ backup: LockedBackup, _ context: CommandContext) throws -> ClassKeys {
    do {
      if let given = try phrase.given() {
        return try backup.unlock(SlotCredential(Self.phrase(given)))
      }
      let prompt = try context.prompt(for: "the recovery phrase", hint: "use --phrase-fd or --phrase-file")
      return try asking(context, prompt, "recovery phrase", "these words do not open this backup") { typed in
        try backup.unlock(SlotCredential(Self.phrase(Passphrase(utf8: typed))))
      }
    } catch KeybagError.wrongSecret { throw Self.wrongWords }
  }

  /// Asks until it opens, as often as a prompt asks.
  private func asking(
    _ context: CommandContext, _ prompt: any PassphrasePrompt, _ what: String, _ wrong: String,
    _ unlock: (consuming SecretBytes) throws -> ClassKeys
  ) throws -> ClassKeys {
    var problem: String?
    for attempt in 1...CommandContext.promptTries {
      do { return try unlock(prompt.ask(context.request(what, problem: problem))) } catch KeybagError
        .wrongSecret
      {
        problem = CommandContext.triesLeft(wrong, attempt)
      } catch let error where error is RecoveryPhraseError || error is PassphraseError {
        problem = CommandContext.triesLeft(Failure(error).message, attempt)
      }
    }
    throw KeybagError.wrongSecret
  }

  private static func phrase(_ typed: borrowing Passphrase) throws -> RecoveryPhrase {
    try typed.withBytes { words throws(RecoveryPhraseError) in try RecoveryPhrase(words: words) }
  }

  // MARK: Telling

  private func tell(_ restored: RestoredCoffer, _ context: CommandContext) {
    let leftOut = restored.leftOutSlots.map { $0.method.name }
    if context.isJSON {
      return JSON.print(
        Answer(
          home: context.home, made: RFC3339.format(restored.made), messages: restored.messageCount,
          captures: restored.captureCount, contacts: restored.contactCount,
          identities: restored.identities.map(Answer.Identity.init),
          missingIdentities: restored.missingIdentities.map(Answer.Identity.init), slotsLeftOut: leftOut,
          attestation: restored.enclave.name))
    }
    let came = [
      restored.messageCount.counted("message"), restored.captureCount.counted("capture"),
      restored.contactCount.counted("contact"), restored.identities.count.counted("identity", "identities"),
    ]
    context.remark(
      "Restored, as of \(LocalTime.shown(restored.made)): \(came.joined(separator: ", ")).")
    var left = ["its signing key for captures (new one made)"]
    if !leftOut.isEmpty { left.insert("its PIN (coffer slot add tpm)", at: 0) }
    context.remark("Not from the old machine: \(left.joined(separator: ", ")).")
    if !restored.identities.isEmpty {
      context.remark(
        "Here the passphrase opens identities, even if there it took a finger or a guard: 'coffer mode' changes that."
      )
    }
    if !restored.missingIdentities.isEmpty {
      context.remark("Not in the backup are the private parts of these identities, so they did not come:")
      for identity in restored.missingIdentities {
        context.remark("  \(identity.fingerprint)  \(identity.name)")
      }
      context.remark("If you have a backup of an identity itself: coffer identity import FILE")
    }
    context.remark("The keys for captures, protected data and private keys are \(restored.enclave.inPlace).")
    context.remark("The coffer is in \(context.home).")
  }
}
