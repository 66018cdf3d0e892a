// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import CofferKit
internal import Couriers
internal import Enclaves
internal import Glibc
internal import Histories
internal import Keychains
internal import Remotes
internal import Secrets
internal import Storage
internal import Syncing

struct RemoteRestoreCommand: CofferCommand {
  static let configuration = CommandConfiguration(
    commandName: "restore", abstract: "Get everything from a place, on a new device.")
  static let page = """
    coffer remote restore: get everything from a place; this device becomes one of the account's

    usage: coffer [--home DIR] remote restore \(CardOptions.usage) [--words]
               [--name NAME] [--branch N] [--captures all|none]
               [--recovery-phrase-out FILE] \(KeyPlaceOptions.usage)
               \(PassphraseOptions.usage)
               \(PhraseOptions.usage)
               \(NewPassphraseOptions.usage)

    Asks for the card that 'coffer remote card' printed, and for the passphrase of the account; with --words
    for its twelve words. Where no coffer is yet, it makes one: with that passphrase and new words, which it
    shows; or with those words and a new passphrase. A coffer that is there keeps its own, and afterwards
    both devices have the messages and captures of both. Earlier versions of messages and the trash do not
    come: they stay on the devices that have them.

      --card-file, --card-fd  where the address of the account is
      --words                 open the account with the twelve words
      --name                  what this device is called in lists (default: the host's name)
      --branch                this continuation of the account is right, if it has several ('coffer account
                              settle'); asked for if it is needed
      --captures              all: also get each capture as a whole, now and at each sync. none, as without:
                              titles and small parts come, and the rest when it is asked for
      --recovery-phrase-out   write new words to a new file (mode 0600) and do not ask for them
      --attestation           where new keys are made (default: the TPM if one answers, else software; in a
                              coffer that is there, software only if its keys are in software too)

    If nothing came, no new coffer is left. Whatever came before it was interrupted stays, and 'coffer sync'
    goes on.

    example: coffer remote restore
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var card: CardOptions
  @OptionGroup var passphrase: PassphraseOptions
  @OptionGroup var phrase: PhraseOptions
  @OptionGroup var newPassphrase: NewPassphraseOptions
  @OptionGroup var keyPlace: KeyPlaceOptions
  @Flag(help: "Open the account with the twelve words.") var words = false
  @Option(help: "What this device is called in lists.") var name: String?
  @Option(help: "The number of the continuation of the account that is right.") var branch: Int?
  @Option(help: "Whether this device gets captures as a whole: all or none.")
  var captures: SyncCommand.CapturePolicy?
  @Option(help: "Write new words to a new file.", completion: .file()) var recoveryPhraseOut: String?

  struct Answer: Encodable {
    let home: String
    /// Whether the coffer was made.
    let made: Bool
    let messages: Int
    let captures: Int
    /// Captures of which a part is not on this device.
    let capturesElsewhere: Int
    let device: String
    let devices: [String]
    let words: String
    /// Where this device's keys are.
    let attestation: String?
  }

  private var usesWords: Bool { words || phrase.isGiven }

  func validate() throws {
    try FileArgument.check(recoveryPhraseOut)
    if usesWords, passphrase.isGiven {
      throw ValidationError("give a passphrase or the twelve words, not both")
    }
  }

  func execute(_ context: CommandContext) throws {
    let deviceName = try DeviceName.checked(name)
    let isNew = !DatabaseFile.exists(home: context.home)
    if isNew {
      try DatabaseFile.checkPlace(home: context.home)
      // Before anything is asked: can the words be shown?
      if !usesWords, recoveryPhraseOut == nil { try context.requireTerminalForWords() }
    }
    if !isNew, try context.locked().hasAccount() { throw SyncError.hasAccount }
    let address = try card.address(context)
    let remote = try address.place.reached()
    try AccountLink.checkIsThere(at: remote, address)
    try Interruption.letGo()
    var slot: OpenedSlot?
    let opens = { (secret: AccountSecret) in
      Interruption.catchOnce()
      slot = try AccountLink.slot(at: remote, address, with: secret)
      try Interruption.letGo()
      return slot != nil
    }
    let (coffer, secret, isOwn) =
      try usesWords ? openByWords(opens, isNew, context) : openByPassphrase(opens, isNew, context)
    let (synchronizer, report): (Synchronizer, SyncReport)
    do {
      (synchronizer, report) = try OpenAccount.watching("restoring", context) { goesOn in
        try coffer.account.join(
          at: remote, address, with: secret, slot: slot, enclave: coffer.enclaveForNewKeys(keyPlace.kind),
          name: deviceName, isOwn: isOwn,
          choice: { $0.branches[try OwnerForkWords.choose($0, branch, context).number - 1].id },
          progress: goesOn)
      }
    } catch {
      if isNew, undo(coffer, context) { throw kept(error) }
      guard !Interruption.isRequested else {
        throw Failure.interrupted(isNew ? "nothing was left" : "the coffer is as it was")
      }
      throw error
    }
    coffer.noteAccountChange(.accountJoined)
    if isNew { context.advise(coffer) }
    if let captures { try synchronizer.setGetsCaptures(captures == .all) }
    // The coffer is there, whatever came of that.
    var failure: (any Error)?
    if captures == .all, report.outcome == .complete {
      let account = try OpenAccount(coffer, synchronizer)
      do { _ = try account.fetch(synchronizer.capturesElsewhere(), context) } catch {
        var ended = Failure(error)
        if Interruption.isRequested || ended.hint == nil { ended.hint = "'coffer sync' gets the others" }
        failure = ended
      }
    }
    try tell(
      synchronizer, report, SyncEnding(report, synchronizer), isNew, try coffer.account.enclaveKind(), context
    )
    if let failure { throw failure }
  }

  // MARK: Opening

  private func openByPassphrase(
    _ opens: (AccountSecret) throws -> Bool, _ isNew: Bool, _ context: CommandContext
  ) throws -> (Coffer, AccountSecret, isOwn: Bool?) {
    let passphrase = try context.passphrase(
      passphrase, "passphrase of the account", wrong: Self.wrong
    ) { try opens(AccountSecret($0)) }
    let secret = AccountSecret(passphrase)
    guard isNew else {
      let coffer = try openOwn(context) { try $0.unlock(SlotCredential(passphrase)) }
      return (coffer, secret, try coffer.opens(passphrase))
    }
    if recoveryPhraseOut == nil {
      context.remark(
        "This coffer gets twelve words of its own. The account keeps the words that it was made with.")
    }
    let words = try PhraseHandover(context).makePhrase(file: recoveryPhraseOut)
    return (try make(passphrase, words, context), secret, true)
  }

  private func openByWords(
    _ opens: (AccountSecret) throws -> Bool, _ isNew: Bool, _ context: CommandContext
  ) throws -> (Coffer, AccountSecret, isOwn: Bool?) {
    let words = try context.words(phrase, "recovery phrase of the account", wrong: Self.wrongWords) {
      try opens(AccountSecret($0))
    }
    let secret = AccountSecret(words)
    guard isNew else {
      return (try openOwn(context) { try $0.unlock(SlotCredential(words)) }, secret, nil)
    }
    let passphrase = try context.newPassphrase(newPassphrase.given(), policy: .usual)
    return (try make(passphrase, words, context), secret, false)
  }

  private static let wrong = Failure(
    .wrongSecret, "wrong_secret", "wrong passphrase: with this card it opens no slot of the account",
    hint:
      "the passphrase may be another one than this coffer's, or the card an old one; --words takes the words")

  private static let wrongWords = Failure(
    .wrongSecret, "wrong_secret", "these words are sound, but open no slot of the account",
    hint: "the words of the coffer in which the account was made open it")

  /// Opens the coffer that is there: in a session, with what opens the account, or by asking.
  private func openOwn(
    _ context: CommandContext, _ same: (LockedCoffer) throws -> Coffer
  ) throws -> Coffer {
    if let coffer = try context.openInSession() { return coffer }
    let locked = try context.locked()
    do {
      let coffer = try same(locked)
      context.advise(coffer)
      return coffer
    } catch let error as KeybagError where error == .wrongSecret || error == .noSuchSlot {
      guard let coffer = try PassphraseInterface.openByPrompt(locked, context) else { throw error }
      context.advise(coffer)
      return coffer
    }
  }

  /// Makes the coffer. A passphrase that another device's rules took is not refused here.
  private func make(
    _ passphrase: borrowing Passphrase, _ words: borrowing RecoveryPhrase, _ context: CommandContext
  ) throws -> Coffer {
    var policy = PassphrasePolicy.usual
    for other in [PassphrasePolicy.strict, .standard] where !policy.check(passphrase).isAccepted {
      policy = other
    }
    do {
      return try Coffer.create(
        home: context.home, passphrase: passphrase, recoveryPhrase: words, policy: policy,
        machine: context.machine, attestation: keyPlace.kind)
    } catch {
      removeWords()
      throw error
    }
  }

  /// Removes a coffer that this command made, unless it belongs to the account already.
  /// - Returns: whether it is still there, with its words.
  private func undo(_ coffer: Coffer, _ context: CommandContext) -> Bool {
    if (try? coffer.account.exists()) != false { return true }
    coffer.close()
    guard (try? Erasure.erase(home: context.home, machine: context.machine)) != nil else { return true }
    removeWords()
    return false
  }

  /// The error with what is left.
  private func kept(_ error: any Error) -> Failure {
    let cause = Interruption.isRequested ? Failure.interrupted("what came is safe") : Failure(error)
    return Failure(
      cause.exit, cause.code, cause.message,
      hint: "the coffer is there, with what came: 'coffer sync' gets the rest")
  }

  /// Words that open nothing would only mislead.
  private func removeWords() {
    if !usesWords, let recoveryPhraseOut { unsafe unlink(recoveryPhraseOut) }
  }

  // MARK: Telling

  private func tell(
    _ synchronizer: Synchronizer, _ report: SyncReport, _ ending: SyncEnding, _ isNew: Bool,
    _ kind: EnclaveKind?, _ context: CommandContext
  ) throws {
    let shown = isNew ? synchronizer.shownCounts : nil
    let count = shown.map { max(0, $0.messages - report.missingCount) } ?? report.newCount
    let captureCount = shown?.captures ?? report.newCaptureCount
    let awayCount = try synchronizer.capturesElsewhere().count
    let devices = synchronizer.devices.filter { !$0.isRevoked }
    let words = synchronizer.historyWords.joined(separator: " ")
    if context.isJSON {
      JSON.print(
        Answer(
          home: context.home, made: isNew, messages: count, captures: captureCount,
          capturesElsewhere: awayCount, device: devices.first { $0.isThisDevice }?.name ?? "",
          devices: devices.map(\.name), words: words, attestation: kind?.name))
    } else {
      let restored =
        count.counted("message") + (captureCount == 0 ? "" : ", \(captureCount.counted("capture"))")
      if report.outcome != .complete {
        context.remark("\(restored) restored so far; 'coffer sync' gets the rest.")
      } else if !isNew, count == 0, captureCount == 0 {
        context.remark("Nothing new: what the account has is here already.")
      } else {
        context.remark("\(restored) restored.")
      }
      if awayCount > 0 {
        context.remark(
          "Of \(awayCount.counted("capture")) the large parts are at the place: 'coffer capture keep --all' gets them."
        )
      }
      context.remark("Devices: \(devices.map(\.name).joined(separator: ", ")).")
      if isNew, devices.count > 1 {
        context.remark("If you do not have one of them any more: 'coffer device revoke NAME'.")
      }
      context.remark(
        "History: \(words). After a sync, 'coffer sync status' shows the same eight on each device.")
      if let kind {
        context.remark(
          isNew ? "The keys of this coffer and of this device are \(kind.inPlace)." : kind.accountRemark)
      }
      if isNew { context.remark("The coffer is in \(context.home).") }
      if isNew, !usesWords {
        if let recoveryPhraseOut {
          context.remark("The new recovery phrase of this coffer is in \(recoveryPhraseOut).")
          context.remark(
            "The new words open this coffer alone. The account keeps the words that it was made with.")
        }
      } else if isNew {
        context.remark(
          "The new passphrase opens this coffer alone. The account keeps the one that it was made with.")
      }
    }
    try ending.check(context)
    // Whoever restores may do without the other device from now on.
    if report.awaitedCount > 0 { throw Failure.incompleteRestore(report.awaitedCount) }
  }
}
