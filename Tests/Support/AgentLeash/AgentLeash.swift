// SPDX-License-Identifier: Apache-2.0
//
// Agents that tests start live apart from whoever started them, as they should. This ends those of the
// coffers below one folder: when it is let go of, and when the test process ends, however it ends. A shell
// reads a socket whose other end only this process has; at its end it looks through the processes.

import Foundation

/// Ends the agents of all coffers below a folder.
public final class AgentLeash: @unchecked Sendable {
  private let shell = Process()
  private let line: Int32

  /// - Parameter folder: has to be there, and is of this test alone.
  public init(folder: String) throws {
    guard let real = realpath(folder, nil) else { throw POSIXError(.ENOENT) }
    defer { free(real) }
    var ends: [Int32] = [-1, -1]
    let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { throw POSIXError(.EMFILE) }
    line = ends[1]
    let input = FileHandle(fileDescriptor: ends[0], closeOnDealloc: true)
    // An agent is `coffer agent --home HOME …`. Twice: a command that still runs may start one.
    let script = """
      trap '' HUP INT TERM
      cat >/dev/null
      for pass in 1 2; do
        for file in /proc/[0-9]*/cmdline; do
          mapfile -d '' -t words 2>/dev/null <"$file" || continue
          [[ ${words[1]} == agent && ${words[3]} == "$1"/* ]] || continue
          process=${file#/proc/}
          kill -KILL "${process%/cmdline}"
        done
      done 2>/dev/null
      """
    shell.executableURL = URL(filePath: "/bin/bash")
    shell.arguments = ["-c", script, "leash", String(cString: real)]
    shell.standardInput = input
    shell.standardOutput = FileHandle.nullDevice
    shell.standardError = FileHandle.nullDevice
    try shell.run()
  }

  deinit {
    close(line)
    shell.waitUntilExit()
  }
}
