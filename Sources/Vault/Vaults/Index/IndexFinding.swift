// SPDX-License-Identifier: Apache-2.0
//
// One list or search that uses the index: what is found is gathered, sorted and proved before anything is lent, so that
// it can begin again when a writer beside it has taken segments away.

internal import MessageFormats
internal import Primitives
internal import SearchIndex
internal import Storage

struct IndexFinding: ~Copyable {
  private let vault: Vault
  private let index: OpenIndex
  private let search: Vault.Search
  private var query: SearchQuery?
  private var list: SortedList
  /// The first of what is read of segments. Where little is found, nothing is read twice.
  private var kept: [Int64: Loaded] = [:]
  private(set) var findings = Vault.Findings()
  /// What is lent, in order.
  private var chosen: ArraySlice<SortedList.Place> = []
  private var isComplete = true
  /// How many messages were opened.
  private var examinedCount = 0

  init(_ vault: Vault, _ index: OpenIndex, _ search: Vault.Search) {
    self.vault = vault
    self.index = index
    self.search = search
    if let expression = search.expression { query = SearchQuery(expression) } else { query = nil }
    list = SortedList(search.selection, byteCountLimit: vault.batch.keptByteCount)
  }

  // MARK: Gathering

  /// - Parameter isLast: whether a change beside it no longer matters.
  /// - Returns: false when another process has changed the vault meanwhile.
  mutating func gather(_ examined: (Int) throws -> Void, isLast: Bool) throws -> Bool {
    while true {
      do {
        let seen = try gather(examined)
        return try prove(seen, isLast: isLast)
      } catch let damage as DamagedSegment {
        // Its rows may have kept others out of the list: everything is looked for again without it.
        var rest = index
        rest.segments[damage.place].reader = .failure(damage.error)
        let count = examinedCount
        self = IndexFinding(vault, rest, search)
        examinedCount = count
      }
    }
  }

  /// - Returns: the digest of the tail.
  private mutating func gather(_ examined: (Int) throws -> Void) throws -> SetDigest {
    var seen = SetDigest()
    if let tail = index.tail { seen = try read(tail, examined) }
    var groups: [FoundGroup] = []
    for (place, segment) in index.segments.enumerated() {
      switch segment.reader {
      case .failure(let error):
        findings.indexTrouble.note(error)
        _ = try read(segment.numbers, examined)
      case .success(let reader):
        do {
          groups += try gather(reader, place, segment.marked, examined)
        } catch let error as SegmentError { throw DamagedSegment(place: place, error: error) }
      }
    }
    if !search.isCounted || search.selection.tag != nil { try readRows(groups, examined) }
    return seen
  }

  /// Finds in a segment. Messages that it cannot answer for are opened, as if they were in none.
  private mutating func gather(
    _ reader: SegmentReader, _ place: Int, _ marked: [UInt32], _ examined: (Int) throws -> Void
  ) throws -> [FoundGroup] {
    var toOpen: [Int64] = []
    let found = try reader.ordinals(search.expression, except: marked) {
      toOpen.append($1)
      return false
    }
    if search.selection.tag == nil { findings.count += found.count }
    try open(toOpen, examined)
    return reader.groups(of: found).map { group in
      let best = list.best(dates: group.dates, numbers: group.numbers)
      return FoundGroup(place: place, reader: reader, group: group, best: best)
    }
  }

  /// Rows of a segment that are read at once.
  private struct FoundGroup {
    let place: Int
    let reader: SegmentReader
    let group: SegmentReader.Group
    /// The first of them at best; nil if only the rows tell.
    let best: SortedList.Rank?
  }

  /// Reads the rows of what was found, those that may come first before the others, and no more than the list takes.
  private mutating func readRows(
    _ groups: [FoundGroup], _ examined: (Int) throws -> Void
  ) throws {
    // Those with a tag are counted by their rows.
    let mayEnd = search.selection.limit != nil && search.selection.tag == nil
    let sorted =
      !mayEnd
      ? groups
      : groups.sorted { first, second in
        guard let best = first.best, let other = second.best else {
          return first.best == nil && second.best != nil
        }
        return list.precedes(best, other)
      }
    for found in sorted {
      if mayEnd, let best = found.best, !list.takes(best) { break }
      var toOpen: [Int64] = []
      do {
        try found.reader.forEachRow(of: found.group) { row in take(row, found.place, &toOpen) }
      } catch let error as SegmentError { throw DamagedSegment(place: found.place, error: error) }
      try open(toOpen, examined)
    }
  }

