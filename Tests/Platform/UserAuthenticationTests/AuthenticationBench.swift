// SPDX-License-Identifier: Apache-2.0

import Foundation
import PseudoTerminals
import Secrets
import Synchronization
import Testing

@testable import UserAuthentication

/// A clock that stands still until a test moves it.
final class HandClock: Sendable {
  private let instant = Mutex(ContinuousClock.now)

  func advance(by duration: Duration) { instant.withLock { $0 = $0.advanced(by: duration) } }

  var clock: AuthenticationClock { AuthenticationClock { self.instant.withLock { $0 } } }
}

/// A guide that notes what it is told, and does what a test wants when the wait begins.
final class NotingGuide: FingerprintGuide, FingerprintNotice {
  private let log = Mutex<[String]>([])
  private let atBegin: @Sendable (AuthenticationAttempt) -> Void

  init(atBegin: @escaping @Sendable (AuthenticationAttempt) -> Void = { _ in }) { self.atBegin = atBegin }

  var lines: [String] { log.withLock { $0 } }

  func begin(
    _ policy: AuthenticationPolicy, _ attempt: AuthenticationAttempt
  ) -> any FingerprintNotice {
    log.withLock { $0.append("begin «\(policy.fallbackTitle)»") }
    atBegin(attempt)
    return self
  }

  func show(_ progress: FingerprintProgress) { log.withLock { $0.append("\(progress)") } }

  func end() { log.withLock { $0.append("end") } }
}

extension UserAuthenticator {
  /// Evaluates with the passcode «2580»; what it was satisfied by.
  func factor(
    _ policy: AuthenticationPolicy, attempt: AuthenticationAttempt? = nil
  ) throws -> AuthenticationFactor {
    let context = try evaluate(policy, passcode: PromptRequest("PIN"), attempt: attempt, verify: isPasscode)
    let isValid = context.isValid
    #expect(isValid)
    return context.factor
  }
}

func isPasscode(_ typed: borrowing SecretBytes) -> Bool {
  typed.isEqual(to: SecretBytes(copying: Array("2580".utf8).span.bytes))
}
