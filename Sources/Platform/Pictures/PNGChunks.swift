// SPDX-License-Identifier: Apache-2.0
//
// The outside of a PNG file (W3C PNG, third edition, section 5). libpng gets only the chunks that the pixels
// need: header, palette, transparency, data, end. Texts, colour profiles and the rest are not used here, and
// each has a parser that could be attacked. Without a gamma value, depths come out as they were written.

internal import Secrets

/// The chunks of one PNG file that matter.
struct PNGChunks: ~Copyable {
  /// Columns and rows, each at least 1.
  let width: Int
  let height: Int
  /// Bits a channel: 1, 2, 4, 8 or 16.
  let bitDepth: UInt8
  /// 0 grey, 2 colour, 3 palette; 4 and 6 are 0 and 2 with transparency.
  let colourType: UInt8
  /// A PNG file of those chunks alone.
  let file: SecretBytes

  static func recognises(_ file: RawSpan) -> Bool {
    file.byteCount >= signature.count && signature.indices.allSatisfy { file.byte($0) == signature[$0] }
  }

  /// - Throws: ``PictureError/notAPicture``, ``PictureError/tooLarge`` above `pixelLimit`, and
  ///   ``PictureError/corrupt``.
  init(_ bytes: RawSpan, pixelLimit: Int) throws(PictureError) {
    guard PNGChunks.recognises(bytes) else { throw .notAPicture }
    guard bytes.byteCount <= PictureLimits.fileByteCount else { throw .tooLarge }
    guard bytes.byteCount >= PNGChunks.headerEnd, bytes.bigEndian32(8) == 13,
      bytes.bigEndian32(12) == PNGChunks.name("IHDR")
    else { throw .corrupt }
    let (width, height) = (Int(bytes.bigEndian32(16)), Int(bytes.bigEndian32(20)))
    guard width > 0, height > 0 else { throw .corrupt }
    guard width <= PictureLimits.sideLength, height <= PictureLimits.sideLength,
      width * height <= pixelLimit
    else { throw .tooLarge }

    var file = GrowingBytes(capacity: bytes.byteCount)
    file.append(bytes.extracting(0..<PNGChunks.headerEnd))
    var position = PNGChunks.headerEnd
    var isEnded = false
    while !isEnded {
      guard position + 12 <= bytes.byteCount else { throw .corrupt }
      let contentCount = Int(bytes.bigEndian32(position))
      guard contentCount <= bytes.byteCount - position - 12 else { throw .corrupt }
      let name = bytes.bigEndian32(position + 4)
      let end = position + 12 + contentCount
      if PNGChunks.wanted.contains(name) { file.append(bytes.extracting(position..<end)) }
      isEnded = name == PNGChunks.name("IEND")
      position = end
    }
    self.file = file.finished()
    self.width = width
    self.height = height
    bitDepth = bytes.byte(24)
    colourType = bytes.byte(25)
  }

  private static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
  /// Signature, and the chunk IHDR with length, name and checksum.
  private static let headerEnd = 8 + 25
  private static let wanted = [name("PLTE"), name("tRNS"), name("IDAT"), name("IEND")]

  private static func name(_ text: StaticString) -> UInt32 {
    text.withUTF8Buffer { bytes in unsafe bytes.reduce(0) { $0 << 8 | UInt32($1) } }
  }
}

extension RawSpan {
  /// Four bytes, most significant first.
  func bigEndian32(_ offset: Int) -> UInt32 {
    unsafe UInt32(bigEndian: unsafeLoadUnaligned(fromByteOffset: offset, as: UInt32.self))
  }
}
