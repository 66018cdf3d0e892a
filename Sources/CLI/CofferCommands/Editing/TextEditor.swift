// SPDX-License-Identifier: Apache-2.0
//
// The user's editor on a text that never touches a disk: starts an ``EditorSession``, hands it the text and takes the
// edited one back, over a socket.

internal import CSystem
internal import Glibc
internal import MessageFormats
internal import Secrets

enum TextEditor {
  private static let executable = "/proc/self/exe"

  /// Has the user edit a text.
  /// - Parameter ending: of the file's name, so that the editor knows the kind of text.
  /// - Returns: nil when it was not changed.
  /// - Throws: `Failure`: `no_editor`, `editor_failed`, `message_too_large`, `no_private_memory`.
  static func edit(_ text: borrowing SecretBytes, ending: String) throws -> SecretBytes? {
    var ends: [Int32] = [-1, -1]
    let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    guard unsafe socketpair(AF_UNIX, kind, 0, &ends) == 0 else { throw impossible(errno) }
    defer { close(ends[0]) }
    // Control-C belongs to the editor; and whatever it does to the terminal is undone.
    let interrupt = signal(SIGINT, SIG_IGN)
    let quit = signal(SIGQUIT, SIG_IGN)
    var settings = termios()
    let hasTerminal = unsafe tcgetattr(STDIN_FILENO, &settings) == 0
    let process = start(ending, ends[1])
    close(ends[1])
    defer {
      if hasTerminal { unsafe _ = tcsetattr(STDIN_FILENO, TCSADRAIN, &settings) }
      _ = signal(SIGINT, interrupt)
      _ = signal(SIGQUIT, quit)
    }
    guard let process else { throw impossible(errno) }
    defer { collect(process) }
    send(text, ends[0])
    return try answer(ends[0])
  }

  /// What does not arrive, because the session has ended, it does not miss: its answer says why.
  private static func send(_ text: borrowing SecretBytes, _ socket: Int32) {
    text.withBytes { bytes in
      unsafe bytes.withUnsafeBytes { bytes in
        var sent = 0
        while sent < bytes.count {
          let count = unsafe Glibc.send(
            socket, bytes.baseAddress! + sent, bytes.count - sent, Int32(MSG_NOSIGNAL))
          if count < 0, errno != EINTR { return }
          sent += max(count, 0)
        }
      }
    }
    shutdown(socket, Int32(SHUT_WR))
  }

  private static func answer(_ socket: Int32) throws -> SecretBytes? {
    var header = [UInt8](repeating: 0, count: EditorAnswer.headerByteCount)
    var received = 0
    while received < header.count {
      let count = unsafe header.withUnsafeMutableBytes {
        unsafe read(socket, $0.baseAddress! + received, $0.count - received)
      }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw ended("the editor was killed") }
      received += count
    }
    guard let (outcome, detail) = EditorAnswer.read(header) else { throw impossible(0) }
    switch outcome {
    case .edited:
      do throws(SecretReadError) {
        return try SecretBytes.read(fromDescriptor: socket, byteCountLimit: MessageLimits.messageByteCount)
      } catch {
        throw ended("the edited text did not arrive")
      }
    case .unchanged: return nil
    case .failed: throw ended("the editor ended with status \(detail)")
    case .gone: throw ended("the file is not where the editor found it")
    case .tooLarge:
      throw Failure(
        .refused, "message_too_large",
        "a message may be at most \(MessageLimits.messageByteCount >> 20) MiB; nothing was changed")
    case .noEditor:
      throw Failure(
        .noHardware, "no_editor", "there is no editor here", hint: "install one, or name yours in EDITOR")
    case .impossible: throw impossible(detail)
    }
  }

  private static func ended(_ how: String) -> Failure {
    Failure(.refused, "editor_failed", "\(how); nothing was changed")
  }

  private static func impossible(_ detail: Int32) -> Failure {
    Failure(
      .noHardware, "no_private_memory",
      "this system gives no files that are in memory alone (\(detail >> 16), \(detail & 0xFFFF))",
      hint: "allow user namespaces, or change the text elsewhere and store it with 'coffer message add'")
  }

  private static func collect(_ process: pid_t) {
    var status: Int32 = 0
    while unsafe waitpid(process, &status, 0) < 0 && errno == EINTR {}
  }

  /// Starts the session with the caller's terminal and environment, and `end` as its socket.
  private static func start(_ ending: String, _ end: Int32) -> pid_t? {
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    // A copy under the same number would keep the mark that closes it.
    let spare = fcntl(end, F_DUPFD_CLOEXEC, EditorSession.socket + 1)
    guard spare >= 0 else { return nil }
    defer { close(spare) }
    unsafe posix_spawn_file_actions_adddup2(&actions, spare, EditorSession.socket)
    guard unsafe coffer_close_from(&actions, EditorSession.socket + 1) == 0 else { return nil }
    let arguments = [executable, EditorSession.argument, ending]
    var pointers = unsafe arguments.map { unsafe strdup($0) } + [nil]
    defer { unsafe pointers.forEach { unsafe free($0) } }
    var process = pid_t()
    let failure = unsafe posix_spawn(&process, executable, &actions, nil, &pointers, environ)
    errno = failure
    return failure == 0 ? process : nil
  }
}
