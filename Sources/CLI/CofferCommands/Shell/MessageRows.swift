// SPDX-License-Identifier: Apache-2.0
//
// The rows of a list of messages for people, in the width of a terminal.

internal import MessageFormats
internal import Texts
internal import Vaults

struct MessageRows {
  private let columns: Int
  /// Digits of the highest number that a row may have.
  private let numberWidth: Int

  init(columns: Int, highestNumber: Int) {
    self.columns = columns
    numberWidth = String(highestNumber).count
  }

  /// A row that fits: number, end of the id, date to the minute, title, tags. A narrow terminal gets no date.
  /// - Parameter removed: when it was moved to the trash, which is shown instead of its date.
  func row(_ number: Int, _ id: MessageID, _ metadata: MessageMetadata, removed: Int64? = nil) -> ShownLine {
    let date = LocalTime.minute(removed ?? metadata.date)
    // Made safe for a terminal before it is measured, because that changes its width.
    let title = metadata.title.isEmpty ? Self.untitled : TerminalText.line(metadata.title)
    let tags = TerminalText.line(metadata.tags.joined(separator: " "))
    let gap = "  "
    let shownNumber = String(repeating: " ", count: max(0, numberWidth - "\(number)".count)) + "\(number)"
    let end = MessageChoice.shown(id)
    var row: ShownLine = "\(Terminal.dim(shownNumber))\(gap)\(end)\(gap)"
    var room = columns - shownNumber.count - end.count - 2 * gap.count
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

  /// What a message without a title is shown as.
  static let untitled = "(no title)"

  /// A shorter piece of a title would be useless.
  private static let leastTitleWidth = 16
}
