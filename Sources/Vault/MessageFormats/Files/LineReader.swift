// SPDX-License-Identifier: Apache-2.0
//
// A file line by line, in one reused buffer that holds the line at hand and what came after it.

/// The lines of a file.
struct LineReader: ~Copyable {
  private let file: InputFile
  private let limit: Int
  /// The bytes of the current line may be changed in place.
  var buffer = ByteBuffer(capacity: LineReader.firstByteCount)
  private var start = 0
  private var scanned = 0
  private var atEnd = false
  private var consumed = 0
  /// The number of the line at hand, from one.
  private(set) var number = 0

  init(_ file: consuming InputFile, limit: Int) {
    self.file = file
    self.limit = limit
  }

  var progress: SourceProgress {
    SourceProgress(bytesRead: consumed + start, bytesTotal: file.byteCount)
  }

  /// Where the next line lies in ``buffer``, without its newline; nil at the end of the file.
  ///
  /// The range is valid until the next call. A line above the limit is passed over and thrown.
  mutating func next() throws(MessageFormatError) -> Range<Int>? {
    var skipped = 0
    while true {
      let newline = buffer.withBytes { $0.firstOffset(of: ASCII.newline, in: scanned..<$0.byteCount) }
      if let newline {
        let line = start..<newline
        start = newline + 1
        scanned = start
        return try handOver(line, skipped)
      }
      if atEnd {
        let line = start..<buffer.count
        start = buffer.count
        scanned = start
        return line.isEmpty && skipped == 0 ? nil : try handOver(line, skipped)
      }
      scanned = buffer.count
      if buffer.count - start > limit {
        skipped += buffer.count - start
        start = buffer.count
      }
      try fill()
    }
  }

  private mutating func handOver(_ line: Range<Int>, _ skipped: Int) throws(MessageFormatError) -> Range<Int>
  {
    number += 1
    if skipped > 0 || line.count > limit {
      throw .messageTooLarge(byteCount: skipped + line.count, limit: limit)
    }
    return line
  }

  private mutating func fill() throws(MessageFormatError) {
    if buffer.count == buffer.capacity || start == buffer.count {
      if start > 0 {
        consumed += start
        buffer.removeFirst(start)
        scanned -= start
        start = 0
      } else if buffer.count == buffer.capacity {
        let larger = buffer.capacity < Self.secondByteCount ? Self.secondByteCount : limit + (64 << 10)
        buffer.grow(to: min(larger, max(limit + (64 << 10), Self.firstByteCount)))
      }
    }
    if try file.read(into: &buffer) == 0 { atEnd = true }
  }

  /// Many messages at a time; above what would be locked memory.
  private static let firstByteCount = 2 << 20
  private static let secondByteCount = 16 << 20
}
