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
           coffer slot remove ID

    Each slot opens the coffer by itself. The last passphrase or recovery phrase cannot be removed, because a
    TPM slot is lost with its machine, and a security key can be lost too.

    example: coffer slot add recovery
    """
}

struct SlotListCommand: CofferCommand {
  static let configuration = CommandConfiguration(commandName: "list", abstract: "Show the slots.")
  static let page = """
    coffer slot list: show the ways to open the coffer

    usage: coffer slot list

    Does not ask for anything: the list of slots is not secret, only their keys are.

    example: coffer slot list --json
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var opening: OpeningOptions

  func execute(_ context: CommandContext) throws {
    let slots = try context.locked().slots.map(SlotAnswer.init)
    if context.isJSON { return slots.forEach { JSON.print($0) } }
    SlotAnswer.lines(slots).forEach { Terminal.print("\($0)") }
  }
}

struct SlotAddCommand: CommandGroup {
  static let configuration = CommandConfiguration(
    commandName: "add", abstract: "Add a way to open the coffer.",
    subcommands: SlotInterfaces.all.map { $0.addCommand })
  static let page = """
    coffer slot add: add a way to open the coffer

    usage: \(lines.joined(separator: "\n       "))

    example: coffer slot add passphrase
    """

  private static var lines: [String] {
    SlotInterfaces.all.map { "coffer slot add \($0.method.name) \($0.addUsage)" }
  }
}

struct SlotRemoveCommand: CofferCommand {
  static let configuration = CommandConfiguration(
    commandName: "remove", abstract: "Remove a way to open the coffer.")
  static let page = """
    coffer slot remove: remove a way to open the coffer

    usage: coffer slot remove ID \(OpeningOptions.usage)

    Refuses to remove the last passphrase or recovery phrase. Ends the session. Earlier copies of the file
    still open with the removed slot.

    example: coffer slot remove 6f9619ff-8b86-4011-b42d-00c04fc964ff
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var opening: OpeningOptions
  @Argument(help: "The slot's id.") var id: String

  struct Answer: Encodable {
    let removed: String
    let sessionEnded: Bool
  }

  func execute(_ context: CommandContext) throws {
    guard let uuid = UUID(uuidString: id) else {
      throw Failure.usage("'\(id)' is not the id of a slot", hint: "'coffer slot list' shows the ids")
    }
    let coffer = try context.open(opening, needing: .slot)
    try coffer.removeSlot(uuid)
    let ending = SessionEnding(coffer)
    if context.isJSON {
      JSON.print(Answer(removed: uuid.uuidString.lowercased(), sessionEnded: ending.wasThere))
    }
    context.remark("The slot is removed. Older copies of the file still open with it.")
    try ending.tell(context)
  }
}
