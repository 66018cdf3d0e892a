// SPDX-License-Identifier: Apache-2.0
//
// Shows a message.

internal import Foundation
internal import MessageFormats
internal import Primitives
internal import Texts
internal import Vaults

enum MessageView {
  /// Shows a message, writes its content alone, or prints it as JSON.
  /// - Parameters:
  ///   - isRaw: whether only the content is written.
  ///   - isForced: whether it is written to a terminal that it could control.
  /// - Throws: a refusal to control the terminal.
  static func show(
    _ id: MessageID, _ metadata: MessageMetadata, _ content: RawSpan, isRaw: Bool, isForced: Bool,
    isJSON: Bool
  ) throws {
    if isRaw {
      guard isForced || !Terminal.isOutputTerminal || isPlain(content) else {
        throw Failure.notForTerminal("the content is not plain text and could control your terminal")
      }
      Terminal.write(content)
    } else if isJSON {
      printJSON(id, metadata, content)
    } else {
      print(metadata, content)
    }
  }

  /// Title, date and tags, then the text.
  private static func print(_ metadata: MessageMetadata, _ content: RawSpan) {
    Terminal.print("\(Terminal.bold("Title:")) \(MessageRows.title(metadata))")
    let date =
      Terminal.isOutputTerminal ? LocalTime.minuteAndZone(metadata.date) : RFC3339.format(metadata.date)
    Terminal.print("\(Terminal.bold("Date:"))  \(date)")
    Terminal.print("\(Terminal.bold("Type:"))  \(metadata.contentType)")
    if !metadata.tags.isEmpty {
      Terminal.print("\(Terminal.bold("Tags:"))  \(metadata.tags.joined(separator: " "))")
    }
    var reader = MIMEReader(isForPeople: true)
    if metadata.isMail {
      reader.read(content) { item, text in
        switch item {
        case .from: Terminal.print("\(Terminal.bold("From:"))  \(string(text))")
        case .to: Terminal.print("\(Terminal.bold("To:"))    \(string(text))")
        case .cc: Terminal.print("\(Terminal.bold("Cc:"))    \(string(text))")
        case .subject, .attachment: break
        case .unknownCharset:
          Terminal.print()
          Terminal.print("\(MessageText.unknownCharset(string(text)))")
        case .text:
          Terminal.print()
          printText(text)
        }
        return true
      }
      printAttachments(metadata, content)
    } else if metadata.isText {
      Terminal.print()
      reader.readText(content, contentType: metadata.contentType) { printText($0) }
    } else if MessageMetadata.isText(content) {
      Terminal.print()
      printText(content)
    } else {
      Terminal.print()
      Terminal.print("[\(ByteCount.text(content.byteCount)) that are not text; --raw writes them]")
    }
  }

  /// The parts of a mail that are not shown.
  private static func printAttachments(_ metadata: MessageMetadata, _ content: RawSpan) {
    guard let stored = try? StoredParts(metadata, content) else {
      Terminal.print()
      Terminal.print("[its parts cannot be told apart; --raw writes all of it]")
      return
    }
    guard !stored.attachments.isEmpty else { return }
    Terminal.print()
    for part in stored.attachments { Terminal.print("\(StoredParts.line(part))") }
  }

  private struct Answer: Encodable {
    let id: String
    let title: String
    let tags: [String]
    let type: String
    let date: String
    let encoding: String
    let content: String
    /// Of a mail whose parts can be told apart.
    let parts: [StoredParts.Part]?
  }

  private static func printJSON(_ id: MessageID, _ metadata: MessageMetadata, _ content: RawSpan) {
    let text = unsafe content.withUnsafeBytes { unsafe String(validating: $0, as: UTF8.self) }
    let encoded = unsafe content.withUnsafeBytes { unsafe Data($0).base64EncodedString() }
    JSON.print(
      Answer(
        id: id.description, title: metadata.title, tags: metadata.tags, type: metadata.contentType,
        date: RFC3339.format(metadata.date), encoding: text == nil ? "base64" : "utf-8",
        content: text ?? encoded,
        parts: metadata.isMail ? try? StoredParts(metadata, content).parts : nil))
  }

  /// Text without control characters, on a pipe too, which may lead to a terminal; ends with a line feed.
  private static func printText(_ text: RawSpan) {
    let shown = string(text).replacing("\r\n", with: "\n")
    Terminal.print(lines: shown.hasSuffix("\n") ? String(shown.dropLast()) : shown)
  }

  /// Whether a terminal shows all of it and is not controlled by any of it.
  private static func isPlain(_ content: RawSpan) -> Bool {
    MessageMetadata.isText(content) && TerminalText.isFit(string(content).replacing("\r\n", with: "\n"))
  }

  private static func string(_ text: RawSpan) -> String {
    unsafe text.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }
  }
}
