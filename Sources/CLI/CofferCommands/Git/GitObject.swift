// SPDX-License-Identifier: Apache-2.0
//
// What is to be signed, as far as its first lines tell: shown in the prompt, so that a request that git did not make
// is noticed. The text is anybody's, and nothing depends on it.

internal import Primitives
internal import Secrets
internal import Texts

/// An object of git that is to be signed.
struct GitObject: Equatable {
  /// With its article: "a commit".
  let kind: String
  /// The first line of its message, safe to show; nil without one.
  let subject: String?

  /// Reads headers up to the first empty line, and the line after it.
  init(_ bytes: RawSpan) {
    let shown = bytes.extracting(first: Self.headLimit)
    var lines = String(decoding: [UInt8](copying: shown), as: UTF8.self)
      .split(separator: "\n", omittingEmptySubsequences: false)[...]
    let first = lines.first ?? ""
    let tag = lines.prefix(while: { !$0.isEmpty }).first { $0.hasPrefix("tag ") }?.dropFirst(4)
    kind =
      if Self.isHeader(first, "tree") { "a commit" } else if Self.isHeader(first, "object") {
        "a tag"
      } else if first.hasPrefix("certificate version ") { "a push" } else { "something that is not of git" }
    lines = lines.drop { !$0.isEmpty }
    let line = lines.first { !$0.allSatisfy(\.isWhitespace) }
    let text = [tag.map { "\($0):" }, line.map(String.init)].compactMap(\.self).joined(separator: " ")
    subject = text.isEmpty ? nil : TerminalText.line(String(text.prefix(Self.subjectLimit)))
  }

  /// More than any headers, but for those of a merge of many signed tags.
  private static let headLimit = 1 << 16
  /// Columns of a terminal.
  private static let subjectLimit = 72

  private static func isHeader(_ line: Substring, _ name: String) -> Bool {
    let words = line.split(separator: " ")
    return words.count == 2 && words[0] == name && [40, 64].contains(words[1].utf8.count)
      && words[1].allSatisfy(\.isHexDigit)
  }
}
