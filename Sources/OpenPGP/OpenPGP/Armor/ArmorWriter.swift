// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, section 6.2, written strictly: lines of 64 characters that end in LF, and no headers, since they tell
// strangers about the writer and are believed by nobody. There is a checksum only for what older readers may
// read.

internal import Primitives
internal import Secrets
internal import Texts

/// Encodes what is written to it.
public final class ArmorWriter: ByteSink {
  private let sink: any ByteSink
  private let kind: ArmorKind
  /// Bytes of a line that is not full yet.
  private var line = SecretBytes(zeroed: lineByteCount)
  private var filled = 0
  private var checksum = ArmorChecksum()
  /// Text of many lines, for one write.
  private var text = SecretBytes(zeroed: 0)

  /// Writes the header line.
  public init(_ sink: any ByteSink, kind: ArmorKind) throws(OpenPGPError) {
    self.sink = sink
    self.kind = kind
    try sink.write(Array("\(kind.headerLine)\n\n".utf8))
  }

  public func write(_ bytes: RawSpan) throws(OpenPGPError) {
    checksum.update(bytes)
    var offset = 0
    if filled > 0 {
      offset = min(bytes.byteCount, Self.lineByteCount - filled)
      keep(bytes.extracting(0..<offset))
      guard filled == Self.lineByteCount else { return }
      try writeLine()
    }
    while bytes.byteCount - offset >= Self.lineByteCount {
      let count = min((bytes.byteCount - offset) / Self.lineByteCount, Self.linesAtOnce)
      try writeLines(bytes.extracting(offset..<offset + count * Self.lineByteCount), lineCount: count)
      offset += count * Self.lineByteCount
    }
    keep(bytes.extracting(offset..<bytes.byteCount))
  }

  /// Writes the last line, the checksum where there is one, and the tail.
  public func finish() throws(OpenPGPError) {
    if filled > 0 { try writeLine() }
    if let line = checksum.line { try sink.write(line) }
    try sink.write(Array("\(kind.tailLine)\n".utf8))
  }

  private func keep(_ bytes: RawSpan) {
    let start = filled
    line.withMutableBytes { $0.copy(bytes, to: start) }
    filled += bytes.byteCount
  }

  /// Writes what is kept as one line, full or the last.
  private func writeLine() throws(OpenPGPError) {
    let count = filled
    filled = 0
    try line.withBytes { (bytes) throws(OpenPGPError) in
      try writeLines(bytes.extracting(0..<count), lineCount: 1)
    }
  }

  private func writeLines(_ bytes: RawSpan, lineCount: Int) throws(OpenPGPError) {
    let byteCount = Base64.characterCount(byteCount: bytes.byteCount) + lineCount
    if text.count < byteCount {
      text = SecretBytes(zeroed: lineCount == 1 ? Self.lineTextByteCount : Self.textByteCount)
    }
    text.withMutableBytes { output in
      var written = 0
      for start in stride(from: 0, to: bytes.byteCount, by: Self.lineByteCount) {
        let piece = bytes.extracting(start..<min(start + Self.lineByteCount, bytes.byteCount))
        Base64.encode(piece, into: &output, at: written)
        written += Base64.characterCount(byteCount: piece.byteCount)
        output.storeBytes(of: UInt8(ascii: "\n"), toByteOffset: written, as: UInt8.self)
        written += 1
      }
    }
    try text.withBytes { (text) throws(OpenPGPError) in try sink.write(text.extracting(0..<byteCount)) }
  }

  /// 64 characters.
  private static let lineByteCount = 48
  private static let lineTextByteCount = 65
  /// 64 KiB of text: fewer system calls do not make it faster.
  private static let linesAtOnce = 1008
  private static let textByteCount = linesAtOnce * lineTextByteCount
}
