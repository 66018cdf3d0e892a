// SPDX-License-Identifier: Apache-2.0

public import UserAuthentication

/// States that the owner of a session was authenticated, and until when that is valid (PD-09).
///
/// For sessions that outlive an `AuthenticatedContext`, such as those of the agent, or of one command that
/// has just opened a coffer.
public struct SessionAuthorization: Sendable {
  /// The authorization is valid before this instant.
  public let deadline: ContinuousClock.Instant
  private let clock: AuthenticationClock
  private let isSessionOpen: @Sendable () -> Bool

  /// - Parameters:
  ///   - deadline: the end of its validity.
  ///   - clock: the system's, except in tests.
  ///   - isSessionOpen: asked each time; false once the session has been locked.
  public init(
    deadline: ContinuousClock.Instant, clock: AuthenticationClock = .system,
    isSessionOpen: @escaping @Sendable () -> Bool
  ) {
    self.deadline = deadline
    self.clock = clock
    self.isSessionOpen = isSessionOpen
  }

  /// Whether it is valid now.
  public var isValid: Bool { clock.now < deadline && isSessionOpen() }
}

// Whether the owner has to authenticate again after coming back (PD-17, PD-25). It has no state: the app asks
// it at launch and resume, with the settings if they could be read.

/// The grace window after an authentication, and other decisions that have no default if the settings cannot
/// be read.
public struct SessionGrace: Equatable, Sendable {
  /// Nil when they could not be read: then there is no grace period.
  public var settings: ProtectedSettings?
  /// Nil if there was none in this process.
  public var lastAuthentication: ContinuousClock.Instant?

  /// The grace window of these settings after this authentication.
  public init(settings: ProtectedSettings?, lastAuthentication: ContinuousClock.Instant?) {
    self.settings = settings
    self.lastAuthentication = lastAuthentication
  }

  /// Whether the owner has to authenticate now. The window excludes its end, and any time before the
  /// authentication.
  public func mustAuthenticate(now: ContinuousClock.Instant) -> Bool {
    guard let settings, let lastAuthentication, lastAuthentication <= now else { return true }
    return lastAuthentication.duration(to: now) >= .seconds(Int64(settings.gracePeriodSeconds))
  }

  /// Whole seconds that are left of the window; the last one is not counted, so that it never lasts longer (PD-25).
  public func secondsLeft(now: ContinuousClock.Instant) -> Int {
    guard let settings, let lastAuthentication, !mustAuthenticate(now: now) else { return 0 }
    let passed = lastAuthentication.duration(to: now).components
    return Int(settings.gracePeriodSeconds) - Int(passed.seconds) - (passed.attoseconds > 0 ? 1 : 0)
  }

  /// Whether messages are encrypted to the sender too.
  /// - Throws: `.settingsUnavailable`: there is no default (PD-17).
  public func encryptsToSelf() throws(ProtectedDataError) -> Bool {
    guard let settings else { throw .settingsUnavailable }
    return settings.encryptToSelf
  }
}
