// SPDX-License-Identifier: Apache-2.0
//
// Makes one segment of several, or of one without some of its messages, or the same under another key. The old ones stay
// as they are.

internal import Primitives
internal import Secrets
public import Storage

/// Makes segments of segments.
public enum SegmentMerger {
  /// Makes one segment of neighbours. The marked messages are not in it, and neither are words that only they have.
  ///
  /// - Parameters:
  ///   - segments: in the order of their numbers, each with ordinals that are left out.
  ///   - files: of the search index.
  ///   - keyVersion: the version of `vaultKey`.
  ///   - vaultKey: for the new segment.
  /// - Returns: nil, and there is no file, when no message is left.
  public static func merge(
    _ segments: [(reader: SegmentReader, marked: [UInt32])], files: BlobFiles, keyVersion: Int,
    vaultKey: RawSpan
  ) throws(SegmentError) -> SegmentDescription? {
    try merge(segments, files: files, keyVersion: keyVersion, vaultKey: vaultKey, seed: SegmentSeed())
  }

  /// - Parameters:
  ///   - seed: name and nonces, which tests fix.
  ///   - listByteCountInMemory: positions of a term that are longer are read twice, in pieces: occurrences take some ten
  ///     times as much.
  static func merge(
    _ segments: [(reader: SegmentReader, marked: [UInt32])], files: BlobFiles, keyVersion: Int,
    vaultKey: RawSpan, seed: SegmentSeed, listByteCountInMemory: Int = 256 << 10
  ) throws(SegmentError) -> SegmentDescription? {
    precondition(!segments.isEmpty, "a merge has a segment at least")
    for (left, right) in zip(segments, segments.dropFirst()) {
      precondition(
        left.reader.description.numbers.upperBound < right.reader.description.numbers.lowerBound,
        "segments are merged in the order of their numbers")
    }
    var total = 0
    var inputs: [MergeInput] = []
    for (reader, marked) in segments {
      let input = MergeInput(reader, marked: marked, firstOrdinal: total)
      total += input.keptCount
      inputs.append(input)
    }
    guard total > 0 else { return nil }
    precondition(total <= SegmentFormat.documentCountLimit, "too many messages for one segment")
    let numbers =
      segments[0].reader.description.numbers
      .lowerBound...segments[segments.count - 1].reader.description
      .numbers.upperBound
    var file = try SegmentFileWriter(files, seed, vaultKey: vaultKey)
    var rows = RowsWriter()
    for input in inputs { try input.copyRows(to: &rows, &file) }
    try rows.finish(&file)
    var terms = TermWriter()
    try mergeTerms(inputs, listByteCountInMemory, &terms, &file)
    let rootBlockCount = try SegmentRoot.write(
      SegmentRoot.Summary(
        documentCount: rows.count, numbers: numbers, rows: rows.groups, unreadable: rows.unreadable,
        partial: rows.partial), terms, &file)
    let description = SegmentDescription(
      id: seed.id, keyVersion: keyVersion, numbers: numbers, documentCount: rows.count,
      blockCount: file.blockCount, rootBlockCount: rootBlockCount)
    try file.finish()
    return description
  }

