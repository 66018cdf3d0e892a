// SPDX-License-Identifier: Apache-2.0
//
// The rows of a list of messages for people, in the width of a terminal.

internal import MessageFormats
internal import Texts
internal import Vaults

struct MessageRows {
  /// How a date is shown: in a narrow terminal less of it.
  private enum DateForm: Int {
    case minute = 16
    case day = 10
    /// Month and day of this year, else year and month.
    case short = 7
  }

  private let columns: Int
  /// Digits of the highest number that a row may have.
  private let numberWidth: Int
  private let senderWidth: Int
  private let dateForm: DateForm
  private let cells: [MessageColumn]

  /// - Parameters:
  ///   - columns: of the terminal.
  ///   - chosen: what is shown; nil for what fits.
  ///   - hasContent: whether ``row(_:_:_:removed:details:)`` gets details.
  init(columns: Int, highestNumber: Int, chosen: [MessageColumn]? = nil, hasContent: Bool = true) {
    self.columns = columns
    let numberWidth = String(highestNumber).count
    self.numberWidth = numberWidth
    let senderWidth = min(28, max(16, columns / 5))
    self.senderWidth = senderWidth
    if let chosen {
      (cells, dateForm) = (chosen, .minute)
      return
    }
    func room(_ form: DateForm?, sender: Bool) -> Int {
      columns - numberWidth - Self.idWidth - 2 * Self.gap - (form.map { $0.rawValue + Self.gap } ?? 0)
        - (sender ? senderWidth + Self.gap : 0) - (hasContent ? 1 + Self.gap : 0)
    }
    // The title says most, so what is beside it gives way.
    let layouts: [(form: DateForm?, sender: Bool, tags: Bool, least: Int)] = [
      (.minute, hasContent, true, 24), (.day, hasContent, true, 24), (.minute, false, true, 24),
      (.day, false, true, 20), (.short, false, false, 14),
    ]
    let fitting = layouts.first { room($0.form, sender: $0.sender) >= $0.least }
    let layout = fitting ?? (form: nil, sender: false, tags: false, least: 0)
    dateForm = layout.form ?? .short
    cells =
      [.number, .id] + (layout.form == nil ? [] : [.date]) + (layout.sender ? [.from] : [])
      + (hasContent ? [.attachment] : []) + [.title] + (layout.tags ? [.tags] : [])
  }

  /// Whether a row needs the details of its message.
  var needsContent: Bool { cells.contains(where: \.needsContent) }

  /// A row that fits.
  /// - Parameters:
  ///   - removed: when it was moved to the trash, which is shown instead of its date.
  ///   - details: nil if they are not known.
  func row(
    _ number: Int, _ id: MessageID, _ metadata: MessageMetadata, removed: Int64? = nil,
    details: MessageDetails? = nil
  ) -> ShownLine {
    // Made safe for a terminal before it is measured, because that changes its width.
    let tags = TerminalText.line(metadata.tags.joined(separator: " "))
    var cells = cells
    if tags.isEmpty, cells.last == .tags { cells.removeLast() }
    let fixed = cells.reduce(0) { $0 + (width($1) ?? 0) } + (cells.count - 1) * Self.gap
    let flexible = max(Self.leastWidth, columns - fixed)
    let hasBoth = cells.contains(.title) && cells.contains(.tags)
    let third = flexible / 3
    let tagsWidth = !hasBoth ? flexible : cells.last == .tags ? min(third, ColumnWidth.of(tags)) : third
    var row: ShownLine = ""
    var left = columns
    for (index, cell) in cells.enumerated() {
      let text =
        switch cell {
        case .number: "\(number)"
        case .id: MessageChoice.shown(id)
        case .date: date(removed ?? metadata.date)
        case .from:
          TerminalText.line(
            metadata.isMail ? details?.sender ?? "" : MessageColumn.shortType(metadata.contentType))
        case .type: TerminalText.line(metadata.contentType)
        case .size: details?.byteCount.map(ByteCount.text) ?? ""
        case .title: TerminalText.line(Self.title(metadata))
        case .tags: tags
        case .attachment: Self.mark(metadata, details)
        }
      let width = min(left, width(cell) ?? (cell == .tags ? tagsWidth : flexible - (hasBoth ? tagsWidth : 0)))
      guard width > 0 else { break }
      let shown = ColumnWidth.cut(text, to: width)
      let isLast = index == cells.count - 1
      let padding = String(repeating: " ", count: max(0, width - ColumnWidth.of(shown)))
      if [.number, .size].contains(cell) { row += "\(padding)" }
      row += [.number, .tags].contains(cell) && !shown.isEmpty ? Terminal.dim(shown) : "\(shown)"
      if isLast { break }
      if ![.number, .size].contains(cell) { row += "\(padding)" }
      left -= width + Self.gap
      if left > 0 { row += "  " }
    }
    return row
  }

  /// The width of a column; nil for those that share what is left.
  private func width(_ column: MessageColumn) -> Int? {
    switch column {
    case .number: numberWidth
    case .id: Self.idWidth
    case .date: dateForm.rawValue
    case .from: senderWidth
    case .type: 24
    // "999 bytes"
    case .size: 9
    case .attachment: 1
    case .title, .tags: nil
    }
  }

  private func date(_ seconds: Int64) -> String {
    switch dateForm {
    case .minute: LocalTime.minute(seconds)
    case .day: LocalTime.day(seconds)
    case .short: LocalTime.monthAndDay(seconds)
    }
  }

  /// The title, or what is shown instead of one.
  static func title(_ metadata: MessageMetadata) -> String {
    metadata.title.isEmpty ? untitled : metadata.title
  }

  /// What a message without a title is shown as.
  static let untitled = "(no title)"

  /// Whether a mail has something attached. A file that was stored alone is the content itself.
  static func hasAttachment(_ metadata: MessageMetadata, _ details: MessageDetails) -> Bool {
    metadata.isMail && details.hasAttachment
  }

  /// The mark of an attachment, or nothing.
  static func mark(_ metadata: MessageMetadata, _ details: MessageDetails?) -> String {
    details.map { hasAttachment(metadata, $0) } == true ? "+" : ""
  }

  private static let idWidth = 8
  private static let gap = 2
  /// Of a title between columns that take all there is.
  private static let leastWidth = 8
}
