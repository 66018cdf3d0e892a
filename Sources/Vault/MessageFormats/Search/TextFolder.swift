// SPDX-License-Identifier: Apache-2.0
//
// Folding, the first half of analyser 1 (Specs/search.md): Unicode NFKC and case folding, default ignorables
// left out (UAX #15, Unicode section 3.13), then accents and vowel points. ASCII is folded eight bytes at a
// time; Latin-1 and Cyrillic letters that nothing can combine with by a table; every other run goes to
// utf8proc, together with the one ASCII character before it, since a combining mark may follow. ASCII never
// combines with the character before it, so runs can be folded one by one.

internal import CUtf8proc

/// Folds text into a reused buffer.
struct TextFolder: ~Copyable, Sendable {
  private(set) var output: ByteBuffer
  private var codePoints = ByteBuffer(capacity: codePointCount * 4 + 1)
  private var repaired = ByteBuffer(capacity: 2 * runByteCount)

  init(capacity: Int) { output = ByteBuffer(capacity: capacity) }

  mutating func removeAll() { output.removeAll() }

  /// Appends `text` folded. Bytes that are not UTF-8 count as windows-1252.
  mutating func append(_ text: RawSpan) {
    var offset = 0
    let floor = output.count
    while true {
      offset = appendASCII(text, from: offset)
      if offset == text.byteCount { return }
      let afterLetters = appendKnownLetters(text, from: offset)
      if afterLetters > offset {
        offset = afterLetters
        continue
      }
      var start = offset
      if output.count > floor, start > 0, text.byte(start - 1) < 0x80 {
        start -= 1
        output.shorten(to: output.count - 1)
      }
      var end = offset
      let bound = min(text.byteCount, start + Self.runByteCount)
      while end < bound, text.byte(end) >= 0x80 { end += 1 }
      if end == bound, end < text.byteCount {
        end = Self.cut(text, before: end, after: offset)
      }
      appendRun(text.extracting(start..<end))
      offset = end
    }
  }

