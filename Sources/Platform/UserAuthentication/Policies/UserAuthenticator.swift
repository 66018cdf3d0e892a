// SPDX-License-Identifier: Apache-2.0
//
// Authenticates the owner: the finger first, then the passcode if the policy offers it. It fails closed:
// everything but a clear yes is an error, and a policy of fingers alone never reaches the prompt.

public import Secrets

/// Evaluates policies with a prompt and, if there is one, a fingerprint reader.
///
/// Wrong fingers are counted by a ``FingerCount``, which may outlive the process. The chip counts wrong passcodes permanently, and its lockout
/// reaches the caller through `verify`.
public final class UserAuthenticator: Sendable {
  private let prompt: any PassphrasePrompt
  private let reader: (any FingerprintReader)?
  private let guide: any FingerprintGuide
  private let limits: AuthenticationLimits
  private let clock: AuthenticationClock
  private let count: any FingerCount

  /// - Parameters:
  ///   - prompt: the way to ask for the passcode.
  ///   - reader: nil when there is none.
  ///   - guide: shows that the reader waits for a finger.
  ///   - count: of wrong fingers; by default that of this value alone.
  ///   - limits: how many tries there are, and how long a context is valid.
  ///   - clock: the system's, except in tests.
  public init(
    prompt: any PassphrasePrompt, reader: (any FingerprintReader)? = nil,
    guide: any FingerprintGuide = SilentFingerprintGuide(), count: any FingerCount = ProcessFingerCount(),
    limits: AuthenticationLimits = .init(), clock: AuthenticationClock = .system
  ) {
    precondition(limits.fingerTryLimit > 0 && limits.passcodeTryLimit > 0, "there must be a first try")
    precondition(
      limits.contextLifetime > .zero && limits.contextLifetime <= AuthenticationLimits.longestContextLifetime,
      "a context has a lifetime, and not a long one")
    self.prompt = prompt
    self.reader = reader
    self.guide = guide
    self.count = count
    self.limits = limits
    self.clock = clock
  }

  /// Authenticates the owner. Blocks until there is an answer.
  ///
  /// - Parameters:
  ///   - policy: the factors that are accepted.
  ///   - request: how to ask for the passcode; its `problem` is set after a wrong one.
  ///   - carriesPasscode: whether the context keeps the passcode that was typed.
  ///   - attempt: to stop it from another thread.
  ///   - verify: whether this is the passcode. What it throws comes out of here unchanged; it throws
  ///     ``AuthenticationError/lockedOut(secondsLeft:)`` when a chip takes no more tries.
  /// - Throws: ``AuthenticationError``, or what `verify` threw.
  public func evaluate(
    _ policy: AuthenticationPolicy, passcode request: PromptRequest, carriesPasscode: Bool = false,
    attempt: AuthenticationAttempt? = nil, verify: (borrowing SecretBytes) throws -> Bool
  ) throws -> AuthenticatedContext {
    let attempt = try attempt ?? AuthenticationAttempt()
    switch recogniseFinger(policy, attempt) {
    case .recognised:
      return context(policy, .biometry, nil)
    case .refused(let error):
      throw error
    case .passcodeInstead:
      return try askForPasscode(policy, request, carriesPasscode, attempt, verify)
    }
  }

  /// Waits for a finger alone.
  ///
  /// - Parameters:
  ///   - policy: whether the passcode is offered instead.
  ///   - attempt: to stop it from another thread.
  /// - Returns: nil when the policy offers the passcode, and it is to be asked for now.
  /// - Throws: ``AuthenticationError``.
  public func recognise(
    _ policy: AuthenticationPolicy, attempt: AuthenticationAttempt? = nil
  ) throws(AuthenticationError) -> AuthenticatedContext? {
    let running: AuthenticationAttempt
    if let attempt { running = attempt } else { running = try AuthenticationAttempt() }
    switch recogniseFinger(policy, running) {
    case .recognised: return context(policy, .biometry, nil)
    case .refused(let error): throw error
    case .passcodeInstead: return nil
    }
  }

  private func context(
    _ policy: AuthenticationPolicy, _ factor: AuthenticationFactor, _ passcode: SharedSecretBytes?
  ) -> AuthenticatedContext {
    AuthenticatedContext(
      policy: policy, factor: factor, passcode: passcode, lifetime: limits.contextLifetime, clock: clock)
  }

