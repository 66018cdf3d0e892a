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
                                 [--snippets|--no-snippets] [--scan]
                                 [--columns NAME,NAME...] [--no-pager]
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
                              by local date, both ends included
      has:attachment  is:mail  type:text/markdown  type:image/*
      -word  -tag:old         without it

      --any           one of the words, people, titles and tags is enough
      --limit N       at most this many
      --oldest        the oldest first, not the newest
      --count         only how many there are
      --snippets      with each message a line of its text; without it only on a terminal
      --scan          decrypts every message and uses no index; names those that do not open

    Lists what it finds as 'coffer message list' does, whose help has the names of --columns. A coffer with
    more than about a thousand messages has an index on the disk, sealed like the messages; the others are
    decrypted in memory one by one. What is found is the same. The exit code is 6 when nothing is found.

    example: coffer message search lease from:ann after:2024 -draft
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var opening: OpeningOptions
  @Flag(name: .customLong("any"), help: "One of the words is enough.") var isAny = false
  @Option(help: "At most this many.") var limit: Int?
  @Flag(help: "The oldest first.") var oldest = false
  @Flag(help: "Only how many there are.") var count = false
  @Flag(inversion: .prefixedNo, help: "A line of the text of each.") var snippets: Bool?
  @Flag(help: "Decrypt every message; use no index.") var scan = false
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
    let expression = try SearchExpression(what, isAny: isAny, day: LocalTime.seconds(ofDay:_:_:))
    let columns = try MessageColumn.named(columns)
    let coffer = try context.open(opening)
    var list = MessageList(coffer, context, columns: columns)
    list.showsSnippets = snippets ?? (Terminal.isOutputTerminal && !context.isJSON)
    var finder = SearchSnippetFinder(expression, sideCount: SnippetLine.sideCount)
    let findings = try search(expression, coffer, context, wantsDetails: !count && list.needsContent) {
      list.indexTrouble = $0
    } _: { id, metadata, details in
      try list.show(id, metadata, details: details) { finder.snippet($0, $1) }
    }
    let (found, unreadable) = (findings.count, list.unreadable(and: findings.unreadable))
    let hasLeft = Terminal.hasLeftPager
    list.end()
    if count, context.isJSON {
      JSON.print(CountAnswer(count: found, index: findings.indexTrouble?.name))
    }
    if count, !context.isJSON { Terminal.print("\(found)") }
    if Terminal.isOutputTerminal, !count, limit != 0, found > list.count, !hasLeft {
      context.remark("... and \((found - list.count).counted(oldest ? "newer message" : "older message"))")
    }
    try MessageList.report(unreadable)
    if found == 0 { throw Failure(.missing, "not_found", nothingFound(expression)) }
  }

  private struct CountAnswer: Encodable {
    let count: Int
    /// `damaged` or `unreadable`, or missing.
    let index: String?
  }

  /// Shows what is found, unless it is only counted.
  private func search(
    _ expression: SearchExpression, _ coffer: Coffer, _ context: CommandContext, wantsDetails: Bool,
    noticed: (Vault.IndexTrouble) -> Void,
    _ show: (MessageID, MessageMetadata, MessageDetails?) throws -> Void
  ) throws -> Vault.Findings {
    var bar = ProgressBar("searching", isQuiet: context.isQuiet || context.isJSON)
    defer { bar.finish() }
    let total = coffer.vault.lastStatus?.messageCount ?? 0
    var seen = 0
    Interruption.catchOnce()
    var interruption: Failure {
      Failure.interrupted("\(seen) of \(total.counted("message")) were searched, and nothing was changed")
    }
    let findings = try coffer.vault.find(
      .init(
        expression, .init(limit: limit, isReversed: oldest), isScan: scan, isCounted: count,
        wantsDetails: wantsDetails),
      examined: {
        if Interruption.isRequested { throw interruption }
        seen = $0 + 1
        if seen % 1_000 == 0 { bar.update(seen, of: total, unit: "messages") }
      },
      noticed: { trouble in
        bar.finish()
        IndexWarning.unused(trouble).tell(isJSON: context.isJSON)
        noticed(trouble)
      }
    ) { id, metadata, details in
      bar.finish()
      try show(id, metadata, details)
      return !Terminal.isOutputLost && !Interruption.isRequested
    }
    if Interruption.isRequested { throw interruption }
    return findings
  }

  private func nothingFound(_ expression: SearchExpression) -> String {
    let areWords = expression.parts.allSatisfy { part in
      if case .phrase(_, .anywhere) = part.condition { part.role != .excluded } else { false }
    }
    if !areWords { return "no message fits this search" }
    let isPhrase = expression.parts.contains { part in
      if case .phrase(let phrase, _) = part.condition { phrase.tokens.count > 1 } else { false }
    }
    if isPhrase { return "no message contains these words next to each other" }
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
