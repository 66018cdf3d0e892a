// SPDX-License-Identifier: Apache-2.0
//
// Makes a segment of messages. Rows are written as they come. Of the words each is kept once, in locked memory, and each
// occurrence as a number; at the end they are distributed to their terms and written.

public import MessageFormats
public import Primitives
internal import Secrets
public import Storage

/// A segment in the making. Dropped before ``finish(numbers:)``, its file is removed.
public struct SegmentBuilder: ~Copyable {
  /// Messages of a segment that is made of messages; merging makes larger ones.
  public static let documentCountLimit = 8_192
  /// 24 MiB for numbers while they are distributed.
  private static let occurrenceCountLimit = 1_500_000
  /// One message adds less than 1 MiB and one batch of words, so some 4 MiB are locked at most.
  private static let wordByteCountLimit = 3 << 20
  /// More different tags are folded again and again.
  private static let tagTermCountLimit = 1_024

  private var file: SegmentFileWriter
  private let id: BlobName
  private let keyVersion: Int
  private var rows = RowsWriter()
  private var words = MessageWords()
  private let collected = CollectedTokens()
  /// Terms of tags, which are the same few in most messages.
  private var tagTerms: [String: String] = [:]
  private var tagBytes = ErasedArray<UInt8>(capacity: 1 << 10)
  private let sender = SenderText()

  /// Creates the file.
  /// - Parameters:
  ///   - files: of the search index.
  ///   - keyVersion: the version of `vaultKey`.
  ///   - vaultKey: 32 bytes.
  public init(files: BlobFiles, keyVersion: Int, vaultKey: RawSpan) throws(SegmentError) {
    try self.init(files: files, keyVersion: keyVersion, vaultKey: vaultKey, seed: SegmentSeed())
  }

  /// - Parameter seed: name and nonces, which tests fix.
  init(
    files: BlobFiles, keyVersion: Int, vaultKey: RawSpan, seed: SegmentSeed
  ) throws(SegmentError) {
    id = seed.id
    self.keyVersion = keyVersion
    file = try SegmentFileWriter(files, seed, vaultKey: vaultKey)
  }

  /// Messages so far.
  public var documentCount: Int { rows.count }

  /// Whether it should be finished before the next message.
  public var isFull: Bool {
    rows.count >= Self.documentCountLimit || collected.tokens.count >= Self.occurrenceCountLimit
      || collected.tokens.wordByteCount >= Self.wordByteCountLimit
  }

  /// Adds a message.
  /// - Parameters:
  ///   - number: of its row; greater than the one before.
  ///   - id: of its row.
  ///   - timestamp: of its row.
  ///   - metadata: of the message.
  ///   - content: of the message.
  public mutating func append(
    number: Int64, id: RecordID, timestamp: Int64, metadata: MessageMetadata, content: RawSpan
  ) throws(SegmentError) {
    precondition(rows.count < Self.documentCountLimit, "a full segment is finished first")
    var row = RowContent(
      number: number, id: id, timestamp: timestamp, date: metadata.date, contentByteCount: content.byteCount)
    if metadata.isMail { row.flags.insert(.mail) }
    if metadata.isText { row.flags.insert(.text) }
    if readWords(metadata, content) { row.flags.insert(.attachment) }
    if collected.tokens.isPartial { row.flags.insert(.partial) }
    collected.tokens.endMessage()
    try appendRow(&row, metadata)
  }

  /// Adds a message that did not open. It has a row without metadata, and is asked for by every search.
  public mutating func appendUnreadable(
    number: Int64, id: RecordID, timestamp: Int64
  ) throws(SegmentError) {
    precondition(rows.count < Self.documentCountLimit, "a full segment is finished first")
    try rows.appendUnreadable(
      RowContent(number: number, id: id, timestamp: timestamp, flags: .unreadable), &file)
  }

  /// Writes the rest, and synchronises the file and its folder. After an error there is no file.
  /// - Parameter numbers: the row numbers that the segment answers for, if there are more than from the first message
  ///   to the last.
  public consuming func finish(
    numbers: ClosedRange<Int64>? = nil
  ) throws(SegmentError) -> SegmentDescription {
    guard let own = rows.numbers else { preconditionFailure("a segment has a message at least") }
    let numbers = numbers ?? own
    precondition(
      numbers.lowerBound <= own.lowerBound && own.upperBound <= numbers.upperBound,
      "a segment answers for its own messages")
    try rows.finish(&file)
    var terms = TermWriter()
    try collected.tokens.write(&terms, &file)
    let rootBlockCount = try SegmentRoot.write(
      SegmentRoot.Summary(
        documentCount: rows.count, numbers: numbers, rows: rows.groups, unreadable: rows.unreadable,
        partial: rows.partial), terms, &file)
    let description = SegmentDescription(
      id: id, keyVersion: keyVersion, numbers: numbers, documentCount: rows.count,
      blockCount: file.blockCount, rootBlockCount: rootBlockCount)
    try file.finish()
    return description
  }

