// SPDX-License-Identifier: Apache-2.0

import Foundation
import PseudoTerminals
import Secrets
import Synchronization
import Testing

@testable import UserAuthentication

private let enter = "\u{1B}[?1049h\u{1B}[2J\u{1B}[H"
private let leave = "\u{1B}[2J\u{1B}[?1049l"
private let plain = TerminalStyle(usesColours: false, clearsRows: true)

// Inside the suite that is serialised. What sends signals has a process of its own: a prompt of another test would hear
// them instead.
extension TerminalPromptTests {
  @Suite("Secrets on the second screen")
  struct SecondScreenTests {
    @Test("What is written stands between entering the screen and leaving it")
    func shows() throws {
      let terminal = try PseudoTerminal()
      try show("twelve words", on: terminal.path)
      #expect(terminal.rest() == enter + "twelve words" + leave)
    }

    @Test("A terminal that knows only one screen gets the text alone")
    func dumb() throws {
      let terminal = try PseudoTerminal()
      let screen = try SecondScreen(
        path: terminal.path, style: TerminalStyle(usesColours: false, clearsRows: false))
      try screen.write("words")
      _ = consume screen
      #expect(terminal.rest() == "words")
    }

    @Test("Without a terminal there is no screen, and signals act as before")
    func noTerminal() async {
      await #expect(processExitsWith: .success) {
        #expect(throws: PromptError.noTerminal) { try show("words", on: "/nonexistent") }
        let seen = SeenSignals(SIGTERM)
        raiseHere(SIGTERM)
        #expect(seen.count == 1)
      }
    }

    @Test("A signal at the prompt leaves the screen before it acts; if we live on, the screen is back")
    func signalAtPrompt() async {
      await #expect(processExitsWith: .success) {
        let terminal = try PseudoTerminal()
        let seen = SeenSignals(SIGTERM, watching: terminal.device)
        let asked = begunConfirmation(on: terminal.path)
        let before = try terminal.expect("Written down? [y/N]: ")
        #expect(before.hasPrefix(enter + "words"))
        kill(getpid(), SIGTERM)
        let after = try terminal.expect("Written down? [y/N]: ")
        #expect(after.hasPrefix(leave + enter))
        #expect(!after.contains("words"))
        #expect(seen.count == 1)
        #expect(seen.wasCooked)
        terminal.type("y\r")
        #expect(try asked.value() == .success(true))
        #expect(terminal.rest().hasSuffix(leave))
      }
    }

    @Test("A signal between two prompts waits for the next one, and writes stay on the screen")
    func signalBetween() async {
      await #expect(processExitsWith: .success) {
        let terminal = try PseudoTerminal()
        let seen = SeenSignals(SIGHUP)
        let asked = Background { () throws(PromptError) in
          let screen = try SecondScreen(path: terminal.path, style: plain)
          raiseHere(SIGHUP)
          try screen.write("words")
          let early = seen.count
          let answer = try TerminalPrompt(path: terminal.path, style: plain).confirm("Written down?")
          return answer && early == 0
        }
        let shown = try terminal.expect(leave)
        #expect(shown.hasPrefix(enter + "words"))
        try terminal.expect(enter)
        try terminal.expect("Written down? [y/N]: ")
        #expect(seen.count == 1)
        terminal.type("y\r")
        #expect(try asked.value() == .success(true))
      }
    }

    @Test("A signal without a prompt acts when the screen has been left")
    func signalAtEnd() async {
      await #expect(processExitsWith: .success) {
        let terminal = try PseudoTerminal()
        let seen = SeenSignals(SIGTERM, watching: terminal.device)
        let screen = try SecondScreen(path: terminal.path, style: plain)
        raiseHere(SIGTERM)
        #expect(seen.count == 0)
        _ = consume screen
        #expect(seen.count == 1)
        #expect(terminal.rest() == enter + leave)
        // Nothing is caught any more.
        raiseHere(SIGTERM)
        #expect(seen.count == 2)
      }
    }
  }
}

private func begunConfirmation(on path: String) -> Background<Bool> {
  Background { () throws(PromptError) in
    let screen = try SecondScreen(path: path, style: plain)
    try screen.write("words")
    return try TerminalPrompt(path: path, style: plain).confirm("Written down?")
  }
}

private func show(_ text: String, on path: String) throws(PromptError) {
  let screen = try SecondScreen(path: path, style: plain)
  let secret = SecretBytes(copying: Array(text.utf8).span.bytes)
  try secret.withBytes { (bytes) throws(PromptError) in try screen.write(bytes) }
}

/// Counts a signal instead of dying of it, for as long as this lives.
private final class SeenSignals: Sendable {
  private let signal: Int32
  private let previous: (@convention(c) (Int32) -> Void)?

  init(_ signal: Int32, watching terminal: Int32 = -1) {
    self.signal = signal
    seenCount.store(0, ordering: .sequentiallyConsistent)
    watched.store(terminal, ordering: .sequentiallyConsistent)
    previous = Glibc.signal(signal) { _ in
      var settings = termios()
      let isKnown = tcgetattr(watched.load(ordering: .sequentiallyConsistent), &settings) == 0
      sawCooked.store(isKnown && settings.c_lflag & tcflag_t(ECHO) != 0, ordering: .sequentiallyConsistent)
      seenCount.wrappingAdd(1, ordering: .sequentiallyConsistent)
    }
  }

  deinit { _ = Glibc.signal(signal, previous) }

  var count: Int { seenCount.load(ordering: .sequentiallyConsistent) }
  var wasCooked: Bool { sawCooked.load(ordering: .sequentiallyConsistent) }
}

/// For the handler, which can capture nothing.
private let seenCount = Atomic(0)
private let watched = Atomic<Int32>(-1)
private let sawCooked = Atomic(false)

/// Sends a signal to this very thread, so that its handler has run when this returns.
private func raiseHere(_ signal: Int32) {
  var only = sigset_t()
  var before = sigset_t()
  sigemptyset(&only)
  sigaddset(&only, signal)
  pthread_sigmask(SIG_UNBLOCK, &only, &before)
  raise(signal)
  pthread_sigmask(SIG_SETMASK, &before, nil)
}
