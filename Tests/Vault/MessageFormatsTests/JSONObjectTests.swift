// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import MessageFormats

@Suite("JSON objects that are kept as they are")
struct JSONObjectTests {
  private func isWellFormed(_ bytes: [UInt8]) -> Bool { JSONObject.isWellFormed(bytes.span.bytes) }

  @Test(
    "Objects are accepted, with white space around them",
    arguments: [
      "{}", " \n\t\r{ } \n", #"{"a":1}"#,
      #"{"a":[{},[],null,true,false,-0.5e+3],"a":"\u00e4\n\ud83d\ude00"}"#,
      #"{"ä":"😀"}"#,
    ])
  func objects(text: String) { #expect(isWellFormed(Array(text.utf8))) }

  @Test(
    "Everything else is refused",
    arguments: [
      "", " ", "[]", "1", "null", "\"{}\"", "{", "{}}", "{}{}", "{} x", "{a:1}", "{'a':1}", #"{"a"}"#,
      #"{"a":}"#,
      #"{"a":1,}"#, #"{"a":01}"#, #"{"a":1.}"#, #"{"a":.5}"#, #"{"a":+1}"#, #"{"a":NaN}"#, #"{"a":"\x"}"#,
      #"{"a":"\ud800"}"#, "{\"a\":\"\n\"}", #"{"a":tru}"#, "\u{FEFF}{}", "{}\0", "/**/{}",
    ])
  func others(text: String) { #expect(!isWellFormed(Array(text.utf8))) }

  @Test("What is not UTF-8 is refused, in texts and around them")
  func encoding() {
    #expect(!isWellFormed([0x7B, 0x22, 0xFF, 0x22, 0x3A, 0x31, 0x7D]))
    #expect(!isWellFormed([0x7B, 0x22, 0xC0, 0x80, 0x22, 0x3A, 0x31, 0x7D]))
    #expect(!isWellFormed([0x7B, 0x7D, 0xC3]))
  }

  @Test("Nesting has a limit, and a hostile depth does no harm")
  func nesting() {
    func nested(_ depth: Int) -> [UInt8] {
      Array("{\"a\":".utf8) + [UInt8](repeating: 0x5B, count: depth) + [UInt8](repeating: 0x5D, count: depth)
        + [0x7D]
    }
    #expect(isWellFormed(nested(31)))
    #expect(!isWellFormed(nested(33)))
    #expect(!isWellFormed(nested(500_000)))
    #expect(!isWellFormed(Array("{\"a\":".utf8) + [UInt8](repeating: 0x5B, count: 1_000_000)))
  }
}