  // MARK: One message

  /// Collects the words of a message, and its sender.
  /// - Returns: whether it has what `has:attachment` finds.
  private mutating func readWords(_ metadata: MessageMetadata, _ content: RawSpan) -> Bool {
    collected.tokens.beginMessage(UInt32(rows.count))
    sender.bytes.removeAll()
    var hasAttachment = metadata.isFile
    var hasSender = false
    let collected = collected
    let sender = sender
    func begin(_ kind: MessageTexts.Kind, _ text: RawSpan) {
      if kind == .attachment { hasAttachment = true }
      if kind == .sender, !hasSender {
        hasSender = true
        sender.bytes.append(text.extracting(first: min(text.byteCount, SegmentFormat.rowTextByteCount + 4)))
      }
    }
    let isWhole = words.read(metadata, content) { kind, text in
      begin(kind, text)
      collected.tokens.endText()
    } words: { kind, piece in
      collected.tokens.append(piece, kind)
      return true
    }
    if !isWhole {
      collected.tokens.giveUp()
      var texts = MessageTexts()
      hasSender = false
      sender.bytes.removeAll()
      texts.read(metadata, content) { kind, text in
        begin(kind, text)
        return true
      }
    }
    for tag in metadata.tags { collected.tokens.append(tagTerm(tag), .tag, prefix: "") }
    collected.tokens.append(metadata.mediaType, .fact, prefix: "t")
    if metadata.isMail { collected.tokens.append("", .fact, prefix: "m") }
    if hasAttachment { collected.tokens.append("", .fact, prefix: "a") }
    return hasAttachment
  }

  private mutating func tagTerm(_ tag: String) -> String {
    if let term = tagTerms[tag] { return term }
    if tagTerms.count == Self.tagTermCountLimit { tagTerms = [:] }
    let term = MessageMetadata.searchedTag(tag)
    tagTerms[tag] = term
    return term
  }

  private mutating func appendRow(
    _ row: inout RowContent, _ metadata: MessageMetadata
  ) throws(SegmentError) {
    tagBytes.removeAll()
    var tags: [Range<Int>] = []
    for tag in metadata.tags {
      let bytes = unsafe tag.utf8Span.span.bytes
      guard tagBytes.count + bytes.byteCount <= SegmentFormat.rowTagsByteCount else {
        row.flags.insert(.cut)
        break
      }
      tags.append(tagBytes.count..<tagBytes.count + bytes.byteCount)
      tagBytes.append(bytes)
    }
    let whole = unsafe metadata.title.utf8Span.span.bytes
    let title = whole.cut(to: SegmentFormat.rowTitleByteCount)
    let wholeType = unsafe metadata.contentType.utf8Span.span.bytes
    let type = wholeType.cut(to: SegmentFormat.rowTextByteCount)
    if title.byteCount < whole.byteCount || type.byteCount < wholeType.byteCount
      || sender.bytes.count > SegmentFormat.rowTextByteCount
    {
      row.flags.insert(.cut)
    }
    let row = row
    try sender.bytes.withBytes { sender throws(SegmentError) in
      try tagBytes.withBytes { bytes throws(SegmentError) in
        try rows.append(
          row, title: title, type: type, sender: sender.cut(to: SegmentFormat.rowTextByteCount),
          tags: tags, tagBytes: bytes, &file)
      }
    }
  }
}

/// The terms of a segment, which a closure can fill.
private final class CollectedTokens {
  var tokens = TokenCollector()
}

/// The sender of one message, which a closure can fill.
private final class SenderText {
  var bytes = ErasedArray<UInt8>(capacity: 512)
}

extension RawSpan {
  /// The first bytes, ending between two characters.
  @_lifetime(copy self)
  fileprivate func cut(to limit: Int) -> RawSpan {
    guard byteCount > limit else { return self }
    var end = limit
    while end > 0, octet(end) & 0xC0 == 0x80 { end -= 1 }
    return extracting(first: end)
  }
}
