// SPDX-License-Identifier: Apache-2.0
//
// One word that a shell may put on the command line, in the form in which each shell takes it.

internal import ArgumentParser
internal import Texts

struct CompletionOffer {
  let word: String
  /// What zsh and fish show beside it.
  let description: String

  init(_ word: String, _ description: String = "") {
    self.word = word
    self.description = TerminalText.line(description)
  }

  /// Whether it can be on a command line and mean itself: a title may be anything, also an option.
  var isWord: Bool {
    !word.isEmpty && !word.hasPrefix("-") && !word.hasPrefix("@") && TerminalText.line(word) == word
      && !word.unicodeScalars.contains { $0.properties.isWhitespace && $0 != " " }
  }

  /// What was typed so far, without the shell's quotes.
  static func typed(_ prefix: String) -> String {
    prefix.filter { !#"\"'"#.contains($0) }.lowercased()
  }

  func begins(_ typed: String) -> Bool { typed.isEmpty || word.lowercased().hasPrefix(typed) }

  /// Its line for a shell; nil where the shell could not put it right.
  func line(for shell: CompletionShell?) -> String? {
    switch shell {
    case .some(.bash):
      // bash splits words here, too, and would complete the last piece alone.
      if word.contains(where: { "\"'<>=;|&(:`!{}".contains($0) }) { return nil }
      // It expands what it is offered, as a command line: nothing of a title may be run.
      return word.reduce(into: "") { line, character in
        let isPlain = character.isLetter || character.isNumber || "-_.,+/%@".contains(character)
        line += isPlain ? "\(character)" : "\\\(character)"
      }
    case .some(.zsh):
      let escaped = word.replacing("\\", with: "\\\\").replacing(":", with: "\\:")
      return description.isEmpty ? escaped : "\(escaped):\(description)"
    case .some(.fish): return description.isEmpty ? word : "\(word)\t\(description)"
    default: return word
    }
  }
}
