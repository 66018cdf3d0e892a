// SPDX-License-Identifier: Apache-2.0
//
// The text of a message without its headers, as people read it: a note as it is, of a mail the text of its parts.

internal import MessageFormats
internal import Primitives
internal import Secrets
internal import Texts

enum MessageText {
  /// The text in locked memory, with line feeds alone; nil when the content is not text.
  static func of(_ metadata: MessageMetadata, _ content: RawSpan) -> SecretBytes? {
    guard isText(metadata, content) else { return nil }
    return collected("", metadata, content)
  }

  /// The same with title, date, type and tags above it, as `coffer message show` has them; never nil.
  static func page(_ metadata: MessageMetadata, _ content: RawSpan) -> SecretBytes {
    var head = "Title: \(TerminalText.line(MessageRows.title(metadata)))\n"
    head += "Date:  \(LocalTime.minuteAndZone(metadata.date))\n"
    head += "Type:  \(TerminalText.line(metadata.contentType))\n"
    if !metadata.tags.isEmpty {
      head += "Tags:  \(TerminalText.line(metadata.tags.joined(separator: " ")))\n"
    }
    guard isText(metadata, content) else {
      head += "\n[\(ByteCount.text(content.byteCount)) that are not text]\n"
      return SecretBytes(copying: Array(head.utf8).rawSpan)
    }
    if metadata.isMail { head += people(content) }
    return collected(head, metadata, content)
  }

  private static func isText(_ metadata: MessageMetadata, _ content: RawSpan) -> Bool {
    metadata.isMail || metadata.isText || MessageMetadata.isText(content)
  }

  /// What is said before a text that cannot be read as its sender meant it.
  static func unknownCharset(_ name: String) -> String {
    "[the charset \(LetterWords.quoted(name)) is not known here, so letters may be wrong; --raw writes the bytes]"
  }

  /// Who wrote a mail, and to whom.
  private static func people(_ mail: RawSpan) -> String {
    var lines = ""
    var reader = MIMEReader(isForPeople: true)
    reader.read(mail) { item, text in
      let words = unsafe text.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }
      switch item {
      case .from: lines += "From:  \(TerminalText.line(words))\n"
      case .to: lines += "To:    \(TerminalText.line(words))\n"
      case .cc: lines += "Cc:    \(TerminalText.line(words))\n"
      case .subject, .attachment, .unknownCharset: break
      case .text: return false
      }
      return true
    }
    return lines
  }

  /// The pieces after `head`, with an empty line before each but the first of a text without a head.
  private static func collected(
    _ head: String, _ metadata: MessageMetadata, _ content: RawSpan
  ) -> SecretBytes {
    let head = Array(head.utf8)
    let lineFeed: [UInt8] = [0x0A]
    var room = head.count
    forEachPiece(metadata, content, saysMore: !head.isEmpty) { room += $0.byteCount + 1 }
    var text = SecretBytes(zeroed: room)
    var end = append(head.rawSpan, to: &text, at: 0)
    forEachPiece(metadata, content, saysMore: !head.isEmpty) { piece in
      if end > 0 { end = append(lineFeed.rawSpan, to: &text, at: end) }
      end = append(piece, to: &text, at: end)
    }
    text.shorten(to: end)
    return text
  }

  /// - Parameter saysMore: whether there are pieces about the texts, too.
  private static func forEachPiece(
    _ metadata: MessageMetadata, _ content: RawSpan, saysMore: Bool, _ body: (RawSpan) -> Void
  ) {
    var reader = MIMEReader(isForPeople: true)
    if metadata.isMail {
      reader.read(content) { item, text in
        if saysMore, item == .unknownCharset {
          let name = unsafe text.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }
          let line = unknownCharset(TerminalText.line(name)) + "\n"
          unsafe body(line.utf8Span.span.bytes)
        }
        if item == .text { body(text) }
        return true
      }
    } else if metadata.isText {
      reader.readText(content, contentType: metadata.contentType) { body($0) }
    } else {
      body(content)
    }
  }

  /// Appends a piece with line feeds alone; returns where it ends.
  private static func append(_ piece: RawSpan, to text: inout SecretBytes, at start: Int) -> Int {
    text.withMutableBytes { bytes in
      var end = start
      for offset in 0..<piece.byteCount {
        let byte = unsafe piece.unsafeLoad(fromByteOffset: offset, as: UInt8.self)
        let isLast = offset + 1 == piece.byteCount
        if byte == 0x0D, !isLast, unsafe piece.unsafeLoad(fromByteOffset: offset + 1, as: UInt8.self) == 0x0A
        {
          continue
        }
        bytes.storeBytes(of: byte, toByteOffset: end, as: UInt8.self)
        end += 1
      }
      return end
    }
  }
}
