// SPDX-License-Identifier: Apache-2.0
//
// Prompts in the tutorial: typed by the user, or answered by the tutorial, which then shows the answer as if it had been
// typed. Either way it hears the question, so that Bella can read her fingerprint on the telephone.

internal import Secrets
internal import Synchronization
internal import UserAuthentication

/// Asks, in the tutorial.
final class TutorialPrompt: PassphrasePrompt {
  /// How fast the tutorial types; nil when the user does.
  let pace: TutorialPace?
  private let isAnswering = Mutex(false)
  /// Says a group of Bella's fingerprint, as she reads it; nil while she is not on the telephone.
  private let telephone = Mutex<(@Sendable (Int) -> String)?>(nil)

  init(_ pace: TutorialPace?) { self.pace = pace }

  /// What the tutorial answers to "1 to 4", in order.
  private let choices = Mutex<[String]>([])

  /// Says what the tutorial will choose.
  func prepare(choices new: [String]) { choices.withLock { $0 = new } }

  /// Answers by itself while `body` runs.
  func answering<R>(_ body: () throws -> R) rethrows -> R {
    let before = isAnswering.withLock { answering in
      defer { answering = true }
      return answering
    }
    defer { isAnswering.withLock { $0 = before } }
    return try body()
  }

  /// Has Bella on the telephone while `body` runs.
  func hearing<R>(_ groups: (@Sendable (Int) -> String)?, _ body: () throws -> R) rethrows -> R {
    telephone.withLock { $0 = groups }
    defer { telephone.withLock { $0 = nil } }
    return try body()
  }

  func ask(_ request: PromptRequest) throws(PromptError) -> SecretBytes {
    var request = request
    let spoken = heard(request)
    if let spoken {
      for text in [request.problem, "Bella reads: \(spoken)"] {
        if let text { Terminal.remark("\(text)") }
      }
      request.problem = nil
    }
    guard pace != nil || isAnswering.withLock({ $0 }) else {
      return try TerminalPrompt(on: CommandRun.current.environment.promptTerminal).ask(request)
    }
    for text in [request.problem, request.description] {
      if let text { Terminal.remark(lines: text) }
    }
    let answer = spoken ?? answer(request)
    show(request, request.isShown ? answer : String(repeating: "*", count: answer.count))
    return SecretBytes(copying: Array(answer.utf8).rawSpan)
  }

  func confirm(_ question: String) throws(PromptError) -> Bool {
    guard pace != nil || isAnswering.withLock({ $0 }) else {
      return try TerminalPrompt(on: CommandRun.current.environment.promptTerminal).confirm(question)
    }
    let isYes = question != Self.secondKey
    show(PromptRequest("\(question) [y/N]", isShown: true), isYes ? "y" : "n")
    return isYes
  }

  /// Shows a line as it is typed.
  func show(_ request: PromptRequest, _ answer: String) {
    guard let pace else { return Terminal.remark("\(request.prompt + request.ending + answer)") }
    Terminal.writeError(request.prompt + request.ending)
    pace.type(answer) { Terminal.writeError($0) }
    Terminal.writeError("\n")
  }

  private func heard(_ request: PromptRequest) -> String? {
    guard let group = request.prompt.split(separator: " ").last.flatMap({ Int($0) }),
      request.prompt.hasPrefix("group ")
    else { return nil }
    return telephone.withLock { $0 }?(group)
  }

  private static let secondKey = "Enrol a second key now?"

  /// What the tutorial types.
  private func answer(_ request: PromptRequest) -> String {
    if request.prompt.hasPrefix("1 to 4") {
      return choices.withLock { $0.isEmpty ? "1" : $0.removeFirst() }
    }
    if request.isShown { return "" }
    return TutorialSurroundings.passphrase
  }
}
