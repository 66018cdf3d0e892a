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
    guard metadata.isMail || metadata.isText || MessageMetadata.isText(content) else { return nil }
    var room = 0
    forEachPiece(metadata, content) { room += $0.byteCount + 2 }
    var text = SecretBytes(zeroed: room)
    let lineFeed: [UInt8] = [0x0A]
    var end = 0
    forEachPiece(metadata, content) { piece in
      // An empty line between the parts of a mail.
      if end > 0 { end = append(lineFeed.rawSpan, to: &text, at: end) }
      end = append(piece, to: &text, at: end)
    }
    text.shorten(to: end)
    return text
  }

  private static func forEachPiece(
    _ metadata: MessageMetadata, _ content: RawSpan, _ body: (RawSpan) -> Void
  ) {
    var reader = MIMEReader(isForPeople: true)
    if metadata.isMail {
      reader.read(content) { item, text in
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
