// SPDX-License-Identifier: Apache-2.0
//
// Slots of the account that come and go. What is added opens this coffer too, so that nobody keeps two passphrases or two
// sets of words.

internal import ArgumentParser
internal import CofferKit
internal import Couriers
internal import Histories
internal import Keychains
internal import Primitives
internal import Secrets
internal import Syncing

struct AccountSlotsAddCommand: CofferCommand {
  static let configuration = CommandConfiguration(
    commandName: "add", abstract: "Let this coffer's words, or its passphrase, open the account.")
  static let page = """
    coffer account slots add: let this coffer's words, or its passphrase, open the account too

    usage: coffer account slots add words|passphrase
                                \(PassphraseOptions.usage)
                                \(PhraseOptions.usage)

    Asks for the passphrase of this coffer and for twelve words. With 'words' the passphrase opens the
    account, and the words, which are this coffer's, are added; with 'passphrase' the words open the account,
    and the passphrase is added. Nothing is removed: 'coffer account slots remove' does that.

    example: coffer account slots add words
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var passphrase: PassphraseOptions
  @OptionGroup var phrase: PhraseOptions
  @Argument(help: "words or passphrase") var kind: Kind

  enum Kind: String, ExpressibleByArgument, CaseIterable {
    case words, passphrase
  }

  func execute(_ context: CommandContext) throws {
    let (coffer, own) = try AccountOpening(passphrase: passphrase, phrase: phrase)
      .openByPassphrase(context)
    context.advise(coffer)
    let open = try OpenAccount(coffer)
    let remote = try open.place.reached()
    let words = try context.words(
      phrase, kind == .words ? "recovery phrase of this coffer" : "recovery phrase of the account",
      wrong: kind == .words ? RemoteAddCommand.wrongWords : .wrongForAccount
    ) { words in
      try kind == .words
        ? coffer.opens(words) : open.synchronizer.opens(with: AccountSecret(words), at: remote)
    }
    let typed = AccountSecret(words)
    let (new, known) = kind == .words ? (typed, own) : (own, typed)
    guard try !open.synchronizer.opens(with: new, at: remote) else {
      throw Failure(
        .refused, "same_passphrase", "this opens the account already", hint: "nothing is to be done")
    }
    try AccountSlotsChange(open, context).make(
      adding: new, removing: { _ in [] }, with: known,
      usesWords: kind == .passphrase)
    context.remark("The account opens with \(kind == .words ? "these words" : "this passphrase") too.")
  }
}

struct AccountSlotsRemoveCommand: CofferCommand {
  static let configuration = CommandConfiguration(
    commandName: "remove", abstract: "Remove a passphrase or words from the account.")
  static let page = """
    coffer account slots remove: remove a passphrase or words from the account

    usage: coffer account slots remove ID [--words] [--yes]
                                \(PassphraseOptions.usage)
                                \(PhraseOptions.usage)

    ID is the beginning of an identifier, as 'coffer account slots' shows it. The account gets a new key that
    the removed slot does not open, for whatever is sent from now on and for changes of the account. The
    last slot cannot be removed.

      \(AccountOptions.page)
      --yes    do not ask

    example: coffer account slots remove 5c1f
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var account: AccountOptions
  @Flag(help: "Do not ask.") var yes = false
  @Argument(help: "The beginning of the slot's identifier.") var id: String

  func execute(_ context: CommandContext) throws {
    let (open, secret) = try account.open(context)
    let slots = open.synchronizer.slots
    let found = slots.filter { $0.id.begins(with: id) }
    guard let slot = found.first else {
      throw Failure(
        .missing, "no_such_slot", "no slot of the account begins so",
        hint: "'coffer account slots' shows them")
    }
    guard found.count == 1 else {
      throw Failure(.usage, "ambiguous_slot", "\(found.count) slots begin so", hint: "write more of it")
    }
    guard slots.count > 1 else { throw Failure.lastAccountSlot }
    if !yes {
      let last = slots.count == 2 ? " Then one way to open it is left." : ""
      try context.insist(
        "Remove the \(slot.kind.name) \(slot.id.short) from the account?\(last)",
        otherwise: "nothing was removed")
    }
    try AccountSlotsChange(open, context).make(
      adding: nil, removing: { _ in [slot.id] }, with: secret, usesWords: account.usesWords)
    context.remark(
      "The \(slot.kind.name) \(slot.id.short) no longer open\(slot.kind == .words ? "" : "s") the account.")
  }
}