  private mutating func take(_ row: borrowing SegmentRow, _ place: Int, _ toOpen: inout [Int64]) {
    let tag = search.selection.tag
    if row.isCut, tag != nil || search.selection.order == .title {
      // What it is chosen by is not here. It is counted when it is opened.
      if tag == nil { findings.count -= 1 }
      return toOpen.append(row.number)
    }
    if let tag {
      guard row.tags.contains(tag) else { return }
      findings.count += 1
    }
    guard !search.isCounted else { return }
    list.append(row, segment: place)
    if kept.count < Self.keptCount, !row.isCut { kept[row.number] = loaded(row) }
  }

  /// Opens the rows with these numbers that are shown.
  /// - Returns: their digest.
  private mutating func read(
    _ numbers: ClosedRange<Int64>, _ examined: (Int) throws -> Void
  ) throws -> SetDigest {
    var sealed = vault.sealedRows()
    var opener = MessageOpener(try vault.keys())
    var hash = opener.keys.rowHash()
    var digest = SetDigest()
    var next = numbers.lowerBound
    var isAtEnd = false
    while !isAtEnd {
      sealed.removeAll()
      isAtEnd = try vault.read { transaction, _, keys in
        opener.keys = keys
        return try sealed.append(next...numbers.upperBound, transaction)
      }
      _ = try sealed.forEach { row, box in
        guard row.standing == .shown else { return true }
        hash.addShown(row.id, to: &digest)
        try consider(row, box, &opener, examined)
        return true
      }
      guard let last = sealed.lastNumber, last < numbers.upperBound else { break }
      next = last + 1
    }
    return digest
  }

  /// Opens single rows.
  private mutating func open(_ numbers: [Int64], _ examined: (Int) throws -> Void) throws {
    let numbers = Set(numbers).sorted()
    var foundCount = 0
    let vault = vault
    try vault.forEachRow(numbers) { row, box, opener in
      foundCount += 1
      guard row.standing == .shown else { return }
      try consider(row, box, &opener, examined)
    }
    // The segment says that there is one.
    if foundCount < numbers.count { isComplete = false }
  }

  /// Opens a message, and takes it if it is looked for.
  private mutating func consider(
    _ row: MessageRow, _ box: RawSpan, _ opener: inout MessageOpener, _ examined: (Int) throws -> Void
  ) throws {
    try examined(examinedCount)
    examinedCount += 1
    do {
      try opener.open(row, box) { metadata, head, content in
        if let tag = search.selection.tag, !metadata.tags.contains(tag) { return }
        guard query?.matches(metadata, content) ?? true else { return }
        findings.count += 1
        guard !search.isCounted else { return }
        list.append(row, metadata, head: head, contentByteCount: content.byteCount)
      }
    } catch VaultError.dataTampered(let id), VaultError.decryptionFailed(let id, _) {
      findings.unreadable.append(id)
    }
  }

  // MARK: Proving

  /// Compares what was read with the vault's state.
  private mutating func prove(_ tail: SetDigest, isLast: Bool) throws -> Bool {
    chosen = list.sorted()
    return try vault.read { transaction, state, keys in
      let isUnchanged = state == index.state
      guard isUnchanged || isLast else { return false }
      guard isUnchanged, findings.indexTrouble == nil else {
        isComplete = try Vault.isComplete(transaction, state, keys)
        if !isUnchanged { try dropRemoved(transaction) }
        return true
      }
      isComplete =
        try isComplete && tail == state.shown.subtracting(index.record.indexed) && haveRows(transaction)
      return true
    }
  }

  /// Takes out what has left since the segments were opened.
  private mutating func dropRemoved(_ transaction: borrowing Transaction) throws {
    guard index.record.indexedThrough > 0 else { return }
    let rows = try Vault.shownRows(1...index.record.indexedThrough, transaction)
    chosen = chosen.filter { place in place.source.map { rows[place.number] == $0.id } ?? true }[...]
  }

