// SPDX-License-Identifier: Apache-2.0
//
// Writing JSON Lines: one object a line, always the same bytes for the same message.

internal import Texts

/// A streaming writer of JSON Lines.
///
/// `{"id","title","tags","type","date","encoding","content"}`. Content that is UTF-8 stands as text, unless
/// its escapes would take more room than base64.
public struct JSONLinesSink: MessageSink, ~Copyable {
  private var file: OutputFile

  /// Begins the file `path`, which must not exist; `-` is standard output.
  ///
  /// - Parameters:
  ///   - path: the file.
  ///   - record: is told a temporary name of the file.
  ///   - standardOutput: the descriptor of standard output.
  public init(
    path: String, record: (any UnfinishedExportRecord)? = nil, standardOutput: Int32 = 1
  ) throws(MessageFormatError) {
    file = try OutputFile(path: path, record: record, standardOutput: standardOutput)
  }

  /// Writes one line; see ``MessageSink``.
  public mutating func append(
    id: String, _ metadata: MessageMetadata, _ content: RawSpan
  ) throws(MessageFormatError) {
    try MessageLimits.check(id: id, metadata, content)
    file.buffer.append("{\"id\":")
    JSONWriter.append(id, into: &file.buffer)
    file.buffer.append(ASCII.comma)
    JSONWriter.append(metadata, into: &file.buffer)
    let isText =
      content.validUTF8End(in: content.whole) == content.byteCount
      && JSONWriter.escapedByteCount(content) <= Base64.characterCount(byteCount: content.byteCount)
    file.buffer.append(",\"encoding\":")
    file.buffer.append(isText ? "\"utf-8\",\"content\":\"" : "\"base64\",\"content\":\"")
    var offset = 0
    while offset < content.byteCount {
      let end = min(offset + Self.pieceByteCount, content.byteCount)
      let piece = content.extracting(offset..<end)
      if isText {
        JSONWriter.appendEscaped(piece, into: &file.buffer)
      } else {
        Base64.encode(piece, into: &file.buffer)
      }
      try file.flushIfLarge()
      offset = end
    }
    file.buffer.append("\"}\n")
    try file.flushIfLarge()
  }

  /// Ends the file; see ``MessageSink``.
  public mutating func finish() throws(MessageFormatError) { try file.finish() }

  /// A multiple of three, so that base64 needs no padding inside.
  private static let pieceByteCount = 96 << 10
}
