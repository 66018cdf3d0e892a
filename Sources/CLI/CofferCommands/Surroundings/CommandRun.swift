// SPDX-License-Identifier: Apache-2.0
//
// One run of a command line: what it was given, and what becomes of its output. Several can go on in one process.

internal import CSystem
internal import Glibc
internal import Synchronization

/// A run. Everything in it ends with it.
final class CommandRun: Sendable {
  let environment: RunEnvironment
  /// Whether people read standard output, and standard error.
  let isOutputTerminal: Bool
  let isErrorTerminal: Bool
  /// Lines of standard output that are not written yet.
  let lines = Mutex<[UInt8]>([])
  /// The output that may go through the pager.
  let paging = Mutex<PagedOutput?>(nil)
  /// Why output could not be written, as the system says; 0 when all of it could.
  let lostOutput = Mutex<Int32>(0)
  /// The bar of the work under way. Threads that wait for a service draw it, too.
  let barOfWork = Mutex<ProgressBar?>(nil)

  var interruption: RunInterruption { environment.interruption }

  init(_ environment: RunEnvironment) {
    self.environment = environment
    isOutputTerminal = isatty(environment.streams.output) == 1
    isErrorTerminal = isatty(environment.streams.error) == 1
  }

  /// The run of the command that runs now.
  static var current: CommandRun { CommandSurroundings.current.run }

  deinit {
    // Of code outside of a run, which has nobody who would write them.
    let rest = lines.withLock { $0 }
    guard !rest.isEmpty else { return }
    _ = unsafe rest.withUnsafeBytes {
      unsafe coffer_write_all(environment.streams.output, $0.baseAddress, $0.count)
    }
  }
}
