// SPDX-License-Identifier: Apache-2.0
//
// What the headers of an archive say (IEEE Std 1003.1-2017, pax, "ustar Interchange Format" and "pax Extended Header";
// GNU tar manual, "Basic Tar Format"). Nothing here is judged.

/// A header block.
struct TarFields {
  let name: [UInt8]
  /// Octets of content.
  let byteCount: Int
  let type: UInt8

  /// Nil when the block is not a header: without its mark, or with a wrong checksum or number.
  init?(_ block: [UInt8]) {
    let isPosix = block[257..<265].elementsEqual(Array("ustar\u{0}00".utf8))
    guard isPosix || block[257..<265].elementsEqual(Array("ustar  \u{0}".utf8)) else { return nil }
    let blank = UInt8(ascii: " ")
    let sum = block.indices.reduce(0) { $0 + Int((148..<156).contains($1) ? blank : block[$1]) }
    guard Self.number(block[148..<156]) == sum, let count = Self.number(block[124..<136]) else { return nil }
    byteCount = count
    type = block[156]
    let short = Array(block[0..<100].prefix { $0 != 0 })
    // GNU tar has times where the standard has the first part of a name.
    let prefix = isPosix ? Array(block[345..<500].prefix { $0 != 0 }) : []
    name = prefix.isEmpty ? short : prefix + [UInt8(ascii: "/")] + short
  }

  /// Octal digits between blanks and zeros, or a number of GNU tar in base 256; nil for anything else.
  private static func number(_ field: ArraySlice<UInt8>) -> Int? {
    if field.first == 0x80 {
      guard field.dropFirst().prefix(field.count - 8).allSatisfy({ $0 == 0 }) else { return nil }
      let value = field.suffix(7).reduce(0) { $0 << 8 | Int($1) }
      return value
    }
    let blanks: Set<UInt8> = [0, UInt8(ascii: " ")]
    let digits = field.drop { $0 == UInt8(ascii: " ") }.prefix { !blanks.contains($0) }
    guard digits.allSatisfy({ (0x30...0x37).contains($0) }),
      field[digits.endIndex...].allSatisfy({ blanks.contains($0) })
    else { return nil }
    return digits.reduce(0) { $0 << 3 | Int($1 - 0x30) }
  }
}

/// What comes before an entry about it.
struct TarExtension {
  private(set) var name: [UInt8]?
  private(set) var byteCount: Int?
  private(set) var hasLink = false

  var isEmpty: Bool { name == nil && byteCount == nil && !hasLink }

  /// Takes an extended header, or a long name of GNU tar.
  mutating func take(_ type: UInt8, _ content: [UInt8], entry: Int) throws(ArchiveProblem) {
    switch type {
    case UInt8(ascii: "L"):
      guard name == nil else { throw .damaged(entry: entry) }
      name = Array(content.prefix { $0 != 0 })
    case UInt8(ascii: "K"): hasLink = true
    default: try takeRecords(content, isGlobal: type == UInt8(ascii: "g"), entry: entry)
    }
  }

  private mutating func takeRecords(
    _ content: [UInt8], isGlobal: Bool, entry: Int
  ) throws(ArchiveProblem) {
    var rest = content[...]
    while !rest.isEmpty {
      guard let (keyword, value) = Self.nextRecord(&rest) else { throw .damaged(entry: entry) }
      if keyword.hasPrefix("GNU.sparse") { throw .unsupported(entry: entry) }
      switch keyword {
      // One that holds for all entries cannot be meant.
      case "path", "size", "linkpath":
        guard !isGlobal else { throw .unsupported(entry: entry) }
      case "hdrcharset":
        guard value.elementsEqual("ISO-IR 10646 2000 UTF-8".utf8) else { throw .unsupported(entry: entry) }
      default: break
      }
      switch keyword {
      case "path":
        guard name == nil, !value.contains(0) else { throw .damaged(entry: entry) }
        name = Array(value)
      case "size":
        guard byteCount == nil, let count = Self.decimal(value) else { throw .damaged(entry: entry) }
        byteCount = count
      case "linkpath": hasLink = true
      default: break
      }
    }
  }

  /// A record begins with its own length: `25 path=some/long/name\n`.
  private static func nextRecord(_ rest: inout ArraySlice<UInt8>) -> (keyword: String, ArraySlice<UInt8>)? {
    let digits = rest.prefix { $0 != UInt8(ascii: " ") }
    guard let count = decimal(digits), count > digits.count + 2, count <= rest.count else { return nil }
    let record = rest.prefix(count)
    guard record.last == UInt8(ascii: "\n"),
      let equals = record.firstIndex(of: UInt8(ascii: "=")), equals > digits.endIndex + 1
    else { return nil }
    rest = rest.dropFirst(count)
    let keyword = String(decoding: record[(digits.endIndex + 1)..<equals], as: UTF8.self)
    return (keyword, record[(equals + 1)...].dropLast())
  }

  private static func decimal(_ digits: ArraySlice<UInt8>) -> Int? {
    guard !digits.isEmpty, digits.count <= 18, digits.allSatisfy({ (0x30...0x39).contains($0) }) else {
      return nil
    }
    return digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
  }
}
