// SPDX-License-Identifier: Apache-2.0
//
// The proof that somebody was authenticated. Only `UserAuthenticator` makes one, and it cannot be copied:
// whoever is to rely on it gets it handed over, and it ends with its scope. Nothing keeps one globally.

public import Secrets

/// That the owner was recognised: by what, and until when it counts.
///
/// Pass it on explicitly, to be borrowed by what needs it. From its deadline on it proves nothing and gives
/// out nothing. The passcode that it may carry is erased with it, unless somebody took a reference.
public struct AuthenticatedContext: ~Copyable, Sendable {
  /// The policy that was asked for.
  public let policy: AuthenticationPolicy
  /// What the owner was recognised by.
  public let factor: AuthenticationFactor
  /// When that was.
  public let madeAt: ContinuousClock.Instant
  /// From this instant on, the context is worth nothing.
  public let deadline: ContinuousClock.Instant

  private let clock: AuthenticationClock
  private var passcode: SharedSecretBytes?
  private var isErased = false

  init(
    policy: AuthenticationPolicy, factor: AuthenticationFactor, passcode: SharedSecretBytes?,
    lifetime: Duration, clock: AuthenticationClock
  ) {
    self.policy = policy
    self.factor = factor
    self.passcode = passcode
    self.clock = clock
    madeAt = clock.now
    deadline = madeAt.advanced(by: lifetime)
  }

  /// Whether it still counts. Right before each use, ask ``require(_:)``.
  public var isValid: Bool {
    let now = clock.now
    return !isErased && madeAt <= now && now < deadline
  }

  /// Insists that this context still counts and satisfies `policy`.
  /// - Throws: ``AuthenticationError/expired``; ``AuthenticationError/factorNotAccepted``.
  public borrowing func require(_ policy: AuthenticationPolicy) throws(AuthenticationError) {
    guard isValid else { throw .expired }
    guard policy.isSatisfied(by: factor) else { throw .factorNotAccepted }
  }

  /// The passcode as it was typed, for an enclave that takes it; nil when a finger was recognised, or when
  /// it was not to be kept. Do not hold on to it: it lives as long as its last reference.
  /// - Throws: ``AuthenticationError/expired``.
  public borrowing func typedPasscode() throws(AuthenticationError) -> SharedSecretBytes? {
    guard isValid else { throw .expired }
    return passcode
  }

  /// Ends the context before its time, and lets go of the passcode.
  public mutating func erase() {
    passcode = nil
    isErased = true
  }
}
