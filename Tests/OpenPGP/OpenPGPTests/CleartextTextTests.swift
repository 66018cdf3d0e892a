// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, section 7: what of a text is signed, and how it is written so that it comes back.

import Testing

@testable import OpenPGP

struct CleartextTextTests {
  private static func text(_ document: String) throws -> CleartextText {
    let bytes = Array(document.utf8)
    return try CleartextText(document: bytes.span.bytes)
  }

  @Test(
    "Blanks at line ends, carriage returns before LF and the last line end are not signed",
    arguments: [
      ("", ""), ("\n", ""), ("a", "a"), ("a\n", "a"), ("a\n\n", "a\n"), ("\n\na", "\n\na"),
      ("a  \nb\t\n", "a\nb"), ("a\r\nb\r\n", "a\nb"), ("a \r\n", "a"), ("a\r\r\n", "a"),
      (" a\rb \n", " a\rb"),
      ("-- \nsig", "--\nsig"), (" \n ", "\n"),
    ])
  func canonicalForm(document: String, signed: String) throws {
    #expect(try String(decoding: Self.text(document).bytes, as: UTF8.self) == signed)
  }

  @Test("Lines that begin with a dash or like a mail header are escaped, and come back")
  func dashes() throws {
    let text = try Self.text("- a\n-----BEGIN PGP SIGNATURE-----\nFrom here\nFromage\n\n-")
    let sink = ArraySink()
    try text.writeDashEscaped(to: sink)
    let escaped = String(decoding: sink.bytes, as: UTF8.self)
    #expect(escaped == "- - a\n- -----BEGIN PGP SIGNATURE-----\n- From here\nFromage\n\n- -\n")
    var back = CleartextText()
    for line in escaped.dropLast().split(separator: "\n", omittingEmptySubsequences: false) {
      try back.append(line: CleartextText.unescaped(Array(line.utf8)))
    }
    #expect(back.bytes == text.bytes)
  }

  @Test("A text that nobody could read through meets a limit")
  func limit() {
    let line = [UInt8](repeating: 0x78, count: 1 << 20)
    #expect(throws: OpenPGPError.overLimit(.cleartext)) {
      var text = CleartextText()
      for _ in 0..<17 { try text.append(line: line) }
    }
  }
}
