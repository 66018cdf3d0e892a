// SPDX-License-Identifier: Apache-2.0
//
// Base64 with padding (RFC 4648, section 4). CBase64 does what fills the vectors of the processor; the rest is looked
// up, twelve bits at a time.

internal import CBase64

/// Base64: encoding, and decoding of whole texts.
package enum Base64 {
  package static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  /// Characters for so many bytes, without line ends.
  package static func characterCount(byteCount: Int) -> Int { (byteCount + 2) / 3 * 4 }

  /// Writes the text of `input` to `output`, from `start` on; it must be long enough.
  package static func encode(_ input: RawSpan, into output: inout MutableRawSpan, at start: Int) {
    precondition(
      start >= 0 && characterCount(byteCount: input.byteCount) <= output.byteCount - start,
      "no room for the text")
    unsafe input.withUnsafeBytes { source in
      unsafe output.withUnsafeMutableBytes { target in
        unsafe pairs.withUnsafeBufferPointer { pairs in
          unsafe encode(source, target, start, pairs)
        }
      }
    }
  }

  /// The bytes of each line that ``encodeLines(_:into:)`` writes; its text has 64 characters and LF.
  package static let lineByteCount = 48
  package static let lineTextByteCount = 65

  /// Writes the lines of `input`, each full and with LF at its end, to the beginning of `output`.
  package static func encodeLines(_ input: RawSpan, into output: inout MutableRawSpan) {
    let lineCount = input.byteCount / lineByteCount
    precondition(input.byteCount == lineCount * lineByteCount, "lines are full")
    precondition(output.byteCount >= lineCount * lineTextByteCount, "no room for the lines")
    let isDone = unsafe input.withUnsafeBytes { source in
      unsafe output.withUnsafeMutableBytes { target in
        guard lineCount > 0, let source = source.baseAddress, let target = target.baseAddress else {
          return true
        }
        return unsafe coffer_base64_encode_lines(source, lineCount, target) == lineCount
      }
    }
    guard !isDone else { return }
    for line in 0..<lineCount {
      let start = line * lineTextByteCount
      encode(
        input.extracting(line * lineByteCount..<(line + 1) * lineByteCount), into: &output, at: start)
      output.storeBytes(
        of: UInt8(ascii: "\n"), toByteOffset: start + lineTextByteCount - 1, as: UInt8.self)
    }
  }

  private static func encode(
    _ source: UnsafeRawBufferPointer, _ target: UnsafeMutableRawBufferPointer, _ start: Int,
    _ pairs: UnsafeBufferPointer<UInt16>
  ) {
    var at = 0
    if let from = source.baseAddress, let to = target.baseAddress {
      at = unsafe coffer_base64_encode(from, source.count, to + start)
    }
    var out = start + at / 3 * 4
    while at + 3 <= source.count {
      let high = unsafe Int(source[at]) << 4 | Int(source[at + 1]) >> 4
      let low = unsafe Int(source[at + 1] & 0x0F) << 8 | Int(source[at + 2])
      unsafe target.storeBytes(of: pairs[high], toByteOffset: out, as: UInt16.self)
      unsafe target.storeBytes(of: pairs[low], toByteOffset: out + 2, as: UInt16.self)
      at += 3
      out += 4
    }
    let rest = source.count - at
    guard rest > 0 else { return }
    let first = unsafe source[at]
    let second = rest == 2 ? unsafe source[at + 1] : 0
    unsafe target[out] = alphabet[Int(first >> 2)]
    unsafe target[out + 1] = alphabet[Int(first & 0x03) << 4 | Int(second >> 4)]
    unsafe target[out + 2] = rest == 2 ? alphabet[Int(second & 0x0F) << 2] : UInt8(ascii: "=")
    unsafe target[out + 3] = UInt8(ascii: "=")
  }

  /// Two characters for twelve bits, the first at the lower address.
  private static let pairs: [UInt16] = (0..<4096).map { bits in
    (UInt16(alphabet[bits >> 6]) | UInt16(alphabet[bits & 63]) << 8).littleEndian
  }

  // MARK: Decoding

  /// How forgiving decoding is.
  package enum Strictness {
    /// The alphabet and correct padding alone.
    case exact
    /// Line ends as well.
    case lines
    /// Whatever mail brings: foreign bytes are skipped, padding may be missing (RFC 2045, section 6.8), and
    /// several encoded pieces may follow one another.
    case lenient

    fileprivate var skipped: Base64Decoder.Skipped {
      switch self {
      case .exact: .nothing
      case .lines: .lineEnds
      case .lenient: .everything
      }
    }
  }

  /// Decodes the bytes where they are: the output never overtakes the input.
  /// - Returns: how many bytes there are now; nil when it is not base64.
  package static func decodeInPlace(_ bytes: inout MutableRawSpan, _ strictness: Strictness) -> Int? {
    unsafe bytes.withUnsafeMutableBytes { bytes in
      unsafe decode(UnsafeRawBufferPointer(bytes), into: bytes, strictness)
    }
  }

  /// Decodes `text` to the first bytes of `output`, which has room for three bytes of every four characters, and
  /// three more.
  /// - Returns: how many bytes were written; nil when it is not base64.
  package static func decode(
    _ text: RawSpan, into output: inout MutableRawSpan, _ strictness: Strictness
  ) -> Int? {
    precondition(output.byteCount >= text.byteCount / 4 * 3 + 3, "no room for the bytes")
    return unsafe text.withUnsafeBytes { text in
      unsafe output.withUnsafeMutableBytes { unsafe decode(text, into: $0, strictness) }
    }
  }

  /// `target` may begin where `source` begins.
  private static func decode(
    _ source: UnsafeRawBufferPointer, into target: UnsafeMutableRawBufferPointer, _ strictness: Strictness
  ) -> Int? {
    let isLenient = strictness == .lenient
    var decoder = Base64Decoder(skipping: strictness.skipped, keepsRoomForRest: false)
    var (read, written) = (0, 0)
    while true {
      let step = unsafe decoder.decode(
        UnsafeRawBufferPointer(rebasing: source[read...]),
        UnsafeMutableRawBufferPointer(rebasing: target[written...]))
      read += step.consumed
      written += step.produced
      let characters = decoder.pendingCount
      switch step.stop {
      case .hyphen, .foreign: return nil
      case .outputFull: preconditionFailure("no room for the bytes")
      case .inputEnd where characters > 0 && !isLenient: return nil
      case .inputEnd, .equals:
        if let rest = decoder.takeRest(isStrict: !isLenient) {
          for byte in rest {
            unsafe target[written] = byte
            written += 1
          }
        } else if step.stop == .equals && !isLenient {
          return nil
        }
        if step.stop == .inputEnd { return written }
      }
      if !isLenient {
        let isEnd = unsafe isPadding(
          UnsafeRawBufferPointer(rebasing: source[read...]), after: characters,
          allowsLineEnds: strictness == .lines)
        return isEnd ? written : nil
      }
      // Past the equals sign; what follows is more padding, or another piece.
      read += 1
    }
  }

  /// Whether `rest` fills the group up and is nothing else.
  private static func isPadding(
    _ rest: UnsafeRawBufferPointer, after characters: Int, allowsLineEnds: Bool
  ) -> Bool {
    var count = characters
    for index in 0..<rest.count {
      switch unsafe rest[index] {
      case UInt8(ascii: "="): count += 1
      case UInt8(ascii: "\r"), UInt8(ascii: "\n"): guard allowsLineEnds else { return false }
      default: return false
      }
    }
    return count == 4
  }
}
