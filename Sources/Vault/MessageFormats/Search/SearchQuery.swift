// SPDX-License-Identifier: Apache-2.0
//
// Search over one decrypted message at a time. Arguments and texts are folded and split alike and then
// compared byte by byte; long texts go through in pieces, so that the working memory stays small.

/// A search that is evaluated on messages, one after the other. Reuse one for all messages: its buffers are.
public struct SearchQuery: ~Copyable, Sendable {
  /// What is looked for in texts.
  private struct Needle {
    let bit: UInt64
    let range: Range<Int>
  }

  private var needles: [Needle] = []
  private var needleBytes = ByteBuffer(capacity: 256)
  private var longestNeedle = 1
  /// Conditions that are known without the text.
  private var conditions: [(bit: UInt64, SearchExpression.Condition)] = []
  // One bit for each part.
  private var (required, alternatives, excluded): (UInt64, UInt64, UInt64) = (0, 0, 0)
  private var (anywhere, title, sender, recipients): (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
  private var attachment: UInt64 = 0

  private var folder = TextFolder(capacity: MessageTexts.pieceByteCount * 2)
  private var splitter = WordSplitter(capacity: MessageTexts.pieceByteCount * 2)
  private var texts: MessageTexts? = MessageTexts()

  /// One bit for each part that is true of the message.
  private var found: UInt64 = 0
  /// One bit for each part that may still turn out to be true.
  private var open: UInt64 = 0

  /// A search for `expression`.
  public init(_ expression: SearchExpression) {
    for (index, part) in expression.parts.enumerated() {
      let bit: UInt64 = 1 << UInt64(index)
      switch part.role {
      case .required: required |= bit
      case .alternative: alternatives |= bit
      case .excluded: excluded |= bit
      }
      if case .phrase(let phrase, let field) = part.condition {
        let start = needleBytes.count
        needleBytes.append(phrase.needle)
        needles.append(Needle(bit: bit, range: start..<needleBytes.count))
        longestNeedle = max(longestNeedle, needleBytes.count - start)
        switch field {
        case .anywhere: anywhere |= bit
        case .title: title |= bit
        case .sender: sender |= bit
        case .recipients: recipients |= bit
        }
      } else {
        if part.condition == .fact(.hasAttachment) { attachment |= bit }
        conditions.append((bit, part.condition))
      }
    }
  }

  /// Whether the message is found.
  public mutating func matches(_ metadata: MessageMetadata, _ content: RawSpan) -> Bool {
    begin(metadata)
    if isDecided { return holds }
    var texts = exchange(&self.texts, with: nil) ?? MessageTexts()
    texts.read(metadata, content) { take($0, $1) }
    self.texts = consume texts
    look(for: anywhere, from: 0)
    return holds
  }

  // MARK: What is true

  /// Forgets the last message, and looks at everything but the text of this one.
  private mutating func begin(_ metadata: MessageMetadata) {
    found = 0
    for (bit, condition) in conditions where isTrue(condition, metadata) { found |= bit }
    open = anywhere | title | (metadata.isMail ? sender | recipients | attachment : 0)
    splitter.removeAll()
    splitter.endText()
  }

  private var holds: Bool {
    found & excluded == 0 && found & required == required && (alternatives == 0 || found & alternatives != 0)
  }

  /// Whether nothing that is still open can change the answer.
  private var isDecided: Bool {
    let possible = found | open
    if found & excluded != 0 || possible & required != required { return true }
    if alternatives != 0, possible & alternatives == 0 { return true }
    return holds && open & ~found & excluded == 0
  }

  private mutating func isTrue(_ condition: SearchExpression.Condition, _ metadata: MessageMetadata) -> Bool {
    switch condition {
    case .phrase: false
    case .date(let range): range.contains(metadata.date)
    case .tag(let words, let isWhole):
      metadata.tags.contains { tag in
        splitter.removeAll()
        unsafe split(tag.utf8Span.span.bytes)
        return splitter.output.withBytes { bytes in
          Self.begins(bytes.extracting(bytes.trimmed(bytes.whole)), with: words, isWhole: isWhole)
        }
      }
    // A mail tells when it is read.
    case .fact(.hasAttachment): metadata.isFile
    case .fact(.isMail): metadata.isMail
    case .fact(.type(let type, let isWhole)):
      unsafe Self.begins(metadata.mediaType.utf8Span.span.bytes, with: type, isWhole: isWhole)
    }
  }

  private static func begins(_ bytes: RawSpan, with text: String, isWhole: Bool) -> Bool {
    let wanted = unsafe text.utf8Span.span.bytes
    guard isWhole ? bytes.byteCount == wanted.byteCount : bytes.byteCount >= wanted.byteCount else {
      return false
    }
    return bytes.firstOffset(of: wanted, in: 0..<wanted.byteCount) == 0
  }

  // MARK: Texts

  /// Looks at a text; whether more is wanted.
  private mutating func take(_ kind: MessageTexts.Kind, _ text: RawSpan) -> Bool {
    switch kind {
    case .title: take(text, .title)
    case .tag, .subject: take(text, .anywhere)
    case .sender: take(text, .sender)
    case .recipients: take(text, .recipients)
    case .content, .attachment:
      // After the headers.
      open &= anywhere | attachment
      if kind == .attachment { found |= attachment }
      if !isDecided { take(text, .anywhere) }
    }
    return !isDecided
  }

  /// Folds and splits a text, and looks into it whenever a piece is full, and at its end for what is looked for in the
  /// field alone.
  private mutating func take(_ text: RawSpan, _ field: SearchExpression.Field) {
    let own = bits(of: field)
    guard (anywhere | own) & ~found != 0 else { return }
    // With the space before it.
    var start = splitter.output.count - 1
    var offset = 0
    while text.byteCount - offset > MessageTexts.pieceByteCount {
      if isDecided { return }
      let end = MessageTexts.pieceEnd(text, from: offset)
      split(text.extracting(offset..<end))
      offset = end
      look(for: anywhere, from: 0)
      if own != anywhere { look(for: own, from: start) }
      let count = splitter.output.count
      splitter.keepLast(longestNeedle - 1)
      start = max(0, start - (count - splitter.output.count))
    }
    split(text.extracting(offset..<text.byteCount))
    splitter.endText()
    if own != anywhere { look(for: own, from: start) }
    if splitter.output.count >= MessageTexts.pieceByteCount {
      look(for: anywhere, from: 0)
      splitter.removeAll()
      splitter.endText()
    }
  }

  private mutating func split(_ piece: RawSpan) {
    folder.removeAll()
    folder.append(piece)
    folder.output.withBytes { splitter.append($0) }
  }

  private func bits(of field: SearchExpression.Field) -> UInt64 {
    switch field {
    case .anywhere: anywhere
    case .title: title
    case .sender: sender
    case .recipients: recipients
    }
  }

  /// Notes which of these phrases occur in what has been split, from `start` on.
  private mutating func look(for wanted: UInt64, from start: Int) {
    let missing = wanted & ~found
    if missing == 0 { return }
    let end = splitter.output.count
    for needle in needles where missing & needle.bit != 0 {
      let isThere = splitter.output.withBytes { text in
        needleBytes.withBytes(in: needle.range) { text.firstOffset(of: $0, in: start..<end) != nil }
      }
      if isThere { found |= needle.bit }
    }
  }
}
