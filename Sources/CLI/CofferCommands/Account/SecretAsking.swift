// SPDX-License-Identifier: Apache-2.0
//
// A passphrase or twelve words that are needed once more after they opened something: given, or asked for until they do.

internal import Keychains
internal import Secrets
internal import UserAuthentication

extension CommandContext {
  /// A passphrase that opens something.
  /// - Parameters:
  ///   - what: the words of the prompt.
  ///   - wrong: is thrown when it does not open.
  ///   - opens: whether it opens.
  func passphrase(
    _ options: PassphraseOptions, _ what: String, wrong: Failure,
    opens: (borrowing Passphrase) throws -> Bool
  ) throws -> Passphrase {
    try passphrase(options.opening(), of: options.file, what, wrong: wrong, opens: opens)
  }

  /// The same with a passphrase that an option gave, from a file perhaps.
  func passphrase(
    _ given: consuming Passphrase?, of file: String?, _ what: String, wrong: Failure,
    opens: (borrowing Passphrase) throws -> Bool
  ) throws -> Passphrase {
    warn(ofOpenFiles: [file].compactMap(\.self))
    if let given {
      guard try opens(given) else { throw wrong }
      return given
    }
    let prompt = try prompt()
    var problem: String?
    for attempt in 1...Self.promptTries {
      let typed = try prompt.ask(request(what, problem: problem))
      do {
        let passphrase = try Passphrase(utf8: typed)
        if try opens(passphrase) { return passphrase }
        problem = Self.triesLeft("wrong passphrase", attempt)
      } catch let error as PassphraseError {
        problem = Self.triesLeft(Failure(error).message, attempt)
      }
    }
    throw wrong
  }

  /// Twelve words that open something; the parameters are as for a passphrase.
  func words(
    _ options: PhraseOptions, _ what: String, wrong: Failure,
    opens: (borrowing RecoveryPhrase) throws -> Bool
  ) throws -> RecoveryPhrase {
    warn(ofOpenFiles: [options.file].compactMap(\.self))
    if let given = try options.given() {
      let words = try Self.phrase(given)
      guard try opens(words) else { throw wrong }
      return words
    }
    let prompt = try prompt(for: "the recovery phrase", hint: "use --phrase-fd or --phrase-file")
    guard prompt is TerminalPrompt else {
      return try words(prompt, isShown: false, what, wrong: wrong, opens: opens)
    }
    // All tries use the second screen, because wrong words are mostly right except for one.
    let screen = try SecondScreen(of: CommandRun.current.environment.promptTerminal)
    return try words(prompt, isShown: screen.isForgotten, what, wrong: wrong, opens: opens)
  }

  private func words(
    _ prompt: any PassphrasePrompt, isShown: Bool, _ what: String, wrong: Failure,
    opens: (borrowing RecoveryPhrase) throws -> Bool
  ) throws -> RecoveryPhrase {
    var problem: String?
    var last = wrong
    for attempt in 1...Self.promptTries {
      var asked = request(what, problem: problem)
      asked.isShown = isShown
      do {
        let words = try Self.phrase(Passphrase(utf8: prompt.ask(asked)))
        if try opens(words) { return words }
        last = wrong
      } catch let error where error is RecoveryPhraseError || error is PassphraseError {
        last = Failure(error)
      }
      problem = Self.triesLeft(last.message, attempt)
    }
    throw last
  }
}
