// SPDX-License-Identifier: Apache-2.0
//
// The kind of a photo, a film or a depth map by its first bytes, for the name of an exported file. What is not known is
// `.bin`: a wrong ending would hide what it is.

/// Recognises a kind of file by its first bytes, where they lie: they are a secret, and no copy of them is made.
enum FileKind {
  /// - Parameter head: the beginning of the file; some 4 KiB are enough.
  static func ending(_ head: RawSpan) -> String {
    func has(_ mark: StaticString, at offset: Int = 0) -> Bool { starts(head, with: mark, at: offset) }
    for (mark, ending) in marks where starts(head, with: mark) { return ending }
    if has("ftyp", at: 4) { return isoEnding(head) }
    if has("RIFF") { return has("WEBP", at: 8) ? ".webp" : has("AVI ", at: 8) ? ".avi" : ".bin" }
    if has("II*\0") || has("MM\0*") {
      if has("CR", at: 8) { return ".cr2" }
      return hasDNGVersion(head) ? ".dng" : ".tiff"
    }
    // QuickTime before there were brands.
    if has("moov", at: 4) || has("mdat", at: 4) || has("wide", at: 4) { return ".mov" }
    if starts(head, with: [0x1A, 0x45, 0xDF, 0xA3]) {
      return (4..<64).contains { has("webm", at: $0) } ? ".webm" : ".mkv"
    }
    return ".bin"
  }

  private static func byte(_ head: RawSpan, _ offset: Int) -> UInt8 {
    unsafe head.unsafeLoad(fromByteOffset: offset, as: UInt8.self)
  }

  private static func starts(_ head: RawSpan, with mark: [UInt8]) -> Bool {
    mark.count <= head.byteCount && mark.indices.allSatisfy { byte(head, $0) == mark[$0] }
  }

  private static func starts(_ head: RawSpan, with mark: StaticString, at offset: Int) -> Bool {
    mark.withUTF8Buffer { mark in
      offset + mark.count <= head.byteCount
        && mark.indices.allSatisfy { unsafe byte(head, offset + $0) == mark[$0] }
    }
  }

  /// Marks that are at the beginning.
  private static let marks: [(mark: [UInt8], ending: String)] = [
    ([0xFF, 0xD8, 0xFF], ".jpg"), ([0x89, 0x50, 0x4E, 0x47], ".png"), (Array("GIF8".utf8), ".gif"),
    // JPEG XL, bare and in boxes; JPEG 2000 the same.
    ([0xFF, 0x0A], ".jxl"), ([0, 0, 0, 12] + Array("JXL ".utf8), ".jxl"),
    ([0, 0, 0, 12] + Array("jP  ".utf8), ".jp2"), ([0xFF, 0x4F, 0xFF, 0x51], ".j2k"),
    // Raw photos: Olympus, Panasonic, Fujifilm, Sigma, Minolta, old ones of Canon.
    (Array("IIRO".utf8), ".orf"), (Array("IIRS".utf8), ".orf"), (Array("MMOR".utf8), ".orf"),
    (Array("IIU\0".utf8), ".rw2"), (Array("FUJIFILMCCD-RAW".utf8), ".raf"), (Array("FOVb".utf8), ".x3f"),
    (Array("\0MRM".utf8), ".mrw"), (Array("II\u{1A}\0\0\0HEAPCCDR".utf8), ".crw"),
    // Portable maps; those of floats are depth maps.
    (Array("Pf\n".utf8), ".pfm"), (Array("PF\n".utf8), ".pfm"), (Array("P5\n".utf8), ".pgm"),
    (Array("P6\n".utf8), ".ppm"), ([0x76, 0x2F, 0x31, 0x01], ".exr"), (Array("#?RADIANCE".utf8), ".hdr"),
    ([0x93] + Array("NUMPY".utf8), ".npy"), (Array("%PDF".utf8), ".pdf"),
  ]

  /// Of the ISO base media file format (ISO/IEC 14496-12): the major brand decides, unless it only says that this is a picture.
  private static func isoEnding(_ head: RawSpan) -> String {
    // Four characters are in the string itself.
    func brand(at offset: Int) -> String {
      String(String.UnicodeScalarView((0..<4).map { Unicode.Scalar(byte(head, offset + $0)) }))
    }
    guard head.byteCount >= 12, let byteCount = number(head, at: 0, 4, isLittle: false) else { return ".bin" }
    let major = brand(at: 8)
    let isGeneral = ["mif1", "msf1", "mif2", "miaf"].contains(major)
    guard isGeneral else {
      return brands[major] ?? (filmBrands.contains { major.hasPrefix($0) } ? ".mp4" : ".bin")
    }
    for offset in stride(from: 16, through: min(byteCount, head.byteCount, brandsEnd) - 4, by: 4) {
      if let ending = brands[brand(at: offset)] { return ending }
    }
    return ".heif"
  }

  private static let brands = [
    "heic": ".heic", "heix": ".heic", "heim": ".heic", "heis": ".heic", "hevc": ".heic", "hevx": ".heic",
    "hevm": ".heic", "hevs": ".heic", "avif": ".avif", "avis": ".avif", "crx ": ".cr3", "qt  ": ".mov",
    "M4V ": ".m4v", "M4A ": ".m4a", "3gp4": ".3gp", "3gp5": ".3gp", "3gp6": ".3gp", "3gp7": ".3gp",
    "3g2a": ".3g2", "3g2b": ".3g2", "3g2c": ".3g2", "jxl ": ".jxl", "j2ki": ".jp2",
  ]
  /// Real files name a few brands.
  private static let brandsEnd = 128
  private static let filmBrands = ["iso", "mp4", "avc", "hvc", "dash", "MSNV", "XAVC", "mmp4", "f4v", "M4V"]

  /// Whether the first directory of a TIFF has the version of a digital negative.
  private static func hasDNGVersion(_ head: RawSpan) -> Bool {
    let isLittle = byte(head, 0) == UInt8(ascii: "I")
    guard let directory = number(head, at: 4, 4, isLittle: isLittle),
      let count = number(head, at: directory, 2, isLittle: isLittle)
    else { return false }
    for entry in 0..<count {
      guard let tag = number(head, at: directory + 2 + 12 * entry, 2, isLittle: isLittle) else {
        return false
      }
      if tag == dngVersionTag { return true }
    }
    return false
  }

  /// A number of some bytes; nil where they are not all there.
  private static func number(_ head: RawSpan, at offset: Int, _ count: Int, isLittle: Bool) -> Int? {
    guard offset >= 0, offset + count <= head.byteCount else { return nil }
    return (0..<count).reduce(0) { number, place in
      number << 8 | Int(byte(head, offset + (isLittle ? count - 1 - place : place)))
    }
  }

  private static let dngVersionTag = 0xC612
}
