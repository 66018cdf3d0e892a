// SPDX-License-Identifier: Apache-2.0
//
// Which headers of a mail are shown: those that were encrypted or signed with it (RFC 9788, and the older
// `protected-headers="v1"`), and of those outside only what is not inside, marked as such.

public import MessageFormats

/// The headers of a mail for people, and where they come from.
public struct MailHeading: Sendable {
  /// How the sender has protected headers.
  public enum Protection: Sendable {
    /// Not at all.
    case none
    /// `protected-headers="v1"`: headers that are not inside are taken from outside.
    case version1
    /// `hp=` (RFC 9788): headers that are not inside are not part of the mail.
    case headerProtection
  }

  /// A header.
  public enum Name: String, Sendable, CaseIterable { case from, to, cc, date, subject }

  /// One header as it is shown. The sender chose all of it.
  public struct Line: Sendable {
    /// Which one.
    public let name: Name
    /// Its text, decoded; of several headers of the name, all of them.
    public let text: String
    /// Those it names; nil if it cannot be read, or names nobody.
    public let addresses: [MailAddress]?
    /// Of a date: seconds since 1970.
    public let date: Int64?
    /// Whether it was inside.
    public let isProtected: Bool
  }

  /// How they were protected.
  public let protection: Protection
  /// Those that are shown.
  public let lines: [Line]
  /// Those that are not the same outside, which the sender has not said, with what is outside.
  public let changed: [(name: Name, outside: String)]
  /// Whom the mail is from; nil unless it is one address.
  public let sender: String?
  /// Whether copies of headers in texts, for old programs, are to be left out.
  public let hidesCopies: Bool

  /// The heading of a mail that protects nothing.
  public init(_ outer: MailTree, _ mail: RawSpan) {
    let outside = Source(tree: outer, part: 0, isProtected: false)
    (protection, changed, hidesCopies) = (.none, [], false)
    lines = Name.allCases.compactMap { outside.line($0, mail) }
    sender = outside.sender(mail)
  }

  /// The heading of a mail with content that was encrypted or signed.
  /// - Parameters:
  ///   - part: of `content`, which the signature covers, or the whole of it.
  ///   - isEncrypted: whether the content was encrypted, so that headers outside may differ.
  public init(
    _ outer: MailTree, _ mail: RawSpan, content: MailTree, part: Int, _ inner: RawSpan, isEncrypted: Bool
  ) {
    let root = content.parts[part]
    let hp = root.parameter("hp")
    protection =
      hp == "cipher" || hp == "clear"
      ? .headerProtection : root.parameter("protected-headers") == "v1" ? .version1 : .none
    hidesCopies = isEncrypted && protection != .none
    let outside = Source(tree: outer, part: 0, isProtected: false)
    let inside = Source(tree: content, part: part, isProtected: true)
    var (lines, changed): ([Line], [(Name, String)]) = ([], [])
    for name in Name.allCases {
      let outer = outside.line(name, mail)
      let found = protection == .none ? nil : inside.line(name, inner)
      if let line = found ?? (protection == .headerProtection ? nil : outer) { lines.append(line) }
      guard let found, let outer, !found.isEqual(to: outer) else { continue }
      let isSaid =
        isEncrypted
        && (hp == "cipher"
          ? inside.said(name, inner).contains { $0 == outer.text }
          : protection == .version1 && name == .subject && Self.dummies.contains(outer.text))
      if !isSaid { changed.append((name, outer.text)) }
    }
    (self.lines, self.changed) = (lines, changed)
    let hasInner = protection != .none && root.fields.contains { $0.name == "from" }
    sender = hasInner ? inside.sender(inner) : outside.sender(mail)
  }

  /// Subjects that programs put outside.
  private static let dummies: Set<String> = [
    "...", "[...]", "\u{2026}", "Encrypted Message", "Encrypted message",
  ]

  /// A header; nil if there is none.
  public subscript(_ name: Name) -> Line? { lines.first { $0.name == name } }

  /// Whether the mail says that it is from somebody else than the signer, whose addresses these are.
  public func differs(from addresses: [String]) -> Bool {
    guard let sender else { return true }
    return !addresses.contains { $0.lowercased() == sender.lowercased() }
  }

  /// The headers of one part.
  private struct Source {
    let tree: MailTree
    let part: Int
    let isProtected: Bool

    func line(_ name: Name, _ bytes: RawSpan) -> Line? {
      let texts = tree.texts(name.rawValue, of: part, in: bytes)
      guard !texts.isEmpty else { return nil }
      let isList = name != .date && name != .subject
      let addresses = isList ? tree.addresses(name.rawValue, of: part, in: bytes) : nil
      return Line(
        name: name, text: texts.joined(separator: ", "), addresses: addresses,
        date: name == .date ? tree.date(of: part, in: bytes) : nil, isProtected: isProtected)
    }

    func sender(_ bytes: RawSpan) -> String? {
      let fields = tree.parts[part].fields.filter { $0.name == "from" }
      guard fields.count == 1, let addresses = tree.addresses("from", of: part, in: bytes),
        addresses.count == 1
      else { return nil }
      return addresses[0].address
    }

    /// What the sender says that he has shown outside (RFC 9788 section 2.2).
    func said(_ name: Name, _ bytes: RawSpan) -> [String] {
      tree.texts("hp-outer", of: part, in: bytes).compactMap { text in
        guard let colon = text.firstIndex(of: ":"), text[..<colon].lowercased() == name.rawValue else {
          return nil
        }
        return text[text.index(after: colon)...].drop { $0 == " " }.description
      }
    }
  }
}

extension MailHeading.Line {
  fileprivate func isEqual(to other: Self) -> Bool {
    if let addresses, let others = other.addresses {
      return addresses.map { $0.address.lowercased() } == others.map { $0.address.lowercased() }
    }
    if let date, let other = other.date { return date == other }
    return text.split(separator: " ") == other.text.split(separator: " ")
  }
}
