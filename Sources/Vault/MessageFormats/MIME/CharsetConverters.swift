// SPDX-License-Identifier: Apache-2.0
//
// Text of any charset to UTF-8, through the C library's iconv. The sender of a mail chooses its charset, and
// thereby the converter that runs. Rare converters have had memory errors, so only names from a fixed list
// reach iconv (CVE-2024-2961 in ISO-2022-CN-EXT). Whatever cannot be converted stays readable: valid UTF-8 as
// it is, other bytes as windows-1252.

internal import Glibc

/// Open converters, a few at a time.
///
/// `@unchecked Sendable`: a converter has one owner at a time, because the value cannot be copied.
@safe
struct CharsetConverters: ~Copyable, @unchecked Sendable {
  /// A name as mail has it, and the descriptor that iconv gave for it.
  @safe private struct Slot {
    let label: String
    /// Whether a letter may wait in it.
    let holdsBack: Bool
    let descriptor: iconv_t
  }

  private var slots: [Slot] = []

  init() {}

  deinit { for slot in slots { unsafe _ = iconv_close(slot.descriptor) } }

  /// Appends `bytes` as UTF-8, at most about `limit` bytes of it.
  mutating func convert(
    _ bytes: RawSpan, charset: RawSpan, into buffer: inout ByteBuffer, limit: Int
  ) {
    if !Self.isUTF8(charset), let slot = slot(for: charset) {
      Self.run(slot, bytes, into: &buffer, limit: limit)
    } else {
      Self.appendRepaired(bytes, into: &buffer, limit: limit)
    }
  }

  /// Whether there is a conversion for a charset, or it needs none.
  mutating func knows(_ charset: RawSpan) -> Bool {
    Self.isUTF8(charset) || CharsetName(charset) == .utf8 || slot(for: charset) != nil
  }

  /// Whether the charset needs no conversion, by its most common names; the empty name does not.
  static func isUTF8(_ charset: RawSpan) -> Bool {
    let whole = charset.whole
    return whole.isEmpty || charset.equals("utf-8", in: whole) || charset.equals("us-ascii", in: whole)
      || charset.equals("utf8", in: whole) || charset.equals("ascii", in: whole)
  }

  /// Appends valid UTF-8 as it is and every other byte as the windows-1252 character of its value.
  static func appendRepaired(_ bytes: RawSpan, into buffer: inout ByteBuffer, limit: Int = .max) {
    var offset = 0
    let start = buffer.count
    while offset < bytes.byteCount, buffer.count - start < limit {
      let end = bytes.validUTF8End(in: offset..<bytes.byteCount)
      buffer.append(bytes.extracting(offset..<end))
      offset = end
      if offset < bytes.byteCount {
        buffer.append(scalar: scalar(bytes.byte(offset)))
        offset += 1
      }
    }
  }

  /// The character of a byte in windows-1252; five bytes are control characters there too.
  private static func scalar(_ byte: UInt8) -> UInt32 {
    0x80...0x9F ~= byte ? windowsScalars[Int(byte) - 0x80] : UInt32(byte)
  }

  private static let windowsScalars: [UInt32] = [
    0x20AC, 0x81, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160, 0x2039, 0x0152,
    0x8D,
    0x017D, 0x8F, 0x90, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x02DC, 0x2122, 0x0161,
    0x203A,
    0x0153, 0x9D, 0x017E, 0x0178,
  ]

  private mutating func slot(for charset: RawSpan) -> Slot? {
    for slot in slots where Self.isSame(slot.label, charset) { return slot }
    guard case .converter(let name) = CharsetName(charset) else { return nil }
    guard let opened = unsafe iconv_open("UTF-8", name), Int(bitPattern: opened) != -1 else {
      return nil
    }
    if slots.count == Self.slotCount { unsafe _ = iconv_close(slots.removeFirst().descriptor) }
    let slot = unsafe Slot(
      label: charset.string(charset.whole), holdsBack: Self.holdingBack.contains(name), descriptor: opened)
    slots.append(slot)
    return slot
  }

  private static func isSame(_ name: String, _ charset: RawSpan) -> Bool {
    let name = unsafe name.utf8Span.span.bytes
    guard name.byteCount == charset.byteCount else { return false }
    for offset in 0..<name.byteCount
    where ASCII.lowercased(name.byte(offset)) != ASCII.lowercased(charset.byte(offset)) { return false }
    return true
  }

  private static func run(_ slot: Slot, _ bytes: RawSpan, into buffer: inout ByteBuffer, limit: Int) {
    let descriptor = unsafe slot.descriptor
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
        if slot.holdsBack { finish(slot, into: &buffer) }
        buffer.append(scalar: 0xFFFD)
        offset += 1
      }
    }
    finish(slot, into: &buffer)
  }

  /// Hands out the letter that a converter holds back, for a mark that may follow it.
  private static func finish(_ slot: Slot, into buffer: inout ByteBuffer) {
    unsafe buffer.appendFilling(atLeast: 32) { free in
      var output = unsafe free.baseAddress?.assumingMemoryBound(to: CChar.self)
      var outputLeft = free.count
      unsafe _ = iconv(slot.descriptor, nil, nil, &output, &outputLeft)
      return free.count - outputLeft
    }
  }

  /// So much input goes to iconv at once; bounds how far output can run past its limit.
  private static let conversionByteCount = 32 << 10
  /// Few mails use more charsets than this.
  private static let slotCount = 4
  /// Converters that compose letters. Any other has a state that must outlast a byte that it does not know.
  private static let holdingBack: Set<String> = ["CP1255", "CP1258", "BIG5-HKSCS"]
}
