// SPDX-License-Identifier: Apache-2.0
//
// The headers by which mails refer to each other (RFC 5322 section 3.6.4). Subjects say nothing here: two mails of one
// subject need not belong together.

/// The name of a mail, and the mails that it answers.
public struct MailLinks: Sendable, Equatable {
  /// Its `Message-ID` without the angle brackets; nil without one.
  public let messageID: String?
  /// The mails before it in its conversation, the one that it answers last: its `References`, or without them the first
  /// in its `In-Reply-To`.
  public let references: [String]

  /// Those of a mail.
  public init(_ mail: RawSpan) {
    var walk = MailHeaderWalk(mail.whole)
    var (messageID, references, inReplyTo): (String?, [String]?, String?) = (nil, nil, nil)
    while let field = walk.next(mail) {
      if messageID == nil, mail.equals("message-id", in: field.name) {
        messageID = Self.identifiers(mail, field.value).first
      } else if references == nil, mail.equals("references", in: field.name) {
        references = Self.identifiers(mail, field.value)
      } else if inReplyTo == nil, mail.equals("in-reply-to", in: field.name) {
        inReplyTo = Self.identifiers(mail, field.value).first
      }
    }
    var found = references ?? []
    if found.isEmpty, let inReplyTo { found = [inReplyTo] }
    // The first begins the conversation, and the last are the nearest.
    if found.count > Self.countLimit { found = [found[0]] + found.suffix(Self.countLimit - 1) }
    self.messageID = messageID
    self.references = found
  }

  /// Everything that it names.
  public var names: [String] { references + [messageID].compactMap(\.self) }

  init(messageID: String?, references: [String]) {
    (self.messageID, self.references) = (messageID, references)
  }

  /// A longer conversation is found anyway, through the mails between.
  static let countLimit = 100

  /// What stands in angle brackets. Blanks in it are those of a folded line.
  private static func identifiers(_ bytes: RawSpan, _ value: Range<Int>) -> [String] {
    var found: [String] = []
    var start: Int?
    for offset in value.prefix(MessageLimits.headerFieldByteCount) {
      switch bytes.byte(offset) {
      case ASCII.less: start = offset + 1
      case ASCII.greater:
        if let begin = start, begin < offset, offset - begin <= Self.byteCountLimit {
          let identifier = bytes.string(begin..<offset).filter { !$0.isWhitespace }
          if !identifier.isEmpty { found.append(identifier) }
        }
        start = nil
      default: break
      }
    }
    return found
  }

  /// The longest line of a mail.
  private static let byteCountLimit = 998
}

/// Mails that belong together, collected from any number of mails in any order.
///
/// A mail belongs to it that names, or is named by, one that does, or that names a mail that one of them names: so the
/// answers to a mail that is not here are together. ``MailNames`` knows which to take; without it, take all again until
/// none is new.
public struct MailConversation<ID: Hashable & Sendable>: Sendable {
  /// A mail and its place.
  public struct Row: Sendable {
    /// The mail.
    public let id: ID
    /// 0 for one that answers none of these.
    public let depth: Int
    /// The mail that it answers, or else the nearest before it that is here.
    public let parent: ID?

    /// A message that belongs to no other.
    public init(alone id: ID) { self.init(id: id, depth: 0, parent: nil) }

    init(id: ID, depth: Int, parent: ID?) { (self.id, self.depth, self.parent) = (id, depth, parent) }
  }

  private struct Mail: Sendable {
    let id: ID
    let links: MailLinks
    let date: Int64
    /// Decides between mails of the same date.
    let position: Int
  }

  private var mails: [Mail]
  private var ids: Set<ID>
  /// Everything that these mails name.
  private var named: Set<String>

  /// The conversation of a mail.
  /// - Parameter position: of the mail among all; of equal dates, the lower comes first.
  public init(_ id: ID, _ links: MailLinks, date: Int64, position: Int = 0) {
    mails = [Mail(id: id, links: links, date: date, position: position)]
    ids = [id]
    named = Set(links.names)
  }

  /// Whether a mail was taken.
  public func contains(_ id: ID) -> Bool { ids.contains(id) }

  /// Whether it takes no more: a conversation of more mails is a mailing list's accident.
  public var isFull: Bool { mails.count >= Self.countLimit || named.count >= Self.nameLimit }

  /// Takes a mail that belongs to it.
  /// - Parameter position: as of the first; by default after those that were taken.
  /// - Returns: whether it was new.
  public mutating func take(_ id: ID, _ links: MailLinks, date: Int64, position: Int? = nil) -> Bool {
    guard !isFull,
      links.messageID.map(named.contains) ?? false || links.references.contains(where: named.contains),
      ids.insert(id).inserted
    else { return false }
    mails.append(Mail(id: id, links: links, date: date, position: position ?? mails.count))
    named.formUnion(links.names)
    return true
  }

  /// Every mail after the one that it answers, the oldest first.
  public func rows() -> [Row] {
    let sorted = mails.sorted { ($0.date, $0.position) < ($1.date, $1.position) }
    // Of two copies of a mail the older has the answers.
    var indexes: [String: Int] = [:]
    for (index, mail) in sorted.enumerated() {
      if let name = mail.links.messageID, indexes[name] == nil { indexes[name] = index }
    }
    var parents = [Int?](repeating: nil, count: sorted.count)
    var trees = Trees(count: sorted.count)
    for (index, mail) in sorted.enumerated() {
      for name in mail.links.references.reversed() {
        // A mail cannot answer one of its own answers.
        guard let parent = indexes[name], trees.root(of: parent) != index else { continue }
        parents[index] = parent
        trees.hang(index, below: parent)
        break
      }
    }
    var children = [[Int]](repeating: [], count: sorted.count)
    for (index, parent) in parents.enumerated() { if let parent { children[parent].append(index) } }
    var rows: [Row] = []
    // Not by recursion: a mail can pretend any depth.
    var waiting = parents.indices.filter { parents[$0] == nil }.reversed().map { (index: $0, depth: 0) }
    while let (index, depth) = waiting.popLast() {
      rows.append(Row(id: sorted[index].id, depth: depth, parent: parents[index].map { sorted[$0].id }))
      waiting += children[index].reversed().map { ($0, depth + 1) }
    }
    return rows
  }

  static var countLimit: Int { 10_000 }
  /// Some ten megabytes of names.
  static var nameLimit: Int { 200_000 }
}

/// Which mail is at the root of each: the paths to it are shortened as they are walked.
private struct Trees {
  private var above: [Int]

  init(count: Int) { above = Array(0..<count) }

  mutating func root(of index: Int) -> Int {
    var root = index
    while above[root] != root { root = above[root] }
    var next = index
    while above[next] != root {
      (above[next], next) = (root, above[next])
    }
    return root
  }

  /// - Parameter index: a root.
  mutating func hang(_ index: Int, below parent: Int) { above[index] = root(of: parent) }
}
