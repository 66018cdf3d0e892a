// SPDX-License-Identifier: Apache-2.0

/// Tells the person what to do while a finger is waited for, and listens for other wishes meanwhile.
public protocol FingerprintGuide: Sendable {
  /// Called when the wait begins; the notice stays until its end.
  ///
  /// A guide may stop `attempt`. It offers the passcode only when `policy` shows that way
  /// (``AuthenticationPolicy/fallbackTitle``).
  func begin(_ policy: AuthenticationPolicy, _ attempt: AuthenticationAttempt) -> any FingerprintNotice
}

/// What one guide shows during one wait.
public protocol FingerprintNotice: Sendable {
  func show(_ progress: FingerprintProgress)
  /// Takes the notice away. When this returns, the terminal or screen is free for a prompt.
  func end()
}

/// Says nothing, and cannot be asked for anything.
public struct SilentFingerprintGuide: FingerprintGuide {
  public init() {}

  public func begin(
    _ policy: AuthenticationPolicy, _ attempt: AuthenticationAttempt
  ) -> any FingerprintNotice { Silence() }

  private struct Silence: FingerprintNotice {
    func show(_ progress: FingerprintProgress) {}
    func end() {}
  }
}
