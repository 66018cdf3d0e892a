// SPDX-License-Identifier: Apache-2.0
//
// The agent's sense of time: a clock that goes on while the machine sleeps, and a descriptor that is
// readable once a moment has come. Tests have one that they move by hand.

internal import CSystem
internal import Glibc

/// A clock that can wake a poll.
protocol AgentClock: AnyObject {
  /// Nanoseconds since a fixed start; time asleep counts.
  var now: UInt64 { get }
  /// Readable once the moment set has come.
  var descriptor: Int32 { get }
  /// Sets the moment; nil for none. The descriptor is not readable any more until it has come.
  func wake(at moment: UInt64?)
}

/// `CLOCK_BOOTTIME`.
final class BootClock: AgentClock {
  let descriptor: Int32

  init() throws(AgentError) {
    descriptor = coffer_boot_timer()
    guard descriptor >= 0 else { throw .system(errno) }
  }

  deinit { close(descriptor) }

  var now: UInt64 { coffer_boot_time() }

  func wake(at moment: UInt64?) {
    // A moment of zero would stop the timer.
    coffer_set_boot_timer(descriptor, moment.map { max($0, 1) } ?? 0)
  }
}
