// SPDX-License-Identifier: Apache-2.0
//
// The terminal that prompts and notices are on, as a value that whoever asks hands over.

/// A terminal to ask on, and what it can do.
public struct PromptTerminal: Sendable {
  let path: String
  let style: TerminalStyle

  /// - Parameters:
  ///   - path: `/dev/tty` is the controlling terminal of the process; nil where there is no terminal: whoever asks then
  ///     gets ``PromptError/noTerminal``.
  ///   - variables: of the environment. `NO_COLOR` and `TERM` decide on colours and redrawing.
  public init(path: String?, variables: [String: String]) {
    // No file has this name.
    self.path = path ?? ""
    style = TerminalStyle(variables)
  }
}
