// SPDX-License-Identifier: Apache-2.0
//
// A program that cannot outlive the test process. It runs in a process group of its own below a shell, and
// the shell reads a socket whose other end only the test process holds: when that closes, however the process
// ended, the shell kills the group. The death signal of Linux would not do: it comes when the *thread* ends.

import Foundation

final class Supervised: Sendable {
  private let shell: pid_t
  private let line: Int32
  private let end: String

  /// - Parameters:
  ///   - input: what the program reads from its standard input.
  ///   - environment: changes to this process's; nil removes.
  ///   - log: gets its output.
  ///   - folder: removed with the program.
  init(
    _ command: [String], input: String, environment: [String: String?], log: String, folder: String?
  ) throws {
    let script = """
      input=$1 folder=$2 end=$3; shift 3
      { printf %s "$input" | "$@"; echo $? >"$end"; } &
      cat >/dev/null
      [ -z "$folder" ] || rm -rf -- "$folder"
      kill -KILL 0
      """
    var ends: [Int32] = [-1, -1]
    let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { throw PosixFailure(number: errno) }
    defer { close(ends[1]) }

    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, ends[1], 0)
    posix_spawn_file_actions_addopen(&actions, 1, log, O_WRONLY | O_CREAT | O_APPEND, 0o600)
    posix_spawn_file_actions_adddup2(&actions, 1, 2)
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    // A group of its own: the keyboard's interrupt does not reach it, the end of the test process does.
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP))
    posix_spawnattr_setpgroup(&attributes, 0)

    var variables = ProcessInfo.processInfo.environment
    for (name, value) in environment { variables[name] = value }
    end = "\(log).\(UUID().uuidString).end"
    let arguments = ["sh", "-c", script, "sh", input, folder ?? "", end] + command
    var argv = arguments.map { strdup($0) } + [nil]
    var envp = variables.map { strdup("\($0)=\($1)") } + [nil]
    defer { for text in argv + envp { free(text) } }
    var pid: pid_t = 0
    let result = posix_spawn(&pid, "/bin/sh", &actions, &attributes, &argv, &envp)
    guard result == 0 else {
      close(ends[0])
      throw PosixFailure(number: result)
    }
    shell = pid
    line = ends[0]
  }

  /// How the program ended by itself, as a shell tells it (134 after SIGABRT); nil while it runs.
  var ownEnd: Int32? {
    (try? String(contentsOfFile: end, encoding: .utf8)).flatMap { Int32($0.dropLast()) }
  }

  /// Kills the program. Once.
  func stop() {
    kill(-shell, SIGKILL)
    var status: Int32 = 0
    while waitpid(shell, &status, 0) < 0 && errno == EINTR {}
    close(line)
  }
}

struct PosixFailure: Error {
  var number: Int32
}
