// SPDX-License-Identifier: Apache-2.0
//
// Reading mbox files (RFC 4155) in the mboxrd manner: a message begins with a line "From " at the start of
// the file or that MboxSeparator takes for one, and of every line `>+From ` one `>` is taken away. Lines may end in LF
// or CRLF; content is not converted. One search for "From " finds separators and quoted lines alike.
// Memory holds one message and what one read brought after it.

internal import Texts

/// A streaming reader of mbox files.
///
/// Mail written by ``MboxSink`` of the same coffer comes back exactly, with its metadata. For other mail the title is the
/// decoded subject and the date that of the `Date:` header, else of the "From " line, else zero.
public struct MboxSource: MessageSource, ~Copyable {
  private let file: InputFile
  private var buffer = ByteBuffer(capacity: Self.firstByteCount)
  private var summary = MailSummary()
  /// Where the "From " line of the next message begins.
  private var start = 0
  /// How far separators have been looked for.
  private var scanned = 0
  private var atEnd = false
  private var entry = 0
  private var consumed = 0
  private var isOpened = false
  private let seal: (any ExportSeal)?
  private var unverifiedExportCount = 0
  /// The content of a wrapped message, until its headers are verified.
  private var unwrapped = ByteBuffer(capacity: 0)

  /// Opens the file at `path`; `-` is standard input.
  ///
  /// - Parameters:
  ///   - path: the file.
  ///   - seal: recognises exports of this coffer; without it no headers of an export are accepted.
  ///   - stop: a descriptor that is readable once waiting for input is to end.
  ///   - standardInput: the descriptor of standard input.
  public init(
    path: String, seal: (any ExportSeal)? = nil, stop: Int32? = nil, standardInput: Int32 = 0
  ) throws(MessageFormatError) {
    file = try InputFile(path: path, stop: stop, standardInput: standardInput)
    self.seal = seal
  }

  /// Bytes of the file read so far, and its size.
  public var progress: SourceProgress {
    SourceProgress(
      bytesRead: consumed + start, bytesTotal: file.byteCount, unverifiedExportCount: unverifiedExportCount)
  }

  /// Reads the next mail; see ``MessageSource``.
  public mutating func next(_ body: (MessageMetadata, RawSpan) throws -> Void) throws -> Bool {
    if !isOpened {
      isOpened = true
      try skipToFirst()
    }
    guard try hasMore() else { return false }
    entry += 1
    guard let found = try findEnd() else {
      throw try skipTooLarge()
    }
    let message = start..<found.end
    start = found.end
    scanned = found.end
    try deliver(message, isQuoted: found.isQuoted, body)
    return true
  }

  // MARK: Finding

  /// The end of the message at `start`, and whether it has quoted lines.
  private struct Found {
    var end: Int
    var isQuoted: Bool
  }

  /// Passes over a byte order mark and empty lines; throws for anything else but a "From " line.
  private mutating func skipToFirst() throws {
    while buffer.count < 8, try fill() {}
    if buffer.count >= 3, buffer[0] == 0xEF, buffer[1] == 0xBB, buffer[2] == 0xBF { start = 3 }
    while try hasMore(), buffer[start] == ASCII.newline || buffer[start] == ASCII.carriageReturn {
      start += 1
    }
    scanned = start
    guard try hasMore() else { return }
    while buffer.count - start < 5, try fill() {}
    if buffer.withBytes({ $0.matches("From ", at: start) }) { return }
    // The rest up to the first separator is not a message.
    entry = 1
    while true {
      if let found = look() {
        start = found.end
        scanned = start
        break
      }
      if atEnd {
        start = buffer.count
        break
      }
      dropScanned()
      _ = try fill()
    }
    throw MessageFormatError.malformed(entry: 1, what: "the file does not begin with a From line")
  }

  private mutating func hasMore() throws -> Bool {
    if start < buffer.count { return true }
    return try fill()
  }

  /// Reads on; false at the end of the file.
  private mutating func fill() throws -> Bool {
    if atEnd { return false }
    if buffer.count == buffer.capacity {
      if start > 0 {
        drop(start)
      } else {
        buffer.grow(to: buffer.capacity < Self.secondByteCount ? Self.secondByteCount : Self.lastByteCount)
      }
    } else if start > 0, start == buffer.count {
      drop(start)
    }
    guard buffer.count < buffer.capacity else { return true }
    if try file.read(into: &buffer) == 0 { atEnd = true }
    return !atEnd
  }

  private mutating func drop(_ byteCount: Int) {
    consumed += byteCount
    buffer.removeFirst(byteCount)
    start -= byteCount
    scanned = max(0, scanned - byteCount)
  }

