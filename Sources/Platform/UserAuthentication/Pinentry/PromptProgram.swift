// SPDX-License-Identifier: Apache-2.0
//
// Running a prompt program. Its standard input and output are one socket and not two pipes, since a
// write to a socket can be told not to raise SIGPIPE when the program has died.

internal import CSystem
internal import Glibc

/// A running program, ended and collected when this value goes: it leaves no zombie, and a program that does
/// not end is killed soon.
struct PromptProgram: ~Copyable {
  /// Our end.
  let socket: Int32
  /// Set when the program has been told to end. Otherwise it may be waiting for the user, and has to be
  /// terminated before it can be collected.
  var endsByItself = false
  private let process: pid_t

  /// How long it may take to end once it is told to.
  private static let endMilliseconds: Int32 = 2_000

  /// Starts `program`, a path or a name in `PATH`, with these variables.
  init(_ program: String, _ variables: [String: String]) throws(PromptError) {
    guard let path = Self.path(program, variables["PATH"] ?? "/bin:/usr/bin") else {
      throw .promptProgramMissing
    }
    var ends: [Int32] = [-1, -1]
    let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    guard unsafe socketpair(AF_UNIX, kind, 0, &ends) == 0 else { throw .promptProgramFailed }
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    unsafe posix_spawn_file_actions_adddup2(&actions, ends[1], STDIN_FILENO)
    unsafe posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO)
    // The program's error messages would appear in the middle of our own output.
    unsafe posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)
    var process = pid_t()
    var arguments = unsafe [strdup(program), nil]
    var environment = unsafe variables.map { unsafe strdup("\($0)=\($1)") } + [nil]
    let failure = unsafe posix_spawn(&process, path, &actions, nil, &arguments, &environment)
    unsafe (arguments + environment).forEach { unsafe free($0) }
    unsafe posix_spawn_file_actions_destroy(&actions)
    close(ends[1])
    guard failure == 0 else {
      close(ends[0])
      throw failure == ENOENT ? .promptProgramMissing : .promptProgramFailed
    }
    self.process = process
    socket = ends[0]
  }

  /// Where a program is; nil when it is nowhere.
  private static func path(_ program: String, _ folders: String) -> String? {
    if program.contains("/") { return program }
    let paths = folders.split(separator: ":").map { "\($0)/\(program)" }
    return paths.first { unsafe access($0, X_OK) == 0 } ?? paths.first { unsafe access($0, F_OK) == 0 }
  }

  deinit {
    close(socket)
    if !endsByItself { kill(process, SIGTERM) }
    var ended = pollfd(fd: coffer_open_process(process), events: Int16(POLLIN), revents: 0)
    if unsafe poll(&ended, 1, Self.endMilliseconds) < 1 { kill(process, SIGKILL) }
    if ended.fd >= 0 { close(ended.fd) }
    var status: Int32 = 0
    while unsafe waitpid(process, &status, 0) < 0 && errno == EINTR {}
  }
}
