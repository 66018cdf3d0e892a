// SPDX-License-Identifier: Apache-2.0

/// Why a subcommand ends, as it is told on standard error.
struct Failure: Error, Equatable {
  let exit: ExitCode
  /// What was wrong: lower case, no full stop, nothing of keys, certificates or messages.
  let message: String
  /// The safe next step.
  let hint: String?
  /// For `--debug`: the engine's own word.
  var detail: String?

  init(_ exit: ExitCode, _ message: String, hint: String? = nil, detail: String? = nil) {
    self.exit = exit
    self.message = message
    self.hint = hint
    self.detail = detail
  }
}
