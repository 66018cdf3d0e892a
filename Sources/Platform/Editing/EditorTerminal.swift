// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The terminal as it was before the editor got it.
///
/// An editor that is killed leaves the terminal without echo, on its second screen, and perhaps in the hands of a
/// process group that is gone.
struct EditorTerminal: ~Copyable {
  private let terminal: Int32
  private let group: pid_t
  private var settings: termios

  private init(terminal: Int32, group: pid_t, settings: termios) {
    self.terminal = terminal
    self.group = group
    self.settings = settings
  }

  /// nil without a terminal, or in the background: then it is not ours to change.
  static func current() -> EditorTerminal? {
    let terminal = unsafe open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC)
    guard terminal >= 0 else { return nil }
    var settings = termios()
    let group = getpgrp()
    guard tcgetpgrp(terminal) == group, unsafe tcgetattr(terminal, &settings) == 0 else {
      close(terminal)
      return nil
    }
    return EditorTerminal(terminal: terminal, group: group, settings: settings)
  }

  deinit { close(terminal) }

  /// - Parameter editorWasKilled: then it has not left its screen.
  mutating func restore(editorWasKilled: Bool) {
    // A change from the background would stop this process, unless it blocks that signal.
    var (stopping, former) = (sigset_t(), sigset_t())
    unsafe sigemptyset(&stopping)
    unsafe sigaddset(&stopping, SIGTTOU)
    unsafe pthread_sigmask(SIG_BLOCK, &stopping, &former)
    defer { unsafe pthread_sigmask(SIG_SETMASK, &former, nil) }
    tcsetpgrp(terminal, group)
    unsafe tcsetattr(terminal, TCSADRAIN, &settings)
    guard editorWasKilled else { return }
    _ = unsafe write(terminal, Self.leaving, Self.leaving.utf8.count)
  }

  /// The first screen (47 as 1047 does not move the cursor), keys and the keypad as usual, no mouse, no marks around
  /// pasted text, a visible cursor, no colour. Terminals ignore what they do not know.
  private static let leaving =
    "\u{1B}[?1047l\u{1B}[?1l\u{1B}>\u{1B}[?1000l\u{1B}[?1002l\u{1B}[?1006l\u{1B}[?2004l\u{1B}[?25h\u{1B}[0m"
}
