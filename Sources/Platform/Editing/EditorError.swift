// SPDX-License-Identifier: Apache-2.0
//
// Why a text was not edited. No case contains anything of the text. In each of them the text is as it was.

/// Why there is no edited text.
@nonexhaustive
public enum EditorError: Error, Equatable, Sendable {
  /// Neither VISUAL nor EDITOR is set, and none of the usual editors is installed.
  case noEditor
  /// The editor that VISUAL or EDITOR names is not installed, or cannot be run.
  case notFound(program: String)
  /// The editor ended with a status other than 0; 128 and the signal's number if a signal ended it.
  case failed(status: Int32)
  /// The editor ended without having read the text, or went on in the background. So do programs that hand the file
  /// to another process, which does not see it.
  case didNotWait
  /// The editor removed the file, or left something that is not a file in its place.
  case fileMissing
  /// The edited text has more than `limit` bytes.
  case tooLarge(limit: Int)
  /// The system refused a step that keeps the text away from disks, so no editor was started.
  case notIsolated(EditorIsolationStep, errno: Int32)
  /// The process that runs the editor could not be started.
  case cannotStart
  /// That process ended before the editor did, or could not keep the text.
  case interrupted

  /// Whether the editor had no chance to leave the terminal in order.
  var saysKilled: Bool {
    switch self {
    case .failed(let status): status > 128
    case .interrupted: true
    default: false
    }
  }
}

/// What keeps an editor's files away from disks, step by step. The numbers are those of
/// `coffer_enter_editor_sandbox`.
public enum EditorIsolationStep: Int32, Sendable {
  /// Namespaces for users, mounts and processes.
  case namespaces = 1
  /// The user's own number in the new user namespace.
  case identity = 2
  /// Mounts that others do not see.
  case mounts = 3
  /// File systems that can only be read: Linux 5.12 or later.
  case readOnly = 4
  /// Files in memory that is not swapped.
  case memory = 5
  /// A process that ends with this one, and limits.
  case process = 6
}
