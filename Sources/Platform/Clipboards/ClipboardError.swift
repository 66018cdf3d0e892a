// SPDX-License-Identifier: Apache-2.0

/// Why a text is not on the clipboard.
public enum ClipboardError: Error, Equatable, Sendable {
  /// The program of the clipboard could not be started, or ended without taking the text.
  case notTaken(program: String)
  /// The program did not read the text within ten seconds.
  case notAnswering(program: String)
  /// There is no terminal that could pass the text on.
  case noTerminal
  /// Terminals drop longer ones, most of them without a word.
  case tooLong(byteCountLimit: Int)
}