  private static func mergeTerms(
    _ inputs: [MergeInput], _ listByteCountInMemory: Int, _ terms: inout TermWriter,
    _ file: inout SegmentFileWriter
  ) throws(SegmentError) {
    var left: [MergeInput] = []
    for input in inputs where try input.nextTerm() { left.append(input) }
    var occurrences = ErasedArray<Occurrence>(capacity: 200_000)
    var term = ErasedArray<UInt8>(capacity: 256)
    // Those that have the least term, in the order of their numbers, so that ordinals rise.
    var places: [Int] = []
    var having: [(input: MergeInput, entry: TermEntry)] = []
    var beginnings = left.map { $0.beginning }
    while let least = beginnings.min() {
      term.removeAll()
      for place in left.indices where beginnings[place] == least {
        left[place].withTerm { other in
          if term.count > 0, term.withBytes({ compare($0, other) <= 0 }) { return }
          term.removeAll()
          term.append(other)
        }
      }
      places.removeAll(keepingCapacity: true)
      having.removeAll(keepingCapacity: true)
      for place in left.indices where beginnings[place] == least && left[place].has(term) {
        places.append(place)
        having.append((left[place], try left[place].entry()))
      }
      let positionByteCount = having.reduce(0) { $0 + $1.entry.positions.count }
      let measure =
        positionByteCount > listByteCountInMemory ? try measure(having, &occurrences) : ListMeasure()
      try term.withBytes { term throws(SegmentError) in
        // A frequent term of which next to nothing is left is written as any other.
        guard measure.occurrenceCount > 1 else {
          occurrences.removeAll()
          for (input, entry) in having { try input.readOccurrences(entry, into: &occurrences) { _ in } }
          guard occurrences.count > 0 else { return }
          return try unsafe terms.append(term, occurrences.pointer, count: occurrences.count, &file)
        }
        try terms.append(term, measure, &file) { lists throws(SegmentError) in
          try forEachPiece(having, &occurrences) { unsafe lists.add($0.pointer, count: $0.count) }
        }
      }
      for place in places.reversed() {
        if try left[place].nextTerm() {
          beginnings[place] = left[place].beginning
        } else {
          left.remove(at: place)
          beginnings.remove(at: place)
        }
      }
    }
    try terms.finish(&file)
  }

  private static func measure(
    _ having: [(input: MergeInput, entry: TermEntry)], _ occurrences: inout ErasedArray<Occurrence>
  ) throws(SegmentError) -> ListMeasure {
    var measure = ListMeasure()
    try forEachPiece(having, &occurrences) { unsafe measure.add($0.pointer, count: $0.count) }
    return measure
  }

  private static func forEachPiece(
    _ having: [(input: MergeInput, entry: TermEntry)], _ occurrences: inout ErasedArray<Occurrence>,
    _ body: (borrowing ErasedArray<Occurrence>) -> Void
  ) throws(SegmentError) {
    for (input, entry) in having {
      occurrences.removeAll()
      try input.readOccurrences(entry, into: &occurrences) { piece in
        body(piece)
        piece.removeAll()
      }
      body(occurrences)
    }
  }

  /// Seals every block of a segment again, under another name and another vault key.
  public static func copy(
    _ reader: SegmentReader, files: BlobFiles, keyVersion: Int, vaultKey: RawSpan
  ) throws(SegmentError) -> SegmentDescription {
    let seed = SegmentSeed()
    var file = try SegmentFileWriter(files, seed, vaultKey: vaultKey)
    let old = reader.description
    var sections = [SegmentFormat.Section?](repeating: nil, count: old.blockCount)
    for section in SegmentFormat.Section.allCases {
      for block in reader.file.blocks(section) { sections[Int(block)] = section }
    }
    let block = SharedBlock()
    for (number, section) in sections.enumerated() {
      guard let section else { throw .damaged }
      try reader.file.open(number, as: section, into: block)
      try block.withBytes { bytes throws(SegmentError) in try file.append(bytes, to: section) }
    }
    try file.finish()
    var description = old
    (description.id, description.keyVersion) = (seed.id, keyVersion)
    return description
  }
}

/// One segment of a merge.
private final class MergeInput {
  private let reader: SegmentReader
  /// The new ordinal of each message; the greatest number for one that is left out.
  private var ordinals: [UInt32] = []
  private(set) var keptCount = 0
  private var groupIndex = -1

  private static let none = UInt32.max

  init(_ reader: SegmentReader, marked: [UInt32], firstOrdinal: Int) {
    self.reader = reader
    let left = Bitmap(count: reader.documentCount, marked)
    ordinals.reserveCapacity(reader.documentCount)
    for ordinal in 0..<reader.documentCount {
      if left.contains(UInt32(ordinal)) {
        ordinals.append(Self.none)
      } else {
        ordinals.append(UInt32(firstOrdinal + keptCount))
        keptCount += 1
      }
    }
  }

