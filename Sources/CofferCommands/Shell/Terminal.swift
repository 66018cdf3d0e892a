// SPDX-License-Identifier: Apache-2.0
//
// Writing to the person or the program at the other end. Content goes to standard output, everything
// else to standard error. What comes out of a message is untrusted: on a terminal, control characters in
// it are shown as «�» and never obeyed.

internal import CSystem
internal import Glibc
internal import Synchronization

enum Terminal {
  static let isOutputTerminal = isatty(STDOUT_FILENO) == 1
  static let isErrorTerminal = isatty(STDERR_FILENO) == 1

  /// Columns of standard output, or of a page where it is no terminal.
  static var columns: Int {
    let columns = Int(coffer_terminal_columns(STDOUT_FILENO))
    return columns > 20 ? columns : 100
  }

  /// Whether colours are welcome on a descriptor.
  static func wantsColour(_ isTerminal: Bool) -> Bool {
    isTerminal && variable("NO_COLOR").isEmpty && !isDumb
  }

  /// Whether the terminal knows no escape sequences.
  static var isDumb: Bool { ["", "dumb"].contains(variable("TERM")) }

  private static func variable(_ name: String) -> String {
    unsafe getenv(name).map { unsafe String(cString: $0) } ?? ""
  }

  /// Writes a line to standard output. On a pipe, lines are collected until ``flush()``.
  static func print(_ line: String = "") {
    let isFull = lines.withLock { lines in
      lines += line.utf8
      lines.append(0x0A)
      return lines.count >= linesByteLimit
    }
    if isFull || isOutputTerminal { flush() }
  }

  /// Writes the lines that were collected.
  static func flush() {
    let collected = lines.withLock { lines in
      defer { lines.removeAll(keepingCapacity: true) }
      return lines
    }
    unsafe writeAll(collected.span.bytes, to: STDOUT_FILENO)
  }

  /// A long list would otherwise spend more time in write(2) than in decryption.
  private static let linesByteLimit = 1 << 16
  private static let lines = Mutex<[UInt8]>([])

  /// Writes a line to standard error.
  static func note(_ line: String) { write(Array((line + "\n").utf8), to: STDERR_FILENO) }

  /// Writes bytes to a descriptor; what cannot be written ends the process as it would any other.
  static func write(_ bytes: [UInt8], to descriptor: Int32) { unsafe write(bytes.span.bytes, to: descriptor) }

  /// Writes bytes to a descriptor from where they lie, behind the lines that were collected.
  static func write(_ bytes: RawSpan, to descriptor: Int32) {
    flush()
    writeAll(bytes, to: descriptor)
  }

  private static func writeAll(_ bytes: RawSpan, to descriptor: Int32) {
    unsafe bytes.withUnsafeBytes { bytes in
      var written = 0
      while written < bytes.count {
        let count = unsafe Glibc.write(descriptor, bytes.baseAddress! + written, bytes.count - written)
        if count > 0 {
          written += count
        } else if errno != EINTR {
          giveUp(errno, on: descriptor)
        }
      }
    }
  }

  /// Nobody reads any more, or the disk behind a redirection is full.
  private static func giveUp(_ code: Int32, on descriptor: Int32) -> Never {
    if code == EPIPE {
      // As if the signal had not been ignored by whoever started us.
      signal(SIGPIPE, SIG_DFL)
      raise(SIGPIPE)
    }
    if code == ENOSPC, descriptor != STDERR_FILENO {
      note("coffer: the output cannot be written: the disk is full")
    }
    exit(code == ENOSPC ? ExitCode.noRoom.rawValue : ExitCode.bug.rawValue)
  }

  /// Text of a message, fit for a terminal: no control character but line feeds and tabs, and nothing
  /// that turns the direction of writing round.
  static func sanitized(_ text: String, lineFeeds: Bool = false) -> String {
    String(
      String.UnicodeScalarView(
        text.unicodeScalars.map { scalar in
          switch scalar.value {
          case 0x0A where lineFeeds, 0x09 where lineFeeds: scalar
          default: isUnfit(scalar) ? "\u{FFFD}" : scalar
          }
        }))
  }

  /// Controls, line separators, and what changes the direction of writing.
  static func isUnfit(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0..<0x20, 0x7F..<0xA0, 0x061C, 0x200E...0x200F, 0x2028...0x202E, 0x2066...0x2069: true
    default: false
    }
  }

  static func bold(_ text: String) -> String {
    wantsColour(isOutputTerminal) ? "\u{1B}[1m\(text)\u{1B}[0m" : text
  }

  static func dim(_ text: String) -> String {
    wantsColour(isOutputTerminal) ? "\u{1B}[2m\(text)\u{1B}[0m" : text
  }
}
