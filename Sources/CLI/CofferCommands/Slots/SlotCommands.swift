// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import CofferKit
internal import Foundation
internal import Keychains

struct SlotCommand: CommandGroup {
  static let configuration = CommandConfiguration(
    commandName: "slot", abstract: "The ways to open the coffer.",
    subcommands: [SlotListCommand.self, SlotAddCommand.self, SlotRemoveCommand.self])
  static let page = """
    coffer slot: the ways to open the coffer

    usage: coffer slot list
           coffer slot add \(SlotInterfaces.all.map { $0.method.name }.joined(separator: " | "))
           coffer slot remove ID|NAME

    Each slot opens the coffer by itself. The last passphrase or recovery phrase cannot be removed, because a
    TPM slot is lost with its machine, and a security key can be lost too. A slot can have a name, which
    tells it from the others in the list.

    example: coffer slot add recovery
    """
}

struct SlotListCommand: CofferCommand {
  static let configuration = CommandConfiguration(commandName: "list", abstract: "Show the slots.")
  static let page = """
    coffer slot list: show the ways to open the coffer

    usage: coffer slot list

    Does not ask for anything: the list of slots is not secret, only their keys are. On a terminal the
    rows fit, with the beginnings of ids; elsewhere, and with --json, everything is whole.

    example: coffer slot list --json
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var opening: OpeningOptions

  func execute(_ context: CommandContext) throws {
    let slots = try context.locked().slots.map(SlotAnswer.init)
    if context.isJSON { return slots.forEach { JSON.print($0) } }
    let columns = Terminal.isOutputTerminal ? Terminal.columns : nil
    for row in SlotAnswer.rows(slots, columns: columns) { Terminal.print("\(row)") }
  }
}

struct SlotAddCommand: CommandGroup {
  static let configuration = CommandConfiguration(
    commandName: "add", abstract: "Add a way to open the coffer.",
    subcommands: SlotInterfaces.all.map { $0.addCommand })
  static let page = """
    coffer slot add: add a way to open the coffer

    usage: \(lines.joined(separator: "\n       "))

    --name gives the slot a name, which no other slot may have. Everybody who has the file can read it. The
    slot's keys are sealed together with it, so it stays as long as the slot: for another name, add a new
    slot and remove the old one. 'coffer passphrase change' keeps the name.

    example: coffer slot add passphrase --name laptop
    """

  /// The page has the options of its commands.
  static let namesCommonOptions = true

  private static var lines: [String] {
    SlotInterfaces.all.map { "coffer slot add \($0.method.name) \($0.addUsage)" }
  }
}

struct SlotRemoveCommand: CofferCommand {
  static let configuration = CommandConfiguration(
    commandName: "remove", abstract: "Remove a way to open the coffer.")
  static let page = """
    coffer slot remove: remove a way to open the coffer

    usage: coffer slot remove ID|NAME
               \(OpeningOptions.usage)

    Takes the slot's id, its beginning (four characters or more), or its name.

    Refuses to remove the last passphrase or recovery phrase. Ends the session. Earlier copies of the file
    still open with the removed slot.

    example: coffer slot remove laptop
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var opening: OpeningOptions
  @Argument(help: "The slot: its id, the beginning of it or its name.") var which: String

  struct Answer: Encodable {
    let removed: String
    let sessionEnded: Bool
  }

  func execute(_ context: CommandContext) throws {
    // Before anything is asked: is there such a slot?
    let slot = try SlotChoice.slot(which, of: context.locked().slots)
    let coffer = try context.open(opening, needing: .slot)
    try coffer.removeSlot(slot.id)
    let ending = SessionEnding(coffer)
    let removed = SlotAnswer(slot)
    if context.isJSON { JSON.print(Answer(removed: removed.id, sessionEnded: ending.wasThere)) }
    let name = removed.name.map { " '\($0)'" } ?? ""
    context.remark(
      "The \(removed.kind) slot\(name) (\(removed.id.prefix(SlotAnswer.shownIDCount))) is removed. Older copies "
        + "of the file still open with it.")
    try ending.tell(context)
  }
}
