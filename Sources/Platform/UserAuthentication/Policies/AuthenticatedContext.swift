// SPDX-License-Identifier: Apache-2.0
//
// The proof that the owner was authenticated. Only `UserAuthenticator` makes one, and it cannot be copied:
// pass it to the code that relies on it. It ends with its scope. Nothing stores one globally.

public import Secrets

/// Proves that the owner was recognised, by which factor, and for how long the proof is valid.
///
/// Pass it on explicitly, as a borrowed parameter. After its deadline it proves nothing and gives out
/// nothing. A passcode that it carries is erased with it, unless somebody took a reference.
public struct AuthenticatedContext: ~Copyable, Sendable {
  /// The policy that was asked for.
  public let policy: AuthenticationPolicy
  /// The factor that the owner was recognised by.
  public let factor: AuthenticationFactor
  /// When the owner was recognised.
  public let madeAt: ContinuousClock.Instant
  /// The context is valid before this instant.
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

  /// Whether it is still valid. Right before each use, ask ``require(_:)``.
  public var isValid: Bool {
    let now = clock.now
    return !isErased && madeAt <= now && now < deadline
  }

  /// Checks that this context is still valid and satisfies `policy`.
  /// - Throws: ``AuthenticationError/expired``; ``AuthenticationError/factorNotAccepted``.
  public borrowing func require(_ policy: AuthenticationPolicy) throws(AuthenticationError) {
    guard isValid else { throw .expired }
    guard policy.isSatisfied(by: factor) else { throw .factorNotAccepted }
  }

  /// The passcode as it was typed, for an enclave that takes it; nil when a finger was recognised, or the
  /// context does not carry the passcode. Do not hold on to it: it lives as long as its last reference.
  /// - Throws: ``AuthenticationError/expired``.
  public borrowing func typedPasscode() throws(AuthenticationError) -> SharedSecretBytes? {
    guard isValid else { throw .expired }
    return passcode
  }

  /// Ends the context early, and drops the passcode.
  public mutating func erase() {
    passcode = nil
    isErased = true
  }
}