  // MARK: The finger

  private enum FingerAnswer {
    case recognised
    case passcodeInstead
    case refused(AuthenticationError)
  }

  /// The only place that decides whether the passcode comes next.
  private func recogniseFinger(
    _ policy: AuthenticationPolicy, _ attempt: AuthenticationAttempt
  ) -> FingerAnswer {
    do throws(AuthenticationError) {
      try compareFingers(policy, attempt)
      return .recognised
    } catch {
      let isCancelled = error == .cancelled || attempt.stop == .cancelled
      guard policy.showsFallback, !isCancelled else { return .refused(isCancelled ? .cancelled : error) }
      return .passcodeInstead
    }
  }

  /// Returns when a finger was recognised.
  private func compareFingers(
    _ policy: AuthenticationPolicy, _ attempt: AuthenticationAttempt
  ) throws(AuthenticationError) {
    guard attempt.stop == nil else { throw Self.stopError(policy, attempt) }
    guard let reader else { throw .noReader }
    do throws(FingerprintError) {
      guard try reader.hasEnrolledFinger() else { throw .notEnrolled }
    } catch { throw Self.sorted(error, policy, attempt) }
    let notice = guide.begin(policy, attempt)
    defer { notice.end() }
    for triesLeft in (0..<limits.fingerTryLimit).reversed() {
      if try compareFinger(reader, policy, attempt, notice) { return }
      notice.show(.notRecognised(triesLeft: triesLeft))
    }
    throw .failed
  }

  private func compareFinger(
    _ reader: any FingerprintReader, _ policy: AuthenticationPolicy, _ attempt: AuthenticationAttempt,
    _ notice: any FingerprintNotice
  ) throws(AuthenticationError) -> Bool {
    // A try is counted before it is made, so that parallel evaluations share the limit.
    guard try count.takeTry(limit: limits.fingerFailureLimit) else { throw .lockedOut(secondsLeft: nil) }
    let isRecognised: Bool
    do throws(FingerprintError) {
      isRecognised = try reader.verify(timeout: limits.fingerWait, attempt: attempt) { notice.show($0) }
    } catch {
      // Nothing was compared.
      count.giveBack()
      throw Self.sorted(error, policy, attempt)
    }
    if isRecognised { count.reset() }
    // A stop that came with the finger is still a stop.
    guard attempt.stop == nil else { throw Self.stopError(policy, attempt) }
    return isRecognised
  }

  private static func stopError(
    _ policy: AuthenticationPolicy, _ attempt: AuthenticationAttempt
  ) -> AuthenticationError {
    let isFallback = policy.showsFallback && attempt.stop == .fallback
    return isFallback ? .readerUnavailable(.stopped) : .cancelled
  }

  private static func sorted(
    _ error: FingerprintError, _ policy: AuthenticationPolicy, _ attempt: AuthenticationAttempt
  ) -> AuthenticationError {
    switch error {
    case .noReader: .noReader
    case .notEnrolled: .notEnrolled
    case .stopped: stopError(policy, attempt)
    default: .readerUnavailable(error)
    }
  }

  // MARK: The passcode

  private func askForPasscode(
    _ policy: AuthenticationPolicy, _ request: PromptRequest, _ carriesPasscode: Bool,
    _ attempt: AuthenticationAttempt, _ verify: (borrowing SecretBytes) throws -> Bool
  ) throws -> AuthenticatedContext {
    var request = request
    for triesLeft in (0..<limits.passcodeTryLimit).reversed() {
      guard attempt.stop != .cancelled else { throw AuthenticationError.cancelled }
      if let typed = try ask(request), try verify(typed) {
        guard attempt.stop != .cancelled else { throw AuthenticationError.cancelled }
        count.reset()
        return context(policy, .passcode, carriesPasscode ? SharedSecretBytes(typed) : nil)
      }
      request.problem = "that was not right; \(triesLeft == 1 ? "one try" : "\(triesLeft) tries") left"
    }
    throw AuthenticationError.failed
  }

  /// Nil for an answer that is too long, which counts as a wrong try.
  private func ask(_ request: PromptRequest) throws(AuthenticationError) -> SecretBytes? {
    do throws(PromptError) { return try prompt.ask(request) } catch {
      switch error {
      case .tooLong: return nil
      case .cancelled: throw .cancelled
      default: throw .promptUnavailable(error)
      }
    }
  }
}
