// SPDX-License-Identifier: Apache-2.0
//
// A text that must not get to a disk, in the user's own editor. Editors write copies: swap files, backups, undo files,
// histories. Therefore the editor runs below a process of its own, this program started again, which first gives up
// every file that is on a disk (`coffer_enter_editor_sandbox`). Only then does it get the text.

internal import Foundation
internal import Glibc
public import Secrets

/// What came of a text that an editor had.
public enum EditedText: ~Copyable, Sendable {
  case changed(SecretBytes)
  case unchanged
}

/// Runs the user's editor on a text in memory.
///
/// A call blocks until the editor has ended. Until then this process does not hear Control-C: it is meant for the
/// editor. Call it from one thread at a time, and from one that lives until the call returns.
public struct TextEditor: Sendable {
  /// The command line of the editor, for the shell.
  public let program: String
  private let executable: String
  private let environment: [String: String]

  /// Finds the editor: VISUAL, else EDITOR, else the first that is installed of sensible-editor, nano and vi.
  ///
  /// - Parameters:
  ///   - executable: the path of a program that calls ``EditorWorker/run(_:)``; this program itself, unless told.
  ///   - environment: of the editor; this process's, unless told.
  /// - Throws: ``EditorError/noEditor``.
  public init(
    executable: String = "/proc/self/exe",
    environment: [String: String]? = nil
  ) throws(EditorError) {
    let environment = environment ?? ProcessInfo.processInfo.environment
    let named = ["VISUAL", "EDITOR"].compactMap { environment[$0] }.first { !$0.isEmpty }
    guard let program = named ?? Self.installed(environment["PATH"] ?? "") else { throw .noEditor }
    self.program = program
    self.executable = executable
    self.environment = environment
  }

  private static func installed(_ path: String) -> String? {
    let folders = path.split(separator: ":")
    return ["sensible-editor", "nano", "vi"].first { name in
      folders.contains { unsafe access("\($0)/\(name)", X_OK) == 0 }
    }
  }

  /// Has the text edited.
  ///
  /// - Parameters:
  ///   - text: stays as it is.
  ///   - ending: of the file's name, such as "md", from which editors know the kind of text.
  ///   - byteCountLimit: how many bytes the edited text may have.
  /// - Throws: ``EditorError``; then nothing of the edited text is left.
  public func edit(
    _ text: RawSpan, ending: String, byteCountLimit: Int
  ) throws(EditorError) -> EditedText {
    precondition(
      !ending.isEmpty && ending.utf8.allSatisfy { $0 < 0x80 && Character(UnicodeScalar($0)).isLetter },
      "an ending has letters only")
    precondition(
      text.byteCount <= byteCountLimit && byteCountLimit < UInt32.max, "a text is within its limit")
    var terminal = EditorTerminal.current()
    let keys = TerminalKeys.ignored()
    defer { keys.restore() }
    guard let process = EditorProcess(executable, [EditorWorker.argument, ending, program], variables) else {
      throw .cannotStart
    }
    let answer: EditorAnswer
    do {
      answer = try process.edit(text, byteCountLimit: byteCountLimit)
    } catch {
      process.end(killing: error == .interrupted)
      terminal?.restore(editorWasKilled: error.saysKilled)
      throw named(error)
    }
    process.end(killing: false)
    terminal?.restore(editorWasKilled: false)
    // Not in constant time: both are the user's own, and nobody else can ask for it.
    let isSame = answer.text.withBytes { edited in constantTimeEqual(edited, text) }
    guard isSame else { return .changed(answer.consumeText()) }
    if answer.didNotWait { throw .didNotWait }
    return .unchanged
  }

  /// The shell's own words for a program that it did not find, or could not run.
  private func named(_ error: EditorError) -> EditorError {
    error == .failed(status: 127) || error == .failed(status: 126) ? .notFound(program: program) : error
  }

  /// The editor's variables. Temporary files go where it can write; and the process above it, which holds the text,
  /// must not start a backtrace.
  private var variables: [String] {
    let ours = ["TMPDIR", "XDG_STATE_HOME", "XDG_CACHE_HOME", "EMACSNATIVELOADPATH"].map { ($0, "/tmp") }
    return environment.merging(ours + [("SWIFT_BACKTRACE", "enable=no")]) { _, ours in ours }
      .map { "\($0)=\($1)" }
  }
}

/// Control-C and Control-\ go to every process of the foreground; here they are ignored as long as an editor has it.
private struct TerminalKeys {
  private let former: [(signal: Int32, action: sigaction)]

  static func ignored() -> TerminalKeys {
    TerminalKeys(
      former: [SIGINT, SIGQUIT].map { number in
        var (ignoring, former) = (sigaction(), sigaction())
        unsafe ignoring.__sigaction_handler.sa_handler = SIG_IGN
        unsafe sigaction(number, &ignoring, &former)
        return (number, former)
      })
  }

  func restore() {
    for (number, action) in former {
      var action = action
      unsafe sigaction(number, &action, nil)
    }
  }
}