  /// The end of the message at `start`; nil when it is too large. Reads as far as it must.
  private mutating func findEnd() throws -> Found? {
    var isQuoted = false
    var limit = Self.plainByteCount
    while true {
      if let found = look(quoted: &isQuoted) {
        return found.end - start <= limit ? Found(end: found.end, isQuoted: isQuoted) : nil
      }
      if atEnd {
        return buffer.count - start <= limit ? Found(end: buffer.count, isQuoted: isQuoted) : nil
      }
      if buffer.count - start > limit {
        guard limit == Self.plainByteCount, isWrapped() else { return nil }
        limit = Self.wrappedByteCount
        continue
      }
      _ = try fill()
    }
  }

  private mutating func look() -> Found? {
    var isQuoted = false
    return look(quoted: &isQuoted)
  }

  /// Looks for the next separator in what has been read but not scanned.
  private mutating func look(quoted: inout Bool) -> Found? {
    let first = start
    var offset = scanned
    var end: Int?
    var sawQuoted = false
    let isAll = atEnd
    buffer.withBytes { bytes in
      while let hit = bytes.firstOffset(of: "From ", in: offset..<bytes.byteCount) {
        offset = hit + 5
        if hit <= first { continue }
        let before = bytes.byte(hit - 1)
        if before == ASCII.newline {
          let isAfterEmptyLine = hit - first >= 2 && Self.isEmptyLine(bytes, endingAt: hit, from: first)
          switch MboxSeparator.look(bytes, at: hit, isAfterEmptyLine: isAfterEmptyLine, isAll: isAll) {
          case .text: continue
          case .separator: end = hit
          case .wantsMore: break
          }
          // So that a second search finds it again.
          offset = hit
          return
        } else if before == ASCII.greater, !sawQuoted {
          var line = hit - 1
          while line > first, bytes.byte(line - 1) == ASCII.greater { line -= 1 }
          if line > first, bytes.byte(line - 1) == ASCII.newline { sawQuoted = true }
        }
      }
      // A "From " may be cut in two by the end of the buffer.
      offset = max(offset, bytes.byteCount - 4, first)
    }
    scanned = offset
    if sawQuoted { quoted = true }
    return end.map { Found(end: $0, isQuoted: quoted) }
  }

  /// Whether a file that begins with a line "From " has another mail after the first.
  static func hasSeveral(_ bytes: RawSpan) -> Bool {
    guard bytes.matches("From ", at: 0) else { return false }
    var offset = 5
    while let hit = bytes.firstOffset(of: "\nFrom ", in: offset..<bytes.byteCount) {
      offset = hit + 1
      let isAfterEmptyLine = isEmptyLine(bytes, endingAt: hit + 1, from: 0)
      if MboxSeparator.look(bytes, at: hit + 1, isAfterEmptyLine: isAfterEmptyLine, isAll: true) == .separator
      {
        return true
      }
    }
    return false
  }

  /// Whether the line before `end` is empty; it may have a carriage return.
  private static func isEmptyLine(_ bytes: RawSpan, endingAt end: Int, from first: Int) -> Bool {
    var offset = end - 2
    if offset > first, bytes.byte(offset) == ASCII.carriageReturn { offset -= 1 }
    return offset >= first && bytes.byte(offset) == ASCII.newline
  }

  // MARK: Too large

  private func isWrapped() -> Bool {
    buffer.withBytes(in: start..<buffer.count) { bytes in
      let line = bytes.lineEnd(from: 0, until: bytes.byteCount)
      return MboxExportHeader.announcesBase64(bytes, at: line)
    }
  }

  /// Forgets what has been scanned, but for the few bytes that tell a separator.
  private mutating func dropScanned() {
    start = max(start, scanned - 8)
    drop(start)
  }

  /// Passes over the message at `start`; the error that tells its size.
  private mutating func skipTooLarge() throws -> MessageFormatError {
    let from = consumed + start
    while true {
      if let found = look() {
        start = found.end
        scanned = start
        break
      }
      if atEnd {
        start = buffer.count
        break
      }
      dropScanned()
      _ = try fill()
    }
    return .messageTooLarge(byteCount: consumed + start - from, limit: MessageLimits.messageByteCount)
  }

  // MARK: Handing over

  /// Unquotes the message at `range`, which includes its "From " line, and delivers it.
  private mutating func deliver(
    _ range: Range<Int>, isQuoted: Bool, _ body: (MessageMetadata, RawSpan) throws -> Void
  ) throws {
    let frame = buffer.withBytes { Self.frame($0, range) }
    var content = frame.content
    if isQuoted { content = unquote(content) }
    guard buffer.withBytes(in: content, { MboxExportHeader.isAnnounced($0) }) else {
      return try deliverMail(content, frame.fromLine, body)
    }
    guard try deliverOwn(content, body) else {
      unverifiedExportCount += 1
      return try deliverMail(content, frame.fromLine, body)
    }
  }

