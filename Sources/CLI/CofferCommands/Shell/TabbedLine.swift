// SPDX-License-Identifier: Apache-2.0
//
// A line for programs: fields with tabs between them. Long lists are mostly made of these, so the line is made of bytes
// in a buffer that is used again.

internal import Primitives
internal import Texts

struct TabbedLine {
  private var bytes: [UInt8] = []

  mutating func append(_ id: RecordID) { appendPlain(id.description) }

  mutating func append(time: Int64) { appendPlain(RFC3339.format(time)) }

  /// Appends text from anywhere, made fit for one line.
  mutating func append(_ text: String) { appendPlain(TerminalText.line(text)) }

  private mutating func appendPlain(_ text: String) {
    bytes.append(contentsOf: text.utf8)
    bytes.append(UInt8(ascii: "\t"))
  }

  /// Writes the line to standard output, and begins another one.
  mutating func end() {
    // The tab after the last field.
    if !bytes.isEmpty { bytes.removeLast() }
    Terminal.print(line: bytes)
    bytes.removeAll(keepingCapacity: true)
  }
}
