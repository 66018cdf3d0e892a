// SPDX-License-Identifier: Apache-2.0
//
// The person's terminal itself. Secrets that are shown go here and nowhere else: standard error may be a
// file. They stand on the terminal's second screen, which is gone with its contents when it is left.

internal import Glibc
internal import Secrets
internal import UserAuthentication

struct Screen: ~Copyable {
  private let descriptor: Int32

  /// - Throws: `PromptError.noTerminal`.
  init() throws(PromptError) {
    descriptor = unsafe open("/dev/tty", O_WRONLY | O_NOCTTY | O_CLOEXEC)
    guard descriptor >= 0 else { throw .noTerminal }
    if !Terminal.isDumb { write("\u{1B}[?1049h\u{1B}[2J\u{1B}[H") }
  }

  deinit {
    if !Terminal.isDumb { write("\u{1B}[?1049l") }
    close(descriptor)
  }

  borrowing func write(_ text: String) { Terminal.write(Array(text.utf8), to: descriptor) }

  borrowing func write(_ secret: RawSpan) { Terminal.write(secret, to: descriptor) }
}
