// SPDX-License-Identifier: Apache-2.0

/// What to ask for, and how.
public struct PromptRequest: Sendable {
  /// A live judgement of what has been typed so far.
  public typealias Meter = @Sendable (RawSpan) -> StrengthReading

  /// The words before the cursor, without a colon.
  public var prompt: String
  /// What is asked for and why, if the prompt alone does not say; may have several lines.
  public var description: String?
  /// What was wrong with the answer before this one.
  public var problem: String?
  /// Whether the answer appears while it is typed. Pinentry never shows one.
  public var isShown: Bool
  /// Called with the typed bytes after each change, for a new passphrase. Only the terminal shows it.
  public var meter: Meter?
  /// More bytes than this end the prompt with ``PromptError/tooLong(byteCountLimit:)``.
  public var byteCountLimit: Int

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

  /// What a passphrase may have, so that a longer one is refused here and not later.
  public static let usualByteCountLimit = 4096
}

/// What a meter shows: one short word, and how to colour it.
public struct StrengthReading: Sendable, Equatable {
  public enum Level: Sendable { case weak, medium, strong }

  public var level: Level
  public var word: String

  public init(_ level: Level, word: String) {
    self.level = level
    self.word = word
  }
}
