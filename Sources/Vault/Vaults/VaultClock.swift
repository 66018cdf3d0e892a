// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Where a vault gets the time from; tests set it.
public struct VaultClock: Sendable {
  /// Seconds since 1970, UTC.
  public var now: @Sendable () -> Int64
  /// Seconds since some moment; never set back, and running on while the machine sleeps.
  public var uptime: @Sendable () -> Int64
  /// Waits for a number of seconds.
  public var pause: @Sendable (Int) -> Void

  public init(
    now: @escaping @Sendable () -> Int64, uptime: @escaping @Sendable () -> Int64,
    pause: @escaping @Sendable (Int) -> Void
  ) {
    self.now = now
    self.uptime = uptime
    self.pause = pause
  }

  /// The system's clocks.
  public static let system = VaultClock(
    now: { seconds(CLOCK_REALTIME) }, uptime: { seconds(CLOCK_BOOTTIME) },
    pause: { sleep(UInt32($0)) })

  private static func seconds(_ clock: clockid_t) -> Int64 {
    var time = timespec()
    unsafe _ = clock_gettime(clock, &time)
    return Int64(time.tv_sec)
  }
}
