// SPDX-License-Identifier: Apache-2.0
//
// Whole processes: wall time from start to end, and the largest resident set, as the kernel counts them.

import Foundation
import Glibc

struct Command {
  struct Run {
    var seconds: Double
    var peakKiB: Int
    var exitCode: Int32
  }

  struct CouldNotStart: Error {}

  /// Runs a program, its output thrown away.
  static func run(_ arguments: [String], environment: [String: String] = [:]) throws -> Run {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
    let variables = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    var argv: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) } + [nil]
    var envp: [UnsafeMutablePointer<CChar>?] = variables.map { strdup("\($0)=\($1)") } + [nil]
    defer { (argv + envp).forEach { free($0) } }
    var child = pid_t()
    let start = ContinuousClock.now
    guard posix_spawnp(&child, arguments[0], &actions, nil, &argv, &envp) == 0 else { throw CouldNotStart() }
    var status: Int32 = 0
    var usage = rusage()
    guard wait4(child, &status, 0, &usage) == child else { throw CouldNotStart() }
    let seconds = (ContinuousClock.now - start) / .seconds(1)
    return Run(seconds: seconds, peakKiB: usage.ru_maxrss, exitCode: status >> 8 & 0xFF)
  }

  /// Runs a program that must succeed, and gives its wall time.
  static func time(_ arguments: [String], environment: [String: String] = [:]) throws -> Double {
    let run = try run(arguments, environment: environment)
    guard run.exitCode == 0 else { throw CouldNotStart() }
    return run.seconds
  }
}
