// SPDX-License-Identifier: Apache-2.0
//
// Reading JSON Lines: one object a line, UTF-8. Only `content` must be there. Content is decoded where it
// was read to.

internal import Texts

/// A streaming reader of JSON Lines.
///
/// `{"title","tags","type","date","encoding","content"}`: `date` is RFC 3339, `encoding` is `utf-8` (also
/// when absent) or `base64`. Without `type`, UTF-8 content is a note and base64 is binary. `null` counts
/// as absent, unknown members are ignored, a member twice is an error.
public struct JSONLinesSource: MessageSource, ~Copyable {
  private var lines: LineReader

  /// Opens the file at `path`; `-` is standard input.
  ///
  /// - Parameters:
  ///   - path: the file.
  ///   - stop: a descriptor that is readable once waiting for input is to end.
  ///   - standardInput: the descriptor of standard input.
  public init(
    path: String, stop: Int32? = nil, standardInput: Int32 = 0
  ) throws(MessageFormatError) {
    let file = try InputFile(path: path, stop: stop, standardInput: standardInput)
    lines = LineReader(file, limit: MessageLimits.jsonLineByteCount)
  }

  /// Bytes of the file read so far, and its size.
  public var progress: SourceProgress { lines.progress }

  /// Reads the next line; see ``MessageSource``.
  public mutating func next(_ body: (MessageMetadata, RawSpan) throws -> Void) throws -> Bool {
    while var line = try lines.next() {
      if lines.number == 1 {
        let hasMark = lines.buffer.withBytes { $0.matches("\u{FEFF}", at: line.lowerBound) }
        if hasMark { line = min(line.lowerBound + 3, line.upperBound)..<line.upperBound }
      }
      if lines.buffer.withBytes({ $0.trimmed(line).isEmpty }) { continue }
      try deliver(line, body)
      return true
    }
    return false
  }

  private mutating func deliver(
    _ line: Range<Int>, _ body: (MessageMetadata, RawSpan) throws -> Void
  ) throws {
    let record: JSONRecord
    do throws(JSONFlaw) {
      record = try lines.buffer.withBytes { (bytes) throws(JSONFlaw) in try JSONRecord(bytes, line) }
    } catch {
      throw MessageFormatError.malformed(entry: lines.number, what: error.what)
    }
    guard let text = record.content else {
      throw MessageFormatError.malformed(entry: lines.number, what: "the member content is missing")
    }
    let isBase64 = record.isBase64 ?? false
    let start = text.range.lowerBound
    var range = start..<start + JSONScanner.unescapeInPlace(text, &lines.buffer)
    if isBase64 {
      guard let count = Base64.decodeInPlace(&lines.buffer, range, .exact) else {
        throw MessageFormatError.malformed(entry: lines.number, what: "the content is not base64")
      }
      range = start..<start + count
    }
    guard range.count <= MessageLimits.messageByteCount else {
      throw MessageFormatError.messageTooLarge(
        byteCount: range.count, limit: MessageLimits.messageByteCount)
    }
    let metadata = MessageMetadata(
      title: record.title ?? "", tags: record.tags ?? [],
      contentType: record.type ?? (isBase64 ? MessageMetadata.binaryType : MessageMetadata.noteType),
      date: record.date ?? 0)
    try lines.buffer.withBytes(in: range) { try body(metadata, $0) }
  }
}
