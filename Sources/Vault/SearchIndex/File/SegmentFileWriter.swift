// SPDX-License-Identifier: Apache-2.0
//
// The file of a segment while it is written: front to back, and never continued. Each section is a stream of bytes with
// one open block; what is full is sealed and written, so blocks of different sections are mixed.

internal import Primitives
internal import Secrets
internal import Storage

/// What tests set: the name and the nonces of a segment.
struct SegmentSeed {
  var id: BlobName
  var drawNonce: () -> [UInt8]

  init(id: BlobName, drawNonce: @escaping () -> [UInt8]) {
    (self.id, self.drawNonce) = (id, drawNonce)
  }

  /// Random.
  init() {
    guard let id = BlobName(bytes: SystemRandom.publicBytes(count: BlobName.byteCount)) else {
      preconditionFailure("a name has 16 bytes")
    }
    self.id = id
    drawNonce = { SystemRandom.publicBytes(count: AES256GCM.nonceByteCount) }
  }
}

/// Writes the sections of a segment. Dropped before ``finish()``, its file is removed.
struct SegmentFileWriter: ~Copyable {
  private var file: BlobFiles.Writer
  private let files: BlobFiles
  private let id: BlobName
  private var cipher: SegmentCipher
  /// One box a section.
  private var boxes: SecretBytes
  private var streams = [Stream](repeating: Stream(), count: SegmentFormat.Section.allCases.count)
  private(set) var blockCount = 0

  /// What was written of a section.
  struct Stream {
    /// Bytes in all.
    var byteCount = 0
    /// Blocks next to each other in the file.
    var runs: [Range<Int>] = []
    /// Bytes of the open block.
    var filled = 0
  }

  init(_ files: BlobFiles, _ seed: SegmentSeed, vaultKey: RawSpan) throws(SegmentError) {
    self.files = files
    id = seed.id
    cipher = SegmentCipher(id: seed.id, vaultKey: vaultKey, drawNonce: seed.drawNonce)
    boxes = SecretBytes(zeroed: streams.count * SegmentFormat.boxByteCount)
    file = try Self.create(files, seed.id)
  }

  private static func create(_ files: BlobFiles, _ id: BlobName) throws(SegmentError) -> BlobFiles.Writer {
    do {
      var file = try files.create(name: id)
      try file.write(SegmentCipher.header(id).rawSpan)
      return file
    } catch { throw SegmentError(error) }
  }

  func stream(_ section: SegmentFormat.Section) -> Stream { streams[section.rawValue - 1] }

  /// Where the next byte of a section goes.
  func byteCount(_ section: SegmentFormat.Section) -> Int { streams[section.rawValue - 1].byteCount }

  mutating func append(_ bytes: RawSpan, to section: SegmentFormat.Section) throws(SegmentError) {
    let index = section.rawValue - 1
    var offset = 0
    while offset < bytes.byteCount {
      let filled = streams[index].filled
      let count = min(bytes.byteCount - offset, SegmentFormat.blockByteCount - filled)
      let place = index * SegmentFormat.boxByteCount + AES256GCM.nonceByteCount + filled
      boxes.withMutableBytes { $0.copy(bytes.extracting(offset..<offset + count), to: place) }
      offset += count
      streams[index].filled += count
      streams[index].byteCount += count
      if streams[index].filled == SegmentFormat.blockByteCount { try writeBlock(section) }
    }
  }

  mutating func append(
    _ bytes: borrowing ErasedArray<UInt8>, to section: SegmentFormat.Section
  ) throws(SegmentError) {
    try bytes.withBytes { bytes throws(SegmentError) in try append(bytes, to: section) }
  }

  /// Fills the last block of a section with zeros and writes it.
  mutating func close(_ section: SegmentFormat.Section) throws(SegmentError) {
    let index = section.rawValue - 1
    let filled = streams[index].filled
    guard filled > 0 else { return }
    let start = index * SegmentFormat.boxByteCount + AES256GCM.nonceByteCount
    boxes.withMutableBytes { boxes in
      var rest = boxes._mutatingExtracting(start + filled..<start + SegmentFormat.blockByteCount)
      unsafe rest.withUnsafeMutableBytes { unsafe _ = $0.initializeMemory(as: UInt8.self, repeating: 0) }
    }
    try writeBlock(section)
  }

  private mutating func writeBlock(_ section: SegmentFormat.Section) throws(SegmentError) {
    let index = section.rawValue - 1
    let range = index * SegmentFormat.boxByteCount..<(index + 1) * SegmentFormat.boxByteCount
    let number = blockCount
    precondition(number < SegmentDescription.blockCountLimit, "a larger segment is not begun")
    try boxes.withMutableBytes { boxes throws(SegmentError) in
      var box = boxes._mutatingExtracting(range)
      try cipher.seal(&box, number: number, section: section)
    }
    do {
      try boxes.withBytes { try file.write($0.extracting(range)) }
    } catch { throw SegmentError(error) }
    if let last = streams[index].runs.last, last.upperBound == number {
      streams[index].runs[streams[index].runs.count - 1] = last.lowerBound..<number + 1
    } else {
      streams[index].runs.append(number..<number + 1)
    }
    streams[index].filled = 0
    blockCount += 1
  }

  /// Synchronises the file and its folder.
  consuming func finish() throws(SegmentError) {
    let (files, id) = (files, id)
    do { try file.finish() } catch { throw SegmentError(error) }
    do { try files.synchronise() } catch {
      files.remove(id)
      throw SegmentError(error)
    }
  }
}
