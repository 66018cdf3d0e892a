// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import CofferKit
internal import Couriers
internal import Histories
internal import Primitives
internal import Remotes
internal import Syncing
internal import Texts

struct AccountSettleCommand: CofferCommand {
  static let configuration = CommandConfiguration(
    commandName: "settle", abstract: "Choose between two continuations of the account; hand out its keys.")
  static let page = """
    coffer account settle: choose between two continuations of the account, or hand out keys that are missing

    usage: coffer account settle [--branch N] [--words]
                                 \(PassphraseOptions.usage)
                                 \(PhraseOptions.usage)

    When two devices changed the slots of the account, or revoked a device, at the same time, the account has
    two continuations and is not changed any more until you say which is right, on each device. Shows what
    each did and asks. What the other one took away stays away: devices that it revoked, and slots that it
    removed. What it added does not count. A continuation that is not yours says that somebody has a
    passphrase of yours. When a device or a slot lacks a key, this hands it out.

      --branch N  this one is right; its number as the list shows it
      \(AccountOptions.page)

    example: coffer account settle
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var account: AccountOptions
  @Option(help: "The number of the continuation that is right.") var branch: Int?

  struct Answer: Encodable {
    struct Branch: Encodable {
      let number: Int
      let lastKnown: String?
      let deeds: [String]
      let isChosen: Bool
    }
    let branches: [Branch]
  }

  func execute(_ context: CommandContext) throws {
    let (open, secret) = try account.open(context)
    let remote = try open.place.reached()
    let news = try OpenAccount.watching("syncing", context) { goesOn in
      try open.synchronizer.run(.sync, at: remote, progress: goesOn)
    }
    guard let fork = open.synchronizer.ownerFork, news.outcome != .unreachable else {
      // Without a safe epoch, keys are what is missing.
      if ![.complete, .noSafeEpoch].contains(news.outcome) {
        try SyncEnding(news, open.synchronizer).check(context)
      }
      return try handOut(open, secret, news, at: remote, context)
    }
    let (view, number) = try OwnerForkWords.choose(fork, branch, context)
    let (report, isOfBranch) = try account.watching("settling", context) { goesOn in
      try open.synchronizer.settle(
        fork, on: fork.branches[number - 1].id, with: secret, at: remote, progress: goesOn)
    }
    tell(view, chosen: number, isOfBranch, context)
    try SyncEnding(report, open.synchronizer).check(context)
  }

  private func tell(
    _ view: OwnerForkWords, chosen number: Int, _ isOfBranch: Bool, _ context: CommandContext
  ) {
    if context.isJSON { return JSON.print(view.answer(chosen: number)) }
    context.remark("Continuation \(number) is right on this device. Say the same on the others.")
    for line in view.taken(but: number) { context.remark("\(line)") }
    if !isOfBranch {
      context.remark(
        "What opened the account here is not of that continuation: change the account with what is.")
    }
  }

  /// What is wrong at the place stops no keys.
  /// - Parameter news: the run before.
  private func handOut(
    _ open: OpenAccount, _ secret: AccountSecret, _ news: SyncReport, at remote: any Remote,
    _ context: CommandContext
  ) throws {
    let isNeeded = open.synchronizer.needsSlot
    var chosen: (view: OwnerForkWords, number: Int)?
    if isNeeded {
      SyncEnding(news, open.synchronizer).tellSurprises(context)
      let (report, isOfBranch) = try account.watching("handing out keys", context) { goesOn in
        try open.synchronizer.handOutKeys(
          with: secret, at: remote,
          choice: { fork in
            let choice = try OwnerForkWords.choose(fork, branch, context)
            chosen = choice
            return fork.branches[choice.number - 1].id
          }, progress: goesOn)
      }
      if let chosen {
        tell(chosen.view, chosen: chosen.number, isOfBranch, context)
      }
      try SyncEnding(report, open.synchronizer).check(context)
      guard chosen == nil else { return }
    } else if news.outcome == .complete {
      try SyncEnding(news, open.synchronizer).check(context)
    }
    if context.isJSON { return JSON.print(Answer(branches: [])) }
    context.remark(isNeeded ? "Every device can get all keys now." : "There is nothing to settle.")
  }
}

/// The continuations of an account in words.
struct OwnerForkWords {
  private let fork: OwnerForkView

  init(_ fork: OwnerForkView) { self.fork = fork }

  /// Shows the continuations and asks which is right: what other devices chose is in no log.
  /// - Parameter branch: what was given.
  static func choose(
    _ fork: OwnerForkView, _ branch: Int?, _ context: CommandContext
  ) throws -> (view: OwnerForkWords, number: Int) {
    let view = OwnerForkWords(fork)
    view.show(context)
    return (view, try view.chosen(branch, context))
  }

  func show(_ context: CommandContext) {
    if !context.isJSON { for line in lines { Terminal.print("\(line)") } }
  }

  private var lines: [String] {
    fork.branches.enumerated().flatMap { index, branch in
      let when = branch.lastKnown.map { ", made at or after \(LocalTime.shown(Int64(clamping: $0)))" } ?? ""
      let deeds = branch.deeds.isEmpty ? ["changed the key of the account"] : branch.deeds.map(Self.words)
      return ["continuation \(index + 1)\(when):"] + deeds.map { "  \($0)" }
    }
  }

  /// The number that was given, or is chosen now.
  /// - Parameter branch: what was given.
  func chosen(_ branch: Int?, _ context: CommandContext) throws -> Int {
    if let branch {
      guard fork.branches.indices.contains(branch - 1) else {
        throw Failure.usage("--branch: there are \(fork.branches.count) continuations")
      }
      return branch
    }
    guard context.hasTerminal, !context.isJSON else {
      if context.isJSON { JSON.print(answer(chosen: nil)) }
      throw Failure(
        .locked, "no_prompt", "this asks a question, and there is no terminal to ask on",
        hint: "add --branch N")
    }
    for number in 1...fork.branches.count where try context.confirm("Is continuation \(number) right?") {
      return number
    }
    throw Failure(.refused, "cancelled", "nothing was chosen")
  }

  /// What the other branches took away, as sentences.
  func taken(but number: Int) -> [String] {
    var taken: [String] = []
    for (index, branch) in fork.branches.enumerated() where index != number - 1 {
      for deed in branch.deeds {
        switch deed {
        case .revokedDevice(_, let name): taken.append("The device '\(name)' stays revoked.")
        case .removedSlot(_, let kind): taken.append("A slot stays removed: \(kind?.name ?? "unknown").")
        case .addedDevice(_, let name):
          taken.append("The device '\(name)' does not count: 'coffer device rejoin' there brings it back.")
        case .addedSlot(let kind): taken.append("A slot does not count that was added: \(kind.name).")
        }
      }
    }
    return taken
  }

  func answer(chosen: Int?) -> AccountSettleCommand.Answer {
    AccountSettleCommand.Answer(
      branches: fork.branches.enumerated().map { index, branch in
        AccountSettleCommand.Answer.Branch(
          number: index + 1, lastKnown: branch.lastKnown.map { RFC3339.format(Int64(clamping: $0)) },
          deeds: branch.deeds.map(Self.words), isChosen: chosen == index + 1)
      })
  }

  private static func words(_ deed: OwnerForkView.Deed) -> String {
    switch deed {
    case .addedDevice(let id, let name): "added the device '\(name)' (\(id.short))"
    case .revokedDevice(let id, let name): "revoked the device '\(name)' (\(id.short))"
    case .addedSlot(let kind): "added a slot: \(kind.name)"
    case .removedSlot(let id, let kind): "removed a slot: \(kind?.name ?? "unknown") (\(id.short))"
    }
  }
}
