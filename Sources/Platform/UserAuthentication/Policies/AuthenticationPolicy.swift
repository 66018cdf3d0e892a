// SPDX-License-Identifier: Apache-2.0

/// What proves that the owner of the device is there (AM-04).
///
/// A policy says nothing about when the app locks itself or how keys are kept; those are axes of their
/// own, and none follows from another (AM-20).
public enum AuthenticationPolicy: Sendable, CaseIterable {
  /// A finger, or the passcode (a PIN or passphrase). The way to the passcode is shown.
  case deviceOwner
  /// A finger and nothing else. The passcode is neither offered nor asked for, whatever happens.
  case deviceOwnerWithBiometrics

  /// The words for the way to the passcode; empty where it is hidden.
  public var fallbackTitle: String {
    switch self {
    case .deviceOwner: "use the passphrase"
    case .deviceOwnerWithBiometrics: ""
    }
  }

  /// Whether the passcode is offered and accepted.
  public var showsFallback: Bool { !fallbackTitle.isEmpty }

  /// Whether `factor` is enough. What counts is what was proven, not the policy that it was proven under.
  public func isSatisfied(by factor: AuthenticationFactor) -> Bool {
    switch self {
    case .deviceOwner: true
    case .deviceOwnerWithBiometrics: factor == .biometry
    }
  }
}

/// What the owner was recognised by.
public enum AuthenticationFactor: Sendable, CaseIterable {
  /// An enrolled finger. On Linux it is compared by a service of the system, which is a weaker proof than
  /// a secure enclave's.
  case biometry
  /// The PIN or passphrase.
  case passcode
}

/// How often and how long.
public struct AuthenticationLimits: Sendable {
  /// Fingers that may be wrong in one evaluation. Three, as phones have it.
  public var fingerTryLimit = 3
  /// Passcodes that may be wrong in one evaluation.
  public var passcodeTryLimit = 3
  /// Wrong fingers in a row, over all evaluations, after which no finger is accepted any more until the
  /// passcode was right (AM-02).
  public var fingerFailureLimit = 5
  /// How long one finger is waited for: long enough to find the reader, short enough not to keep it from
  /// the screen's lock.
  public var fingerWait: Duration = .seconds(30)
  /// How long a context counts, at most ``longestContextLifetime``.
  public var contextLifetime: Duration = .seconds(30)

  /// The usual limits.
  public init() {}

  /// The idle limit after which keys leave the memory anyway.
  public static let longestContextLifetime: Duration = .seconds(300)
}

/// The clock that deadlines are read on. It never goes back, nobody can set it, and it goes on while the
/// machine sleeps.
public struct AuthenticationClock: Sendable {
  private let read: @Sendable () -> ContinuousClock.Instant

  /// A clock of one's own: for tests.
  public init(_ read: @escaping @Sendable () -> ContinuousClock.Instant) { self.read = read }

  /// The time since the machine was started (`CLOCK_BOOTTIME`).
  public static let system = AuthenticationClock { ContinuousClock.now }

  /// The time on this clock.
  public var now: ContinuousClock.Instant { read() }
}

/// Why nobody was authenticated. The cases are kept apart, since each leaves something else to do.
@nonexhaustive
public enum AuthenticationError: Error, Equatable, Sendable {
  /// The person, or the program, gave up.
  case cancelled
  /// Every try was used, and none was right.
  case failed
  /// Too many wrong tries before this one, here or in the chip; this one was not even made. `secondsLeft`
  /// is nil when no wait helps: a finger that was locked out is accepted again after the right passcode.
  case lockedOut(secondsLeft: Int?)
  /// There is a reader, and no finger of this user is enrolled with it.
  case notEnrolled
  /// There is no fingerprint reader, or nothing that would speak for it.
  case noReader
  /// There is a reader and an enrolled finger, but the reader could not be used now.
  case readerUnavailable(FingerprintError)
  /// The passcode could not be asked for. Never `.cancelled`, which is a case of its own here.
  case promptUnavailable(PromptError)
  /// The deadline of an ``AuthenticatedContext`` has passed, or it was erased.
  case expired
  /// An ``AuthenticatedContext`` holds, but not by a factor that the policy accepts.
  case factorNotAccepted
}
