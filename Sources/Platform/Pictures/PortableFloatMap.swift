// SPDX-License-Identifier: Apache-2.0
//
// PFM, as netpbm's pfm(5) describes it: three lines of text ("Pf", width and height, a number whose sign
// tells the byte order), then 32-bit floats, bottom row first.

/// Reads grey PFM files.
enum PortableFloatMap {
  static func recognises(_ file: RawSpan) -> Bool {
    file.byteCount >= 3 && file.byte(0) == UInt8(ascii: "P") && file.byte(1) == UInt8(ascii: "f")
      && isSpace(file.byte(2))
  }

  static func read(_ file: RawSpan) throws(PictureError) -> DepthMap {
    var position = 2
    guard let width = word(file, &position).flatMap({ Int($0) }),
      let height = word(file, &position).flatMap({ Int($0) }),
      let scale = word(file, &position).flatMap({ Double($0) }),
      width > 0, height > 0, scale.isFinite, scale != 0
    else { throw .corrupt }
    guard width <= PictureLimits.sideLength, height <= PictureLimits.sideLength,
      width * height <= PictureLimits.depthPixelCount
    else { throw .tooLarge }
    // One white space character ends the header.
    position += 1
    guard file.byteCount - position >= 4 * width * height else { throw .corrupt }
    let isLittleEndian = scale < 0
    return try DepthMap(width: width, height: height) { index in
      let (row, column) = index.quotientAndRemainder(dividingBy: width)
      let offset = position + 4 * ((height - 1 - row) * width + column)
      let bits = file.bigEndian32(offset)
      return Float(bitPattern: isLittleEndian ? bits.byteSwapped : bits)
    }
  }

  /// The next characters up to white space; numbers take fewer than 32.
  private static func word(_ file: RawSpan, _ position: inout Int) -> String? {
    while position < file.byteCount, isSpace(file.byte(position)) { position += 1 }
    var letters: [UInt8] = []
    while position < file.byteCount, !isSpace(file.byte(position)), letters.count < 32 {
      letters.append(file.byte(position))
      position += 1
    }
    guard position < file.byteCount, isSpace(file.byte(position)), !letters.isEmpty else { return nil }
    return String(validating: letters, as: UTF8.self)
  }

  private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
}
