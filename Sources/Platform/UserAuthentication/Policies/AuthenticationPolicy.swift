// SPDX-License-Identifier: Apache-2.0

/// The factors that prove that the device's owner is present (AM-04).
///
/// A policy says nothing about when the app locks itself or how keys are kept; these are independent settings
/// (AM-20).
public enum AuthenticationPolicy: Sendable, CaseIterable {
  /// A finger, or the passcode (a PIN or passphrase). The passcode is offered.
  case deviceOwner
  /// A finger and nothing else. The passcode is neither offered nor accepted.
  case deviceOwnerWithBiometrics

  /// The words that offer the passcode; empty where it is not offered.
  public var fallbackTitle: String {
    switch self {
    case .deviceOwner: "use the passphrase"
    case .deviceOwnerWithBiometrics: ""
    }
  }

  /// Whether the passcode is offered and accepted.
  public var showsFallback: Bool { !fallbackTitle.isEmpty }

  /// Whether `factor` is enough. The factor counts, not the policy under which it was proven.
  public func isSatisfied(by factor: AuthenticationFactor) -> Bool {
    switch self {
    case .deviceOwner: true
    case .deviceOwnerWithBiometrics: factor == .biometry
    }
  }
}

/// The factor that recognised the owner.
public enum AuthenticationFactor: Sendable, CaseIterable {
  /// An enrolled finger. On Linux it is compared by a service of the system, which is a weaker proof than
  /// a secure enclave's.
  case biometry
  /// The PIN or passphrase.
  case passcode
}

/// Limits of tries and times.
public struct AuthenticationLimits: Sendable {
  /// Fingers that may be wrong in one evaluation. Three, as on phones.
  public var fingerTryLimit = 3
  /// Passcodes that may be wrong in one evaluation.
  public var passcodeTryLimit = 3
  /// Wrong fingers in a row, over all evaluations, after which fingers are refused until the right passcode
  /// was entered (AM-02).
  public var fingerFailureLimit = 5
  /// How long to wait for one finger: long enough to find the reader, short enough that the screen's lock can
  /// use it too.
  public var fingerWait: Duration = .seconds(30)
  /// How long a context is valid, at most ``longestContextLifetime``.
  public var contextLifetime: Duration = .seconds(30)

  /// The usual limits.
  public init() {}

  /// The idle limit after which keys are erased anyway.
  public static let longestContextLifetime: Duration = .seconds(300)
}

/// The clock that deadlines are read on. It never goes back, nobody can set it, and it goes on while the
/// machine sleeps.
public struct AuthenticationClock: Sendable {
  private let read: @Sendable () -> ContinuousClock.Instant

  /// Another clock: for tests.
  public init(_ read: @escaping @Sendable () -> ContinuousClock.Instant) { self.read = read }

  /// The time since the machine was started (`CLOCK_BOOTTIME`).
  public static let system = AuthenticationClock { ContinuousClock.now }

  /// The time on this clock.
  public var now: ContinuousClock.Instant { read() }
}

/// Why nobody was authenticated. Each case calls for another reaction.
@nonexhaustive
public enum AuthenticationError: Error, Equatable, Sendable {
  /// The user, or the program, gave up.
  case cancelled
  /// All tries were used up.
  case failed
  /// Too many wrong tries before this one, here or in the chip; this one was not made. `secondsLeft` is nil
  /// when no wait helps: fingers are accepted again after the right passcode.
  case lockedOut(secondsLeft: Int?)
  /// There is a reader, but no finger of this user is enrolled.
  case notEnrolled
  /// There is no fingerprint reader, or no service that drives one.
  case noReader
  /// There is a reader and an enrolled finger, but the reader could not be used now.
  case readerUnavailable(FingerprintError)
  /// The passcode could not be asked for. Never `PromptError.cancelled`, which becomes ``cancelled``.
  case promptUnavailable(PromptError)
  /// Wrong fingers cannot be counted now, so none is compared.
  case countUnavailable
  /// The deadline of an ``AuthenticatedContext`` has passed, or it was erased.
  case expired
  /// An ``AuthenticatedContext`` is valid, but its factor does not satisfy the policy.
  case factorNotAccepted
}
