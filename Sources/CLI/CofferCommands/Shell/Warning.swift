// SPDX-License-Identifier: Apache-2.0

/// What is said on standard error beside an answer, whether or not that is a terminal, and also with --quiet. In JSON it
/// is a line of its own, before any error.
struct Warning {
  let code: String
  let message: String
  let hint: String
  /// How many it is about; nil for a warning that counts nothing.
  var count: Int?

  func tell(isJSON: Bool) {
    struct Answer: Encodable {
      struct Body: Encodable {
        let code: String
        let message: String
        let hint: String
        let count: Int?
      }
      let warning: Body
    }
    if isJSON {
      let answer = Answer(warning: .init(code: code, message: message, hint: hint, count: count))
      Terminal.remark(whole: "\(JSON.text(answer))")
    } else {
      Terminal.remark("warning: \(message)")
      Terminal.remark("hint: \(hint)")
    }
  }
}
