// SPDX-License-Identifier: Apache-2.0
//
// What opens the account, apart from this coffer: its slots, and what waits for one of them.

internal import ArgumentParser
internal import CofferKit
internal import Histories
internal import Primitives
internal import Syncing
internal import Texts

struct AccountCommand: CommandGroup {
  static let configuration = CommandConfiguration(
    commandName: "account", abstract: "What opens the account of your devices.",
    subcommands: [AccountSlotsCommand.self, AccountPassphraseCommand.self, AccountSettleCommand.self])
  static let page = """
    coffer account: what opens the account that your devices have in common

    usage: coffer account slots [list]
           coffer account slots add words|passphrase
           coffer account slots remove ID
           coffer account passphrase
           coffer account settle

    A restore, and a change of the account, need a passphrase or words that it has a slot for. They are the
    account's own: a passphrase that you change is at first changed on this coffer alone.

    example: coffer account slots
    """
}

struct AccountSlotsCommand: CommandGroup {
  static let configuration = CommandConfiguration(
    commandName: "slots", abstract: "The passphrases and words that open the account.",
    subcommands: [
      AccountSlotsListCommand.self, AccountSlotsAddCommand.self, AccountSlotsRemoveCommand.self,
    ], defaultSubcommand: AccountSlotsListCommand.self)
  static let page = """
    coffer account slots: the passphrases and words that open the account

    usage: coffer account slots [list]
           coffer account slots add words|passphrase
           coffer account slots remove ID

    example: coffer account slots
    """
}

/// A slot of the account in JSON.
struct AccountSlotAnswer: Encodable {
  let id: String
  /// `passphrase` or `words`.
  let kind: String
  let created: String?

  init(_ slot: SlotView) {
    id = Hexadecimal.text(slot.id.bytes)
    kind = slot.kind.name
    created = slot.record.map { RFC3339.format(Int64(clamping: $0.createdAt)) }
  }
}

extension SlotEntry.Kind {
  var name: String {
    switch self {
    case .passphrase: "passphrase"
    case .words: "words"
    }
  }
}

struct AccountSlotsListCommand: CofferCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List what opens the account.")
  static let page = """
    coffer account slots list: list the passphrases and words that open the account

    usage: coffer account slots [list]
                                \(OpeningOptions.usage)

    Shows the beginning of each identifier, the kind, and when it was made. Asks the place nothing.

    example: coffer account slots list
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var opening: OpeningOptions

  struct Answer: Encodable {
    let slots: [AccountSlotAnswer]
  }

  func execute(_ context: CommandContext) throws {
    let synchronizer = try OpenAccount(context.open(opening)).synchronizer
    if context.isJSON { return JSON.print(Answer(slots: synchronizer.slots.map(AccountSlotAnswer.init))) }
    for slot in synchronizer.slots {
      let created = slot.record.map { ", made \(LocalTime.shown(Int64(clamping: $0.createdAt)))" } ?? ""
      Terminal.print("\(slot.id.short)  \(slot.kind.name)\(created)")
    }
    if try synchronizer.passphraseDiffers() {
      context.remark(
        "The account has another passphrase than this coffer: 'coffer account passphrase' changes that.")
    }
  }
}
