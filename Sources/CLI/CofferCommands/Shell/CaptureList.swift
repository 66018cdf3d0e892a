// SPDX-License-Identifier: Apache-2.0
//
// A list of captures: a table on a terminal, lines on a pipe, or JSON.

internal import Agent
internal import Captures
internal import Primitives
internal import Texts

struct CaptureList {
  private struct Answer: Encodable {
    let id: String
    let created: String
    let byteCount: Int
    let upload: String
    /// Whether all of it is on this device.
    let here: Bool
    let title: String
    let tags: [String]
    /// Absent without one.
    let note: String?
  }

  private let isJSON: Bool

  /// A list that goes through the pager if it is longer than the screen.
  private init(_ context: CommandContext) {
    isJSON = context.isJSON
    Terminal.beginPaging(context)
  }

  private func show(_ capture: CaptureStore.Summary, number: Int, of count: Int) {
    let label = capture.label
    let created = RFC3339.format(capture.created)
    if isJSON {
      JSON.print(
        Answer(
          id: capture.id.description, created: created, byteCount: capture.byteCount,
          upload: capture.upload.state.name, here: capture.isWhole, title: label.title, tags: label.tags,
          note: label.note.isEmpty ? nil : label.note))
    } else if Terminal.isOutputTerminal {
      let shownNumber = "\(number)".paddedAtStart(to: String(count).count)
      let row = Self.row(capture, columns: Terminal.columns - shownNumber.count - 2)
      Terminal.print("\(Terminal.dim(shownNumber))  \(row)")
    } else {
      let tags = label.tags.joined(separator: " ")
      Terminal.print("\(capture.id)\t\(created)\t\(capture.byteCount)\t\(label.title)\t\(tags)")
    }
  }

  /// Shows the first captures, waits for the pager, and says how many more there are.
  static func show(_ captures: [CaptureStore.Summary], limit: Int?, _ context: CommandContext) {
    let list = CaptureList(context)
    let shown = captures.prefix(limit ?? .max)
    for (index, capture) in shown.enumerated() where !Terminal.isOutputLost {
      list.show(capture, number: index + 1, of: shown.count)
    }
    let hasLeft = Terminal.hasLeftPager
    Terminal.endPaging()
    if Terminal.isOutputTerminal, !context.isJSON, !shown.isEmpty {
      CommandSurroundings.current.lastList(.captures, home: context.home)?
        .replace(by: shown.map(\.id.description))
    }
    guard let limit, limit > 0, captures.count > limit, Terminal.isOutputTerminal, !hasLeft else { return }
    context.remark("... and \((captures.count - limit).counted("older capture"))")
  }

  /// A row that fits: end of the id, local time, size, title, tags. A narrow terminal gets a short date and no size. What
  /// is not here has an arrow before its title.
  static func row(_ capture: CaptureStore.Summary, columns: Int) -> ShownLine {
    let isNarrow = columns < 60
    let date = isNarrow ? LocalTime.monthAndDay(capture.created) : LocalTime.minute(capture.created)
    let size = isNarrow ? "" : "  " + ByteCount.text(capture.byteCount).paddedAtStart(to: 9)
    let title = (capture.isWhole ? "" : "< ") + TerminalText.line(capture.label.title)
    let tags = TerminalText.line(capture.label.tags.joined(separator: " "))
    let start = "\(MessageChoice.shown(capture.id))  \(date)\(size)"
    if title.isEmpty, tags.isEmpty { return "\(start)" }
    let room = columns - start.count - 2
    if tags.isEmpty { return "\(start)  \(ColumnWidth.cut(title, to: room))" }
    let shownTags = ColumnWidth.cut(tags, to: room / 3)
    let width = room - 2 - ColumnWidth.of(shownTags)
    let shownTitle = ColumnWidth.padded(ColumnWidth.cut(title, to: width), to: width)
    return "\(start)  \(shownTitle)  \(Terminal.dim(shownTags))"
  }

  /// The readable captures are listed; now report that some are missing.
  static func requireComplete(_ listing: CaptureStore.Listing) throws {
    guard listing.isComplete else {
      var failure = Failure(CaptureError.corrupt(nil))
      failure.unreadable = listing.damaged.map(\.description)
      failure.unreadableKind = "capture"
      throw failure
    }
  }
}
