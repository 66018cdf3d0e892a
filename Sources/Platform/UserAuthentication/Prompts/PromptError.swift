// SPDX-License-Identifier: Apache-2.0

/// Why a prompt brought no answer. It never tells what was typed.
@nonexhaustive
public enum PromptError: Error, Equatable, Sendable {
  /// The person gave up: Control-C, Control-D on an empty line, or the window's cancel button.
  case cancelled
  /// There is no terminal to ask on, or it went away.
  case noTerminal
  /// The terminal is there but a system call on it failed.
  case terminalFailed(errno: Int32)
  /// The answer had more bytes than the request allows.
  case tooLong(byteCountLimit: Int)
  /// The pinentry program does not exist.
  case promptProgramMissing
  /// The pinentry program could not be run, ended early, or broke the protocol.
  case promptProgramFailed
  /// Nobody answered in time, or the pinentry program hangs; it has been ended.
  case timedOut
}
