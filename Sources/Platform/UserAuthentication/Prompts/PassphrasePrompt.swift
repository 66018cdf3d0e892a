// SPDX-License-Identifier: Apache-2.0

public import Secrets

/// A way to ask the user: the terminal, a pinentry program, or a script in tests.
///
/// Answers come back as bytes in locked memory, exactly as they were typed. `Passphrase` decides whether they
/// are a valid passphrase.
public protocol PassphrasePrompt: Sendable {
  /// Asks for one line. An empty answer is an answer.
  /// - Throws: ``PromptError``; `.cancelled` when the user gave up.
  func ask(_ request: PromptRequest) throws(PromptError) -> SecretBytes

  /// Asks a question that is answered with yes or no; true only for a clear yes.
  /// - Throws: ``PromptError``; `.cancelled` when the user gave up.
  func confirm(_ question: String) throws(PromptError) -> Bool

  /// The same.
  /// - Parameter isYesByDefault: whether an empty line is yes too.
  func confirm(_ question: String, isYesByDefault: Bool) throws(PromptError) -> Bool
}

extension PassphrasePrompt {
  /// Asks a question whose answer is yes if nothing is typed, where the prompt knows such questions.
  public func confirm(_ question: String, isYesByDefault: Bool) throws(PromptError) -> Bool {
    try confirm(question)
  }

  /// Asks for one line, shown while it is typed unless `isHidden`: for the words of a recovery phrase.
  public func askLine(_ prompt: String, isHidden: Bool = false) throws(PromptError) -> SecretBytes {
    try ask(PromptRequest(prompt, isShown: !isHidden))
  }
}

/// What to ask for, and how to show it.
public struct PromptRequest: Sendable {
  /// Judges the bytes typed so far.
  public typealias Meter = @Sendable (RawSpan) -> StrengthReading

  /// The words before the cursor, without a colon.
  public var prompt: String
  /// What the terminal shows between the words and the cursor.
  public var ending = ": "
  /// Explains the prompt; may have several lines.
  public var description: String?
  /// Why the previous answer was refused.
  public var problem: String?
  /// Whether the answer appears while it is typed. Pinentry never shows one.
  public var isShown: Bool
  /// The answers that appear, in lower case; empty for any. What is not the beginning of one stays hidden: it may be a
  /// passphrase, typed where one was expected.
  public var answers: [String] = []
  /// Called with the typed bytes after each change, for a new passphrase. Only the terminal shows it.
  public var meter: Meter?
  /// More bytes than this end the prompt with ``PromptError/tooLong(byteCountLimit:)``.
  public var byteCountLimit: Int

  /// A request for one line, hidden unless `isShown`. `byteCountLimit` must be positive.
  public init(
    _ prompt: String, description: String? = nil, problem: String? = nil, isShown: Bool = false,
    meter: Meter? = nil, byteCountLimit: Int = PromptRequest.usualByteCountLimit
  ) {
    precondition(byteCountLimit > 0, "an answer needs room")
    self.prompt = prompt
    self.description = description
    self.problem = problem
    self.isShown = isShown
    self.meter = meter
    self.byteCountLimit = byteCountLimit
  }

  /// A question with a few answers, which appear while they are typed.
  public init(_ prompt: String, answers: [String], problem: String? = nil) {
    self.init(prompt, problem: problem, isShown: true)
    self.answers = answers
  }

  /// The limit of a passphrase, so that a longer one is refused at the prompt.
  public static let usualByteCountLimit = 4096
}

/// The display of a meter: one short word and its colour.
public struct StrengthReading: Sendable, Equatable {
  /// How strong, for the colour: red, yellow, green.
  public enum Level: Sendable { case weak, medium, strong }

  /// How to colour the word.
  public var level: Level
  /// One short word, such as 'medium'.
  public var word: String
  /// What has to be typed yet, such as 'a digit'; shown as far as there is room.
  public var missing: [String]

  /// A reading with this level and word.
  public init(_ level: Level, word: String, missing: [String] = []) {
    self.level = level
    self.word = word
    self.missing = missing
  }

  /// A clause of at most `columnCount` characters that names what is missing; empty when nothing is, or fits.
  func need(columnCount: Int) -> String {
    for count in stride(from: missing.count, to: 0, by: -1) {
      let rest = count < missing.count ? ", ..." : ""
      let text = "needs " + missing.prefix(count).joined(separator: ", ") + rest
      if text.unicodeScalars.count <= columnCount { return text }
    }
    return ""
  }
}

/// Why a prompt got no answer. No case reveals what was typed.
@nonexhaustive
public enum PromptError: Error, Equatable, Sendable {
  /// The user gave up: Control-C, Control-D on an empty line, or the window's cancel button.
  case cancelled
  /// There is no terminal to ask on, or it went away.
  case noTerminal
  /// The terminal is there but a system call on it failed.
  case terminalFailed(errno: Int32)
  /// The answer had more bytes than the request allows.
  case tooLong(byteCountLimit: Int)
  /// The pinentry program does not exist.
  case promptProgramMissing
  /// The pinentry program could not be run, ended early, or violated the protocol.
  case promptProgramFailed
  /// Nobody answered in time, or the pinentry program hangs; it has been ended.
  case timedOut
}
