// SPDX-License-Identifier: Apache-2.0

import Foundation
import ScriptedPrompts
import Secrets
import Testing

@testable import UserAuthentication

@Suite("Authenticating the owner")
struct UserAuthenticatorTests {
  // MARK: It works

  @Test(
    "A known finger is enough for either policy, and the prompt stays shut",
    arguments: AuthenticationPolicy.allCases)
  func finger(policy: AuthenticationPolicy) throws {
    let prompt = ScriptedPrompt()
    let reader = ScriptedFingerprintReader(events: [.scanAgain(.swipeTooShort), .noMatch, .match])
    let guide = NotingGuide()
    let authenticator = UserAuthenticator(prompt: prompt, reader: reader, guide: guide)
    #expect(try authenticator.factor(policy) == .biometry)
    #expect(prompt.requests.isEmpty)
    let title = policy == .deviceOwner ? "use the passphrase" : ""
    #expect(
      guide.lines == [
        "begin «\(title)»", "waiting",
        "scanAgain(UserAuthentication.FingerprintProgress.ScanProblem.swipeTooShort)",
        "notRecognised(triesLeft: 2)", "waiting", "end",
      ])
  }

  @Test("Without a finger the passcode is asked for, and asked again when it was wrong")
  func passcode() throws {
    let prompt = ScriptedPrompt(replies: [shared("0000"), shared("1111"), shared("2580")])
    #expect(try UserAuthenticator(prompt: prompt).factor(.deviceOwner) == .passcode)
    #expect(
      prompt.requests.map(\.problem) == [
        nil, "that was not right; 2 tries left", "that was not right; one try left",
      ])
    #expect(prompt.requests.allSatisfy { $0.prompt == "PIN" && !$0.isShown })
  }

  @Test(
    "Whatever keeps the finger from answering leads to the passcode, where the policy shows it",
    arguments: [
      ScriptedFingerprintReader(enrolment: .success(false)),
      ScriptedFingerprintReader(enrolment: .failure(.noReader)),
      ScriptedFingerprintReader(enrolment: .failure(.failed)),
      ScriptedFingerprintReader(events: [.failure(.busy)]),
      ScriptedFingerprintReader(events: [.noMatch, .failure(.disconnected)]),
      ScriptedFingerprintReader(events: [.failure(.timedOut)]),
      ScriptedFingerprintReader(events: [.noMatch, .noMatch, .noMatch]),
    ])
  func fallback(reader: ScriptedFingerprintReader) throws {
    let prompt = ScriptedPrompt(replies: [shared("2580")])
    #expect(try UserAuthenticator(prompt: prompt, reader: reader).factor(.deviceOwner) == .passcode)
    #expect(prompt.requests.count == 1)
  }

  @Test("The person may ask for the passcode while the finger is waited for")
  func fallbackWish() throws {
    let prompt = ScriptedPrompt(replies: [shared("2580")])
    let reader = ScriptedFingerprintReader(events: [.nothing])
    let guide = NotingGuide { attempt in Thread { attempt.useFallback() }.start() }
    let authenticator = UserAuthenticator(prompt: prompt, reader: reader, guide: guide)
    #expect(try authenticator.factor(.deviceOwner) == .passcode)
    #expect(guide.lines.last == "end")
  }

  // MARK: It fails cleanly

  @Test("Each way of not being authenticated has its answer")
  func answers() throws {
    func error(
      _ policy: AuthenticationPolicy, replies: [String] = [], _ reader: ScriptedFingerprintReader?
    ) throws -> AuthenticationError? {
      let prompt = ScriptedPrompt(replies: replies.map(shared))
      return #expect(throws: AuthenticationError.self) {
        try UserAuthenticator(prompt: prompt, reader: reader).factor(policy)
      }
    }
    #expect(try error(.deviceOwner, replies: ["1", "2", "3", "2580"], nil) == .failed)
    #expect(try error(.deviceOwner, nil) == .promptUnavailable(.noTerminal))
    let strict = AuthenticationPolicy.deviceOwnerWithBiometrics
    #expect(try error(strict, nil) == .noReader)
    #expect(try error(strict, ScriptedFingerprintReader(enrolment: .failure(.noReader))) == .noReader)
    #expect(try error(strict, ScriptedFingerprintReader(enrolment: .success(false))) == .notEnrolled)
    #expect(try error(strict, ScriptedFingerprintReader(events: [.noMatch, .noMatch, .noMatch])) == .failed)
    for reason in [FingerprintError.busy, .denied, .disconnected, .timedOut, .failed] {
      let reader = ScriptedFingerprintReader(events: [.failure(reason)])
      #expect(try error(strict, reader) == .readerUnavailable(reason))
    }
  }

  @Test("A policy of fingers alone never asks for the passcode, even when it would be right")
  func strictNeverAsks() throws {
    let readers: [ScriptedFingerprintReader?] = [
      nil, ScriptedFingerprintReader(enrolment: .success(false)),
      ScriptedFingerprintReader(enrolment: .failure(.denied)),
      ScriptedFingerprintReader(events: [.failure(.busy)]),
      ScriptedFingerprintReader(events: [.noMatch, .noMatch, .noMatch, .match]), ScriptedFingerprintReader(),
    ]
    for reader in readers {
      let prompt = ScriptedPrompt(replies: [shared("2580")], confirmations: [true])
      let authenticator = UserAuthenticator(prompt: prompt, reader: reader)
      #expect(throws: AuthenticationError.self) { try authenticator.factor(.deviceOwnerWithBiometrics) }
      #expect(prompt.requests.isEmpty && prompt.questions.isEmpty)
    }
  }

  @Test("Asking for the hidden passcode cancels")
  func hiddenFallback() throws {
    let prompt = ScriptedPrompt(replies: [shared("2580")])
    let reader = ScriptedFingerprintReader(events: [.nothing])
    let authenticator = UserAuthenticator(
      prompt: prompt, reader: reader, guide: NotingGuide { $0.useFallback() })
    #expect(throws: AuthenticationError.cancelled) { try authenticator.factor(.deviceOwnerWithBiometrics) }
    #expect(prompt.requests.isEmpty)
  }

  @Test(
    "Cancelled from another thread, the wait ends and nobody is asked",
    arguments: AuthenticationPolicy.allCases)
  func cancelledInTheMiddle(policy: AuthenticationPolicy) throws {
    let prompt = ScriptedPrompt(replies: [shared("2580")])
    let reader = ScriptedFingerprintReader(events: [.nothing])
    let guide = NotingGuide { attempt in Thread { attempt.cancel() }.start() }
    let authenticator = UserAuthenticator(prompt: prompt, reader: reader, guide: guide)
    #expect(throws: AuthenticationError.cancelled) { try authenticator.factor(policy) }
    #expect(prompt.requests.isEmpty)
    #expect(guide.lines.last == "end")
  }

  @Test("What was cancelled before, or while the right finger or passcode arrived, is cancelled")
  func cancelledAtTheEdges() throws {
    let before = try AuthenticationAttempt()
    before.useFallback()
    before.cancel()
    before.useFallback()
    let reader = ScriptedFingerprintReader(events: [.match])
    let prompt = ScriptedPrompt(replies: [shared("2580")])
    let authenticator = UserAuthenticator(prompt: prompt, reader: reader)
    #expect(throws: AuthenticationError.cancelled) { try authenticator.factor(.deviceOwner, attempt: before) }
    #expect(reader.verificationCount == 0)

    let during = try AuthenticationAttempt()
    #expect(throws: AuthenticationError.cancelled) {
      _ = try UserAuthenticator(prompt: prompt).evaluate(
        .deviceOwner, passcode: PromptRequest("PIN"), attempt: during
      ) { typed in
        during.cancel()
        return isPasscode(typed)
      }.factor
    }
  }

  @Test("Giving up at the prompt is cancelled, no way to ask is not, and an overlong answer is a try")
  func promptFailures() throws {
    struct FailingPrompt: PassphrasePrompt {
      var error: PromptError
      func ask(_ request: PromptRequest) throws(PromptError) -> SecretBytes { throw error }
      func confirm(_ question: String) throws(PromptError) -> Bool { throw error }
    }
    let cases: [(PromptError, AuthenticationError)] = [
      (.cancelled, .cancelled), (.noTerminal, .promptUnavailable(.noTerminal)),
      (.promptProgramMissing, .promptUnavailable(.promptProgramMissing)),
      (.tooLong(byteCountLimit: 8), .failed),
    ]
    for (reason, expected) in cases {
      let authenticator = UserAuthenticator(prompt: FailingPrompt(error: reason))
      #expect(throws: expected) { try authenticator.factor(.deviceOwner) }
    }
  }

  @Test("After five wrong fingers in a row no finger is tried, until the passcode was right")
  func lockout() throws {
    let events: [ScriptedFingerprintReader.Event] = [
      .noMatch, .noMatch, .noMatch, .failure(.timedOut), .noMatch, .noMatch, .match, .match,
    ]
    let reader = ScriptedFingerprintReader(events: events)
    let prompt = ScriptedPrompt(replies: [shared("wrong"), shared("2580")])
    let authenticator = UserAuthenticator(prompt: prompt, reader: reader)
    let strict = AuthenticationPolicy.deviceOwnerWithBiometrics
    #expect(throws: AuthenticationError.failed) { try authenticator.factor(strict) }
    #expect(throws: AuthenticationError.readerUnavailable(.timedOut)) { try authenticator.factor(strict) }
    #expect(throws: AuthenticationError.lockedOut(secondsLeft: nil)) { try authenticator.factor(strict) }
    #expect(throws: AuthenticationError.lockedOut(secondsLeft: nil)) { try authenticator.factor(strict) }
    #expect(reader.verificationCount == 6)
    #expect(try authenticator.factor(.deviceOwner) == .passcode)
    #expect(prompt.requests.count == 2)
    #expect(try authenticator.factor(strict) == .biometry)
  }

  @Test("A right finger forgives the wrong ones before it")
  func forgiven() throws {
    let reader = ScriptedFingerprintReader(
      events: [.noMatch, .noMatch, .match, .noMatch, .noMatch, .match, .noMatch, .noMatch, .match])
    let authenticator = UserAuthenticator(prompt: ScriptedPrompt(), reader: reader)
    for _ in 1...3 { #expect(try authenticator.factor(.deviceOwnerWithBiometrics) == .biometry) }
  }

  @Test("What the check of the passcode throws comes out as it is, and ends the tries")
  func verifierErrors() throws {
    struct Broken: Error {}
    let prompt = ScriptedPrompt(replies: [shared("a"), shared("b")])
    let authenticator = UserAuthenticator(prompt: prompt)
    #expect(throws: AuthenticationError.lockedOut(secondsLeft: 600)) {
      _ = try authenticator.evaluate(.deviceOwner, passcode: PromptRequest("PIN")) { _ in
        throw AuthenticationError.lockedOut(secondsLeft: 600)
      }.factor
    }
    #expect(throws: Broken.self) {
      _ = try authenticator.evaluate(.deviceOwner, passcode: PromptRequest("PIN")) { _ in throw Broken() }
        .factor
    }
    #expect(prompt.requests.count == 2)
  }
}
