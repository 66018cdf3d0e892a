// SPDX-License-Identifier: Apache-2.0
//
// Base64 that comes in pieces, such as that of OpenPGP's armor (RFC 9580, section 6). CBase64 decodes whole lines of
// 32 or 64 characters; eight characters are looked up at a time as long as nothing but characters of the alphabet
// comes; line ends, blanks and whatever else are looked at one by one.

internal import CBase64

/// Decodes base64 that comes in pieces of any size.
package struct Base64Decoder {
  /// Why the decoder returned.
  package enum Stop {
    case inputEnd, outputFull
    /// At an equals sign: padding, or a checksum.
    case equals
    /// At a hyphen at the beginning of a line: the tail.
    case hyphen
    /// At anything else that does not belong here.
    case foreign
  }

  package struct Step {
    /// Characters that were used, without the one that stopped the decoder.
    package var consumed = 0
    /// Bytes that were written to the beginning of the output.
    package var produced = 0
    package var stop = Stop.inputEnd
  }

  /// Bytes to skip; the alphabet and equals signs never are.
  package enum Skipped {
    case nothing
    /// CR and LF.
    case lineEnds
    /// Line ends, spaces and tabs, as in armor.
    case blanks
    /// All other bytes.
    case everything
  }

  private let skipped: Skipped
  /// Whether it stops where the bytes that ``takeRest(isStrict:)`` may give would have no room.
  private let keepsRoomForRest: Bool

  /// Characters of the group of four that is not complete.
  package private(set) var pendingCount = 0
  private var pending: UInt32 = 0
  package private(set) var isAtLineStart = true

  package init(skipping skipped: Skipped = .blanks) { self.init(skipping: skipped, keepsRoomForRest: true) }

  init(skipping skipped: Skipped, keepsRoomForRest: Bool) {
    self.skipped = skipped
    self.keepsRoomForRest = keepsRoomForRest
  }

  /// Decodes as much of `input` as there is room for.
  package mutating func decode(_ input: RawSpan, into output: inout MutableRawSpan) -> Step {
    unsafe input.withUnsafeBytes { source in
      unsafe output.withUnsafeMutableBytes { unsafe decode(source, $0) }
    }
  }

  /// `target` may begin where `source` begins, or before.
  mutating func decode(_ source: UnsafeRawBufferPointer, _ target: UnsafeMutableRawBufferPointer) -> Step {
    unsafe Self.groups.withUnsafeBufferPointer { groups in
      unsafe Self.characters(skipped).withUnsafeBufferPointer { characters in
        unsafe decode(source, target, groups, characters)
      }
    }
  }

  /// The last one or two bytes, before padding.
  /// - Parameter isStrict: whether bits that no byte is made of must be zero.
  /// - Returns: nil when the last group is not complete, or a bit is not zero that must be.
  package mutating func takeRest(isStrict: Bool = true) -> [UInt8]? {
    defer { pendingCount = 0 }
    switch pendingCount {
    case 2 where pending & 0x0F == 0 || !isStrict: return [UInt8(truncatingIfNeeded: pending >> 4)]
    case 3 where pending & 0x03 == 0 || !isStrict:
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
        unsafe decodeVectors(source, target, &step)
        let before = step.consumed
        unsafe Self.decodeGroups(source, target, groups, &step)
        if step.consumed != before { isAtLineStart = false }
        if step.consumed == source.count { break }
      }
      guard target.count - step.produced >= 3 || !keepsRoomForRest && pendingCount < 3 else {
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

  /// 32 characters to 24 bytes, and the line ends between them, as far as the processor has vectors for it.
  private mutating func decodeVectors(
    _ source: UnsafeRawBufferPointer, _ target: UnsafeMutableRawBufferPointer, _ step: inout Step
  ) {
    guard let from = source.baseAddress, let to = target.baseAddress else { return }
    let progress = unsafe coffer_base64_decode(
      from + step.consumed, source.count - step.consumed, to + step.produced, target.count - step.produced,
      skipped == .nothing ? 0 : 1)
    guard progress.read > 0 else { return }
    step.consumed += progress.read
    step.produced += progress.written
    isAtLineStart = progress.is_at_line_start == 1
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
  /// Set in an entry of `groups` for a character outside of the alphabet.
  private static let outsideAlphabet: UInt32 = 1 << 24

  /// The value of each character.
  private static func characters(_ skipped: Skipped) -> [UInt8] {
    switch skipped {
    case .nothing: exactCharacters
    case .lineEnds: lineCharacters
    case .blanks: armorCharacters
    case .everything: mailCharacters
    }
  }

  private static let exactCharacters = table(others: foreign)
  private static let lineCharacters = table(others: foreign, blanks: ["\r"], lineFeed: lineFeed)
  private static let armorCharacters = table(others: foreign, blanks: [" ", "\t", "\r"], lineFeed: lineFeed)
  private static let mailCharacters: [UInt8] = {
    var table = Self.table(others: blank)
    table[Int(UInt8(ascii: "="))] = foreign
    return table
  }()

  private static func table(others: UInt8, blanks: [Unicode.Scalar] = [], lineFeed: UInt8? = nil) -> [UInt8] {
    var table = [UInt8](repeating: others, count: 256)
    for (value, character) in Base64.alphabet.enumerated() { table[Int(character)] = UInt8(value) }
    for character in blanks { table[Int(UInt8(ascii: character))] = blank }
    if let lineFeed { table[Int(UInt8(ascii: "\n"))] = lineFeed }
    return table
  }

  /// Those of the alphabet, shifted to each of the four places of a group.
  private static let groups: [UInt32] = {
    var table: [UInt32] = []
    for shift: UInt32 in [18, 12, 6, 0] {
      table += exactCharacters.map { $0 < 64 ? UInt32($0) << shift : outsideAlphabet }
    }
    return table
  }()
}
