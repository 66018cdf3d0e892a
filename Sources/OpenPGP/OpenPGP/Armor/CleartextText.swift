// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, section 7.1: the text of a cleartext signed message, as it is signed and as it is delivered.
// Blanks at the ends of lines, the kind of line end and the last line end are not signed, so none of them is
// delivered: a line ends in LF, without blanks, and the last one does not end at all.

internal import Primitives

/// Lines of text, up to ``Limits/cleartextByteCount``.
struct CleartextText: Sendable {
  /// The lines with LF between them.
  private(set) var bytes: [UInt8] = []
  private var lineCount = 0

  init() {}

  /// The text of a document; CR LF ends a line as LF does.
  init(document: RawSpan) throws(OpenPGPError) {
    var rest = document
    while !rest.isEmpty {
      let end = rest.firstOffset(of: UInt8(ascii: "\n")) ?? rest.byteCount
      var line = [UInt8](copying: rest.extracting(0..<end))
      // A carriage return that stays at the end of a line would be read as half of CR LF.
      while let last = line.last,
        last == UInt8(ascii: "\r") || last == UInt8(ascii: " ") || last == UInt8(ascii: "\t")
      {
        line.removeLast()
      }
      try append(line: line)
      rest = rest.extracting(min(end + 1, rest.byteCount)..<rest.byteCount)
    }
  }

  /// - Parameter line: without its end.
  mutating func append(line: [UInt8]) throws(OpenPGPError) {
    guard bytes.count + line.count < Limits.cleartextByteCount else { throw .overLimit(.cleartext) }
    if lineCount > 0 { bytes.append(UInt8(ascii: "\n")) }
    bytes += line.withoutTrailingBlanks()
    lineCount += 1
  }

  /// Writes the lines with dashes escaped, each with its end.
  func writeDashEscaped(to sink: any ByteSink) throws(OpenPGPError) {
    guard lineCount > 0 else { return }
    var rest = unsafe bytes.span.bytes
    while true {
      let end = rest.firstOffset(of: UInt8(ascii: "\n"))
      let line = rest.extracting(0..<(end ?? rest.byteCount))
      if Self.needsEscape(line) { try sink.write(Self.escape) }
      try sink.write(line)
      try sink.write([UInt8(ascii: "\n")])
      guard let end else { return }
      rest = rest.extracting(end + 1..<rest.byteCount)
    }
  }

  /// Besides lines that begin with a dash, those that programs which keep mail in one file would change.
  private static func needsEscape(_ line: RawSpan) -> Bool {
    let beginning = [UInt8](copying: line.extracting(0..<min(line.byteCount, 5)))
    return beginning.first == UInt8(ascii: "-") || beginning.elementsEqual("From ".utf8)
  }

  /// A line without its escape.
  static func unescaped(_ line: [UInt8]) -> [UInt8] {
    line.starts(with: escape) ? Array(line.dropFirst(escape.count)) : line
  }

  private static let escape = Array("- ".utf8)
}
