// SPDX-License-Identifier: Apache-2.0

import Extents
import Foundation
import PseudoTerminals
import ScriptedPrompts
import Secrets
import Testing

@testable import UserAuthentication

private let plain = TerminalStyle(usesColours: false, clearsRows: true)
private let row = "touch the fingerprint reader"

// Inside the suite that is serialised: the guide catches signals as prompts do.
extension TerminalPromptTests {
  @Suite("Waiting for a finger on the terminal")
  struct TerminalFingerprintGuideTests {
    @Test("Return goes to the passphrase, which is then asked for on the same terminal")
    func fallback() throws {
      let terminal = try PseudoTerminal()
      let answer = authenticate(.deviceOwner, [.nothing], terminal)
      try terminal.expect(row + " (Return: use the passphrase; Control-C: cancel) ")
      #expect(!terminal.isCooked)
      terminal.type("2580\r")
      // The row is cleared, and what was typed into it is gone.
      try terminal.expect("\r\u{1B}[K")
      let shown = try terminal.expect("PIN: ")
      #expect(!shown.contains(row) && !shown.contains("2580"))
      terminal.type("2580\r")
      #expect(try answer.value() == .success(.success(.passcode)))
      #expect(terminal.isCooked)
    }

    @Test("Where the passcode is hidden, Return does nothing; Control-C cancels")
    func hidden() throws {
      let terminal = try PseudoTerminal()
      let answer = authenticate(.deviceOwnerWithBiometrics, [.nothing], terminal)
      try terminal.expect(row + " (Control-C: cancel) ")
      terminal.type("\r\u{1B}[A\r2580\r\u{3}")
      #expect(try answer.value() == .success(.failure(.cancelled)))
      #expect(terminal.isCooked)
      #expect(terminal.rest() == "\r\u{1B}[K")
    }

    @Test("The row says what went wrong with a scan, and is gone when a finger was recognised")
    func progress() throws {
      let terminal = try PseudoTerminal()
      let attempt = try AuthenticationAttempt()
      let guide = TerminalFingerprintGuide(path: terminal.path, style: plain)
      let notice = guide.begin(.deviceOwner, attempt)
      try terminal.expect(row)
      for (progress, words) in [
        (FingerprintProgress.scanAgain(.swipeTooShort), "that was too short; swipe again"),
        (.scanAgain(.unreadable), "that could not be read; touch the reader again"),
        (.scanAgain(.notCentred), "put the finger in the middle of the reader"),
        (.scanAgain(.removeAndRetry), "take the finger off, then touch the reader again"),
        (.notRecognised(triesLeft: 2), "that finger is not known; touch the reader again"),
      ] {
        notice.show(progress)
        try terminal.expect("\r\u{1B}[K" + words + " (")
      }
      notice.end()
      #expect(terminal.isCooked)
      #expect(terminal.rest().hasSuffix("\r\u{1B}[K"))
      #expect(attempt.stop == nil)
      notice.end()
    }

    @Test("Without a terminal the reader still answers")
    func noTerminal() throws {
      let reader = ScriptedFingerprintReader(events: [.match])
      let guide = TerminalFingerprintGuide(path: "/nonexistent", style: plain)
      let authenticator = UserAuthenticator(prompt: ScriptedPrompt(), reader: reader, guide: guide)
      #expect(try authenticator.factor(.deviceOwnerWithBiometrics) == .biometry)
    }

    private func authenticate(
      _ policy: AuthenticationPolicy, _ events: [ScriptedFingerprintReader.Event], _ terminal: PseudoTerminal
    ) -> Background<Result<AuthenticationFactor, AuthenticationError>> {
      let path = terminal.path
      return Background { () throws(PromptError) in
        var limits = AuthenticationLimits()
        limits.fingerWait = Patience.duration
        let authenticator = UserAuthenticator(
          prompt: TerminalPrompt(path: path, style: plain), reader: ScriptedFingerprintReader(events: events),
          guide: TerminalFingerprintGuide(path: path, style: plain), limits: limits)
        return Result { try authenticator.factor(policy) }.mapError { $0 as? AuthenticationError ?? .expired }
      }
    }
  }
}