  /// Appends ASCII in lower case; where the first other byte stands.
  private mutating func appendASCII(_ text: RawSpan, from start: Int) -> Int {
    var offset = start
    let end = text.byteCount
    if offset == end { return end }
    unsafe output.appendFilling(atLeast: end - start) { free in
      // A buffer always has an address, and here room for the rest of the text.
      let target = unsafe free.baseAddress.unsafelyUnwrapped
      while end - offset >= 8 {
        let word = unsafe text.unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: UInt64.self)
        if word & 0x8080_8080_8080_8080 != 0 { break }
        // In each byte the top bit tells whether it is at least "A", and then whether it is above "Z".
        let fromA = word &+ 0x3F3F_3F3F_3F3F_3F3F
        let aboveZ = word &+ 0x2525_2525_2525_2525
        let folded = word | ((fromA ^ aboveZ) & 0x8080_8080_8080_8080) >> 2
        unsafe target.storeBytes(of: folded, toByteOffset: offset - start, as: UInt64.self)
        offset += 8
      }
      while offset < end {
        let byte = text.byte(offset)
        if byte >= 0x80 { break }
        unsafe target.storeBytes(
          of: ASCII.lowercased(byte), toByteOffset: offset - start, as: UInt8.self)
        offset += 1
      }
      return offset - start
    }
    return offset
  }

  /// Appends letters of U+00C0 to U+00FF and U+0400 to U+045F that come before ASCII or another such
  /// letter; where the first other character stands.
  private mutating func appendKnownLetters(_ text: RawSpan, from start: Int) -> Int {
    var offset = start
    let end = text.byteCount
    while offset + 1 < end {
      let lead = text.byte(offset)
      let trail = text.byte(offset + 1)
      guard Self.leadsLetter(lead), trail & 0xC0 == 0x80 else { break }
      if offset + 2 < end {
        let next = text.byte(offset + 2)
        guard next < 0x80 || Self.leadsLetter(next) else { break }
      }
      if lead == 0xC3 {
        let entry = 2 * Int(trail & 0x3F)
        let second = unsafe AnalyserTables.latin.utf8Start[entry + 1]
        unsafe output.append(AnalyserTables.latin.utf8Start[entry])
        if second != ASCII.dot { output.append(second) }
      } else {
        if lead == 0xD1, trail >= 0xA0 { return offset }
        let entry = 2 * (Int(lead & 1) << 6 | Int(trail & 0x3F))
        unsafe output.append(AnalyserTables.cyrillic.utf8Start[entry])
        unsafe output.append(AnalyserTables.cyrillic.utf8Start[entry + 1])
      }
      offset += 2
    }
    return offset
  }

  private static func leadsLetter(_ byte: UInt8) -> Bool { byte == 0xC3 || byte == 0xD0 || byte == 0xD1 }

  /// The last place between `start` and `end` before which a run may be cut: a character that does not
  /// combine with the one before it. Without such a place it is `end` or the character there.
  private static func cut(_ text: RawSpan, before end: Int, after start: Int) -> Int {
    var characterStart = end
    for offset in (start + runByteCount / 2..<end + 1).reversed() where text.byte(offset) & 0xC0 != 0x80 {
      if characterStart == end { characterStart = offset }
      if !combines(text, at: offset) { return offset }
    }
    return characterStart
  }

  /// Whether the character at `offset` is a mark, or a jamo that joins a syllable.
  private static func combines(_ text: RawSpan, at offset: Int) -> Bool {
    var codePoint: Int32 = 0
    let rest = text.extracting(offset..<min(offset + 4, text.byteCount))
    let length = unsafe rest.withUnsafeBytes { bytes in
      unsafe utf8proc_iterate(
        bytes.bindMemory(to: UInt8.self).baseAddress, bytes.count, &codePoint)
    }
    guard length > 0 else { return false }
    if (0x1160...0x11FF).contains(codePoint) { return true }
    let category = utf8proc_category(codePoint)
    return category == UTF8PROC_CATEGORY_MN || category == UTF8PROC_CATEGORY_MC
      || category == UTF8PROC_CATEGORY_ME
  }

  /// Folds a run by the tables of Unicode.
  private mutating func appendRun(_ run: RawSpan) {
    if run.validUTF8End(in: run.whole) == run.byteCount {
      decompose(run)
    } else {
      repaired.removeAll()
      CharsetConverters.appendRepaired(run, into: &repaired)
      let text = exchange(&repaired, with: ByteBuffer(capacity: 0))
      text.withBytes { decompose($0) }
      repaired = text
    }
    codePoints.withBytes { points in
      for offset in stride(from: 0, to: points.byteCount, by: 4) {
        let point = unsafe points.unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: UInt32.self)
        FoldedLetter.append(point, to: &output)
      }
    }
  }

  /// Folds a run of valid UTF-8: takes it apart, leaves marks out, puts it together again.
  private mutating func decompose(_ run: RawSpan) {
    codePoints.removeAll()
    let options = utf8proc_option_t(
      UTF8PROC_STABLE.rawValue | UTF8PROC_COMPOSE.rawValue | UTF8PROC_COMPAT.rawValue
        | UTF8PROC_CASEFOLD.rawValue | UTF8PROC_IGNORE.rawValue)
    unsafe codePoints.appendFilling(atLeast: Self.codePointCount * 4 + 1) { free in
      unsafe run.withUnsafeBytes { source in
        guard let base = unsafe source.bindMemory(to: UInt8.self).baseAddress,
          let points = unsafe free.bindMemory(to: Int32.self).baseAddress
        else { return 0 }
        let count = unsafe utf8proc_decompose(base, source.count, points, Self.codePointCount, options)
        guard count >= 0, count <= Self.codePointCount else { return 0 }
        var kept = 0
        for index in 0..<count {
          let point = unsafe UInt32(bitPattern: points[index])
          let before = unsafe kept == 0 ? 0 : UInt32(bitPattern: points[kept - 1])
          if FoldedLetter.isLeftOut(point, after: before) { continue }
          unsafe points[kept] = unsafe points[index]
          kept += 1
        }
        return unsafe 4 * max(0, utf8proc_normalize_utf32(points, kept, options))
      }
    }
  }

  /// A longer run is folded in pieces. utf8proc sorts marks in quadratic time, so this bounds what a mail
  /// of nothing but marks can cost.
  private static let runByteCount = 512
  /// U+FDFA takes three bytes and becomes eighteen characters, the most there is; a repaired run is longer, and has a
  /// character of at most four for each byte.
  private static let codePointCount = 2 * runByteCount * 6
}
