// SPDX-License-Identifier: Apache-2.0

import Foundation
import MemorySearch
import ScriptedPrompts
import Secrets
import Testing

@testable import UserAuthentication

@Suite("The proof that somebody was authenticated", .serialized)
struct AuthenticatedContextTests {
  @Test("It counts up to its deadline and not at it")
  func deadline() throws {
    let hand = HandClock()
    var limits = AuthenticationLimits()
    limits.contextLifetime = .seconds(10)
    let prompt = ScriptedPrompt(replies: [shared("2580")])
    let authenticator = UserAuthenticator(prompt: prompt, limits: limits, clock: hand.clock)
    let context = try authenticator.evaluate(
      .deviceOwner, passcode: PromptRequest("PIN"), carriesPasscode: true, verify: isPasscode)
    let (madeAt, deadline) = (context.madeAt, context.deadline)
    #expect(deadline == madeAt.advanced(by: .seconds(10)))
    try context.require(.deviceOwner)
    hand.advance(by: .nanoseconds(9_999_999_999))
    try context.require(.deviceOwner)
    let byteCount = try context.typedPasscode()?.count
    #expect(byteCount == 4)
    hand.advance(by: .nanoseconds(1))
    expectWorthless(context)
    hand.advance(by: .seconds(1_000_000))
    expectWorthless(context)
  }

  @Test("Its time begins when the answer was right, not when it was asked for")
  func begins() throws {
    let hand = HandClock()
    let prompt = ScriptedPrompt(replies: [shared("2580")])
    let authenticator = UserAuthenticator(prompt: prompt, clock: hand.clock)
    let context = try authenticator.evaluate(.deviceOwner, passcode: PromptRequest("PIN")) { typed in
      hand.advance(by: .seconds(1000))
      return isPasscode(typed)
    }
    let (isValid, madeAt) = (context.isValid, context.madeAt)
    #expect(isValid && madeAt == hand.clock.now)
  }

  @Test("A passcode does not satisfy a policy of fingers alone; a finger satisfies both")
  func policies() throws {
    let reader = ScriptedFingerprintReader(events: [.failure(.busy), .match])
    let prompt = ScriptedPrompt(replies: [shared("2580")])
    let authenticator = UserAuthenticator(prompt: prompt, reader: reader)
    let request = PromptRequest("PIN")
    let byPasscode = try authenticator.evaluate(.deviceOwner, passcode: request, verify: isPasscode)
    try byPasscode.require(.deviceOwner)
    let error = errorOf { () throws(AuthenticationError) in
      try byPasscode.require(.deviceOwnerWithBiometrics)
    }
    #expect(error == .factorNotAccepted)
    let byFinger = try authenticator.evaluate(.deviceOwner, passcode: request, verify: isPasscode)
    for policy in AuthenticationPolicy.allCases { try byFinger.require(policy) }
    let policy = byFinger.policy
    #expect(policy == .deviceOwner)
  }

  @Test("It carries the passcode only when that was wanted, and exactly as it was typed")
  func carries() throws {
    let typed: [UInt8] = [0, 0xFF, 0x20, 0xC3, 0x28]
    for carries in [true, false] {
      let prompt = ScriptedPrompt(replies: [SharedSecretBytes(SecretBytes(copying: typed.span.bytes))])
      let context = try UserAuthenticator(prompt: prompt).evaluate(
        .deviceOwner, passcode: PromptRequest("PIN"), carriesPasscode: carries
      ) { _ in true }
      let kept = try context.typedPasscode()
      #expect((kept != nil) == carries)
      if let kept {
        #expect(kept.withBytes { $0.withUnsafeBytes { Array($0) } } == typed)
      }
    }
  }

  @Test("Erased, it proves nothing and gives out nothing")
  func erased() throws {
    let prompt = ScriptedPrompt(replies: [shared("2580")])
    var context = try UserAuthenticator(prompt: prompt).evaluate(
      .deviceOwner, passcode: PromptRequest("PIN"), carriesPasscode: true, verify: isPasscode)
    context.erase()
    expectWorthless(context)
  }

  @Test(
    "The passcode is nowhere in memory once the context is erased, or gone",
    arguments: [true, false])
  func nothingLeft(isErased: Bool) async {
    await #expect(processExitsWith: .success) { [isErased] in
      recordingErrors {
        let (needle, alive, afterErasure) = try AuthenticatedContextTests().useAndLetGo(isErased: isErased)
        #expect(alive > 0, "the search finds what is there")
        if isErased { #expect(afterErasure == []) }
        try ProcessMemory.expectGone(needle)
      }
    }
  }

  /// Types a random passcode, wrong once and right once, and lets everything go.
  @inline(never)
  private func useAndLetGo(isErased: Bool) throws -> (Needle, aliveCount: Int, afterErasure: [String]) {
    let (needle, prompt) = script()
    var tries = 0
    var context = try UserAuthenticator(prompt: prompt).evaluate(
      .deviceOwner, passcode: PromptRequest("PIN"), carriesPasscode: true
    ) { _ in
      tries += 1
      return tries == 2
    }
    let alive = try ProcessMemory.places(of: needle).count
    if isErased { context.erase() }
    return (needle, alive, try ProcessMemory.places(of: needle))
  }

  @inline(never)
  private func script() -> (Needle, ScriptedPrompt) {
    let secret = SecretBytes(byteCount: 48) { span in
      for offset in 0..<span.byteCount {
        span.storeBytes(of: UInt8.random(in: .min ... .max), toByteOffset: offset, as: UInt8.self)
      }
    }
    let replies = [SharedSecretBytes(secret.duplicate()), SharedSecretBytes(secret.duplicate())]
    return (secret.withBytes { Needle($0) }, ScriptedPrompt(replies: replies))
  }

  private func expectWorthless(_ context: borrowing AuthenticatedContext) {
    let isValid = context.isValid
    #expect(!isValid)
    for policy in AuthenticationPolicy.allCases {
      let error = errorOf { () throws(AuthenticationError) in try context.require(policy) }
      #expect(error == .expired)
    }
    let error = errorOf { () throws(AuthenticationError) in _ = try context.typedPasscode() }
    #expect(error == .expired)
  }

  /// What `body` threw. The macros cannot borrow a value that cannot be copied.
  private func errorOf(_ body: () throws(AuthenticationError) -> Void) -> AuthenticationError? {
    do {
      try body()
      return nil
    } catch { return error }
  }
}
