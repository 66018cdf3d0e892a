// SPDX-License-Identifier: Apache-2.0
//
// An error as it stands on standard error.

internal import Texts

extension Failure {
  /// The lines, each with its end: for a person, or one JSON document.
  func lines(isJSON: Bool) -> String {
    if isJSON {
      let body = Answer.Body(
        code: code, message: message, hint: hint, unreadable: unreadable.isEmpty ? nil : unreadable)
      return JSON.text(Answer(error: body)) + "\n"
    }
    var text = unreadable.map { "\(unreadableKind) \($0): corrupted or tampered\n" }.joined()
    text += "coffer: \(TerminalText.line(message))\n"
    if let hint { text += "hint: \(TerminalText.line(hint))\n" }
    return text
  }

  private struct Answer: Encodable {
    struct Body: Encodable {
      let code: String
      let message: String
      let hint: String?
      let unreadable: [String]?
    }
    let error: Body
  }
}
