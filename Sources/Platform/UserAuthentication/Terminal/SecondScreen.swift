// SPDX-License-Identifier: Apache-2.0
//
// The terminal's second screen, for secrets that the user has to read. They go to the terminal itself and
// nowhere else: standard error may be a file. The text disappears when the screen is left, and it is left on
// every way out, also when a signal ends or stops the process.

internal import Glibc
internal import Secrets

/// The second screen of a terminal, shown until this value is dropped.
///
/// Ask for something (``TerminalPrompt``) while it is shown: signals that come before are held back until
/// then, so that nothing is written to the wrong screen, and act when the prompt has given the terminal back.
/// A terminal with only one screen keeps the text.
public struct SecondScreen: ~Copyable {
  /// Whether the text disappears afterwards. A terminal with only one screen keeps everything: hide secrets
  /// that are typed there.
  public let isForgotten: Bool

  // Dropped in this order: the screen is left before the signals act.
  private let terminal: ShownTerminal
  private let signals: TerminalSignals

  /// Shows it, empty.
  /// - Throws: ``PromptError`` `.noTerminal`, `.terminalFailed`.
  public init(of terminal: PromptTerminal) throws(PromptError) {
    try self.init(path: terminal.path, style: terminal.style)
  }

  /// The screen of the terminal at `path`: for tests.
  init(path: String, style: TerminalStyle) throws(PromptError) {
    let signals = try TerminalSignals()
    let terminal = try ShownTerminal(path: path, hasSecondScreen: style.clearsRows)
    if style.clearsRows { signals.note(screen: terminal.descriptor) }
    isForgotten = style.clearsRows
    self.signals = signals
    self.terminal = terminal
  }

  deinit { signals.note(screen: -1) }

  /// Writes text, and control characters as they are: never pass text from others.
  /// - Throws: ``PromptError`` `.noTerminal`, `.terminalFailed`.
  public borrowing func write(_ text: String) throws(PromptError) {
    let bytes = Array(text.utf8)
    try write(bytes.rawSpan)
  }

  /// Writes a secret without copying it.
  /// - Throws: ``PromptError`` `.noTerminal`, `.terminalFailed`.
  public borrowing func write(_ secret: RawSpan) throws(PromptError) {
    let failure: PromptError? = unsafe secret.withUnsafeBytes { bytes in
      unsafe writeAll(bytes, to: terminal.descriptor)
    }
    if let failure { throw failure }
  }
}

/// An open terminal on its second screen, which is left when this value goes.
private struct ShownTerminal: ~Copyable {
  let descriptor: Int32
  private let hasSecondScreen: Bool

  init(path: String, hasSecondScreen: Bool) throws(PromptError) {
    descriptor = unsafe open(path, O_WRONLY | O_NOCTTY | O_CLOEXEC)
    self.hasSecondScreen = hasSecondScreen
    guard descriptor >= 0 else { throw .noTerminal }
    if hasSecondScreen { ScreenSwitch.enter(descriptor) }
  }

  deinit {
    if hasSecondScreen { ScreenSwitch.leave(descriptor) }
    close(descriptor)
  }
}

/// Writes all of it to a terminal; returns the error, if there is one.
func writeAll(_ bytes: UnsafeRawBufferPointer, to terminal: Int32) -> PromptError? {
  var rest = unsafe bytes[...]
  while unsafe !rest.isEmpty {
    let part = unsafe UnsafeRawBufferPointer(rebasing: rest)
    let written = unsafe Glibc.write(terminal, part.baseAddress, part.count)
    if written >= 0 {
      unsafe rest = rest.dropFirst(written)
    } else if errno != EINTR {
      return errno == EIO ? .noTerminal : .terminalFailed(errno: errno)
    }
  }
  return nil
}