  /// Whether each of the messages from segments has its row.
  private func haveRows(_ transaction: borrowing Transaction) throws -> Bool {
    guard index.record.indexedThrough > 0 else { return true }
    let isAll = search.expression == nil && search.selection.limit == nil
    guard isAll || chosen.count > Self.singleRowLimit else {
      for place in chosen {
        guard let source = place.source else { continue }
        let found = try transaction.firstRow(
          """
          SELECT CASE message WHEN x'' THEN id ELSE message END FROM messages WHERE number = ? AND standing = 0
          """, .integer(place.number)
        ) { try $0.identifier(0) }
        guard found == source.id else { return false }
      }
      return true
    }
    guard try Vault.hasOnlyPossibleNumbers(transaction) else { return false }
    let rows = try Vault.shownRows(1...index.record.indexedThrough, transaction)
    return rows.count == index.record.indexed.count
      && chosen.allSatisfy { place in place.source.map { rows[place.number] == $0.id } ?? true }
  }

  /// Single rows are looked up for as many messages; for more, the index of all identifiers is read.
  private static let singleRowLimit = 1_000

  // MARK: Lending

  /// Lends what was found.
  mutating func lend(
    _ body: (MessageID, MessageMetadata, MessageDetails?) throws -> Bool
  ) throws -> Vault.Findings {
    var rest = chosen
    var goesOn = true
    while goesOn, !rest.isEmpty {
      let chunk = rest.prefix(Self.chunkCount)
      rest = rest.dropFirst(Self.chunkCount)
      let loaded = try load(chunk)
      for place in chunk where goesOn {
        if let (id, metadata) = list.metadata(place) {
          goesOn = try body(id, metadata, nil)
        } else if let row = loaded[place.number] {
          goesOn = try body(row.id, row.metadata, row.details)
        }
      }
    }
    try vault.recordFailures(findings.unreadable)
    guard isComplete else { throw VaultError.corrupt }
    return findings
  }

  /// What is lent of a message.
  private struct Loaded {
    let id: MessageID
    let metadata: MessageMetadata
    var details: MessageDetails?
  }

  private func loaded(_ row: borrowing SegmentRow) -> Loaded {
    Loaded(id: row.id, metadata: row.metadata, details: search.wantsDetails ? row.details : nil)
  }

  private static let keptCount = 1_024

  /// The metadata of those that were not kept: from their segments, or from their rows.
  private mutating func load(
    _ chunk: ArraySlice<SortedList.Place>
  ) throws -> [Int64: Loaded] {
    var loaded = kept
    for (segment, places) in Dictionary(
      grouping: chunk.filter { $0.source != nil && kept[$0.number] == nil }, by: { $0.source?.segment })
    {
      guard let segment, case .success(let reader) = index.segments[segment].reader else { continue }
      let ordinals = places.compactMap(\.source?.ordinal).sorted()
      // What does not come from the segment comes from the row.
      do {
        for group in reader.groups(of: ordinals) {
          try reader.forEachRow(of: group) { row in
            if !row.isCut { loaded[row.number] = self.loaded(row) }
          }
        }
      } catch is SegmentError {}
    }
    let missing = chunk.filter { !$0.isKept && loaded[$0.number] == nil }.map(\.number)
    let vault = vault
    try vault.forEachRow(missing) { row, box, opener in
      do {
        try opener.open(row, box) { metadata, _, _ in
          loaded[row.number] = Loaded(id: row.message, metadata: metadata)
        }
      } catch VaultError.dataTampered(let id), VaultError.decryptionFailed(let id, _) {
        findings.unreadable.append(id)
      }
    }
    return loaded
  }

  /// Messages whose metadata is read at once: what is read is in ordinary memory, as what is shown.
  private static let chunkCount = 4_096
}

/// A segment could not be read to its end after something of it was used.
private struct DamagedSegment: Error {
  /// Among those of the index.
  let place: Int
  let error: SegmentError
}

extension Vault {
  /// Lends the rows with these numbers that are there, each with its box, after the transaction that read it.
  fileprivate func forEachRow(
    _ numbers: [Int64], _ body: (MessageRow, RawSpan, inout MessageOpener) throws -> Void
  ) throws {
    guard !numbers.isEmpty else { return }
    var rest = numbers[...]
    var sealed = sealedRows()
    var opener = MessageOpener(try keys())
    while !rest.isEmpty {
      sealed.removeAll()
      try read { transaction, _, keys in
        opener.keys = keys
        while sealed.hasRoom, let number = rest.popFirst() {
          _ = try sealed.append(number...number, transaction)
        }
      }
      _ = try sealed.forEach { row, box in
        try body(row, box, &opener)
        return true
      }
    }
  }
}
