// SPDX-License-Identifier: Apache-2.0
//
// One run of the built command: by posix_spawn, with standard streams from and to files, so that what was
// written before a death is all there and nobody has to read along. A run that hangs is ended.

import Dispatch
import Foundation
import Glibc
import Synchronization

/// How a run of `coffer` went.
struct CofferRun: CustomStringConvertible {
  enum End: Equatable {
    case exited(Int32)
    /// By a signal: the one that was sent, or a crash.
    case killed(Int32)
    /// Longer than ``CofferRun/limitSeconds``.
    case hung
  }

  let arguments: [String]
  let end: End
  let output: Data
  let errors: String
  /// The largest resident set, as the kernel last told it while the process ran; 0 when nobody looked.
  let peakKiB: Int
  let seconds: Double

  /// Ends what hangs, and judges nothing: no run takes as long, whatever else the machine does.
  static let limitSeconds = 500.0

  /// COFFER_BINARY, else the one built beside these tests.
  static let binary: String =
    ProcessInfo.processInfo.environment["COFFER_BINARY"]
    ?? URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().appending(path: "coffer").path

  var isDone: Bool { end == .exited(0) }
  var lines: [String] { String(decoding: output, as: UTF8.self).split(separator: "\n").map(String.init) }

  var description: String {
    "coffer \(arguments.joined(separator: " ")): \(end), \(output.count) bytes of output, '\(errors)'"
  }

  /// Starts `coffer`; ``Running/wait(killAfter:limit:)`` ends it.
  /// - Parameters:
  ///   - streams: a folder of this run's own for what it writes.
  ///   - environment: settings beside the usual ones.
  ///   - prefix: a program that runs it, with its arguments.
  static func start(
    _ arguments: [String], streams: String, environment: [String], prefix: [String] = []
  ) throws -> Running {
    let output = streams + "/output"
    let errors = streams + "/errors"
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    posix_spawn_file_actions_addopen(&actions, 2, errors, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    var words = (prefix + [binary] + arguments).map { strdup($0) } + [nil]
    var settings = (Self.environment + environment).map { strdup($0) } + [nil]
    defer { (words + settings).forEach { free($0) } }
    var process: pid_t = 0
    let start = ContinuousClock.now
    let failure = posix_spawn(&process, prefix.first ?? binary, &actions, nil, &words, &settings)
    guard failure == 0 else { throw POSIXError(POSIXErrorCode(rawValue: failure) ?? .EINVAL) }
    return Running(process: process, arguments: arguments, streams: streams, start: start)
  }

  static let environment: [String] = {
    let own = ProcessInfo.processInfo.environment
    var settings = ["PATH=/usr/bin:/bin", "LC_ALL=C.UTF-8", "TZ=UTC", "TERM=dumb", "HOME=/nonexistent"]
    // Thousands of runs with a profile each would be more than llvm-profdata takes.
    settings.append("LLVM_PROFILE_FILE=/dev/null")
    if let path = own["LD_LIBRARY_PATH"] { settings.append("LD_LIBRARY_PATH=" + path) }
    return settings
  }()
}

/// A run that is under way.
struct Running {
  let process: pid_t
  let arguments: [String]
  let streams: String
  let start: ContinuousClock.Instant

  private static let watch = DispatchQueue(label: "crash-tests.watch")

  /// Waits for the end.
  ///
  /// - Parameters:
  ///   - killAfter: seconds after which the process gets SIGKILL, if it has not ended by then.
  ///   - limit: seconds after which it counts as hanging.
  ///   - looksAtMemory: whether to follow the largest resident set. What the kernel reports at the end of a
  ///     spawned process would include this one's.
  func wait(
    killAfter: Double? = nil, limit: Double = CofferRun.limitSeconds, looksAtMemory: Bool = false
  ) throws -> CofferRun {
    let isOver = Mutex(false)
    let process = process
    let timer = DispatchSource.makeTimerSource(flags: .strict, queue: Self.watch)
    timer.schedule(deadline: .now() + (killAfter ?? limit), leeway: .nanoseconds(0))
    timer.setEventHandler { isOver.withLock { if !$0 { _ = kill(process, SIGKILL) } } }
    timer.activate()
    let peakKiB = Mutex(0)
    let look = looksAtMemory ? DispatchSource.makeTimerSource(queue: Self.watch) : nil
    look?.schedule(deadline: .now(), repeating: .milliseconds(5))
    look?.setEventHandler { peakKiB.withLock { $0 = max($0, Self.peakKiB(of: process)) } }
    look?.activate()
    defer { look?.cancel() }
    // The process is reaped only after the timer can no longer hit another one of its number.
    var information = siginfo_t()
    while waitid(P_PID, id_t(process), &information, WEXITED | WNOWAIT) != 0, errno == EINTR {}
    isOver.withLock { $0 = true }
    timer.cancel()
    let duration = ContinuousClock.now - start
    var status: Int32 = 0
    while waitpid(process, &status, 0) < 0, errno == EINTR {}
    let seconds = Double(duration.components.attoseconds) / 1e18 + Double(duration.components.seconds)
    let signal = status & 0x7F
    let end: CofferRun.End =
      signal == 0
      ? .exited(status >> 8 & 0xFF)
      : signal == SIGKILL && killAfter == nil && seconds >= limit ? .hung : .killed(signal)
    return CofferRun(
      arguments: arguments, end: end,
      output: try Data(contentsOf: URL(filePath: streams + "/output")),
      errors: try String(contentsOfFile: streams + "/errors", encoding: .utf8),
      peakKiB: peakKiB.withLock { $0 }, seconds: seconds)
  }

  /// The high-water mark of a process's resident set; 0 when it has none any more.
  private static func peakKiB(of process: pid_t) -> Int {
    let status = (try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)) ?? ""
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
    return line?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
  }
}
