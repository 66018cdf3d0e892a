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
  private let home: String
  private let vault: Vault
  private let rows: MessageRows
  /// What a pipe gets, and what JSON has beside its usual members.
  private let columns: [MessageColumn]
  private let reader = MessageDetailsReader()
  private var ids: [String] = []
  private(set) var count = 0
  /// Whether each message has a snippet, perhaps an empty one.
  var showsSnippets = false
  /// Whether the search index is damaged.
  var isIndexDamaged = false

  /// A list that goes through the pager if it is longer than the screen.
  /// - Parameters:
  ///   - columns: what is shown; nil for what fits.
  ///   - hasContent: whether the messages can be opened: not those in the trash.
  init(
    _ coffer: Coffer, _ context: CommandContext, columns: [MessageColumn]? = nil, hasContent: Bool = true
  ) {
    isJSON = context.isJSON
    home = context.home
    vault = coffer.vault
    rows = MessageRows(
      columns: Terminal.columns, highestNumber: coffer.vault.lastStatus?.messageCount ?? 0, chosen: columns,
      hasContent: hasContent)
    self.columns = columns ?? (context.isJSON ? [] : MessageColumn.ofPipes)
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
    // Only of the columns that were named.
    let from: String?
    let attachment: Bool?
    let byteCount: Int?
    /// `damaged`, or missing.
    let index: String?
  }

  /// Whether ``show(_:_:removed:snippet:details:)`` needs details.
  var needsContent: Bool {
    isJSON || !Terminal.isOutputTerminal ? columns.contains(where: \.needsContent) : rows.needsContent
  }

  func details(_ metadata: MessageMetadata, _ content: RawSpan) -> MessageDetails {
    reader.details(metadata, content)
  }

  /// - Parameters:
  ///   - removed: when it was moved to the trash, which is shown instead of its date.
  ///   - snippet: what a search has found in it.
  ///   - details: what only its content tells; nil to read it here, if it is needed.
  mutating func show(
    _ id: MessageID, _ metadata: MessageMetadata, removed: Int64? = nil, snippet: SearchSnippet? = nil,
    details: MessageDetails? = nil
  ) {
    count += 1
    var details = details
    if details == nil, needsContent {
      // One that has been removed or damaged meanwhile has none.
      details = try? vault.withMessage(id) { reader.details($0, $1) }
    }
    if isJSON {
      return JSON.print(
        Answer(
          id: id.description, title: metadata.title, tags: metadata.tags, type: metadata.contentType,
          date: RFC3339.format(metadata.date), removed: removed.map(RFC3339.format), snippet: snippet?.text,
          from: columns.contains(.from) && metadata.isMail ? details?.from : nil,
          attachment: columns.contains(.attachment) ? details?.hasAttachment : nil,
          byteCount: columns.contains(.size) ? details?.byteCount : nil,
          index: isIndexDamaged ? "damaged" : nil))
    }
    guard Terminal.isOutputTerminal else {
      let line = columns.enumerated().reduce(into: "" as ShownLine) { line, column in
        if column.offset > 0 { line += "\t" }
        line += "\(field(column.element, id, metadata, removed, details))"
      }
      return Terminal.print(showsSnippets ? "\(line)\t\(snippet.map(SnippetLine.of) ?? "")" : line)
    }
    if ids.count < LastList.countLimit { ids.append(id.description) }
    Terminal.print(rows.row(count, id, metadata, removed: removed, details: details))
    if let snippet { Terminal.print("    \(SnippetLine.of(snippet))") }
  }

  /// For programs.
  private func field(
    _ column: MessageColumn, _ id: MessageID, _ metadata: MessageMetadata, _ removed: Int64?,
    _ details: MessageDetails?
  ) -> String {
    switch column {
    case .number: "\(count)"
    case .id: id.description
    case .date: RFC3339.format(removed ?? metadata.date)
    case .from: details?.from ?? ""
    case .type: metadata.contentType
    case .size: details?.byteCount.map(String.init) ?? ""
    case .title: metadata.title
    case .tags: metadata.tags.joined(separator: " ")
    case .attachment: details?.hasAttachment == true ? MessageRows.attachmentMark : ""
    }
  }

  /// Waits for the pager, then makes the lines those that @N means on this terminal, unless nothing was shown on it.
  func end() {
    Terminal.endPaging()
    guard !ids.isEmpty else { return }
    CommandSurroundings.current.lastList(home: home)?.replace(by: ids)
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
