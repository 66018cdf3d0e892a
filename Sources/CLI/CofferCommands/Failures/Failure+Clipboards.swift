// SPDX-License-Identifier: Apache-2.0

internal import Clipboards

extension Failure {
  init(clipboard error: ClipboardError) {
    let hint = "'coffer message show' shows the text"
    switch error {
    case .notTaken(let program):
      self.init(
        .noHardware, "no_clipboard", "\(program) did not take the text, so nothing was copied", hint: hint)
    case .notAnswering(let program):
      self.init(
        .noHardware, "no_clipboard", "\(program) does not answer, so nothing was copied", hint: hint)
    case .noTerminal:
      self.init(
        .noHardware, "no_clipboard",
        "there is no clipboard: no desktop with wl-copy, xclip or xsel, and no terminal that could pass it on",
        hint: hint)
    case .tooLong(let limit):
      self.init(
        .refused, "too_long_for_terminal",
        "a terminal passes \(ByteCount.text(limit)) on at most, and the text is longer",
        hint: "with wl-copy, xclip or xsel there is no limit")
    }
  }
}
