// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import CofferKit
internal import MessageFormats
internal import Vaults

struct MessageSearchCommand: SearchingCommand {
  static let configuration = CommandConfiguration(
    commandName: "search", abstract: "Find messages by their words.")
  static let page = """
    coffer message search: find messages by their words, people, tags and dates

    usage: coffer message search WHAT... [--any] [--limit N] [--oldest] [--count]
                                 [--snippets|--no-snippets] [--columns NAME,NAME...] [--no-pager]
                                 \(OpeningOptions.usage)

    Searches titles, tags, the text of messages and the names of attachments; everything must occur, in any
    order. Case and accents do not count, nor does punctuation: example.org finds 'example' and then 'org'.

      lease                   this word, also within another
      lease*  =lease          words that begin so; only the whole word
      '"blue door"'           whole words next to each other
      from:ann  to:ben        in the sender; in the recipients
      title:lease             in the title
      tag:home  tag:ho*       with this tag; with one that begins so
      date:2024  date:2024-03..2024-05  date:..2019
      after:2024-03  before:2024-03-15
                              by date (UTC), both ends included
      has:attachment  is:mail  type:text/markdown  type:image/*
      -word  -tag:old         without it

      --any           one of the words, people, titles and tags is enough
      --limit N       at most this many
      --oldest        the oldest first, not the newest
      --count         only how many there are
      --snippets      with each message a line of its text; without it only on a terminal

    Lists what it finds as 'coffer message list' does, whose help has the names of --columns. Every message
    is decrypted in memory; there is no index on the disk. The exit code is 6 when nothing is found.

    example: coffer message search lease from:ann after:2024 -draft
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var opening: OpeningOptions
  @Flag(name: .customLong("any"), help: "One of the words is enough.") var isAny = false
  @Option(help: "At most this many.") var limit: Int?
  @Flag(help: "The oldest first.") var oldest = false
  @Flag(help: "Only how many there are.") var count = false
  @Flag(inversion: .prefixedNo, help: "A line of the text of each.") var snippets: Bool?
  @Option(help: "What is shown of each, separated by commas.", completion: Completions.columns)
  var columns: String?
  @Argument(help: "What must occur.") var what: [String] = []

  func validate() throws {
    if let limit, limit < 0 { throw ValidationError("--limit must not be negative") }
    if count, limit != nil || oldest || snippets != nil || columns != nil {
      throw ValidationError("--count goes with no other option of the list")
    }
  }

  func execute(_ context: CommandContext) throws {
    let expression = try SearchExpression(what, isAny: isAny)
    let columns = try MessageColumn.named(columns)
    let coffer = try context.open(opening)
    var found = 0
    var list = MessageList(coffer, context, columns: columns)
    list.showsSnippets = snippets ?? (Terminal.isOutputTerminal && !context.isJSON)
    var finder = SearchSnippetFinder(expression, sideCount: SnippetLine.sideCount)
    let unreadable = try search(expression, coffer, context, counting: &found) { id, metadata in
      // One that has been removed or damaged meanwhile has none.
      var (snippet, details): (SearchSnippet?, MessageDetails?)
      if list.showsSnippets {
        try? coffer.vault.withMessage(id) {
          snippet = finder.snippet($0, $1)
          if list.needsContent { details = list.details($0, $1) }
        }
      }
      list.show(id, metadata, snippet: snippet, details: details)
    }
    let hasLeft = Terminal.hasLeftPager
    list.end()
    if count, context.isJSON { JSON.print(["count": found]) }
    if count, !context.isJSON { Terminal.print("\(found)") }
    if Terminal.isOutputTerminal, !count, limit != 0, found > list.count, !hasLeft {
      context.remark("... and \((found - list.count).counted(oldest ? "newer message" : "older message"))")
    }
    try MessageList.report(unreadable)
    if found == 0 { throw Failure(.missing, "not_found", nothingFound(expression)) }
  }

  /// Shows what is found, unless it is only counted.
  /// - Returns: the messages that do not open.
  private func search(
    _ expression: SearchExpression, _ coffer: Coffer, _ context: CommandContext, counting found: inout Int,
    _ show: (MessageID, MessageMetadata) -> Void
  ) throws -> [MessageID] {
    var query = SearchQuery(expression)
    var bar = ProgressBar("searching", isQuiet: context.isQuiet || context.isJSON)
    defer { bar.finish() }
    let total = coffer.vault.lastStatus?.messageCount ?? 0
    var seen = 0
    Interruption.catchOnce()
    var interruption: Failure {
      Failure.interrupted("\(seen) of \(total.counted("message")) were searched, and nothing was changed")
    }
    func isFound(_ metadata: MessageMetadata, _ content: RawSpan) throws -> Bool {
      if Interruption.isRequested { throw interruption }
      seen += 1
      if seen % 1_000 == 0 { bar.update(seen, of: total, unit: "messages") }
      guard query.matches(metadata, content) else { return false }
      found += 1
      return !count
    }
    let unreadable = try coffer.vault.list(.init(limit: limit, isReversed: oldest), choosing: isFound) {
      id, metadata in
      bar.finish()
      show(id, metadata)
      return !Terminal.isOutputLost && !Interruption.isRequested
    }
    if Interruption.isRequested { throw interruption }
    return unreadable
  }

  private func nothingFound(_ expression: SearchExpression) -> String {
    let areWords = expression.parts.allSatisfy { part in
      if case .phrase(_, .anywhere) = part.condition { part.role != .excluded } else { false }
    }
    if !areWords { return "no message fits this search" }
    if expression.parts.count == 1 { return "no message contains this word" }
    return "no message contains \(isAny ? "any" : "all") of these words"
  }
}

/// How a snippet is printed.
enum SnippetLine {
  /// So many characters to each side that the line fits the terminal.
  static var sideCount: Int { min(60, Terminal.columns / 2 - 10) }

  /// What was found is bold, or in brackets where there are no colours.
  static func of(_ snippet: SearchSnippet) -> ShownLine {
    let isBold = Terminal.wantsColour(Terminal.isOutputTerminal)
    return snippet.pieces.reduce(into: "") { line, piece in
      line += !piece.isMatch ? "\(piece.text)" : isBold ? Terminal.bold(piece.text) : "[\(piece.text)]"
    }
  }
}
