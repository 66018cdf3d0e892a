// SPDX-License-Identifier: Apache-2.0
//
// Evaluates a search on a segment: a set of messages for each part, the cheap parts first. The answer is that of
// `SearchQuery` for each message.

public import MessageFormats
internal import Secrets

extension SegmentReader {
  /// The ordinals of the messages that a search finds, rising.
  /// - Parameters:
  ///   - expression: what is looked for; nil finds every message.
  ///   - marked: ordinals that are left out.
  ///   - isFound: asked about a message that the index cannot tell, by its ordinal and the number of its row: one that
  ///     did not open when it was indexed, has more than 500,000 words, or a word of more than 254 bytes.
  /// - Throws: `SegmentError`, and what `isFound` throws.
  public func ordinals(
    _ expression: SearchExpression?, except marked: [UInt32] = [],
    isFound: (_ ordinal: UInt32, _ number: Int64) throws -> Bool
  ) throws -> [UInt32] {
    var asked = Bitmap(count: documentCount, root.unreadable)
    if let expression, expression.parts.contains(where: \.condition.needsWords) {
      asked.formUnion(Bitmap(count: documentCount, root.partial))
    }
    let left = Bitmap(count: documentCount, marked)
    var wanted = Bitmap(count: documentCount, isFull: true)
    wanted.subtract(left)
    wanted.subtract(asked)
    asked.subtract(left)
    if let expression { try restrict(&wanted, expression) }
    wanted.formUnion(asked)
    var found: [UInt32] = []
    try wanted.forEach { ordinal in
      if try !asked.contains(ordinal) || isFound(ordinal, number(of: ordinal)) { found.append(ordinal) }
      return true
    }
    return found
  }

  private func number(of ordinal: UInt32) throws(SegmentError) -> Int64 {
    guard let group = root.rows.first(where: { $0.ordinals.contains(Int(ordinal)) }) else { throw .damaged }
    return try withRows(group) { rows in rows.rows[Int(ordinal) - group.ordinals.lowerBound].number }
  }

  /// Leaves the messages that the index knows to be found.
  private func restrict(_ wanted: inout Bitmap, _ expression: SearchExpression) throws(SegmentError) {
    let parts = expression.parts.sorted { $0.condition.cost < $1.condition.cost }
    for part in parts where part.role == .required {
      if wanted.isEmpty { return }
      wanted.formIntersection(try messages(part.condition, among: wanted))
    }
    if parts.contains(where: { $0.role == .alternative }) {
      var any = Bitmap(count: documentCount)
      for part in parts where part.role == .alternative {
        if wanted.isEmpty { return }
        any.formUnion(try messages(part.condition, among: wanted))
      }
      wanted.formIntersection(any)
    }
    for part in parts where part.role == .excluded {
      if wanted.isEmpty { return }
      wanted.subtract(try messages(part.condition, among: wanted))
    }
  }

  /// The messages of which a condition is true; outside of `candidates` it may say anything.
  private func messages(
    _ condition: SearchExpression.Condition, among candidates: Bitmap
  ) throws(SegmentError) -> Bitmap {
    switch condition {
    case .phrase(let phrase, let field): return try messages(phrase, field.namespace, among: candidates)
    case .tag(let words, let isWhole):
      return try union(entries(.tag, words, isWhole ? .whole : .beginning))
    case .date(let range): return try messages(dated: range, among: candidates)
    case .fact(.hasAttachment): return try union(entries(.fact, "a", .whole))
    case .fact(.isMail): return try union(entries(.fact, "m", .whole))
    case .fact(.type(let type, let isWhole)):
      return try union(entries(.fact, "t" + type, isWhole ? .whole : .beginning))
    }
  }

  private func union(_ entries: [TermEntry]) throws(SegmentError) -> Bitmap {
    var bitmap = Bitmap(count: documentCount)
    for entry in entries {
      try lists.readDocuments(entry, &file)
      for index in 0..<lists.ordinals.count { bitmap.insert(lists.ordinals[index]) }
    }
    return bitmap
  }

