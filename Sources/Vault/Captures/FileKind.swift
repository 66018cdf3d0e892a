// SPDX-License-Identifier: Apache-2.0
//
// The kind of a photo, a film or a depth map by its first bytes, for the name of an exported file. What is not known is
// `.bin`: a wrong ending would hide what it is.

/// Recognises a kind of file by its first bytes.
enum FileKind {
  /// So many bytes are enough.
  static let headByteCount = 4 << 10

  static func ending(_ head: [UInt8]) -> String {
    func has(_ mark: String, at offset: Int = 0) -> Bool { head.dropFirst(offset).starts(with: mark.utf8) }
    for (mark, ending) in marks where head.starts(with: mark) { return ending }
    if has("ftyp", at: 4) { return isoEnding(head) }
    if has("RIFF") { return has("WEBP", at: 8) ? ".webp" : has("AVI ", at: 8) ? ".avi" : ".bin" }
    if has("II*\0") || has("MM\0*") {
      if has("CR", at: 8) { return ".cr2" }
      return hasDNGVersion(head) ? ".dng" : ".tiff"
    }
    // QuickTime before there were brands.
    if ["moov", "mdat", "wide", "skip", "free"].contains(where: { has($0, at: 4) }) { return ".mov" }
    if head.starts(with: [0x1A, 0x45, 0xDF, 0xA3]) {
      return head.prefix(64).contains(Array("webm".utf8)) ? ".webm" : ".mkv"
    }
    return ".bin"
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
  private static func isoEnding(_ head: [UInt8]) -> String {
    func brand(at offset: Int) -> String { String(decoding: head.dropFirst(offset).prefix(4), as: UTF8.self) }
    let byteCount = head.prefix(4).reduce(0) { $0 << 8 | Int($1) }
    let major = brand(at: 8)
    let compatible = stride(from: 16, to: max(16, min(byteCount, head.count - 3)), by: 4).map {
      brand(at: $0)
    }
    for name in ["mif1", "msf1", "mif2", "miaf"].contains(major) ? compatible : [major] {
      if let ending = brands[name] { return ending }
    }
    if ["mif1", "msf1", "mif2", "miaf"].contains(major) { return ".heif" }
    return filmBrands.contains { major.hasPrefix($0) } ? ".mp4" : ".bin"
  }

  private static let brands = [
    "heic": ".heic", "heix": ".heic", "heim": ".heic", "heis": ".heic", "hevc": ".heic", "hevx": ".heic",
    "hevm": ".heic", "hevs": ".heic", "avif": ".avif", "avis": ".avif", "crx ": ".cr3", "qt  ": ".mov",
    "M4V ": ".m4v", "M4A ": ".m4a", "3gp4": ".3gp", "3gp5": ".3gp", "3gp6": ".3gp", "3gp7": ".3gp",
    "3g2a": ".3g2", "3g2b": ".3g2", "3g2c": ".3g2", "jxl ": ".jxl", "j2ki": ".jp2",
  ]
  private static let filmBrands = ["iso", "mp4", "avc", "hvc", "dash", "MSNV", "XAVC", "mmp4", "f4v", "M4V"]

  /// Whether the first directory of a TIFF has the version of a digital negative.
  private static func hasDNGVersion(_ head: [UInt8]) -> Bool {
    let isLittle = head.first == UInt8(ascii: "I")
    func number(at offset: Int, _ count: Int) -> Int? {
      guard offset >= 0, offset + count <= head.count else { return nil }
      let bytes = head[offset..<offset + count]
      return (isLittle ? bytes.reversed() : Array(bytes)).reduce(0) { $0 << 8 | Int($1) }
    }
    guard let directory = number(at: 4, 4), let count = number(at: directory, 2) else { return false }
    for entry in 0..<count {
      guard let tag = number(at: directory + 2 + 12 * entry, 2) else { return false }
      if tag == 0xC612 { return true }
    }
    return false
  }
}
