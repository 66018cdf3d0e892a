// SPDX-License-Identifier: Apache-2.0
//
// The line that is being typed, in locked memory, and the effect of each key. It does not know terminals: it
// takes bytes one by one and returns an outcome.

internal import CSystem
internal import Secrets

/// One line under edit.
struct LineEditor: ~Copyable {
  enum Outcome: Equatable {
    /// The line changed; redraw what is shown of it.
    case changed
    /// Nothing visible happened.
    case unchanged
    /// A key without a meaning here.
    case ignored
    case finished
    case cancelled
    case tooLong
  }

  private var line: SecretBytes
  private var count = 0
  private var escape = Escape.none

  /// The state inside of an escape sequence, as function and arrow keys send it.
  private enum Escape { case none, started, inSequence }

  init(byteCountLimit: Int) { line = SecretBytes(zeroed: byteCountLimit) }

  /// Lends the typed bytes.
  borrowing func withText<R: ~Copyable, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
    try line.withBytes { (all) throws(E) -> R in try body(all.extracting(first: count)) }
  }

  /// Ends the edit and returns the typed bytes, in memory of their size.
  consuming func finish() -> SecretBytes {
    withText { SecretBytes(copying: $0) }
  }

  /// Takes one byte from the terminal.
  mutating func take(_ byte: UInt8) -> Outcome {
    guard escape == .none else { return skipEscape(byte) }
    switch byte {
    case Key.carriageReturn, Key.lineFeed: return .finished
    case Key.controlC: return .cancelled
    case Key.controlD: return count == 0 ? .cancelled : .ignored
    case Key.backspace, Key.delete: return eraseCharacter()
    case Key.controlU: return cut(to: 0)
    case Key.controlW: return eraseWord()
    case Key.escape:
      escape = .started
      return .unchanged
    case 0..<0x20: return .ignored
    default: return append(byte)
    }
  }

  private mutating func append(_ byte: UInt8) -> Outcome {
    guard count < line.count else { return .tooLong }
    let end = count
    line.withMutableBytes { $0.storeBytes(of: byte, toByteOffset: end, as: UInt8.self) }
    count += 1
    return .changed
  }

  /// Deletes a whole UTF-8 character: its continuation bytes, then its first byte.
  private mutating func eraseCharacter() -> Outcome {
    var end = count
    while end > 0 && byte(at: end - 1) & 0xC0 == 0x80 { end -= 1 }
    return cut(to: max(end - 1, 0))
  }

  /// Deletes spaces, then everything up to the next space.
  private mutating func eraseWord() -> Outcome {
    var end = count
    while end > 0 && byte(at: end - 1) == Key.space { end -= 1 }
    while end > 0 && byte(at: end - 1) != Key.space { end -= 1 }
    return cut(to: end)
  }

  private mutating func cut(to newCount: Int) -> Outcome {
    guard newCount < count else { return .ignored }
    let oldCount = count
    line.withMutableBytes { span in
      unsafe span.withUnsafeMutableBytes { raw in
        guard let base = raw.baseAddress else { return }
        unsafe coffer_erase(base + newCount, oldCount - newCount)
      }
    }
    count = newCount
    return .changed
  }

  /// ESC and one byte, or ESC [ (or ESC O) up to a final letter: arrows and the like do nothing here.
  private mutating func skipEscape(_ byte: UInt8) -> Outcome {
    if byte == Key.controlC { return .cancelled }
    if escape == .started {
      escape = byte == Key.bracket || byte == Key.capitalO ? .inSequence : .none
    } else if 0x40...0x7E ~= byte {
      escape = .none
    }
    return .unchanged
  }

  private borrowing func byte(at offset: Int) -> UInt8 {
    line.withBytes { unsafe $0.unsafeLoad(fromByteOffset: offset, as: UInt8.self) }
  }

  private enum Key {
    static let controlC: UInt8 = 0x03
    static let controlD: UInt8 = 0x04
    static let backspace: UInt8 = 0x08
    static let lineFeed: UInt8 = 0x0A
    static let carriageReturn: UInt8 = 0x0D
    static let controlU: UInt8 = 0x15
    static let controlW: UInt8 = 0x17
    static let escape: UInt8 = 0x1B
    static let space: UInt8 = 0x20
    static let capitalO: UInt8 = 0x4F
    static let bracket: UInt8 = 0x5B
    static let delete: UInt8 = 0x7F
  }
}
