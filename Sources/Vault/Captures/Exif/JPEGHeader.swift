// SPDX-License-Identifier: Apache-2.0
//
// The marker segments at the beginning of a JPEG file (ITU-T T.81, annex B), up to the first scan. Nothing
// is decoded. Every step goes forward by at least two bytes and ends with the bytes, so there is no input
// on which it could go round in circles.

/// Where the first segments of a JPEG file say what we ask for.
struct JPEGHeader {
  /// The TIFF structure inside of the first Exif segment; what is cut off at the end of the bytes is not in.
  private(set) var exif: Range<Int>?
  /// Columns and rows, from the frame header; a zero says that it is told elsewhere.
  private(set) var size: (width: Int, height: Int)?

  /// Walks along the segments. Nil when the bytes are not the beginning of a JPEG file.
  init?(_ bytes: RawSpan) {
    guard bytes.uint16(0, .big) == 0xFFD8 else { return nil }
    var offset = 2
    while exif == nil || size == nil {
      guard bytes.checkedByte(offset) == 0xFF, let marker = bytes.checkedByte(offset + 1) else { return }
      if marker == 0xFF {
        // A fill byte.
        offset += 1
        continue
      }
      // Markers without a length (TEM, RSTn, SOI, EOI) and the first scan: no more headers.
      guard !(0x00...0x01).contains(marker), !(0xD0...0xDA).contains(marker) else { return }
      guard let length = bytes.uint16(offset + 2, .big), length >= 2 else { return }
      let content = offset + 4..<offset + 2 + length
      if marker == 0xE1, exif == nil, bytes.hasPrefix("Exif\0\0", at: content.lowerBound) {
        let start = content.lowerBound + 6
        let end = min(content.upperBound, bytes.byteCount)
        if start < end { exif = start..<end }
      } else if Self.isFrame(marker), size == nil, content.count >= 6,
        let height = bytes.uint16(content.lowerBound + 1, .big),
        let width = bytes.uint16(content.lowerBound + 3, .big)
      {
        size = (width, height)
      }
      offset = content.upperBound
    }
  }

  /// SOF0 to SOF15; three numbers among them mean something else.
  private static func isFrame(_ marker: UInt8) -> Bool {
    (0xC0...0xCF).contains(marker) && ![0xC4, 0xC8, 0xCC].contains(marker)
  }
}

/// In which order the bytes of a number lie.
enum ByteOrder {
  case big
  case little
}

extension RawSpan {
  /// The byte at `offset`, nil outside.
  func checkedByte(_ offset: Int) -> UInt8? {
    guard byteOffsets.contains(offset) else { return nil }
    return unsafe unsafeLoad(fromUncheckedByteOffset: offset, as: UInt8.self)
  }

  /// The two bytes at `offset`, nil outside.
  func uint16(_ offset: Int, _ order: ByteOrder) -> Int? {
    guard offset >= 0, offset <= byteCount - 2 else { return nil }
    let value = unsafe unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: UInt16.self)
    return Int(order == .big ? value.bigEndian : value.littleEndian)
  }

  /// The four bytes at `offset`, nil outside.
  func uint32(_ offset: Int, _ order: ByteOrder) -> UInt32? {
    guard offset >= 0, offset <= byteCount - 4 else { return nil }
    let value = unsafe unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: UInt32.self)
    return order == .big ? value.bigEndian : value.littleEndian
  }

  /// Whether the ASCII text stands at `offset`.
  func hasPrefix(_ text: StaticString, at offset: Int) -> Bool {
    for index in 0..<text.utf8CodeUnitCount
    where checkedByte(offset + index) != (unsafe text.utf8Start[index]) { return false }
    return true
  }
}
