// SPDX-License-Identifier: Apache-2.0
//
// The occurrences of terms in messages, as numbers, until they are written (Specs/search-index.md, "Terms").

internal import MessageFormats
internal import Secrets

/// Collects the terms of one message after the other.
struct TokenCollector: ~Copyable {
  private var table: WordTable?
  /// Term (31 bits) ‖ ordinal (13) ‖ position (20).
  private var occurrences: ErasedArray<UInt64>
  /// Words of a piece: where it begins, and its length.
  private var batch = ErasedArray<UInt64>(capacity: 2 * Self.batchCount)
  private var hashes = ErasedArray<UInt64>(capacity: 2 * Self.batchCount)
  private var ends: [Int] = []

  private var ordinal: UInt64 = 0
  private var position: UInt64 = 0
  private var start = 0
  private var wordStart = 0
  /// Whether the message has words that are not collected.
  private(set) var isPartial = false

  private static let batchCount = 256
  /// New words of one message; see ``SegmentBuilder``.
  private static let messageWordByteCountLimit = 1 << 20 - 1 << 12

  init() {
    table = WordTable()
    occurrences = ErasedArray(capacity: 1 << 18)
  }

  /// Occurrences so far.
  var count: Int { occurrences.count }
  /// Bytes of distinct terms so far.
  private(set) var wordByteCount = 0

  mutating func beginMessage(_ ordinal: UInt32) {
    self.ordinal = UInt64(ordinal)
    (position, isPartial) = (0, false)
    start = occurrences.count
    wordStart = wordByteCount
  }

  /// Ends a text: no phrase goes on in the next.
  mutating func endText() { position += 1 }

  /// The message is not indexed by its words.
  mutating func giveUp() { isPartial = true }

  /// Forgets the words of a message that has too many or too long ones.
  mutating func endMessage() { if isPartial { occurrences.shorten(to: start) } }

  private var hasRoom: Bool {
    occurrences.count - start <= 2 * SegmentFormat.wordCountLimit
      && position < UInt64(SegmentFormat.wordCountLimit)
      && wordByteCount - wordStart < Self.messageWordByteCountLimit
  }

  /// Collects the words of a piece, which have one space between two.
  mutating func append(_ piece: RawSpan, _ kind: MessageTexts.Kind) {
    if isPartial { return }
    let field: UInt8 =
      switch kind {
      case .title: SegmentFormat.Namespace.title.rawValue
      case .sender: SegmentFormat.Namespace.sender.rawValue
      case .recipients: SegmentFormat.Namespace.recipients.rawValue
      case .tag, .subject, .attachment, .content: 0
      }
    var offset = 0
    while offset < piece.byteCount {
      offset = fillBatch(piece, from: offset)
      guard hasRoom, !isPartial else {
        giveUp()
        return
      }
      emptyBatch(piece, field)
    }
  }

  /// Finds the tokens of some words; where the next one begins.
  private mutating func fillBatch(_ piece: RawSpan, from start: Int) -> Int {
    batch.removeAll()
    let end = piece.byteCount
    var offset = start
    while offset < end, batch.count < Self.batchCount {
      if piece.octet(offset) == 0x20 {
        offset += 1
        continue
      }
      let first = offset
      var lead = unsafe piece.unsafeLoad(fromUncheckedByteOffset: offset, as: UInt8.self)
      let isHigh = lead >= 0xE0
      while lead != 0x20 {
        offset += 1
        if offset == end { break }
        lead = unsafe piece.unsafeLoad(fromUncheckedByteOffset: offset, as: UInt8.self)
      }
      if isHigh {
        SearchPhrase.denseEnds(piece.extracting(first..<offset), into: &ends)
        if !ends.isEmpty {
          appendPairs(first)
          continue
        }
      }
      appendToken(first, offset - first)
    }
    return offset
  }

  @inline(__always) private mutating func appendToken(_ start: Int, _ count: Int) {
    if count >= SegmentFormat.termByteCountLimit { isPartial = true }
    batch.append(UInt64(start) << 32 | UInt64(min(count, 0xFFFF)))
  }

  /// Each two neighbouring characters, and the last one.
  private mutating func appendPairs(_ start: Int) {
    var characterStart = 0
    for index in ends.indices {
      let end = index + 1 < ends.count ? ends[index + 1] : ends[index]
      appendToken(start + characterStart, end - characterStart)
      characterStart = ends[index]
    }
  }

