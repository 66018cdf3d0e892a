// SPDX-License-Identifier: Apache-2.0

internal import Editing

extension Failure {
  init(editing error: EditorError) {
    let unchanged = "the message was not changed"
    switch error {
    case .noEditor:
      self.init(
        .noHardware, "no_editor", "no editor is installed here, or not where it is looked for",
        hint: "EDITOR names one, such as EDITOR=vim")
    case .notFound(let program):
      self.init(
        .noHardware, "no_editor", "the editor '\(program)' is not installed, or cannot be run",
        hint: "VISUAL or EDITOR names it")
    case .failed(let status):
      self.init(
        .refused, "editor_failed", "the editor ended with the status \(status), so \(unchanged)")
    case .didNotWait:
      self.init(
        .refused, "editor_did_not_wait",
        "the editor ended without reading the message, or went on in the background; \(unchanged)",
        hint:
          "an editor must wait, in a process of its own: 'vim', 'gvim -f', 'emacs -nw', but not 'emacsclient' or 'code'"
      )
    case .fileMissing:
      self.init(.refused, "editor_failed", "the editor removed the file, so \(unchanged)")
    case .tooLarge(let limit):
      self.init(
        .refused, "message_too_large", "a message may be at most \(limit >> 20) MiB, so \(unchanged)")
    case .notIsolated(let step, let errno):
      self.init(
        .noHardware, "editor_not_isolated",
        "this system does not let an editor be kept away from disks (\(step), error \(errno)), so none was started",
        hint: "user namespaces must be allowed, and Linux 5.12 or later")
    case .cannotStart, .interrupted:
      self.init(
        .noHardware, "editor_ended",
        "the process that runs the editor could not be started, or has ended; \(unchanged)")
    }
  }
}
