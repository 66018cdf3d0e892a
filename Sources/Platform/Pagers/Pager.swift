// SPDX-License-Identifier: Apache-2.0
//
// The program that shows a long text by the screen. It gets the text through a pipe, so nothing is written to a file by
// us; less is told to write none either.

internal import CSystem
internal import ChildProcesses
internal import Glibc

/// A pager that is running.
public final class Pager {
  private let process: pid_t
  private var descriptor: Int32
  private let former: [(signal: Int32, action: sigaction)]

  /// Starts the pager that the user has chosen.
  /// - Parameter variables: its environment, which also names it.
  /// - Returns: nil if there is none, or it cannot be started.
  public static func start(_ variables: [String: String]) -> Pager? {
    line(of: { variables[$0] }).flatMap { Pager(line: $0, variables) }
  }

  /// What the shell is to run: `COFFER_PAGER`, else `PAGER`, else less. An empty variable and `cat` mean none, and so
  /// does a program that is not there.
  private static func line(of variable: (String) -> String?) -> String? {
    let own = variable("COFFER_PAGER")
    let line = own ?? variable("PAGER") ?? "less"
    guard let program = line.split(separator: " ").first.map(String.init), line != "cat" else { return nil }
    // Only of a plain word: the shell knows the rest.
    let isPlain = program.utf8.allSatisfy { byte in
      byte == 0x2B || byte == 0x2D || byte == 0x2E || byte == 0x2F || byte == 0x5F || 0x30...0x39 ~= byte
        || 0x41...0x5A ~= byte || 0x61...0x7A ~= byte
    }
    guard isPlain else { return line }
    let folders =
      program.contains("/") ? [""] : (variable("PATH") ?? "").split(separator: ":").map { $0 + "/" }
    return folders.contains { unsafe access($0 + program, X_OK) == 0 } ? line : nil
  }

  /// The variables of the pager: less shows colours, starts no other program, and writes no file: neither its history
  /// nor a log.
  private static func environment(_ own: [String]) -> [String] {
    let replaced = ["LESSSECURE=", "LESSHISTFILE=", "LESSOPEN=", "LESSCLOSE="]
    let kept = own.filter { entry in !replaced.contains { entry.hasPrefix($0) } }
    let options = kept.contains { $0.hasPrefix("LESS=") } ? [] : ["LESS=R"]
    return kept + options + ["LESSSECURE=1", "LESSHISTFILE=-"]
  }

  private init?(line: String, _ variables: [String: String]) {
    var ends: (reading: Int32, writing: Int32) = (-1, -1)
    guard unsafe coffer_pipe(&ends.reading, &ends.writing) == 0 else { return nil }
    defer { close(ends.reading) }
    // A Control-C is the pager's: this process must be there until the terminal is as it was.
    former = [SIGINT, SIGQUIT].map { number in
      var action = sigaction()
      unsafe sigaction(number, nil, &action)
      signal(number, SIG_IGN)
      return (number, action)
    }
    let process = ChildProcess.start(
      "/bin/sh", ["sh", "-c", line], environment: Self.environment(variables.map { "\($0)=\($1)" }),
      input: ends.reading)
    self.process = process ?? 0
    descriptor = ends.writing
    guard process != nil else {
      close(descriptor)
      restoreSignals()
      descriptor = -1
      return nil
    }
  }

  /// Writes a piece of the text; waits while the pager has enough.
  /// - Returns: whether the pager wants more; not once its user has left it.
  public func write(_ bytes: RawSpan) -> Bool {
    let handler = signal(SIGPIPE, SIG_IGN)
    defer { signal(SIGPIPE, handler) }
    return unsafe bytes.withUnsafeBytes {
      unsafe coffer_write_all(descriptor, $0.baseAddress, $0.count) == 0
    }
  }

  /// Ends the text, and waits until the user leaves the pager.
  public func end() {
    guard descriptor >= 0 else { return }
    close(descriptor)
    descriptor = -1
    var status: Int32 = 0
    while unsafe waitpid(process, &status, 0) < 0 && errno == EINTR {}
    restoreSignals()
  }

  deinit { end() }

  private func restoreSignals() {
    for (number, action) in former {
      var action = action
      unsafe sigaction(number, &action, nil)
    }
  }
}
