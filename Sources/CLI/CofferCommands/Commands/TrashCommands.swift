// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import CofferKit
internal import MessageFormats
internal import Primitives
internal import Vaults

struct TrashCommand: CommandGroup {
  static let configuration = CommandConfiguration(
    commandName: "trash", abstract: "Messages that were removed.",
    subcommands: [TrashListCommand.self, TrashRestoreCommand.self, TrashEmptyCommand.self])
  static let page = """
    coffer trash: messages that were removed

    usage: coffer trash list                  what is in it
           coffer trash restore WHICH...      put some back
           coffer trash empty [WHICH...]      erase all, or some, for good

    'coffer message remove' moves messages here. They stay encrypted as they were, with all their versions.
    After \(Vault.trashDays) days the next change of the coffer's messages erases them.

    example: coffer trash restore lease
    """
}

/// What is in the trash.
struct Trash {
  struct Entry {
    let id: MessageID
    let metadata: MessageMetadata
    let removed: Int64
    let byteCount: Int
  }

  private(set) var entries: [Entry] = []
  let unreadable: [MessageID]

  init(_ coffer: Coffer) throws {
    var entries: [Entry] = []
    unreadable = try coffer.vault.listTrash { id, metadata, removed, byteCount in
      entries.append(Entry(id: id, metadata: metadata, removed: removed, byteCount: byteCount))
      return true
    }
    self.entries = entries
  }

  /// The messages that the words mean, each once.
  func chosen(_ words: [String], _ context: CommandContext) throws -> [MessageID] {
    let choices = entries.map { MessageChoice(id: $0.id, title: $0.metadata.title) }
    var ids: [MessageID] = []
    for word in words {
      let id = try MessageChoice.id(word, among: choices, context)
      if !ids.contains(id) { ids.append(id) }
    }
    return ids
  }
}

struct TrashListCommand: CofferCommand {
  static let configuration = CommandConfiguration(commandName: "list", abstract: "What is in the trash.")
  static let page = """
    coffer trash list: what is in the trash, the last removed first

    usage: coffer trash list [--no-pager]
                             \(OpeningOptions.usage)

    As 'coffer message list', with the time of the removal instead of the date.

    example: coffer trash list
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var opening: OpeningOptions

  func execute(_ context: CommandContext) throws {
    let coffer = try context.open(opening)
    let trash = try Trash(coffer)
    var list = MessageList(coffer, context, count: trash.entries.count, hasContent: false)
    for entry in trash.entries where !Terminal.isOutputLost {
      try list.show(entry.id, entry.metadata, removed: entry.removed)
    }
    list.end()
    if trash.entries.isEmpty, trash.unreadable.isEmpty, Terminal.isOutputTerminal {
      context.remark("the trash is empty")
    }
    try MessageList.report(trash.unreadable)
  }
}

struct TrashRestoreCommand: CofferCommand {
  static let configuration = CommandConfiguration(
    commandName: "restore", abstract: "Put removed messages back.")
  static let page = """
    coffer trash restore: put removed messages back

    usage: coffer trash restore WHICH...
                                \(OpeningOptions.usage)

    WHICH is an id, its last digits, @N for line N of 'coffer trash list', or a title or a piece of one.

    example: coffer trash restore lease
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var opening: OpeningOptions
  @Argument(help: "Messages: ids, ends of them, @N or titles.", completion: Completions.trash)
  var which: [String]

  func execute(_ context: CommandContext) throws {
    let coffer = try context.open(opening)
    let ids = try Trash(coffer).chosen(which, context)
    for id in ids { try coffer.putBackMessage(id) }
    if context.isJSON { JSON.print(["restored": ids.map(\.description)]) }
    context.remark(
      ids.count == 1 ? "The message is back." : "\(ids.count.counted("message")) are back.")
  }
}

struct TrashEmptyCommand: CofferCommand {
  static let configuration = CommandConfiguration(
    commandName: "empty", abstract: "Erase removed messages for good.")
  static let page = """
    coffer trash empty: erase removed messages for good

    usage: coffer trash empty [WHICH...] [--yes]
                              \(OpeningOptions.usage)

    All of them, or those that WHICH name, with all their versions. Overwrites the rows in the file; backups
    still contain them.

      --yes  do not ask; needed without a terminal

    example: coffer trash empty
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var opening: OpeningOptions
  @Flag(help: "Do not ask.") var yes = false
  @Argument(
    help: "Messages: ids, ends of them, @N or titles; all without any.", completion: Completions.trash)
  var which: [String] = []

  func execute(_ context: CommandContext) throws {
    let coffer = try context.open(opening)
    let trash = try Trash(coffer)
    let ids =
      which.isEmpty ? trash.entries.map(\.id) + trash.unreadable : try trash.chosen(which, context)
    if ids.isEmpty {
      if context.isJSON { JSON.print(["erased": [String]()]) }
      return context.remark("The trash is empty.")
    }
    if !yes {
      guard context.hasTerminal, !context.isJSON else {
        throw Failure(
          .locked, "no_prompt", "there is no terminal to ask on", hint: "add --yes if you are sure")
      }
      guard try context.confirm("Erase \(ids.count.counted("message")) for good?") else {
        throw Failure(.refused, "not_confirmed", "nothing was erased")
      }
    }
    try coffer.eraseMessages(ids)
    if context.isJSON { JSON.print(["erased": ids.map(\.description)]) }
    context.remark(
      ids.count == 1 ? "The message is erased." : "\(ids.count.counted("message")) are erased.")
  }
}
