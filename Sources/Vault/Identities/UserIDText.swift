// SPDX-License-Identifier: Apache-2.0

internal import OpenPGP
internal import Texts

/// A user ID as text: by convention a name, and a mail address in angle brackets (RFC 9580, section 5.11).
public struct UserIDText: Hashable, Sendable {
  /// Bytes of a new user ID: more than any name and address that programs accept.
  public static let byteCountLimit = 255

  /// All of it. It may come from elsewhere: make it safe before you show it.
  public let text: String
  /// The part before the address; nil for an address alone.
  public let name: String?
  /// The mail address; nil without one.
  public let address: String?

  /// The parts of a user ID that exists.
  public init(_ text: String) {
    self.text = text
    address = UserID(text).address
    var name = text[...]
    if address != nil { name = text.last == ">" ? text[..<(text.lastIndex(of: "<") ?? text.endIndex)] : "" }
    let trimmed = name.trimmed
    self.name = trimmed.isEmpty ? nil : trimmed
  }

  /// A user ID for a new identity.
  /// - Throws: ``UserIDProblem``
  public init(new text: String) throws(UserIDProblem) {
    guard !text[...].trimmed.isEmpty else { throw .empty }
    guard text.utf8.count <= Self.byteCountLimit else { throw .tooLong }
    // Bytes that were not UTF-8 have become U+FFFD on their way here.
    guard TerminalText.line(text) == text, !text.unicodeScalars.contains("\u{FFFD}") else {
      throw .unprintable
    }
    self.init(text)
  }
}

extension Substring {
  /// Without white space at both ends.
  fileprivate var trimmed: String {
    guard let start = firstIndex(where: { !$0.isWhitespace }),
      let end = lastIndex(where: { !$0.isWhitespace })
    else { return "" }
    return String(self[start...end])
  }
}
