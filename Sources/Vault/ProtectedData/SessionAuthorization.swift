// SPDX-License-Identifier: Apache-2.0

public import UserAuthentication

/// The word of whoever keeps the session that its owner was authenticated, and until when that counts (PD-09).
///
/// For sessions that outlive an `AuthenticatedContext`: those of the agent, or of one command with a coffer
/// that was just opened.
public struct SessionAuthorization: Sendable {
  /// From this instant on it is worth nothing.
  public let deadline: ContinuousClock.Instant
  private let clock: AuthenticationClock
  private let isSessionOpen: @Sendable () -> Bool

  /// - Parameters:
  ///   - deadline: from then on it is worth nothing.
  ///   - clock: the system's, but in tests.
  ///   - isSessionOpen: asked each time; false once the session has been locked.
  public init(
    deadline: ContinuousClock.Instant, clock: AuthenticationClock = .system,
    isSessionOpen: @escaping @Sendable () -> Bool
  ) {
    self.deadline = deadline
    self.clock = clock
    self.isSessionOpen = isSessionOpen
  }

  /// Whether it counts now.
  public var isValid: Bool { clock.now < deadline && isSessionOpen() }
}
