// SPDX-License-Identifier: Apache-2.0

/// One row on a terminal while a device waits for a touch. Without a terminal it is silent.
public struct TerminalTouchNotice: Sendable {
  private let notice: any FingerprintNotice

  /// Shows the row until ``end()``.
  /// - Parameters:
  ///   - terminal: where it is shown.
  ///   - words: what to do, such as "touch the security key".
  ///   - cancel: called in another thread when Control-C is typed.
  public static func begin(
    on terminal: PromptTerminal, _ words: String, cancel: @escaping @Sendable () -> Void
  ) -> TerminalTouchNotice {
    begin(path: terminal.path, style: terminal.style, words, cancel: cancel)
  }

  /// Speaks on the terminal at `path`: for tests.
  static func begin(
    path: String, style: TerminalStyle, _ words: String, cancel: @escaping @Sendable () -> Void
  ) -> TerminalTouchNotice {
    let shown = TerminalNotice.started(path: path, style: style, words, fallbackTitle: "") { _ in cancel() }
    return TerminalTouchNotice(notice: shown ?? SilentFingerprintGuide.silence)
  }

  /// Takes the row away. When this returns, the terminal is free for a prompt.
  public func end() { notice.end() }
}
