// SPDX-License-Identifier: Apache-2.0

/// A chapter: words, and tasks one after the other.
struct TutorialChapter: Sendable {
  let title: String
  /// Said at the beginning.
  let words: [ShownLine]
  let steps: [TutorialStep]
}

/// One task, which ends when its command has run as it should.
struct TutorialStep: Sendable {
  /// Said before.
  let words: [ShownLine]
  /// What to type.
  let line: String
  /// How a line is recognised: its command, and a word that must be in it.
  let command: String
  var mentions: String?
  /// How the command ends.
  var exit = ExitCode.done
  /// What the tutorial answers to "1 to 4", when it answers.
  var choices: [String] = []
  /// Whether Bella is on the telephone.
  var hasTelephone = false
  /// Whether a later chapter needs it. The others are left out when the tutorial goes ahead by itself.
  var isNeeded = true
  /// Called before.
  var begin: @Sendable (TutorialWorld) throws -> Void = { _ in }
  /// Said after it.
  let end: @Sendable (TutorialWorld) -> [ShownLine]

  /// Whether a command that has run is what was to be done.
  func isDone(_ words: [String], _ rest: [String], _ exit: ExitCode) -> Bool {
    guard words.joined(separator: " ") == command, exit == self.exit else { return false }
    return mentions.map(rest.contains) ?? true
  }
}
