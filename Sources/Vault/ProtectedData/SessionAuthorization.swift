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

// Whether the owner has to authenticate again after coming back (PD-17, PD-25). Pure: whoever owns launch and
// resume asks it, with the settings if they could be read.

/// The grace window after an authentication, and what else must not be guessed from settings that are not there.
public struct SessionGrace: Equatable, Sendable {
  /// Nil when they could not be read: then there is no grace.
  public var settings: ProtectedSettings?
  /// Nil when there was none since the process began.
  public var lastAuthentication: ContinuousClock.Instant?

  /// The grace window of these settings after this authentication.
  public init(settings: ProtectedSettings?, lastAuthentication: ContinuousClock.Instant?) {
    self.settings = settings
    self.lastAuthentication = lastAuthentication
  }

  /// Whether the owner has to authenticate now. The window's end does not belong to it, and a moment before
  /// the authentication is in no window.
  public func mustAuthenticate(now: ContinuousClock.Instant) -> Bool {
    guard let settings, let lastAuthentication, lastAuthentication <= now else { return true }
    return lastAuthentication.duration(to: now) >= .seconds(Int64(settings.gracePeriodSeconds))
  }

  /// Whether messages are encrypted to the sender too.
  /// - Throws: `.settingsUnavailable`: there is no default (PD-17).
  public func encryptsToSelf() throws(ProtectedDataError) -> Bool {
    guard let settings else { throw .settingsUnavailable }
    return settings.encryptToSelf
  }
}
