// SPDX-License-Identifier: Apache-2.0
//
// The conversation that a mail belongs to: `message show --thread`. Every message is read for its headers, once; then
// the mails of the conversation are opened and kept, without their text.

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
  /// Of the terminal, which may change while the rows are shown.
  private let columns = Terminal.columns

  init(_ coffer: Coffer, _ context: CommandContext) {
    self.coffer = coffer
    self.context = context
  }

  /// Shows the conversation of a message. What is not a mail is alone in its own.
  func show(_ id: MessageID) throws {
    var unreadable: [MessageID] = []
    var mail: (links: MailLinks, date: Int64)?
    try coffer.vault.withMessage(id) { metadata, content in
      if metadata.isMail { mail = (MailLinks(content), metadata.date) }
    }
    var rows = [MailConversation<MessageID>.Row(alone: id)]
    if let mail {
      let conversation: MailConversation<MessageID>
      (conversation, unreadable) = try collect(id, mail.links, date: mail.date)
      rows = conversation.rows()
      if conversation.isFull { context.remark("The conversation is too large: only a part of it is shown.") }
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
      CommandSurroundings.current.lastList(.messages, home: context.home)?.replace(by: shown)
    }
    try MessageList.report(unreadable)
  }

  /// Reads all mails for the names in them, then opens those that belong together.
  /// - Returns: the conversation, and the messages that do not open.
  private func collect(
    _ id: MessageID, _ links: MailLinks, date: Int64
  ) throws -> (MailConversation<MessageID>, unreadable: [MessageID]) {
    var bar = ProgressBar("looking for the conversation", isQuiet: context.isQuiet || context.isJSON)
    defer { bar.finish() }
    let total = coffer.vault.lastStatus?.messageCount
    var names = MailNames<MessageID>()
    var seen = 0
    var position = 0
    let unreadable = try coffer.vault.forEachMessage { other, metadata, content in
      seen += 1
      if seen % 1_000 == 0 { bar.update(seen, of: total, unit: "messages") }
      guard metadata.isMail else { return true }
      if other == id { position = names.count }
      names.insert(other, MailLinks(content))
      return true
    }
    var conversation = MailConversation(id, links, date: date, position: position)
    var waiting = links.names
    var known = Set(waiting)
    while !conversation.isFull, let name = waiting.popLast() {
      for mail in names.mails(naming: name) where !conversation.contains(mail.id) {
        do {
          try coffer.vault.withMessage(mail.id) { metadata, content in
            let links = MailLinks(content)
            guard conversation.take(mail.id, links, date: metadata.date, position: mail.position) else {
              return
            }
            waiting += links.names.filter { known.insert($0).inserted }
          }
        } catch VaultError.messageNotFound, VaultError.messageInTrash {
          // Removed meanwhile.
          continue
        }
      }
    }
    return (conversation, unreadable)
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
    let isNarrow = columns < Self.wideColumns
    let shownNumber = "\(number)".paddedAtStart(to: String(count).count)
    let date = isNarrow ? LocalTime.monthAndDay(metadata.date) : LocalTime.minute(metadata.date)
    let end = isNarrow ? "" : MessageChoice.shown(row.id) + "  "
    let indent = String(repeating: " ", count: indent(row.depth))
    let sender = TerminalText.line(
      metadata.isMail ? details.sender : MessageColumn.shortType(metadata.contentType))
    let shownSender = ColumnWidth.cut(sender, to: senderWidth - indent.count)
    let padding = String(repeating: " ", count: senderWidth - indent.count - ColumnWidth.of(shownSender))
    let room = columns - shownNumber.count - end.count - date.count - senderWidth - 6
    // The mail that was asked for.
    let name = isAsked ? Terminal.bold(shownSender) : "\(shownSender)"
    let text = ColumnWidth.cut(TerminalText.line(firstLine), to: max(1, room))
    Terminal.print("\(Terminal.dim(shownNumber))  \(end)\(date)  \(indent)\(name)\(padding)  \(text)")
  }

  /// The same for all rows, so that the texts stand below each other.
  private func senderWidth(_ rows: [MailConversation<MessageID>.Row]) -> Int {
    let deepest = rows.map { indent($0.depth) }.max() ?? 0
    return min(deepest + 18, max(14, columns * 2 / 5))
  }

  /// Deep answers are not moved further: the text must have room.
  private func indent(_ depth: Int) -> Int { min(depth, columns < Self.wideColumns ? 3 : 8) * 2 }

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