  private func messages(
    dated range: ClosedRange<Int64>, among candidates: Bitmap
  ) throws(SegmentError) -> Bitmap {
    var bitmap = Bitmap(count: documentCount)
    for group in root.rows {
      guard let dates = group.dates, dates.overlaps(range), candidates.intersects(group.ordinals) else {
        continue
      }
      if range.contains(dates.lowerBound), range.contains(dates.upperBound) {
        for ordinal in group.ordinals { bitmap.insert(UInt32(ordinal)) }
        continue
      }
      try withRows(group) { rows in
        for (index, row) in rows.rows.enumerated() where range.contains(row.date) {
          bitmap.insert(UInt32(group.ordinals.lowerBound + index))
        }
      }
    }
    return bitmap
  }

  // MARK: Words next to each other

  private func messages(
    _ phrase: SearchPhrase, _ namespace: SegmentFormat.Namespace, among candidates: Bitmap
  ) throws(SegmentError) -> Bitmap {
    var tokens: [(offset: UInt32, entries: [TermEntry], documentCount: Int)] = []
    var common = candidates
    for token in phrase.tokens {
      let entries = try entries(namespace, token.text, token.extent)
      let messages = try union(entries)
      common.formIntersection(messages)
      if common.isEmpty { return common }
      tokens.append((UInt32(token.position), entries, entries.reduce(0) { $0 + $1.documentCount }))
    }
    guard tokens.count > 1 else { return common }
    // Where the phrase would begin, by the rarest token first.
    tokens.sort { $0.documentCount < $1.documentCount }
    var starts = ErasedArray<Occurrence>(capacity: 1 << 10)
    var others = ErasedArray<Occurrence>(capacity: 1 << 10)
    for (index, token) in tokens.enumerated() {
      others.removeAll()
      for entry in token.entries {
        try lists.readDocuments(entry, &file)
        try lists.readPositions(entry, &file, offset: token.offset, into: &others) { common.contains($0) }
      }
      if token.entries.count > 1 { others.sort() }
      if index == 0 {
        swap(&starts, &others)
      } else {
        starts.formIntersection(others)
      }
      common = Bitmap(count: documentCount)
      for index in 0..<starts.count { common.insert(starts[index].ordinal) }
      if starts.count == 0 { break }
    }
    return common
  }
}

extension ErasedArray<Occurrence> {
  fileprivate mutating func sort() {
    var all = unsafe UnsafeMutableBufferPointer(start: pointer, count: count)
    unsafe all.sort()
  }

  /// Both are rising.
  fileprivate mutating func formIntersection(_ other: borrowing ErasedArray<Occurrence>) {
    var (kept, index) = (0, 0)
    for place in 0..<count {
      let occurrence = self[place]
      while index < other.count, other[index] < occurrence { index += 1 }
      if index == other.count { break }
      if other[index] == occurrence {
        self[kept] = occurrence
        kept += 1
      }
    }
    shorten(to: kept)
  }
}

extension SearchExpression.Condition {
  /// Whether it is not true of a message whose words are not all in the index, for all that the index knows.
  fileprivate var needsWords: Bool {
    if case .date = self { false } else { true }
  }

  /// Parts are evaluated in this order.
  fileprivate var cost: Int {
    switch self {
    case .fact: 0
    case .tag: 1
    case .date: 2
    case .phrase(let phrase, _):
      phrase.tokens.contains { $0.extent == .ending || $0.extent == .inside } ? 4 : 3
    }
  }
}

extension SearchExpression.Field {
  fileprivate var namespace: SegmentFormat.Namespace {
    switch self {
    case .anywhere: .anywhere
    case .title: .title
    case .sender: .sender
    case .recipients: .recipients
    }
  }
}
