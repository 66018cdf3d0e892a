// SPDX-License-Identifier: Apache-2.0
//
// Everything that a command reaches outside of itself: where the coffer is, the machine, files, prompts, output. There
// are two kinds: the system's, and the tutorial's, from which nothing leads to the system. A command has no other way
// out; `scripts/check-imports` looks for calls that would be one.

internal import Agent
internal import CofferKit
internal import Glibc
internal import Pagers
internal import Secrets
internal import UserAuthentication

/// What is around a command.
protocol Surroundings: Sendable {
  /// The run that the command belongs to: its environment, its streams and its output.
  var run: CommandRun { get }
  /// Files that the user names.
  var files: any CommandFiles { get }
  /// The terminal to ask on; nil without one.
  var terminal: (any PassphrasePrompt)? { get }
  /// The pinentry program that asks instead of the terminal; nil without one.
  var pinentry: String? { get }
  /// The reader of fingers; nil without one.
  var fingerReader: (any FingerprintReader)? { get }
  /// Whether standard input is typed.
  var isInputTerminal: Bool { get }
  /// Whether people read standard output, and standard error.
  var isOutputTerminal: Bool { get }
  var isErrorTerminal: Bool { get }
  /// Whether what people read may have colours.
  var showsColours: Bool { get }

  /// The directory of the coffer.
  /// - Parameter option: what `--home` says.
  func home(_ option: String?) -> String
  func machine() -> Machine
  /// The coffer before it is opened.
  func locked(home: String, _ machine: Machine, acceptsEarlierState: Bool) throws -> LockedCoffer
  /// The record of exports that are not complete; nil where nothing can be left.
  func unfinishedExports(home: String) -> UnfinishedExports?
  /// The list that this terminal showed last; nil where none can be kept.
  func lastList(_ kind: LastList.Kind, home: String) -> LastList?
  /// Whether this terminal was told of sessions; nil where there are none, or that cannot be noted.
  func sessionHint(home: String) -> GivenHint?
  /// Starts the pager; nil where long output just runs past.
  func pager() -> Pager?
  /// Says that a device waits for a touch. The row is there until the notice ends; nil when nothing waits.
  func touchNotice(
    _ words: String, cancel: @escaping @Sendable () -> Void
  ) -> TerminalTouchNotice?
  /// The texts of the QR codes in a picture, PNG or JPEG.
  func codeTexts(in picture: RawSpan) throws -> [SharedSecretBytes]
  /// Writes to standard output or standard error.
  /// - Returns: 0, or the system's reason why not.
  func write(_ bytes: RawSpan, to descriptor: Int32) -> Int32
}

extension Surroundings {
  /// Calls `body` with these as the surroundings: for what another thread does for a command.
  func here<R>(_ body: () throws -> R) rethrows -> R {
    try CommandSurroundings.$ofRun.withValue(self, operation: body)
  }
}

/// The surroundings of the command that runs now. A thread that a command starts does not inherit them: what it needs of
/// them is taken before.
enum CommandSurroundings {
  @TaskLocal static var ofRun: (any Surroundings)?

  /// Outside of a run, as in tests of parts of commands, those of the system.
  static var current: any Surroundings { ofRun ?? SystemSurroundings(CommandRun(.ofSystem)) }
}
