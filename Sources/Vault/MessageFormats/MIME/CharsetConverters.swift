// SPDX-License-Identifier: Apache-2.0
//
// Text of any charset to UTF-8, through the C library's iconv. The sender of a mail chooses its charset, and
// thereby the converter that runs. Rare converters have had memory errors, so only names from a fixed list
// reach iconv (CVE-2024-2961 in ISO-2022-CN-EXT). Whatever cannot be converted stays readable: valid UTF-8 as
// it is, other bytes as Latin-1.

internal import Glibc

/// Open converters, a few at a time.
///
/// `@unchecked Sendable`: a converter has one owner at a time, because the value cannot be copied.
@safe
struct CharsetConverters: ~Copyable, @unchecked Sendable {
  /// A name from the list and the descriptor that iconv gave for it.
  @safe private struct Slot {
    let name: String
    let descriptor: iconv_t
  }

  private var slots: [Slot] = []

  init() {}

  deinit { for slot in slots { unsafe _ = iconv_close(slot.descriptor) } }

  /// Appends `bytes` as UTF-8, at most about `limit` bytes of it.
  mutating func convert(
    _ bytes: RawSpan, charset: RawSpan, into buffer: inout ByteBuffer, limit: Int
  ) {
    if Self.isUTF8(charset) {
      Self.appendRepaired(bytes, into: &buffer, limit: limit)
    } else if let descriptor = unsafe descriptor(for: charset) {
      unsafe Self.run(descriptor, bytes, into: &buffer, limit: limit)
    } else {
      Self.appendRepaired(bytes, into: &buffer, limit: limit)
    }
  }

  /// Whether the charset needs no conversion; the empty name does not.
  static func isUTF8(_ charset: RawSpan) -> Bool {
    let whole = charset.whole
    return whole.isEmpty || charset.equals("utf-8", in: whole) || charset.equals("us-ascii", in: whole)
      || charset.equals("utf8", in: whole) || charset.equals("ascii", in: whole)
  }

  /// Appends valid UTF-8 as it is and every other byte as the Latin-1 character of its value.
  static func appendRepaired(_ bytes: RawSpan, into buffer: inout ByteBuffer, limit: Int = .max) {
    var offset = 0
    let start = buffer.count
    while offset < bytes.byteCount, buffer.count - start < limit {
      let end = bytes.validUTF8End(in: offset..<bytes.byteCount)
      buffer.append(bytes.extracting(offset..<end))
      offset = end
      if offset < bytes.byteCount {
        buffer.append(scalar: UInt32(bytes.byte(offset)))
        offset += 1
      }
    }
  }

  private mutating func descriptor(for charset: RawSpan) -> iconv_t? {
    for slot in slots where Self.isSame(slot.name, charset) { return unsafe slot.descriptor }
    guard let name = Self.knownName(charset) else { return nil }
    guard let opened = unsafe iconv_open("UTF-8", name), Int(bitPattern: opened) != -1 else {
      return nil
    }
    if slots.count == Self.slotCount { unsafe _ = iconv_close(slots.removeFirst().descriptor) }
    unsafe slots.append(Slot(name: charset.string(charset.whole), descriptor: opened))
    return unsafe opened
  }

  private static func isSame(_ name: String, _ charset: RawSpan) -> Bool {
    let name = unsafe name.utf8Span.span.bytes
    guard name.byteCount == charset.byteCount else { return false }
    for offset in 0..<name.byteCount
    where ASCII.lowercased(name.byte(offset)) != ASCII.lowercased(charset.byte(offset)) { return false }
    return true
  }

  /// The name for iconv of a charset from the list.
  private static func knownName(_ charset: RawSpan) -> String? {
    guard charset.byteCount <= 24 else { return nil }
    let name = charset.string(charset.whole).lowercased()
    // Mail says Latin-1 and means its superset, as browsers assume too (WHATWG Encoding section 4.2).
    if name == "iso-8859-1" || name == "latin1" || name == "iso8859-1" { return "CP1252" }
    if let alias = aliases[name] { return alias }
    for (prefix, target) in families {
      guard name.hasPrefix(prefix) else { continue }
      let number = name.dropFirst(prefix.count)
      if !number.isEmpty, number.count <= 4, number.allSatisfy({ $0.isASCII && $0.isNumber }) {
        return target + number
      }
    }
    return nil
  }

  private static func run(
    _ descriptor: iconv_t, _ bytes: RawSpan, into buffer: inout ByteBuffer, limit: Int
  ) {
    unsafe _ = iconv(descriptor, nil, nil, nil, nil)
    let start = buffer.count
    var offset = 0
    while offset < bytes.byteCount, buffer.count - start < limit {
      var failure: Int32 = 0
      let before = offset
      let room = min(bytes.byteCount - offset, conversionByteCount) * 2 + 16
      unsafe buffer.appendFilling(atLeast: room) { free in
        unsafe bytes.withUnsafeBytes { source -> Int in
          // iconv takes a mutable pointer for historical reasons and does not write through it.
          var input = unsafe UnsafeMutableRawPointer(mutating: source.baseAddress)?
            .assumingMemoryBound(to: CChar.self).advanced(by: offset)
          var inputLeft = min(source.count - offset, conversionByteCount)
          var output = unsafe free.baseAddress?.assumingMemoryBound(to: CChar.self)
          var outputLeft = free.count
          let offered = inputLeft
          if unsafe iconv(descriptor, &input, &inputLeft, &output, &outputLeft) == -1 { failure = errno }
          offset += offered - inputLeft
          return free.count - outputLeft
        }
      }
      if failure == EILSEQ || (offset == before && failure != E2BIG) {
        buffer.append(scalar: 0xFFFD)
        offset += 1
      }
    }
  }

  /// So much input goes to iconv at once; bounds how far output can run past its limit.
  private static let conversionByteCount = 32 << 10
  /// Few mails use more charsets than this.
  private static let slotCount = 4

  /// Families whose members are told apart by a number.
  private static let families: [(prefix: String, target: String)] = [
    ("iso-8859-", "ISO-8859-"), ("iso8859-", "ISO-8859-"), ("windows-125", "CP125"), ("cp125", "CP125"),
  ]
  private static let aliases: [String: String] = [
    "koi8-r": "KOI8-R", "koi8-u": "KOI8-U", "utf-16": "UTF-16", "utf-16le": "UTF-16LE",
    "utf-16be": "UTF-16BE", "utf-32": "UTF-32", "utf-7": "UTF-7", "shift_jis": "CP932",
    "shift-jis": "CP932", "sjis": "CP932", "x-sjis": "CP932", "windows-31j": "CP932", "cp932": "CP932",
    "euc-jp": "EUC-JP", "iso-2022-jp": "ISO-2022-JP", "gb2312": "GBK", "gbk": "GBK",
    "gb18030": "GB18030", "big5": "BIG5", "euc-kr": "CP949", "ks_c_5601-1987": "CP949", "cp949": "CP949",
    "macintosh": "MACINTOSH", "tis-620": "TIS-620", "windows-874": "CP874", "cp437": "CP437",
    "ibm437": "CP437", "cp850": "CP850", "ibm850": "CP850", "cp866": "CP866", "ibm866": "CP866",
  ]
}
