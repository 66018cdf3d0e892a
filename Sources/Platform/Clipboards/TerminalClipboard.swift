// SPDX-License-Identifier: Apache-2.0
//
// The clipboard of the machine in front of which the user sits, through the terminal: an OSC 52 sequence, which also
// passes through ssh. A terminal does not say whether it has obeyed, and mostly does not give back what it has.

internal import Glibc
internal import Secrets
internal import Texts

/// The clipboard that the controlling terminal has.
public struct TerminalClipboard: ~Copyable {
  /// Terminals drop longer ones: 100,000 characters of base64 are what most take.
  public static let byteCountLimit = 74_994

  private let terminal: Int32
  private let isInTmux: Bool

  /// - Parameters:
  ///   - device: the terminal's path; nil where there is none.
  ///   - environment: the value of a variable; nil where it is not set.
  /// - Throws: ``ClipboardError/noTerminal``, also for one without control sequences.
  public init(_ device: String?, _ environment: (String) -> String?) throws(ClipboardError) {
    guard !["", "dumb"].contains(environment("TERM") ?? "") else { throw .noTerminal }
    guard let device else { throw .noTerminal }
    let opened = unsafe open(device, O_WRONLY | O_NOCTTY | O_CLOEXEC)
    guard opened >= 0 else { throw .noTerminal }
    terminal = opened
    isInTmux = !(environment("TMUX") ?? "").isEmpty
  }

  deinit { close(terminal) }

  /// Puts a text there.
  /// - Throws: ``ClipboardError`` `.tooLong`, `.noTerminal`.
  public borrowing func put(_ text: RawSpan) throws(ClipboardError) {
    guard text.byteCount <= Self.byteCountLimit else { throw .tooLong(byteCountLimit: Self.byteCountLimit) }
    let sequence = Self.sequence(text, isInTmux: isInTmux)
    try sequence.withBytes { (bytes) throws(ClipboardError) in
      guard Self.write(bytes, to: terminal) else { throw .noTerminal }
    }
  }

  /// Takes away whatever is there: it cannot be asked what that is. A blank first, because not every terminal knows how to
  /// clear.
  public borrowing func clear() {
    for what in ["IA==", "!"] {
      let bytes = Self.framed(Array(what.utf8), isInTmux: isInTmux)
      _ = Self.write(bytes.rawSpan, to: terminal)
    }
  }

  /// What is written for a text, in locked memory.
  static func sequence(_ text: RawSpan, isInTmux: Bool) -> SecretBytes {
    let count = Base64.characterCount(byteCount: text.byteCount)
    let (start, end) = frame(isInTmux: isInTmux)
    return SecretBytes(byteCount: start.count + count + end.count) { bytes in
      for (offset, byte) in start.enumerated() {
        bytes.storeBytes(of: byte, toByteOffset: offset, as: UInt8.self)
      }
      Base64.encode(text, into: &bytes, at: start.count)
      for (offset, byte) in end.enumerated() {
        bytes.storeBytes(of: byte, toByteOffset: start.count + count + offset, as: UInt8.self)
      }
    }
  }

  private static func framed(_ base64: [UInt8], isInTmux: Bool) -> [UInt8] {
    let (start, end) = frame(isInTmux: isInTmux)
    return start + base64 + end
  }

  /// tmux passes a sequence on, unread, inside of one of its own, in which every escape is doubled. It would keep what it
  /// read in a buffer of its own.
  private static func frame(isInTmux: Bool) -> (start: [UInt8], end: [UInt8]) {
    isInTmux
      ? (Array("\u{1B}Ptmux;\u{1B}\u{1B}]52;c;".utf8), Array("\u{7}\u{1B}\\".utf8))
      : (Array("\u{1B}]52;c;".utf8), Array("\u{7}".utf8))
  }

  private static func write(_ bytes: RawSpan, to terminal: Int32) -> Bool {
    unsafe bytes.withUnsafeBytes { bytes in
      var written = 0
      while written < bytes.count {
        let count = unsafe Glibc.write(terminal, bytes.baseAddress! + written, bytes.count - written)
        if count > 0 { written += count } else if count < 0 && errno != EINTR { return false }
      }
      return true
    }
  }
}