  private mutating func deliverMail(
    _ content: Range<Int>, _ fromLine: Range<Int>, _ body: (MessageMetadata, RawSpan) throws -> Void
  ) throws {
    try Self.check(content.count)
    try buffer.withBytes { bytes in
      let mail = bytes.extracting(content)
      let metadata = summary.metadata(of: mail, fallbackDate: MboxSeparator.date(bytes, fromLine))
      try body(metadata, mail)
    }
  }

  /// Delivers a message that this coffer has exported; false when the seal does not prove that.
  private mutating func deliverOwn(
    _ message: Range<Int>, _ body: (MessageMetadata, RawSpan) throws -> Void
  ) throws -> Bool {
    guard let seal, let header = buffer.withBytes(in: message, { MboxExportHeader($0) }) else { return false }
    var content = message.lowerBound + header.byteCount..<message.upperBound
    let headers = message.lowerBound..<message.lowerBound + header.sealedByteCount
    if header.isBase64 {
      guard unwrap(content) else { return false }
    } else if header.lacksFinalNewline, !content.isEmpty, buffer[content.upperBound - 1] == ASCII.newline {
      content = content.lowerBound..<content.upperBound - 1
    }
    let isOwn = buffer.withBytes { bytes in
      let sealed = bytes.extracting(headers)
      if header.isBase64 {
        return unwrapped.withBytes { header.isSealed(by: seal, headers: sealed, content: $0) }
      }
      return header.isSealed(by: seal, headers: sealed, content: bytes.extracting(content))
    }
    guard isOwn else { return false }
    if header.isBase64 {
      try Self.check(unwrapped.count)
      try unwrapped.withBytes { try body(header.metadata, $0) }
    } else {
      try Self.check(content.count)
      try buffer.withBytes(in: content) { try body(header.metadata, $0) }
    }
    return true
  }

  private static func check(_ byteCount: Int) throws(MessageFormatError) {
    guard byteCount <= MessageLimits.messageByteCount else {
      throw .messageTooLarge(byteCount: byteCount, limit: MessageLimits.messageByteCount)
    }
  }

  /// The "From " line and what lies between it and the empty line before the next.
  private static func frame(
    _ bytes: RawSpan, _ range: Range<Int>
  ) -> (fromLine: Range<Int>, content: Range<Int>) {
    let lineEnd = bytes.lineEnd(from: range.lowerBound, until: range.upperBound)
    var end = range.upperBound
    if end > lineEnd, bytes.byte(end - 1) == ASCII.newline {
      var before = end - 1
      if before > lineEnd, bytes.byte(before - 1) == ASCII.carriageReturn { before -= 1 }
      if before == lineEnd || bytes.byte(before - 1) == ASCII.newline { end = before }
    }
    return (range.lowerBound..<lineEnd, lineEnd..<end)
  }

  /// Takes one `>` from every quoted line, in place; the content's new range.
  private mutating func unquote(_ range: Range<Int>) -> Range<Int> {
    var read = range.lowerBound
    var written = range.lowerBound
    var search = range.lowerBound
    while let hit = buffer.withBytes({ $0.firstOffset(of: ">From ", in: search..<range.upperBound) }) {
      search = hit + 6
      var line = hit
      while line > read, buffer[line - 1] == ASCII.greater { line -= 1 }
      guard line == range.lowerBound || buffer[line - 1] == ASCII.newline else { continue }
      buffer.move(read..<line, to: written)
      written += line - read
      read = line + 1
    }
    buffer.move(read..<range.upperBound, to: written)
    return range.lowerBound..<written + (range.upperBound - read)
  }

  /// Decodes the base64 body of a wrapped message; false when it is damaged.
  private mutating func unwrap(_ range: Range<Int>) -> Bool {
    unwrapped.removeAll()
    buffer.withBytes { bytes in
      var walk = MailHeaderWalk(range)
      while walk.next(bytes) != nil {}
      unwrapped.append(bytes.extracting(min(walk.bodyStart, range.upperBound)..<range.upperBound))
    }
    guard let count = Base64.decodeInPlace(&unwrapped, 0..<unwrapped.count, .lines) else { return false }
    unwrapped.shorten(to: count)
    return true
  }

  /// Room for many mails at a time; above what would be locked memory.
  private static let firstByteCount = 2 << 20
  /// Room for a mail with pictures.
  private static let secondByteCount = 16 << 20
  /// Room for any message; untouched pages cost nothing.
  private static let lastByteCount = wrappedByteCount + (64 << 10)
  /// "From " line, quoting and export headers come on top of a message.
  private static let plainByteCount = MessageLimits.messageByteCount + (2 << 20)
  private static let wrappedByteCount = MessageLimits.encodedByteCount
}
