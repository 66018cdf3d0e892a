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
  /// Digits of the highest number that a line may have.
  private let numberWidth: Int
  private var ids: [String] = []
  private(set) var count = 0
  /// Whether each message has a snippet, perhaps an empty one.
  var showsSnippets = false

  init(_ coffer: Coffer, _ context: CommandContext) {
    isJSON = context.isJSON
    home = context.home
    numberWidth = String(coffer.vault.lastStatus?.messageCount ?? 0).count
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
          date: RFC3339.format(metadata.date), removed: removed.map(RFC3339.format), snippet: snippet?.text))
    }
    let date = removed ?? metadata.date
    // Made safe for a terminal before it is measured, because that changes its width.
    let title = TerminalText.line(metadata.title)
    let tags = TerminalText.line(metadata.tags.joined(separator: " "))
    guard Terminal.isOutputTerminal else {
      let line: ShownLine = "\(id)\t\(RFC3339.format(date))\t\(title)\t\(tags)"
      return Terminal.print(showsSnippets ? "\(line)\t\(snippet.map(SnippetLine.of) ?? "")" : line)
    }
    if ids.count < LastList.countLimit { ids.append(id.description) }
    Terminal.print(row(id, LocalTime.minute(date), title, tags))
    if let snippet { Terminal.print("    \(SnippetLine.of(snippet))") }
  }

  /// A row that fits the terminal: number, end of the id, date to the minute, title, tags. A narrow terminal gets no
  /// date.
  private func row(_ id: MessageID, _ date: String, _ title: String, _ tags: String) -> ShownLine {
    let gap = "  "
    let number = String(repeating: " ", count: max(0, numberWidth - "\(count)".count)) + "\(count)"
    let end = MessageChoice.shown(id)
    var row: ShownLine = "\(Terminal.dim(number))\(gap)\(end)\(gap)"
    var room = Terminal.columns - number.count - end.count - 2 * gap.count
    if room - date.count - gap.count >= Self.leastTitleWidth {
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
