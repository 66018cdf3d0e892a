// SPDX-License-Identifier: Apache-2.0
//
// How long tests wait for something that comes. It ends a hang, and decides nothing else: on a machine with ten times as
// much to do, what a test waits for comes ten times later, and the test passes.

import Foundation

/// The limit after which something is taken to hang. What passes never waits for it.
public enum Patience {
  /// For calls that take seconds.
  public static let seconds = 600.0
  /// The same, for calls that take a duration.
  public static let duration = Duration.seconds(600)
  /// The same, for `poll(2)`.
  public static let milliseconds: Int32 = 600_000

  /// Looks again and again until something is so.
  /// - Returns: false when it hangs.
  public static func until(_ isSo: () throws -> Bool) rethrows -> Bool {
    let end = ContinuousClock.now.advanced(by: duration)
    while try !isSo() {
      guard ContinuousClock.now < end else { return false }
      usleep(1_000)
    }
    return true
  }
}
