// SPDX-License-Identifier: Apache-2.0
//
// Which message is meant (Specs/cli.md, "Which message"): its id, the last digits of it, a line of the last list, or its
// title.

internal import Agent
internal import CofferKit
internal import MessageFormats
internal import Primitives
internal import Texts
internal import Vaults

/// A message that may be meant.
struct MessageChoice {
  let id: MessageID
  let title: String

  /// The one message that `word` means.
  /// - Throws: `ambiguous_message`, `message_not_found`, `no_list`; errors of reading.
  static func id(_ word: String, _ coffer: Coffer, _ context: CommandContext) throws -> MessageID {
    if let id = MessageID(word) { return id }
    if word.hasPrefix("@") { return try line(word, of: .messages, context) }
    let byTail = try tails(word, coffer)
    if byTail.count == 1 { return byTail[0] }
    let (byTitle, unreadable) = try titles(word, coffer)
    if byTail.isEmpty, byTitle.count == 1 { return byTitle[0].id }
    let fitting =
      try byTail.map { id in
        MessageChoice(id: id, title: try coffer.vault.withMessage(id) { metadata, _ in metadata.title })
      } + byTitle.filter { !byTail.contains($0.id) }
    guard !fitting.isEmpty else {
      // The one that is meant may be among those whose titles cannot be read.
      try MessageList.report(unreadable)
      throw Failure(
        .missing, "message_not_found", "no message is called '\(word)', and no id ends so",
        hint: "'coffer message list' shows them; 'coffer message search' looks into them")
    }
    throw ambiguous(word, fitting)
  }

  /// The one message that `word` means among these, which are those in the trash.
  /// - Throws: `ambiguous_message`, `not_in_trash`, `no_list`.
  static func id(
    _ word: String, among choices: [MessageChoice], _ context: CommandContext
  ) throws -> MessageID {
    if let id = MessageID(word) { return id }
    if word.hasPrefix("@") { return try line(word, of: .messages, context) }
    let tail = word.lowercased()
    let byTail = word.count < leastCount ? [] : choices.filter { hexadecimal($0.id).hasSuffix(tail) }
    let exact = choices.filter { $0.title.lowercased() == tail }
    let containing = choices.filter { $0.title.lowercased().contains(tail) }
    let fitting = byTail.isEmpty ? (exact.isEmpty ? containing : exact) : byTail
    guard let first = fitting.first else {
      throw Failure(
        .missing, "not_in_trash", "no message in the trash is called '\(word)', and no id ends so",
        hint: "'coffer trash list' shows what is in it")
    }
    if fitting.count > 1 { throw ambiguous(word, fitting) }
    return first.id
  }

  private static func hexadecimal(_ id: MessageID) -> String {
    String(id.description.filter { $0 != "-" })
  }

  /// The last digits of an id as lists show them; four and more are taken.
  static func shown(_ id: RecordID) -> String { String(id.description.suffix(shownCount)) }

  private static let shownCount = 8
  static let leastCount = 4

  private static func tails(_ word: String, _ coffer: Coffer) throws -> [MessageID] {
    guard word.count >= leastCount else { return [] }
    return try coffer.vault.identifiers(endingWith: word, limit: namedLimit + 1)
  }

  /// Those whose title is the word, whatever the case; else those whose title contains it. And those that do not open.
  private static func titles(
    _ word: String, _ coffer: Coffer
  ) throws -> (fitting: [MessageChoice], unreadable: [MessageID]) {
    let wanted = word.lowercased()
    var exact: [MessageChoice] = []
    var containing: [MessageChoice] = []
    let unreadable = try coffer.vault.list { id, metadata in
      let title = metadata.title.lowercased()
      if title == wanted {
        exact.append(MessageChoice(id: id, title: metadata.title))
      } else if containing.count <= namedLimit, title.contains(wanted) {
        containing.append(MessageChoice(id: id, title: metadata.title))
      }
      return true
    }
    return (exact.isEmpty ? containing : exact, unreadable)
  }

  /// The record on a line of the last list that this terminal has shown.
  /// - Parameter word: `@` and a number.
  /// - Throws: `no_list`.
  static func line(_ word: String, of kind: LastList.Kind, _ context: CommandContext) throws -> RecordID {
    guard let number = Int(word.dropFirst()), number > 0 else {
      throw Failure.usage("'\(word)' is not a line of a list", hint: "@3 is the third line of the last one")
    }
    func shown(_ kind: LastList.Kind) -> [String] {
      CommandSurroundings.current.lastList(kind, home: context.home)?.identifiers() ?? []
    }
    let list = shown(kind)
    guard !list.isEmpty else {
      let (wanted, other) =
        kind == .messages ? ("message", LastList.Kind.captures) : ("capture", LastList.Kind.messages)
      let isOfOthers = number <= shown(other).count
      let show = other == .captures ? "coffer capture show" : "coffer show"
      throw Failure(
        .missing, "no_list", "this terminal has shown no list of \(wanted)s yet",
        hint: isOfOthers
          ? "\(word) is one of the last \(other): \(show) \(word)" : "'coffer \(wanted) list' shows one")
    }
    guard number <= list.count, let id = RecordID(list[number - 1]) else {
      throw Failure(.missing, "no_list", "the last list has \(list.count.counted("line"))")
    }
    return id
  }

  /// At most this many are named when several fit.
  private static let namedLimit = 5

  private static func ambiguous(_ word: String, _ fitting: [MessageChoice]) -> Failure {
    let (message, hint) = ambiguity(word, "messages", fitting.map { ($0.id, $0.title) })
    return Failure(.usage, "ambiguous_message", message, hint: hint)
  }

  /// What is said when a word fits several.
  /// - Parameter kind: what it fits, in the plural.
  static func ambiguity(
    _ word: String, _ kind: String, _ fitting: [(id: RecordID, title: String)]
  ) -> (message: String, hint: String) {
    let named = fitting.prefix(namedLimit).map { choice in
      "\(shown(choice.id)) \(ColumnWidth.cut(TerminalText.line(choice.title), to: 40))"
    }
    let count = fitting.count > namedLimit ? "more than \(namedLimit)" : "\(fitting.count)"
    return ("'\(word)' fits \(count) \(kind)", "name one by its id: \(named.joined(separator: ", "))")
  }
}
