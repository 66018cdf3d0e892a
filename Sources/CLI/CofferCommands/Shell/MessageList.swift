// SPDX-License-Identifier: Apache-2.0
//
// A list of messages: a table on a terminal, lines on a pipe, or JSON.

internal import Agent
internal import CofferKit
internal import MessageFormats
internal import Primitives
internal import Texts
internal import Vaults

struct MessageList {
  private let isJSON: Bool
  /// Whether people read it, on a terminal.
  private let isTable: Bool
  private let home: String
  private let vault: Vault
  private let rows: MessageRows
  /// Whether the messages can be opened.
  private let hasContent: Bool
  /// What a pipe gets.
  private let columns: [MessageColumn]
  private let reader = MessageDetailsReader()
  private var line = TabbedLine()
  private var ids: [String] = []
  private(set) var count = 0
  /// Whether each message has a snippet, perhaps an empty one.
  var showsSnippets = false
  /// Why the search index was not used.
  var indexTrouble: Vault.IndexTrouble?
  /// Messages that did not open when their content was needed.
  private var unreadable: [MessageID] = []

  /// A list that goes through the pager if it is longer than the screen.
  /// - Parameters:
  ///   - columns: what is shown; nil for what fits.
  ///   - count: at most so many are shown; nil for all that lists show.
  ///   - hasContent: whether the messages can be opened: not those in the trash.
  init(
    _ coffer: Coffer, _ context: CommandContext, columns: [MessageColumn]? = nil, count: Int? = nil,
    hasContent: Bool = true
  ) {
    isJSON = context.isJSON
    isTable = Terminal.isOutputTerminal && !context.isJSON
    home = context.home
    vault = coffer.vault
    rows = MessageRows(
      columns: Terminal.columns, highestNumber: count ?? coffer.vault.lastStatus?.messageCount ?? 0,
      chosen: columns, hasContent: hasContent)
    self.hasContent = hasContent
    self.columns = columns ?? MessageColumn.ofPipes
    Terminal.beginPaging(context)
  }

  private struct Answer: Encodable {
    let id: String
    let title: String
    let tags: [String]
    let type: String
    let date: String
    /// When it was moved to the trash.
    let removed: String?
    let snippet: String?
    /// Of a mail.
    let from: String?
    // Absent, with the sender, if the content cannot be read: of what is in the trash.
    let attachment: Bool?
    let byteCount: Int?
    /// `damaged` or `unreadable`, or missing.
    let index: String?
  }

  /// Whether ``show(_:_:removed:details:findSnippet:)`` needs details.
  var needsContent: Bool {
    isTable ? rows.needsContent : isJSON ? hasContent : columns.contains(where: \.needsContent)
  }

  /// - Parameters:
  ///   - removed: when it was moved to the trash, which is shown instead of its date.
  ///   - details: what only its content tells; nil to read it here, if it is needed.
  ///   - findSnippet: finds what a search has found in a message, where snippets are shown.
  mutating func show(
    _ id: MessageID, _ metadata: MessageMetadata, removed: Int64? = nil, details: MessageDetails? = nil,
    findSnippet: (MessageMetadata, RawSpan) -> SearchSnippet? = { _, _ in nil }
  ) throws {
    count += 1
    var (snippet, details) = (nil as SearchSnippet?, details)
    let needsDetails = details == nil && needsContent
    if needsDetails || showsSnippets {
      do {
        try vault.withMessage(id) { metadata, content in
          if showsSnippets { snippet = findSnippet(metadata, content) }
          if needsDetails { details = reader.details(metadata, content) }
        }
      } catch VaultError.messageNotFound, VaultError.messageInTrash {
        // Removed meanwhile.
      } catch VaultError.dataTampered(let id), VaultError.decryptionFailed(let id, _) {
        unreadable.append(id)
      }
    }
    show(id, metadata, removed, snippet, details)
  }

  /// Those that did not open, with others, each once.
  func unreadable(and others: [MessageID]) -> [MessageID] {
    others + unreadable.filter { !others.contains($0) }
  }

  private mutating func show(
    _ id: MessageID, _ metadata: MessageMetadata, _ removed: Int64?, _ snippet: SearchSnippet?,
    _ details: MessageDetails?
  ) {
    if isJSON {
      return JSON.print(
        Answer(
          id: id.description, title: metadata.title, tags: metadata.tags, type: metadata.contentType,
          date: RFC3339.format(metadata.date), removed: removed.map(RFC3339.format), snippet: snippet?.text,
          from: metadata.isMail ? details?.from : nil,
          attachment: details.map { MessageRows.hasAttachment(metadata, $0) }, byteCount: details?.byteCount,
          index: indexTrouble?.name))
    }
    guard isTable else {
      for column in columns { append(column, id, metadata, removed, details) }
      if showsSnippets { line.append(snippet.map { SnippetLine.of($0).text } ?? "") }
      return line.end()
    }
    if ids.count < LastList.countLimit { ids.append(id.description) }
    Terminal.print(rows.row(count, id, metadata, removed: removed, details: details))
    if let snippet { Terminal.print("    \(SnippetLine.of(snippet))") }
  }

  /// For programs.
  private mutating func append(
    _ column: MessageColumn, _ id: MessageID, _ metadata: MessageMetadata, _ removed: Int64?,
    _ details: MessageDetails?
  ) {
    switch column {
    case .number: line.append("\(count)")
    case .id: line.append(id)
    case .date: line.append(time: removed ?? metadata.date)
    case .from: line.append(details?.from ?? "")
    case .type: line.append(metadata.contentType)
    case .size: line.append(details?.byteCount.map(String.init) ?? "")
    case .title: line.append(metadata.title)
    case .tags: line.append(metadata.tags.joined(separator: " "))
    case .attachment: line.append(MessageRows.mark(metadata, details))
    }
  }

  /// Waits for the pager, then makes the lines those that @N means on this terminal, unless nothing was shown on it.
  func end() {
    Terminal.endPaging()
    guard !ids.isEmpty else { return }
    CommandSurroundings.current.lastList(.messages, home: home)?.replace(by: ids)
  }

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