  func copyRows(to rows: inout RowsWriter, _ file: inout SegmentFileWriter) throws(SegmentError) {
    var tagBytes = ErasedArray<UInt8>(capacity: 1 << 10)
    for group in reader.root.rows {
      for ordinal in group.ordinals where ordinals[ordinal] != Self.none {
        try reader.withRows(group) { opened throws(SegmentError) in
          try opened.copyRow(ordinal - group.ordinals.lowerBound, to: &rows, &tagBytes, &file)
        }
      }
    }
  }

  // MARK: Terms

  /// Goes to the next term; false at the end.
  func nextTerm() throws(SegmentError) -> Bool {
    if groupIndex >= 0, try reader.cursor.next() { return true }
    groupIndex += 1
    guard groupIndex < reader.root.terms.count else { return false }
    let group = reader.root.terms[groupIndex]
    try reader.cursor.open(group, &reader.file)
    try reader.cursor.openNumbers(group, &reader.file)
    guard try reader.cursor.next() else { throw .damaged }
    return true
  }

  func withTerm<R, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
    try reader.cursor.term.withBytes(body)
  }

  /// The first eight bytes of the term as a number, with zeros after its end: most terms differ in them.
  var beginning: UInt64 {
    withTerm { term in
      var number: UInt64 = 0
      for offset in 0..<8 { number = number << 8 | UInt64(offset < term.byteCount ? term.octet(offset) : 0) }
      return number
    }
  }

  func has(_ term: borrowing ErasedArray<UInt8>) -> Bool {
    withTerm { own in term.withBytes { compare(own, $0) == 0 } }
  }

  /// The entry of the term. Call it once for every term.
  func entry() throws(SegmentError) -> TermEntry { try reader.cursor.entry() }

  /// Appends the occurrences of a term in the messages that are kept, with their new ordinals.
  /// - Parameter emptied: takes out what is there, after a message, when that is much.
  func readOccurrences(
    _ entry: TermEntry, into occurrences: inout ErasedArray<Occurrence>,
    emptied: (inout ErasedArray<Occurrence>) -> Void
  ) throws(SegmentError) {
    try reader.lists.readDocuments(entry, &reader.file)
    var start = occurrences.count
    try reader.lists.readPositions(entry, &reader.file, into: &occurrences) {
      ordinals[Int($0)] != Self.none
    } emptied: {
      renumber(&$0, from: start)
      emptied(&$0)
      start = $0.count
    }
    renumber(&occurrences, from: start)
  }

  private func renumber(_ occurrences: inout ErasedArray<Occurrence>, from start: Int) {
    for index in start..<occurrences.count {
      let occurrence = occurrences[index]
      occurrences[index] = Occurrence(ordinals[Int(occurrence.ordinal)], occurrence.position)
    }
  }
}

extension RowsReader {
  /// Writes a row of the group that is open to another segment.
  borrowing fileprivate func copyRow(
    _ index: Int, to rows: inout RowsWriter, _ tagBytes: inout ErasedArray<UInt8>,
    _ file: inout SegmentFileWriter
  ) throws(SegmentError) {
    let fields = self.rows[index]
    let content = RowContent(
      number: fields.number, id: fields.id, timestamp: fields.timestamp, date: fields.date,
      contentByteCount: fields.contentByteCount, flags: fields.flags)
    guard !fields.flags.contains(.unreadable) else { return try rows.appendUnreadable(content, &file) }
    tagBytes.removeAll()
    var tags: [Range<Int>] = []
    for tag in fields.tags {
      withText(tag) { text in
        tags.append(tagBytes.count..<tagBytes.count + text.byteCount)
        tagBytes.append(text)
      }
    }
    try withBytes(fields.title) { title throws(SegmentError) in
      try withText(fields.type) { type throws(SegmentError) in
        try withText(fields.sender) { sender throws(SegmentError) in
          try tagBytes.withBytes { bytes throws(SegmentError) in
            try rows.append(
              content, title: title, type: type, sender: sender, tags: tags, tagBytes: bytes, &file)
          }
        }
      }
    }
  }
}
