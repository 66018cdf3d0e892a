// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import CofferKit
internal import MessageFormats
internal import Vaults

struct MessageListCommand: CofferCommand {
  static let configuration = CommandConfiguration(commandName: "list", abstract: "List messages.")
  static let page = """
    coffer message list: list messages, newest first unless you sort them

    usage: coffer message list [--tag T] [--limit N] [--sort date|stored|title|size] [--reverse]
                               [--columns NAME,NAME...] [--no-pager]
                               \(OpeningOptions.usage)

    Sorted by the date shown, which for a mail is the date in its header; or with the last stored first, by
    title from A to Z, or with the largest first. --reverse turns that round. --limit counts from the
    beginning of the list.

    On a terminal, prints a table that fits it: a number for @N, the end of the id, local time, the sender of
    a mail or what else it is, + if something is attached, title, tags. On a pipe, one line per message: id,
    date in UTC, title and tags, separated by tabs. --columns chooses instead, in your order, among number,
    id, date, from, type, size, title, tags and attachment.

    A list that is longer than the screen is shown by the program in COFFER_PAGER or PAGER, else by less,
    which then writes no file. --no-pager, or COFFER_PAGER=cat, lets it run past.

    example: coffer message list --tag home --columns date,from,title
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var opening: OpeningOptions
  @Option(help: "Only messages with this tag.", completion: Completions.tags) var tag: String?
  @Option(help: "At most this many.") var limit: Int?
  @Option(help: "What to sort by.") var sort: Vault.Order = .date
  @Flag(help: "The last of that order comes first.") var reverse = false
  @Option(help: "What is shown of each, separated by commas.", completion: Completions.columns)
  var columns: String?

  func validate() throws {
    if let limit, limit < 0 { throw ValidationError("--limit must not be negative") }
  }

  func execute(_ context: CommandContext) throws {
    let columns = try MessageColumn.named(columns)
    let coffer = try context.open(opening)
    var list = MessageList(coffer, context, columns: columns)
    let found = try coffer.vault.find(
      .init(
        nil, .init(tag: tag, limit: limit, order: sort, isReversed: reverse),
        wantsDetails: list.needsContent),
      noticed: { trouble in
        IndexWarning.unused(trouble).tell(isJSON: context.isJSON)
        list.indexTrouble = trouble
      }
    ) { id, metadata, details in
      try list.show(id, metadata, details: details)
      return !Terminal.isOutputLost
    }
    let (count, unreadable) = (found.count, list.unreadable(and: found.unreadable))
    let hasLeft = Terminal.hasLeftPager
    list.end()
    // A user would wonder whether it worked; a program counts lines. A tag may be misspelt anywhere.
    if Terminal.isOutputTerminal, limit != 0, count > list.count, !hasLeft {
      let rest = sort == .date && !reverse ? "older message" : "more message"
      context.remark("... and \((count - list.count).counted(rest))")
    } else if count == 0, unreadable.isEmpty, limit != 0, Terminal.isOutputTerminal || tag != nil {
      context.remark(
        tag == nil ? "no messages yet: 'coffer message add' stores one" : "no message has this tag")
    }
    try MessageList.report(unreadable)
  }
}
