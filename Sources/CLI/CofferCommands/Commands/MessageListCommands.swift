// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import CofferKit
internal import MessageFormats
internal import Primitives
internal import Texts
internal import Vaults

struct MessageListCommand: CofferCommand {
  static let configuration = CommandConfiguration(commandName: "list", abstract: "List messages.")
  static let page = """
    coffer message list: list messages, newest first

    usage: coffer message list [--tag T] [--limit N]
                               \(OpeningOptions.usage)

    Sorted by the date shown, which for a mail is the date in its header. On a terminal, prints a table; on a
    pipe, one line per message: id, date, title and tags, separated by tabs.

    example: coffer message list --tag home --limit 20
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var opening: OpeningOptions
  @Option(help: "Only messages with this tag.") var tag: String?
  @Option(help: "At most this many.") var limit: Int?

  func validate() throws {
    if let limit, limit < 0 { throw ValidationError("--limit must not be negative") }
  }

  func execute(_ context: CommandContext) throws {
    let coffer = try context.open(opening)
    var count = 0
    let unreadable = try coffer.vault.list(.init(tag: tag, limit: limit)) { id, metadata in
      MessageLine.print(id, metadata, isJSON: context.isJSON)
      count += 1
      return !Terminal.isOutputLost
    }
    // A user would wonder whether it worked; a program counts lines.
    if count == 0, limit != 0, unreadable.isEmpty, Terminal.isOutputTerminal {
      context.remark(
        tag == nil ? "no messages yet: 'coffer message add' stores one" : "no message has this tag")
    }
    try MessageLine.report(unreadable)
  }
}

struct MessageSearchCommand: CofferCommand {
  static let configuration = CommandConfiguration(
    commandName: "search", abstract: "Find messages by their words.")
  static let page = """
    coffer message search: find messages that contain all of the words

    usage: coffer message search WORDS...
                                 \(OpeningOptions.usage)

    Searches titles, tags and the text of messages, ignoring case, also within words. Lists what it finds as
    'coffer message list' does, newest first. Every message is decrypted in memory; there is no index on the
    disk. The exit code is 6 when nothing is found.

    example: coffer message search lease 2025
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var opening: OpeningOptions
  @Argument(help: "Words that must all occur.") var words: [String]

  func execute(_ context: CommandContext) throws {
    let coffer = try context.open(opening)
    var query = SearchQuery(words: words)
    var bar = ProgressBar("searching", isQuiet: context.isQuiet || context.isJSON)
    let total = coffer.vault.lastStatus?.messageCount ?? 0
    var seen = 0
    var found = 0
    defer { bar.finish() }
    Interruption.catchOnce()
    var interruption: Failure {
      Failure.interrupted("\(seen) of \(total.counted("message")) were searched, and nothing was changed")
    }
    func isFound(_ metadata: MessageMetadata, _ content: RawSpan) throws -> Bool {
      if Interruption.isRequested { throw interruption }
      seen += 1
      if seen % 1_000 == 0 { bar.update(seen, of: total, unit: "messages") }
      return query.matches(metadata, content)
    }
    let unreadable = try coffer.vault.list(choosing: isFound) { id, metadata in
      bar.finish()
      found += 1
      MessageLine.print(id, metadata, isJSON: context.isJSON)
      return !Terminal.isOutputLost && !Interruption.isRequested
    }
    bar.finish()
    if Interruption.isRequested { throw interruption }
    try MessageLine.report(unreadable)
    if found == 0 {
      throw Failure(
        .missing, "not_found",
        words.count == 1 ? "no message contains this word" : "no message contains all of these words")
    }
  }
}

/// A message as one line of a list.
enum MessageLine {
  private struct Answer: Encodable {
    let id: String
    let title: String
    let tags: [String]
    let type: String
    let date: String
  }

  static func print(_ id: MessageID, _ metadata: MessageMetadata, isJSON: Bool) {
    let date = RFC3339.format(metadata.date)
    if isJSON {
      return JSON.print(
        Answer(
          id: id.description, title: metadata.title, tags: metadata.tags, type: metadata.contentType,
          date: date))
    }
    // Made safe for a terminal before it is measured, because that changes its width.
    let title = TerminalText.line(metadata.title)
    let tags = TerminalText.line(metadata.tags.joined(separator: " "))
    guard Terminal.isOutputTerminal else {
      return Terminal.print("\(id)\t\(date)\t\(title)\t\(tags)")
    }
    Terminal.print(row(id, String(date.prefix(16)).replacing("T", with: " "), title, tags))
  }

  /// A row that fits the terminal: id, date to the minute, title, tags. A narrow terminal gets no date.
  private static func row(_ id: MessageID, _ date: String, _ title: String, _ tags: String) -> ShownLine {
    let gap = "  "
    var row: ShownLine = "\(Terminal.dim(id.description))\(gap)"
    var room = Terminal.columns - id.description.count - gap.count
    if room - date.count - gap.count >= leastTitleWidth {
      row += "\(date)\(gap)"
      room -= date.count + gap.count
    }
    if tags.isEmpty { return "\(row)\(ColumnWidth.cut(title, to: room))" }
    let shownTags = ColumnWidth.cut(tags, to: room / 3)
    let width = room - gap.count - ColumnWidth.of(shownTags)
    let shownTitle = ColumnWidth.padded(ColumnWidth.cut(title, to: width), to: width)
    return "\(row)\(shownTitle)\(gap)\(Terminal.dim(shownTags))"
  }

  /// A shorter piece of a title would be useless.
  private static let leastTitleWidth = 16

  /// Throws if some messages did not open.
  static func report(_ unreadable: [MessageID]) throws {
    if unreadable.isEmpty { return }
    var failure = Failure(
      .corrupt, "data_tampered", "\(unreadable.count.counted("message")) corrupted or tampered",
      hint: "run 'coffer doctor --deep'; a backup of the coffer's folder may have what is damaged")
    failure.unreadable = unreadable.map(\.description)
    throw failure
  }
}
