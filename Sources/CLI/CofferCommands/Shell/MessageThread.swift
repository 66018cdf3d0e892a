// SPDX-License-Identifier: Apache-2.0
//
// The conversation that a mail belongs to: `message show --thread`. Every message is read for its headers, and again
// until no more belong to it; only the mails of the conversation are kept, without their text.

internal import Agent
internal import CofferKit
internal import MessageFormats
internal import Primitives
internal import Secrets
internal import Texts
internal import Vaults

struct MessageThread {
  private let coffer: Coffer
  private let context: CommandContext
  private let reader = MessageDetailsReader()

  init(_ coffer: Coffer, _ context: CommandContext) {
    self.coffer = coffer
    self.context = context
  }

  /// Shows the conversation of a message. What is not a mail is alone in its own.
  func show(_ id: MessageID) throws {
    var unreadable: [MessageID] = []
    var conversation: MailConversation<MessageID>?
    try coffer.vault.withMessage(id) { metadata, content in
      if metadata.isMail { conversation = MailConversation(id, MailLinks(content), date: metadata.date) }
    }
    let rows: [MailConversation<MessageID>.Row]
    if var conversation {
      unreadable = try collect(&conversation)
      rows = conversation.rows()
      if conversation.isFull { context.remark("The conversation is too large: only a part of it is shown.") }
    } else {
      rows = [.init(alone: id)]
    }
    Terminal.beginPaging(context)
    let width = senderWidth(rows)
    var shown: [String] = []
    for row in rows where !Terminal.isOutputLost {
      do {
        try coffer.vault.withMessage(row.id) { metadata, content in
          shown.append(row.id.description)
          show(row, number: shown.count, of: rows.count, metadata, content, isAsked: row.id == id, width)
        }
      } catch VaultError.messageNotFound, VaultError.messageInTrash {
        // Removed meanwhile.
        continue
      } catch VaultError.dataTampered(let id), VaultError.decryptionFailed(let id, _) {
        if !unreadable.contains(id) { unreadable.append(id) }
      }
    }
    Terminal.endPaging()
    if Terminal.isOutputTerminal, !context.isJSON {
      CommandSurroundings.current.lastList(home: context.home)?.replace(by: shown)
    }
    try MessageList.report(unreadable)
  }

  /// Takes mails until none is new.
  /// - Returns: the messages that do not open.
  private func collect(_ conversation: inout MailConversation<MessageID>) throws -> [MessageID] {
    var bar = ProgressBar("looking for the conversation", isQuiet: context.isQuiet || context.isJSON)
    defer { bar.finish() }
    let total = coffer.vault.lastStatus?.messageCount
    var unreadable: [MessageID] = []
    var hasGrown = true
    while hasGrown, !conversation.isFull {
      hasGrown = false
      var seen = 0
      unreadable = try coffer.vault.forEachMessage { id, metadata, content in
        seen += 1
        if seen % 1_000 == 0 { bar.update(seen, of: total, unit: "messages") }
        guard metadata.isMail else { return true }
        if conversation.take(id, MailLinks(content), date: metadata.date) { hasGrown = true }
        return !conversation.isFull
      }
    }
    return unreadable
  }

  // MARK: Rows

  private struct Answer: Encodable {
    let id: String
    let title: String
    let tags: [String]
    let type: String
    let date: String
    let depth: Int
    /// The mail that it answers.
    let replyTo: String?
    let from: String?
    let firstLine: String
  }

  private func show(
    _ row: MailConversation<MessageID>.Row, number: Int, of count: Int, _ metadata: MessageMetadata,
    _ content: RawSpan, isAsked: Bool, _ senderWidth: Int
  ) {
    let details = reader.details(metadata, content)
    let firstLine = FirstLine.of(metadata, content)
    if context.isJSON {
      return JSON.print(
        Answer(
          id: row.id.description, title: metadata.title, tags: metadata.tags, type: metadata.contentType,
          date: RFC3339.format(metadata.date), depth: row.depth, replyTo: row.parent?.description,
          from: metadata.isMail ? details.from : nil, firstLine: firstLine))
    }
    guard Terminal.isOutputTerminal else {
      return Terminal.print(
        "\(row.id)\t\(RFC3339.format(metadata.date))\t\(row.depth)\t\(details.from)\t\(firstLine)")
    }
    let isNarrow = Terminal.columns < Self.wideColumns
    let shownNumber = "\(number)".paddedAtStart(to: String(count).count)
    let date = isNarrow ? LocalTime.monthAndDay(metadata.date) : LocalTime.minute(metadata.date)
    let end = isNarrow ? "" : MessageChoice.shown(row.id) + "  "
    let indent = String(repeating: " ", count: Self.indent(row.depth))
    let sender = TerminalText.line(
      metadata.isMail ? details.sender : MessageColumn.shortType(metadata.contentType))
    let shownSender = ColumnWidth.cut(sender, to: senderWidth - indent.count)
    let padding = String(repeating: " ", count: senderWidth - indent.count - ColumnWidth.of(shownSender))
    let room = Terminal.columns - shownNumber.count - end.count - date.count - senderWidth - 6
    // The mail that was asked for.
    let name = isAsked ? Terminal.bold(shownSender) : "\(shownSender)"
    let text = ColumnWidth.cut(TerminalText.line(firstLine), to: max(1, room))
    Terminal.print("\(Terminal.dim(shownNumber))  \(end)\(date)  \(indent)\(name)\(padding)  \(text)")
  }

  /// The same for all rows, so that the texts stand below each other.
  private func senderWidth(_ rows: [MailConversation<MessageID>.Row]) -> Int {
    let deepest = rows.map { Self.indent($0.depth) }.max() ?? 0
    return min(deepest + 18, max(14, Terminal.columns * 2 / 5))
  }

  /// Deep answers are not moved further: the text must have room.
  private static func indent(_ depth: Int) -> Int { min(depth, Terminal.columns < wideColumns ? 3 : 8) * 2 }

  private static let wideColumns = 60
}

/// The line by which a reader recognises a message: the first of its text that is not quoted.
enum FirstLine {
  static func of(_ metadata: MessageMetadata, _ content: RawSpan) -> String {
    guard let text = MessageText.of(metadata, content) else { return "" }
    let beginning = text.withBytes { bytes in
      // The rest of a large one is of no use here.
      let begin = bytes.extracting(first: min(bytes.byteCount, beginningByteCount))
      return unsafe begin.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }
    }
    return of(beginning)
  }

  static func of(_ text: String) -> String {
    let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).map {
      $0.drop(while: \.isWhitespace)
    }
    func isQuoted(_ index: Int) -> Bool { lines[index].hasPrefix(">") }
    var index = 0
    while index < lines.count {
      defer { index += 1 }
      guard !lines[index].isEmpty, !isQuoted(index) else { continue }
      // "On Monday Ann wrote:" before a quotation is not the author's text.
      let end = lines[index...].firstIndex { $0.isEmpty || $0.hasPrefix(">") } ?? lines.count
      let next = lines[end...].firstIndex { !$0.isEmpty }
      let introduces = end - index <= 3 && lines[end - 1].reversed().first { !$0.isWhitespace } == ":"
      guard introduces, let next, isQuoted(next) else { return String(lines[index].prefix(lineCount)) }
      index = next
    }
    return String((lines.first { !$0.isEmpty } ?? "").prefix(lineCount))
  }

  private static let beginningByteCount = 16 << 10
  private static let lineCount = 200
}
