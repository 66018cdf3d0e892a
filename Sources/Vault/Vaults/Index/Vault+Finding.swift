// SPDX-License-Identifier: Apache-2.0
//
// Lists and searches (Specs/search-index.md, "Reading"): from the segments of the index, from the rows of the tail, and
// from the rows of whatever segment cannot be read. With or without an index the answer is the same, in the same order.
//
// What is in segments was authenticated with them; what is in the tail is proved by the difference of two digests. The
// table has the last word: what is shown has a row.

public import MessageFormats
public import Primitives
internal import SearchIndex
public import Storage

extension Vault {
  /// What a list or a search has found.
  public struct Findings: Sendable {
    /// Messages that were found, whether or not a limit left them out.
    public var count = 0
    /// Messages that do not open.
    public var unreadable: [MessageID] = []
    /// Why messages were read one by one that should be in the index; nil if none were.
    public var indexTrouble: IndexTrouble?
  }

  /// Why the index, or a part of it, was not used.
  public enum IndexTrouble: Sendable, Equatable {
    /// A file or the record is missing, or is not what was written.
    case damaged
    /// The disk failed. Nothing is known about the index.
    case disk(StorageError)
  }

  /// How messages are looked for.
  public struct Search: Sendable {
    /// What is looked for; nil finds every message.
    public var expression: SearchExpression?
    /// Which of them, and in what order.
    public var selection: Selection
    /// Whether to read every message and use no index.
    public var isScan: Bool
    /// Whether only to count them.
    public var isCounted: Bool
    /// Whether details are lent where the index has them.
    public var wantsDetails: Bool

    /// - Parameters:
    ///   - expression: nil finds every message.
    ///   - selection: which of them, and in what order.
    ///   - isScan: reads every message, and uses no index.
    ///   - isCounted: lends nothing.
    ///   - wantsDetails: lends the details that the index has.
    public init(
      _ expression: SearchExpression? = nil, _ selection: Selection = Selection(), isScan: Bool = false,
      isCounted: Bool = false, wantsDetails: Bool = false
    ) {
      self.expression = expression
      self.selection = selection
      self.isScan = isScan
      self.isCounted = isCounted
      self.wantsDetails = wantsDetails
    }
  }

  /// Lends the metadata of what is found to `body`, in the order of the selection; of equals, the last added comes
  /// first. False stops.
  ///
  /// - Parameters:
  ///   - search: what is looked for.
  ///   - examined: called before each message that is opened, with the number of those that were; what it throws ends
  ///     the search.
  ///   - noticed: called before the first message is lent when the index, or a part of it, cannot be used.
  ///   - body: what is done with a message; its details are nil when they are not wanted, or not in the index.
  /// - Throws: `VaultError.corrupt`, perhaps after messages were lent, when a row was removed from or inserted into the
  ///   file.
  public func find(
    _ search: Search, examined: (Int) throws -> Void = { _ in }, noticed: (IndexTrouble) -> Void = { _ in },
    _ body: (MessageID, MessageMetadata, MessageDetails?) throws -> Bool
  ) throws -> Findings {
    guard !search.isScan else { return try scan(search, examined, body) }
    for attempt in 1...Self.triesBesideWriters {
      switch try openIndex() {
      case .none:
        return try scan(search, examined, body)
      case .damaged:
        noticed(.damaged)
        var findings = try scan(search, examined, body)
        findings.indexTrouble = .damaged
        return findings
      case .open(let open):
        var finding = IndexFinding(self, open, search)
        guard try finding.gather(examined, isLast: attempt == Self.triesBesideWriters) else { continue }
        if let trouble = finding.findings.indexTrouble { noticed(trouble) }
        return try finding.lend(body)
      }
    }
    return try scan(search, examined, body)
  }

  /// A writer beside this reader may remove segments; then everything begins again.
  static let triesBesideWriters = 3

  /// Opens every message.
  private func scan(
    _ search: Search, _ examined: (Int) throws -> Void,
    _ body: (MessageID, MessageMetadata, MessageDetails?) throws -> Bool
  ) throws -> Findings {
    var findings = Findings()
    var query = search.expression.map { SearchQuery($0) }
    var seen = 0
    let unreadable = try list(search.selection) { metadata, content in
      try examined(seen)
      seen += 1
      guard query?.matches(metadata, content) ?? true else { return false }
      findings.count += 1
      return !search.isCounted
    } _: { id, metadata in
      try body(id, metadata, nil)
    }
    findings.unreadable = unreadable
    return findings
  }
}

