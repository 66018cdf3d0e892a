// SPDX-License-Identifier: Apache-2.0
//
// One directory of a TIFF structure (TIFF 6.0, section 2), as Exif uses it. An entry is looked at where it
// lies and nothing is collected, so a hostile count costs no memory. Offsets are compared with the bytes at
// every use. Directories are never chained: whoever reads one names the next, and none names a third level.

/// The header of a TIFF structure.
struct TIFFHeader {
  let order: ByteOrder
  /// Where the first directory is.
  let firstDirectory: Int

  /// Nil when the bytes are not a TIFF structure.
  init?(_ bytes: RawSpan) {
    switch bytes.uint16(0, .big) {
    case 0x4949: order = .little
    case 0x4D4D: order = .big
    default: return nil
    }
    guard bytes.uint16(2, order) == 42, let offset = bytes.uint32(4, order) else { return nil }
    firstDirectory = Int(offset)
  }
}

/// The entries of one directory.
struct TIFFDirectory {
  /// More than the tags of the standard; a real directory has fewer than a hundred entries.
  static let maximumEntryCount = 512
  /// Longer texts are no camera's name; they are left out.
  static let maximumTextByteCount = 1024

  private static let entryByteCount = 12

  private let order: ByteOrder
  private let firstEntry: Int
  private let entryCount: Int

  /// Nil when no directory can be at `offset`. One that is cut off has the entries that are there.
  init?(_ bytes: RawSpan, at offset: Int, _ order: ByteOrder) {
    guard let count = bytes.uint16(offset, order), count <= Self.maximumEntryCount else { return nil }
    self.order = order
    firstEntry = offset + 2
    entryCount = min(count, (bytes.byteCount - firstEntry) / Self.entryByteCount)
  }

  /// A single number of type BYTE, SHORT or LONG.
  func integer(_ tag: Int, _ bytes: RawSpan) -> Int? {
    guard let entry = entry(tag, bytes), entry.count >= 1 else { return nil }
    // Some fields may list several; the first is what is asked for.
    switch entry.type {
    case 1: return value(entry, size: 1, bytes).flatMap { bytes.checkedByte($0) }.map(Int.init)
    case 3: return value(entry, size: 2, bytes).flatMap { bytes.uint16($0, order) }
    case 4: return value(entry, size: 4, bytes).flatMap { bytes.uint32($0, order) }.map(Int.init)
    default: return nil
    }
  }

  /// Exactly `count` values of type RATIONAL; those with a denominator of zero make it nil.
  func rationals(_ tag: Int, count: Int, _ bytes: RawSpan) -> [ExifRational]? {
    guard let entry = entry(tag, bytes), entry.type == 5, entry.count == count,
      let start = value(entry, size: 8, bytes)
    else { return nil }
    var values: [ExifRational] = []
    for offset in stride(from: start, to: start + 8 * count, by: 8) {
      guard let numerator = bytes.uint32(offset, order), let denominator = bytes.uint32(offset + 4, order),
        let value = ExifRational(numerator, denominator)
      else { return nil }
      values.append(value)
    }
    return values
  }

  /// The bytes of a text (ASCII, or the UTF-8 of Exif 3.0) up to its NUL, without blanks at its end; nil
  /// when nothing is left.
  func textBytes(_ tag: Int, _ bytes: RawSpan) -> [UInt8]? {
    guard let entry = entry(tag, bytes), entry.type == 2 || entry.type == 129,
      entry.count <= Self.maximumTextByteCount, let start = value(entry, size: 1, bytes)
    else { return nil }
    var text: [UInt8] = []
    for offset in start..<start + entry.count {
      guard let byte = bytes.checkedByte(offset), byte != 0 else { break }
      text.append(byte)
    }
    while text.last == UInt8(ascii: " ") { text.removeLast() }
    return text.isEmpty ? nil : text
  }

  /// A text to show. What is not UTF-8, and what would steer a terminal or turn the direction of a line,
  /// becomes U+FFFD.
  func text(_ tag: Int, _ bytes: RawSpan) -> String? {
    guard let text = textBytes(tag, bytes) else { return nil }
    var shown = String.UnicodeScalarView()
    for scalar in String(decoding: text, as: UTF8.self).unicodeScalars {
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator: shown.append("\u{FFFD}")
      default: shown.append(scalar)
      }
    }
    return String(shown)
  }

  private struct Entry {
    let type: Int
    let count: Int
    /// Where the value or its offset stands.
    let field: Int
  }

  /// The first entry with the tag.
  private func entry(_ tag: Int, _ bytes: RawSpan) -> Entry? {
    for index in 0..<max(entryCount, 0) {
      let offset = firstEntry + index * Self.entryByteCount
      guard bytes.uint16(offset, order) == tag else { continue }
      guard let type = bytes.uint16(offset + 2, order), let count = bytes.uint32(offset + 4, order) else {
        return nil
      }
      return Entry(type: type, count: Int(count), field: offset + 8)
    }
    return nil
  }

  /// Where the values of an entry begin, if all of them are inside.
  private func value(_ entry: Entry, size: Int, _ bytes: RawSpan) -> Int? {
    // A count has 32 bits and a size at most 8: no overflow.
    let byteCount = entry.count * size
    if byteCount <= 4 { return entry.field }
    guard let offset = bytes.uint32(entry.field, order), byteCount <= bytes.byteCount - Int(offset) else {
      return nil
    }
    return Int(offset)
  }
}
