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
  private let rows: MessageRows
  private var ids: [String] = []
  private(set) var count = 0
  /// Whether each message has a snippet, perhaps an empty one.
  var showsSnippets = false
  /// Whether the search index is damaged.
  var isIndexDamaged = false

  init(_ coffer: Coffer, _ context: CommandContext) {
    isJSON = context.isJSON
    home = context.home
    rows = MessageRows(
      columns: Terminal.columns, highestNumber: coffer.vault.lastStatus?.messageCount ?? 0)
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
    /// `damaged`, or missing.
    let index: String?
  }

  /// - Parameters:
  ///   - removed: when it was moved to the trash, which is shown instead of its date.
  ///   - snippet: what a search has found in it.
  mutating func show(
    _ id: MessageID, _ metadata: MessageMetadata, removed: Int64? = nil, snippet: SearchSnippet? = nil
  ) {
    count += 1
    if isJSON {
      return JSON.print(
        Answer(
          id: id.description, title: metadata.title, tags: metadata.tags, type: metadata.contentType,
          date: RFC3339.format(metadata.date), removed: removed.map(RFC3339.format), snippet: snippet?.text,
          index: isIndexDamaged ? "damaged" : nil))
    }
    guard Terminal.isOutputTerminal else {
      let title = TerminalText.line(metadata.title)
      let tags = TerminalText.line(metadata.tags.joined(separator: " "))
      let line: ShownLine = "\(id)\t\(RFC3339.format(removed ?? metadata.date))\t\(title)\t\(tags)"
      return Terminal.print(showsSnippets ? "\(line)\t\(snippet.map(SnippetLine.of) ?? "")" : line)
    }
    if ids.count < LastList.countLimit { ids.append(id.description) }
    Terminal.print(rows.row(count, id, metadata, removed: removed))
    if let snippet { Terminal.print("    \(SnippetLine.of(snippet))") }
  }

  /// Makes the lines those that @N means on this terminal, unless nothing was shown on it.
  func end() {
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
