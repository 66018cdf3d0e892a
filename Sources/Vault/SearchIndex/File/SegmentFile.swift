// SPDX-License-Identifier: Apache-2.0
//
// The file of a segment while it is read. Blocks are opened one at a time into locked memory, one a section.

internal import Primitives
internal import Secrets
internal import Storage

/// Reads the sections of a segment.
struct SegmentFile: ~Copyable {
  private let file: BlobFiles.Reader
  private var cipher: SegmentCipher
  private var box = [UInt8](repeating: 0, count: SegmentFormat.boxByteCount)
  private var streams = [Stream](repeating: Stream(), count: SegmentFormat.Section.allCases.count)
  private let blockCount: Int

  private struct Stream {
    var byteCount = 0
    /// The number of each block of the section.
    var blocks: [UInt32] = []
    /// The block that is open, by its place in the section.
    var opened = -1
    var content: SharedBlock?
  }

  /// Opens a file, and checks its length and header.
  static func open(
    _ description: SegmentDescription, _ files: BlobFiles, vaultKey: RawSpan
  ) throws(SegmentError) -> SegmentFile {
    var file = SegmentFile(description, try open(description.id, files), vaultKey: vaultKey)
    try file.check(description)
    return file
  }

  private init(_ description: SegmentDescription, _ file: consuming BlobFiles.Reader, vaultKey: RawSpan) {
    blockCount = description.blockCount
    cipher = SegmentCipher(id: description.id, vaultKey: vaultKey)
    self.file = file
  }

  private mutating func check(_ description: SegmentDescription) throws(SegmentError) {
    guard description.rootBlockCount > 0, description.rootBlockCount <= blockCount,
      blockCount <= SegmentDescription.blockCountLimit,
      1...SegmentFormat.documentCountLimit ~= description.documentCount
    else { throw .damaged }
    let byteCount: Int
    do { byteCount = try file.byteCount() } catch { throw SegmentError(error) }
    guard byteCount == description.byteCount else { throw .damaged }
    var header = [UInt8](repeating: 0, count: SegmentFormat.headerByteCount)
    try header.withMutableRawSpan { span throws(SegmentError) in try Self.read(file, 0, &span) }
    guard header == SegmentCipher.header(description.id) else { throw .damaged }
    let first = UInt32(blockCount - description.rootBlockCount)
    setBlocks(
      .root, Array(first..<UInt32(blockCount)),
      byteCount: description.rootBlockCount * SegmentFormat.blockByteCount)
  }

  private static func open(_ id: BlobName, _ files: BlobFiles) throws(SegmentError) -> BlobFiles.Reader {
    do {
      return try files.open(id)
    } catch {
      guard case StorageError.corrupt = error else { throw SegmentError(error) }
      let names: [BlobName]
      do { names = try files.names() } catch { throw SegmentError(error) }
      throw names.contains(id) ? .damaged : .missing
    }
  }

  private static func read(
    _ file: borrowing BlobFiles.Reader, _ offset: Int, _ span: inout MutableRawSpan
  ) throws(SegmentError) {
    let count: Int
    do { count = try file.read(at: offset, into: &span) } catch { throw .disk(error) }
    guard count == span.byteCount else { throw .damaged }
  }

  mutating func setBlocks(_ section: SegmentFormat.Section, _ blocks: [UInt32], byteCount: Int) {
    streams[section.rawValue - 1] = Stream(byteCount: byteCount, blocks: blocks)
  }

  func byteCount(_ section: SegmentFormat.Section) -> Int { streams[section.rawValue - 1].byteCount }

  func blocks(_ section: SegmentFormat.Section) -> [UInt32] { streams[section.rawValue - 1].blocks }

  /// Appends a range of a section to `output`, and zeros after it that do not count.
  mutating func append(
    _ range: Range<Int>, of section: SegmentFormat.Section, to output: inout ErasedArray<UInt8>
  ) throws(SegmentError) {
    guard range.lowerBound >= 0, range.upperBound <= byteCount(section) else { throw .damaged }
    let index = section.rawValue - 1
    var offset = range.lowerBound
    while offset < range.upperBound {
      let block = offset / SegmentFormat.blockByteCount
      let start = offset - block * SegmentFormat.blockByteCount
      let count = min(range.upperBound - offset, SegmentFormat.blockByteCount - start)
      if streams[index].opened != block { try open(block, of: section) }
      // It was opened just now or before.
      streams[index].content?.withBytes { output.append($0.extracting(start..<start + count)) }
      offset += count
    }
    output.pad()
  }

  private mutating func open(_ block: Int, of section: SegmentFormat.Section) throws(SegmentError) {
    let index = section.rawValue - 1
    guard block < streams[index].blocks.count else { throw .damaged }
    let content = streams[index].content ?? SharedBlock()
    streams[index].content = content
    streams[index].opened = -1
    try open(Int(streams[index].blocks[block]), as: section, into: content)
    streams[index].opened = block
  }

  /// Opens a block by its number in the file.
  mutating func open(
    _ number: Int, as section: SegmentFormat.Section, into content: SharedBlock
  ) throws(SegmentError) {
    guard number < blockCount else { throw .damaged }
    try box.withMutableRawSpan { box throws(SegmentError) in
      try Self.read(file, SegmentFormat.headerByteCount + number * SegmentFormat.boxByteCount, &box)
    }
    let box = box
    try content.withMutableBytes { block throws(SegmentError) in
      try cipher.open(box.rawSpan, number: number, section: section, into: &block)
    }
  }
}

/// An opened block, which an array can hold.
final class SharedBlock {
  private var bytes = SecretBytes(zeroed: SegmentFormat.blockByteCount)

  func withBytes<R: ~Copyable, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
    try bytes.withBytes(body)
  }

  func withMutableBytes<R: ~Copyable, E: Error>(
    _ body: (inout MutableRawSpan) throws(E) -> R
  ) throws(E) -> R {
    try bytes.withMutableBytes(body)
  }
}
