// SPDX-License-Identifier: Apache-2.0

/// The clock that deadlines are read on. It never goes back, nobody can set it, and it goes on while the
/// machine sleeps.
public struct AuthenticationClock: Sendable {
  private let read: @Sendable () -> ContinuousClock.Instant

  /// A clock of one's own: for tests.
  public init(_ read: @escaping @Sendable () -> ContinuousClock.Instant) { self.read = read }

  /// The time since the machine was started (`CLOCK_BOOTTIME`).
  public static let system = AuthenticationClock { ContinuousClock.now }

  public var now: ContinuousClock.Instant { read() }
}