  private mutating func emptyBatch(_ piece: RawSpan, _ field: UInt8) {
    guard var table = table.take() else { preconditionFailure("a collector has a table") }
    let count = batch.count
    let anywhere = SegmentFormat.Namespace.anywhere.rawValue
    unsafe piece.withUnsafeBytes { bytes in
      // There is a word in it, so there is an address.
      let base = unsafe bytes.baseAddress.unsafelyUnwrapped
      // The slots are read ahead: the processor fetches several of them at once.
      hashes.resize(to: count)
      var touched: UInt64 = 0
      for index in 0..<count {
        let word = Int(batch[index] >> 32)
        let hash = unsafe table.hash(
          base + word, Int(batch[index] & 0xFFFF_FFFF), readable: bytes.count - word)
        hashes[index] = hash
        touched ^= table.touch(hash, anywhere)
      }
      withExtendedLifetime(touched) {}
      occurrences.reserve(occurrences.count + 2 * count)
      for index in 0..<count {
        let (word, length) = (Int(batch[index] >> 32), Int(batch[index] & 0xFFFF_FFFF))
        let place = ordinal << 20 | position
        position += 1
        let number = unsafe table.number(of: base + word, length, hashes[index], anywhere)
        occurrences.append(UInt64(number) << 33 | place)
        if field != 0 {
          let number = unsafe table.number(of: base + word, length, hashes[index], field)
          occurrences.append(UInt64(number) << 33 | place)
        }
      }
    }
    wordByteCount = table.byteCount
    self.table = consume table
  }

  /// Collects a tag or a fact as a term.
  mutating func append(_ text: String, _ namespace: SegmentFormat.Namespace, prefix: String) {
    if isPartial || text.isEmpty && prefix.isEmpty { return }
    let term = prefix + text
    let bytes = unsafe term.utf8Span.span.bytes
    guard bytes.byteCount < SegmentFormat.termByteCountLimit, hasRoom,
      var table = table.take()
    else {
      giveUp()
      return
    }
    unsafe bytes.withUnsafeBytes { bytes in
      // The term is not empty.
      let base = unsafe bytes.baseAddress.unsafelyUnwrapped
      let hash = unsafe table.hash(base, bytes.count, readable: bytes.count)
      let number = unsafe table.number(of: base, bytes.count, hash, namespace.rawValue)
      occurrences.append(UInt64(number) << 33 | ordinal << 20 | position)
      position += 1
    }
    wordByteCount = table.byteCount
    self.table = consume table
  }

  // MARK: Writing

  /// Writes all terms with their lists, and keeps nothing.
  mutating func write(_ terms: inout TermWriter, _ file: inout SegmentFileWriter) throws(SegmentError) {
    guard let table = table.take() else { preconditionFailure("a collector has a table") }
    var counts = ErasedArray<UInt32>(capacity: table.count + 1)
    counts.resize(to: table.count)
    for index in 0..<occurrences.count { counts[Int(occurrences[index] >> 33)] += 1 }
    let order = table.sorted { counts[$0] > 0 }
    // Where the next occurrence of each term goes.
    var places = ErasedArray<UInt32>(capacity: table.count + 1)
    places.resize(to: table.count)
    var place: UInt32 = 0
    for index in 0..<order.count {
      places[Int(order[index])] = place
      place += counts[Int(order[index])]
    }
    var distributed = ErasedArray<Occurrence>(capacity: occurrences.count)
    distributed.resize(to: occurrences.count)
    for index in 0..<occurrences.count {
      let occurrence = occurrences[index]
      let term = Int(occurrence >> 33)
      distributed[Int(places[term])] = ((occurrence >> 20) & 0x1FFF) << 32 | occurrence & 0xF_FFFF
      places[term] += 1
    }
    for index in 0..<order.count {
      let number = order[index]
      let (count, end) = (Int(counts[Int(number)]), Int(places[Int(number)]))
      try table.withTerm(number) { term throws(SegmentError) in
        try unsafe terms.append(term, distributed.pointer + (end - count), count: count, &file)
      }
    }
    try terms.finish(&file)
  }
}
