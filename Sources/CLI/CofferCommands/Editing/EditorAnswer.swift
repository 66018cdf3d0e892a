// SPDX-License-Identifier: Apache-2.0
//
// What the session of an editor tells the command that started it, over their socket:
//
//   outcome (1) ‖ detail (4, big-endian) ‖ the edited text

internal import Glibc

enum EditorAnswer {
  /// The detail is 0, unless said otherwise.
  enum Outcome: UInt8 {
    case edited = 1
    case unchanged = 2
    /// The editor has ended with a status, which is the detail, or by a signal (128 and its number).
    case failed = 3
    case noEditor = 4
    /// The file is not there any more, or is none.
    case gone = 5
    case tooLarge = 6
    /// There can be no files in memory alone; the detail is a step, 8 bits, and the system's reason.
    case impossible = 7
  }

  static let headerByteCount = 5

  static func header(_ outcome: Outcome, detail: Int32 = 0) -> [UInt8] {
    [outcome.rawValue] + (0..<4).map { UInt8(truncatingIfNeeded: detail >> (24 - 8 * $0)) }
  }

  static func read(_ header: [UInt8]) -> (outcome: Outcome, detail: Int32)? {
    guard header.count == headerByteCount, let outcome = Outcome(rawValue: header[0]) else { return nil }
    return (outcome, header[1...].reduce(0) { $0 << 8 | Int32($1) })
  }
}
