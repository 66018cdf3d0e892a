// SPDX-License-Identifier: Apache-2.0
//
// Writing mbox files in the mboxrd manner. A mail is written unchanged, after the headers of
// `MboxExportHeader`; everything else is wrapped in a small mail with a base64 body, so that any mail program
// can open it.

internal import Texts

/// A streaming writer of mbox files.
public struct MboxSink: MessageSink, ~Copyable {
  private var file: OutputFile
  private let seal: any ExportSeal

  /// Begins the file `path`, which must not exist; `-` is standard output.
  ///
  /// - Parameters:
  ///   - path: the file.
  ///   - seal: lets the same coffer know its export again.
  ///   - record: is told a temporary name of the file.
  ///   - standardOutput: the descriptor of standard output.
  public init(
    path: String, seal: any ExportSeal, record: (any UnfinishedExportRecord)? = nil,
    standardOutput: Int32 = 1
  ) throws(MessageFormatError) {
    file = try OutputFile(path: path, record: record, standardOutput: standardOutput)
    self.seal = seal
  }

  /// Writes one mail after its `From ` line; see ``MessageSink``.
  public mutating func append(
    id: String, _ metadata: MessageMetadata, _ content: RawSpan
  ) throws(MessageFormatError) {
    try MessageLimits.check(id: id, metadata, content)
    file.buffer.append("From coffer@localhost ")
    MailDate.appendFromLine(metadata.date, into: &file.buffer)
    file.buffer.append(ASCII.newline)
    if Self.isVerbatim(metadata, content) {
      let lacksNewline = content.byte(content.byteCount - 1) != ASCII.newline
      MboxExportHeader(metadata: metadata, isBase64: false, lacksFinalNewline: lacksNewline)
        .append(id: id, sealing: content, seal, into: &file.buffer)
      try appendQuoted(content)
      if lacksNewline { file.buffer.append(ASCII.newline) }
    } else {
      MboxExportHeader(metadata: metadata, isBase64: true, lacksFinalNewline: false)
        .append(id: id, sealing: content, seal, into: &file.buffer)
      try appendWrapped(metadata, content)
    }
    file.buffer.append(ASCII.newline)
    try file.flushIfLarge()
  }

  /// Ends the file; see ``MessageSink``.
  public mutating func finish() throws(MessageFormatError) { try file.finish() }

  /// Whether the content can be written to an mbox unchanged: a mail that begins with a header, without NUL.
  private static func isVerbatim(_ metadata: MessageMetadata, _ content: RawSpan) -> Bool {
    guard metadata.isMail, content.byteCount > 0, content.firstOffset(of: 0, in: content.whole) == nil else {
      return false
    }
    var offset = 0
    while offset < content.byteCount, content.byte(offset) > ASCII.space, content.byte(offset) < 0x7F {
      if content.byte(offset) == ASCII.colon { return offset > 0 }
      offset += 1
    }
    return false
  }

  /// Appends `content` with one more `>` before every line `>*From `.
  private mutating func appendQuoted(_ content: RawSpan) throws(MessageFormatError) {
    var written = 0
    var search = 0
    while let hit = content.firstOffset(of: "From ", in: search..<content.byteCount) {
      var line = hit
      while line > search, content.byte(line - 1) == ASCII.greater { line -= 1 }
      search = hit + 5
      guard line == 0 || content.byte(line - 1) == ASCII.newline else { continue }
      try file.write(content.extracting(written..<line))
      file.buffer.append(ASCII.greater)
      written = line
    }
    try file.write(content.extracting(written..<content.byteCount))
  }

  private mutating func appendWrapped(
    _ metadata: MessageMetadata, _ content: RawSpan
  ) throws(MessageFormatError) {
    appendSubject(metadata.title)
    file.buffer.append("Date: ")
    MailDate.appendHeader(metadata.date, into: &file.buffer)
    file.buffer.append("\nMIME-Version: 1.0\nContent-Type: ")
    if Self.isPlainType(metadata) {
      file.buffer.append(metadata.contentType)
    } else {
      file.buffer.append("application/octet-stream")
    }
    file.buffer.append("\nContent-Transfer-Encoding: base64\n\n")
    var offset = 0
    while offset < content.byteCount {
      let end = min(offset + Self.pieceByteCount, content.byteCount)
      Base64.encode(
        content.extracting(offset..<end), lineByteCount: Self.lineByteCount, into: &file.buffer)
      try file.flushIfLarge()
      offset = end
    }
  }

  /// Appends the title as encoded words (RFC 2047 section 2), each of whole characters.
  private mutating func appendSubject(_ title: String) {
    file.buffer.append("Subject:")
    var rest = Substring(title).unicodeScalars
    while !rest.isEmpty {
      // Eleven characters of at most four bytes stay below the 75 characters of an encoded word.
      let piece = String(rest.prefix(Self.subjectPieceCount))
      rest = rest.dropFirst(Self.subjectPieceCount)
      file.buffer.append(" =?utf-8?B?")
      unsafe Base64.encode(piece.utf8Span.span.bytes, into: &file.buffer)
      file.buffer.append("?=\n")
    }
    if title.isEmpty { file.buffer.append(ASCII.newline) }
  }

  /// Whether other readers can be told the type: one line of printable ASCII, and nothing that may not be
  /// in base64 (RFC 2045 section 6.4).
  private static func isPlainType(_ metadata: MessageMetadata) -> Bool {
    let type = unsafe metadata.contentType.utf8Span.span.bytes
    guard type.byteCount > 0, type.byteCount <= 200,
      !type.matches("message/", at: 0, ignoringCase: true),
      !type.matches("multipart/", at: 0, ignoringCase: true),
      type.firstOffset(of: ASCII.slash, in: type.whole) != nil
    else { return false }
    for offset in type.whole where type.byte(offset) < ASCII.space || type.byte(offset) > 0x7E {
      return false
    }
    return !ASCII.isBlank(type.byte(0))
  }

  private static let lineByteCount = 76
  /// Whole lines of base64 each: 57 bytes make 76 characters.
  private static let pieceByteCount = 57 * 2048
  private static let subjectPieceCount = 11
}