struct AccountPassphraseCommand: CofferCommand {
  static let configuration = CommandConfiguration(
    commandName: "passphrase", abstract: "Give the account the passphrase of this coffer.")
  static let page = """
    coffer account passphrase: give the account the passphrase of this coffer, instead of its former one

    usage: coffer account passphrase \(PassphraseOptions.usage)
               [--former-passphrase-fd N | --former-passphrase-file PATH | --words]
               \(PhraseOptions.usage)

    After 'coffer passphrase change', which changes this coffer alone. Asks for the passphrase of this
    coffer, and then for the former one, which the account still has; with --words for the account's twelve
    words. The former one opens nothing that is sent from now on, and changes nothing any more. The card
    stays the same.

      --former-passphrase-fd, --former-passphrase-file
               the passphrase that the account has
      \(AccountOptions.page)

    example: coffer account passphrase
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var passphrase: PassphraseOptions
  @OptionGroup var former: FormerPassphraseOptions
  @OptionGroup var phrase: PhraseOptions
  @Flag(help: "Open the account with the twelve words.") var words = false

  private var usesWords: Bool { words || phrase.isGiven }

  func validate() throws {
    if usesWords, former.isGiven {
      throw ValidationError("give the former passphrase or the twelve words, not both")
    }
  }

  func execute(_ context: CommandContext) throws {
    let (coffer, own) = try AccountOpening(passphrase: passphrase, phrase: phrase)
      .openByPassphrase(context)
    context.advise(coffer)
    let open = try OpenAccount(coffer)
    let (remote, new) = (try open.place.reached(), own)
    guard try !open.synchronizer.opens(with: new, at: remote) else {
      if context.isJSON { return AccountSlotsChange(open, context).tell() }
      return context.remark("The account opens with this passphrase already.")
    }
    let known: AccountSecret
    if usesWords {
      known = AccountSecret(
        try context.words(phrase, "recovery phrase of the account", wrong: .wrongForAccount) {
          try open.synchronizer.opens(with: AccountSecret($0), at: remote)
        })
    } else {
      known = AccountSecret(
        try context.passphrase(
          former.opening(), of: former.file, "former passphrase, which the account has",
          wrong: .wrongForAccount
        ) { try open.synchronizer.opens(with: AccountSecret($0), at: remote) })
    }
    try AccountSlotsChange(open, context).make(
      adding: new, removing: { $0.filter { $0.kind == .passphrase }.map(\.id) }, with: known,
      usesWords: usesWords)
    context.remark("The account opens with the passphrase of this coffer; the former one no longer opens it.")
  }
}

/// One change of slots, sent and told.
struct AccountSlotsChange {
  private let open: OpenAccount
  private let context: CommandContext

  init(_ open: OpenAccount, _ context: CommandContext) {
    self.open = open
    self.context = context
  }

  /// - Parameters:
  ///   - removing: chooses among the slots in force.
  ///   - usesWords: whether `secret` is of words, for the error.
  func make(
    adding new: AccountSecret?, removing: ([SlotView]) -> [SlotID], with secret: AccountSecret,
    usesWords: Bool
  ) throws {
    let remote = try open.place.reached()
    let report = try changing(usesWords: usesWords) { goesOn in
      try open.synchronizer.changeSlots(
        adding: new, removing: removing, costs: CommandRun.current.environment.accountCosts, with: secret,
        at: remote,
        progress: goesOn)
    }
    if context.isJSON { tell() }
    try SyncEnding(report, open.synchronizer).check(context)
  }

  /// Gives the account a new card, with which this coffer's passphrase opens it.
  /// - Returns: how the run ended that told the others; whatever that is, the card is another one.
  func makeCard(with passphrase: AccountSecret) throws -> SyncEnding {
    let remote = try open.place.reached()
    let report = try changing(usesWords: false) { goesOn in
      try open.synchronizer.changeSlots(
        adding: passphrase, removing: { _ in [] }, changesCard: true,
        costs: CommandRun.current.environment.accountCosts,
        with: passphrase, at: remote, progress: goesOn)
    }
    return SyncEnding(report, open.synchronizer)
  }

  private func changing(
    usesWords: Bool, _ work: ((SyncReport) -> Bool) throws -> SyncReport
  ) throws -> SyncReport {
    do {
      return try OpenAccount.watching("changing the account", context, work)
    } catch SyncError.wrongSecret {
      throw AccountOpening.wrong(usesWords)
    }
  }

  func tell() {
    JSON.print(
      AccountSlotsListCommand.Answer(slots: open.synchronizer.slots.map(AccountSlotAnswer.init)))
  }
}
