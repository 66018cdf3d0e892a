// SPDX-License-Identifier: Apache-2.0

import Synchronization

@testable import Captures

/// A clock that stands still until it is set.
final class CaptureTestClock: Sendable {
  private let seconds = Mutex<Int64>(1_759_536_000)
  private let chance = Mutex<Double>(0)

  var now: Int64 { seconds.withLock { $0 } }

  func advance(_ count: Int64) { seconds.withLock { $0 += count } }
  func set(jitter: Double) { chance.withLock { $0 = jitter } }

  var clock: CaptureClock {
    CaptureClock(now: { self.now }, jitter: { self.chance.withLock { $0 } })
  }
}
