// SPDX-License-Identifier: Apache-2.0
//
// OpenPGP's armor within a text (RFC 9580 section 6.2), as mail without MIME has it. A block begins at the beginning of
// a line; quoted ones do not count.

public import Secrets

/// A message, or a readable signed text, within a text.
public struct ArmoredBlock: Sendable, Equatable {
  /// What it is.
  public enum Kind: Sendable { case message, signedText }

  /// What it is.
  public let kind: Kind
  /// From its first line to the end of its last; to the end of the text if it has no last line.
  public let range: Range<Int>

  /// Those of a text, in their order.
  public static func all(in text: RawSpan) -> [ArmoredBlock] {
    var blocks: [ArmoredBlock] = []
    var offset = 0
    while let hit = text.firstOffset(of: "-----BEGIN PGP ", in: offset..<text.byteCount) {
      let lineEnd = text.lineEnd(from: hit, until: text.byteCount)
      offset = lineEnd
      guard hit == 0 || text.byte(hit - 1) == ASCII.newline || isByteOrderMark(text, before: hit) else {
        continue
      }
      let line = text.trimmed(hit..<lineEnd)
      guard let kind = kind(text, line) else { continue }
      offset = end(text, from: lineEnd, of: kind)
      blocks.append(ArmoredBlock(kind: kind, range: hit..<offset))
    }
    return blocks
  }

  /// Whether an attachment is an armored message.
  public static func begins(_ content: RawSpan) -> Bool {
    let start = content.trimmed(0..<min(content.byteCount, Self.beginningByteCount)).lowerBound
    return content.matches("-----BEGIN PGP MESSAGE-----", at: start)
      || content.matches("-----BEGIN PGP SIGNED MESSAGE-----", at: start)
  }

  /// Whether there is nothing but white space around it.
  public func isAlone(in text: RawSpan) -> Bool {
    isBlank(text, 0..<range.lowerBound) && isBlank(text, range.upperBound..<text.byteCount)
  }

  private func isBlank(_ text: RawSpan, _ range: Range<Int>) -> Bool {
    text.trimmed(range).isEmpty || range.lowerBound == 0 && range.count == 3 && text.byte(0) == 0xEF
  }

  private static func kind(_ text: RawSpan, _ line: Range<Int>) -> Kind? {
    if line.count == 27, text.matches("-----BEGIN PGP MESSAGE-----", at: line.lowerBound) { return .message }
    if line.count == 34, text.matches("-----BEGIN PGP SIGNED MESSAGE-----", at: line.lowerBound) {
      return .signedText
    }
    return nil
  }

  private static func end(_ text: RawSpan, from start: Int, of kind: Kind) -> Int {
    let last: StaticString = kind == .message ? "-----END PGP MESSAGE-----" : "-----END PGP SIGNATURE-----"
    var offset = start
    while let hit = text.firstOffset(of: last, in: offset..<text.byteCount) {
      offset = text.lineEnd(from: hit, until: text.byteCount)
      if text.byte(hit - 1) == ASCII.newline, text.trimmed(hit..<offset).count == last.utf8CodeUnitCount {
        return offset
      }
    }
    return text.byteCount
  }

  private static func isByteOrderMark(_ text: RawSpan, before offset: Int) -> Bool {
    offset == 3 && text.byte(0) == 0xEF && text.byte(1) == 0xBB && text.byte(2) == 0xBF
  }

  private static let beginningByteCount = 1 << 10
}

extension MailTree {
  /// A part as a signature covers it (RFC 3156 section 5): its headers and its body, every line with CR LF.
  ///
  /// Files and mail folders keep lines with LF alone.
  public func signedBytes(of index: Int, in mail: RawSpan) -> SecretBytes {
    let entity = mail.extracting(parts[index].entity)
    var buffer = ByteBuffer(capacity: entity.byteCount + entity.byteCount / 32)
    var offset = 0
    while offset < entity.byteCount {
      let lineEnd = entity.lineEnd(from: offset, until: entity.byteCount)
      let hasNewline = entity.byte(lineEnd - 1) == ASCII.newline
      let isBare = hasNewline && (lineEnd - offset < 2 || entity.byte(lineEnd - 2) != ASCII.carriageReturn)
      buffer.append(entity.extracting(offset..<(isBare ? lineEnd - 1 : lineEnd)))
      if isBare { buffer.append("\r\n") }
      offset = lineEnd
    }
    return buffer.withBytes { SecretBytes(copying: $0) }
  }

  /// How many bytes the copy of the headers at the beginning of a text takes, which old programs are to show; 0 if it
  /// does not begin like that (RFC 9788 section 5.2).
  public static func legacyDisplayByteCount(_ text: RawSpan) -> Int {
    var offset = 0
    while offset < text.byteCount {
      let lineEnd = text.lineEnd(from: offset, until: text.byteCount)
      let line = text.trimmed(offset..<lineEnd)
      if line.isEmpty { return offset == 0 ? 0 : lineEnd }
      let isContinuation = offset > 0 && ASCII.isBlank(text.byte(offset))
      guard isContinuation || isHeaderCopy(text, line) else { return 0 }
      offset = lineEnd
    }
    return 0
  }

  private static func isHeaderCopy(_ text: RawSpan, _ line: Range<Int>) -> Bool {
    guard let colon = text.firstOffset(of: ASCII.colon, in: line) else { return false }
    return ["subject", "from", "to", "cc", "date", "reply-to", "followup-to"].contains(
      text.string(line.lowerBound..<colon).lowercased())
  }
}