// MARK: The open index

extension Vault.IndexTrouble? {
  /// Takes in why a segment is not used. Damage is told rather than a failure of the disk, which may pass.
  mutating func note(_ error: SegmentError) {
    guard case .disk(let error) = error else { return self = .damaged }
    self = self ?? .disk(error)
  }
}

/// A segment while it is read.
struct OpenSegment {
  let segment: SearchRecord.Segment
  /// Its reader, or why its rows are read instead.
  var reader: Result<SegmentReader, SegmentError>
  var marked: [UInt32] = []

  var numbers: ClosedRange<Int64> { segment.description.numbers }
}

/// The index as one transaction saw it.
struct OpenIndex {
  let state: VaultState
  let record: SearchRecord
  let lastNumber: Int64
  var segments: [OpenSegment]

  /// The rows that are in no segment.
  var tail: ClosedRange<Int64>? {
    record.indexedThrough < lastNumber ? record.indexedThrough + 1...lastNumber : nil
  }
}

enum FoundIndex {
  case none
  case damaged
  case open(OpenIndex)
}

extension Vault {
  /// Opens every segment in the transaction that reads the record: a writer that removes one later does not disturb it.
  func openIndex() throws -> FoundIndex {
    guard file.home != nil else { return .none }
    return try read { transaction, state, keys in
      switch try searchRecord(transaction, state, keys) {
      case .none: return .none
      case .damaged: return .damaged
      case .record(let record):
        let segments = record.segments.map { segment in
          do throws(SegmentError) {
            let reader = try openSegment(segment.description, keys)
            let marked = try Self.ordinals(of: segment.marks, in: reader)
            return OpenSegment(segment: segment, reader: .success(reader), marked: marked)
          } catch {
            return OpenSegment(segment: segment, reader: .failure(error))
          }
        }
        return .open(
          OpenIndex(
            state: state, record: record, lastNumber: try MessageRow.lastNumber(transaction),
            segments: segments))
      }
    }
  }

  /// Whether no row has a number that is never given.
  static func hasOnlyPossibleNumbers(_ transaction: borrowing Transaction) throws -> Bool {
    try transaction.firstRow("SELECT 1 FROM messages WHERE number < 1") { _ in true } == nil
  }

  /// The rows that are shown, as the indexes of the table have them: the identifier under which each is listed, by
  /// number. Neither the table nor a box is read.
  static func shownRows(
    _ numbers: ClosedRange<Int64>, _ transaction: borrowing Transaction
  ) throws -> ShownRows {
    var rows = ShownRows(numbers)
    try transaction.forEachRow("SELECT number, id FROM messages ORDER BY id") { row in
      rows.set(try row.integer(0), try row.identifier(1))
      return true
    }
    try transaction.forEachRow(
      "SELECT number, message, standing FROM messages INDEXED BY markedMessages WHERE message <> x''"
    ) { row in
      rows.set(try row.integer(0), try row.integer(2) == 0 ? row.identifier(1) : nil)
      return true
    }
    return rows
  }
}

/// The identifiers of shown rows, by row number.
struct ShownRows {
  private let numbers: ClosedRange<Int64>
  private var ids: [MessageID?]
  private(set) var count = 0

  init(_ numbers: ClosedRange<Int64>) {
    self.numbers = numbers
    ids = [MessageID?](repeating: nil, count: Int(numbers.upperBound - numbers.lowerBound) + 1)
  }

  /// The identifier under which the row is listed; nil takes it away.
  mutating func set(_ number: Int64, _ id: MessageID?) {
    guard numbers.contains(number) else { return }
    let place = Int(number - numbers.lowerBound)
    count += (id == nil ? 0 : 1) - (ids[place] == nil ? 0 : 1)
    ids[place] = id
  }

  subscript(number: Int64) -> MessageID? {
    numbers.contains(number) ? ids[Int(number - numbers.lowerBound)] : nil
  }
}
