// SPDX-License-Identifier: Apache-2.0
//
// A coffer and its account, opened with one and the same passphrase or phrase.

internal import ArgumentParser
internal import CofferKit
internal import Keychains
internal import Secrets
internal import Syncing

/// What opens a coffer and its account: the passphrase, or with `--words` the twelve words.
struct AccountOptions: ParsableArguments {
  @OptionGroup var passphrase: PassphraseOptions
  @OptionGroup var phrase: PhraseOptions
  @Flag(help: "Open the account with the twelve words.") var words = false

  static let page = """
    --words  open the account with its twelve words; if they are not this coffer's too, its passphrase is
               needed as well, or a session
    """

  var usesWords: Bool { words || phrase.isGiven }

  /// Opens the coffer, then its account. Its passphrase or words may be the account's alone: then a session opens the
  /// coffer, or its own passphrase.
  func open(_ context: CommandContext) throws -> (OpenAccount, AccountSecret) {
    guard try context.locked().hasAccount() else { throw SyncError.noAccount }
    let opening = AccountOpening(passphrase: passphrase, phrase: phrase)
    if usesWords {
      let (coffer, words) = try opening.openByWordsOfAccount(context)
      return (try opened(coffer, context), words)
    }
    let (coffer, own): (Coffer, AccountSecret?)
    if !passphrase.isGiven, let session = try context.openInSession() {
      (coffer, own) = (session, nil)
    } else {
      (coffer, own) = try opening.openByPassphrase(context)
    }
    let account = try opened(coffer, context)
    let isMember = account.synchronizer.isMember
    if let own, try passphrase.isGiven || !context.hasTerminal || (isMember && account.opens(with: own)) {
      return (account, own)
    }
    if !isMember {
      context.remark(
        "This device does not belong to the account any more, and does not know what opens it now.")
    } else if own != nil {
      context.remark("This passphrase opens this coffer. The account has another one.")
    }
    let typed = try context.passphrase(
      passphrase, "passphrase of the account", wrong: AccountOpening.wrongOfAccount
    ) { try account.opens(with: AccountSecret($0)) }
    return (account, AccountSecret(typed, isOwn: try coffer.opens(typed)))
  }

  private func opened(_ coffer: Coffer, _ context: CommandContext) throws -> OpenAccount {
    context.advise(coffer)
    let account = try OpenAccount(coffer)
    guard !account.synchronizer.awaitsApproval else { throw SyncError.notApproved }
    return account
  }

  /// Does work with a slot at the remote, with a progress bar.
  func watching<R>(
    _ title: String, _ context: CommandContext, _ work: (@escaping (SyncReport) -> Bool) throws -> R
  ) throws -> R {
    do { return try OpenAccount.watching(title, context, work) } catch SyncError.wrongSecret {
      throw AccountOpening.wrong(usesWords)
    }
  }
}

struct AccountOpening {
  let passphrase: PassphraseOptions
  let phrase: PhraseOptions

  func open(byWords: Bool, _ context: CommandContext) throws -> (Coffer, AccountSecret) {
    try byWords ? openByWords(context) : openByPassphrase(context)
  }

  static let wrongOfAccount = Failure(
    .wrongSecret, "wrong_secret", "wrong passphrase: it does not open the account",
    hint: "it may have been changed on another device; --words takes its words")

  /// What opens the coffer does not open the account.
  static func wrong(_ usesWords: Bool) -> Failure {
    Failure(
      .wrongSecret, "wrong_secret",
      usesWords
        ? "these words do not open the account" : "this passphrase opens this coffer, but not the account",
      hint: "the account has slots of its own, at first those of the coffer in which it was made: "
        + (usesWords
          ? "'coffer account slots add words' adds these words"
          : "take its words with --words, or 'coffer account passphrase' gives it this passphrase"))
  }

  private func openByWords(_ context: CommandContext) throws -> (Coffer, AccountSecret) {
    let locked = try context.locked()
    var coffer: Coffer?
    let wrong = Failure(
      .wrongSecret, "wrong_secret", "wrong recovery phrase: the words are sound, but not of this coffer")
    let words = try context.words(phrase, "recovery phrase", wrong: wrong) { typed in
      do { coffer = try locked.unlock(SlotCredential(typed)) } catch KeybagError.wrongSecret { return false }
      return true
    }
    guard let coffer else { throw wrong }
    return (coffer, AccountSecret(words))
  }

  /// Takes words that open the account, whether they open this coffer or not.
  func openByWordsOfAccount(_ context: CommandContext) throws -> (Coffer, AccountSecret) {
    let locked = try context.locked()
    var coffer = passphrase.isGiven ? try openByPassphrase(context).0 : nil
    let words = try context.words(phrase, "recovery phrase of the account", wrong: Self.wrong(true)) {
      typed in
      do {
        if coffer == nil { coffer = try locked.unlock(SlotCredential(typed)) }
      } catch let error as KeybagError where error == .wrongSecret || error == .noSuchSlot {}
      return true
    }
    if coffer == nil { coffer = try context.openInSession() }
    if coffer == nil { coffer = try PassphraseInterface.openByPrompt(locked, context) }
    guard let coffer else { throw PassphraseInterface.wrong }
    return (coffer, AccountSecret(words))
  }

  /// Opens the coffer with its passphrase.
  func openByPassphrase(_ context: CommandContext) throws -> (Coffer, AccountSecret) {
    let locked = try context.locked()
    var coffer: Coffer?
    let typed = try context.passphrase(
      passphrase, "passphrase of this coffer", wrong: PassphraseInterface.wrong
    ) { typed in
      do { coffer = try locked.unlock(SlotCredential(typed)) } catch KeybagError.wrongSecret { return false }
      return true
    }
    guard let coffer else { throw PassphraseInterface.wrong }
    return (coffer, AccountSecret(typed, isOwn: true))
  }
}
