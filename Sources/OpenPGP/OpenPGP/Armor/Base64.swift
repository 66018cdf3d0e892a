// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, section 6: base64 with padding. The encoder looks up twelve bits at a time. The decoder takes text in
// pieces of any size and looks up eight characters at a time while they are all of the alphabet; line ends, blanks and
// everything else are looked at one by one.

/// Decodes base64 that comes in pieces of any size.
struct Base64Decoder {
  /// Why the decoder returned.
  enum Stop {
    case inputEnd, outputFull
    /// At an equals sign: padding, or a checksum.
    case equals
    /// At a hyphen at the beginning of a line: the tail.
    case hyphen
    /// At anything else that does not belong here.
    case foreign
  }

  struct Step {
    /// Characters that were used; the one that stopped the decoder is not.
    var consumed = 0
    /// Bytes that were written to the beginning of the output.
    var produced = 0
    var stop = Stop.inputEnd
  }

  /// Characters of the group of four that is not complete.
  private(set) var pendingCount = 0
  private var pending: UInt32 = 0
  private(set) var isAtLineStart = true

  /// Decodes as much of `input` as there is room for.
  mutating func decode(_ input: RawSpan, into output: inout MutableRawSpan) -> Step {
    unsafe input.withUnsafeBytes { source in
      unsafe output.withUnsafeMutableBytes { target in
        unsafe Self.groups.withUnsafeBufferPointer { groups in
          unsafe Self.characters.withUnsafeBufferPointer { characters in
            unsafe decode(source, target, groups, characters)
          }
        }
      }
    }
  }

  /// The last one or two bytes, before padding.
  /// - Returns: nil when there is no such rest, or when it has bits that no byte is made of.
  mutating func takeRest() -> [UInt8]? {
    defer { pendingCount = 0 }
    switch pendingCount {
    case 2 where pending & 0x0F == 0: return [UInt8(truncatingIfNeeded: pending >> 4)]
    case 3 where pending & 0x03 == 0:
      return [UInt8(truncatingIfNeeded: pending >> 10), UInt8(truncatingIfNeeded: pending >> 2)]
    default: return nil
    }
  }

  private mutating func decode(
    _ source: UnsafeRawBufferPointer, _ target: UnsafeMutableRawBufferPointer,
    _ groups: UnsafeBufferPointer<UInt32>, _ characters: UnsafeBufferPointer<UInt8>
  ) -> Step {
    var step = Step()
    while step.consumed < source.count {
      if pendingCount == 0 {
        let before = step.consumed
        unsafe Self.decodeGroups(source, target, groups, &step)
        if step.consumed != before { isAtLineStart = false }
        if step.consumed == source.count { break }
      }
      guard target.count - step.produced >= 3 else {
        step.stop = .outputFull
        break
      }
      let character = unsafe source[step.consumed]
      let value = unsafe characters[Int(character)]
      switch value {
      case 0..<64:
        pending = pendingCount == 0 ? UInt32(value) : pending << 6 | UInt32(value)
        pendingCount += 1
        isAtLineStart = false
        if pendingCount == 4 {
          for shift: UInt32 in [16, 8, 0] {
            unsafe target[step.produced] = UInt8(truncatingIfNeeded: pending >> shift)
            step.produced += 1
          }
          pendingCount = 0
        }
      case Self.blank: break
      case Self.lineFeed: isAtLineStart = true
      default:
        step.stop =
          character == UInt8(ascii: "=")
          ? .equals : character == UInt8(ascii: "-") && isAtLineStart ? .hyphen : .foreign
        return step
      }
      step.consumed += 1
    }
    return step
  }

  /// Eight characters to six bytes, as long as all are of the alphabet.
  private static func decodeGroups(
    _ source: UnsafeRawBufferPointer, _ target: UnsafeMutableRawBufferPointer,
    _ groups: UnsafeBufferPointer<UInt32>, _ step: inout Step
  ) {
    guard
      let source = unsafe source.baseAddress.map({
        unsafe UnsafeRawBufferPointer(start: $0, count: source.count)
      }),
      let out = target.baseAddress, let groups = groups.baseAddress
    else { return }
    var (at, filled) = (step.consumed, step.produced)
    // Eight bytes are written for six, so there must be room for two more.
    while at + 8 <= source.count, filled + 8 <= target.count {
      let eight = unsafe source.loadUnaligned(fromByteOffset: at, as: UInt64.self).littleEndian
      let first =
        unsafe groups[Int(eight & 0xFF)] | groups[256 + Int(eight >> 8 & 0xFF)]
        | groups[512 + Int(eight >> 16 & 0xFF)] | groups[768 + Int(eight >> 24 & 0xFF)]
      let second =
        unsafe groups[Int(eight >> 32 & 0xFF)] | groups[256 + Int(eight >> 40 & 0xFF)]
        | groups[512 + Int(eight >> 48 & 0xFF)] | groups[768 + Int(eight >> 56)]
      guard (first | second) < Self.outsideAlphabet else { break }
      let six = (UInt64(first) << 40 | UInt64(second) << 16).bigEndian
      unsafe out.storeBytes(of: six, toByteOffset: filled, as: UInt64.self)
      at += 8
      filled += 6
    }
    (step.consumed, step.produced) = (at, filled)
  }

  private static let blank: UInt8 = 64
  private static let lineFeed: UInt8 = 65
  private static let foreign: UInt8 = 255
  /// Set in an entry of `groups` for what is no character of the alphabet.
  private static let outsideAlphabet: UInt32 = 1 << 24

  /// What a character stands for.
  private static let characters: [UInt8] = {
    var table = [UInt8](repeating: foreign, count: 256)
    for (value, character) in Base64Encoder.alphabet.enumerated() { table[Int(character)] = UInt8(value) }
    for character in [UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r")] {
      table[Int(character)] = blank
    }
    table[Int(UInt8(ascii: "\n"))] = lineFeed
    return table
  }()

  /// The same, shifted to each of the four places of a group.
  private static let groups: [UInt32] = {
    var table: [UInt32] = []
    for shift: UInt32 in [18, 12, 6, 0] {
      table += characters.map { $0 < 64 ? UInt32($0) << shift : outsideAlphabet }
    }
    return table
  }()
}

/// Encodes bytes as base64.
enum Base64Encoder {
  static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  /// Octets of text for so many bytes.
  static func characterCount(byteCount: Int) -> Int { (byteCount + 2) / 3 * 4 }

  /// Writes the text of `input` to `output`, from `start` on; it must have the room.
  static func encode(_ input: RawSpan, into output: inout MutableRawSpan, at start: Int) {
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

  private static func encode(
    _ source: UnsafeRawBufferPointer, _ target: UnsafeMutableRawBufferPointer, _ start: Int,
    _ pairs: UnsafeBufferPointer<UInt16>
  ) {
    var (at, out) = (0, start)
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
}
