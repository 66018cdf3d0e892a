// SPDX-License-Identifier: Apache-2.0
//
// What to say when an import was given something of another kind: the command that reads it.

internal import MessageFormats

enum ImportAdvice {
  static let help = "'coffer message import --help' says what each kind reads"

  /// The failure of a kind that reads something else than what is at `path`.
  static func wrongKind(_ kind: String, _ path: String) -> Failure {
    let found = SourceKind.recognized(at: path)
    let what =
      switch (kind, found) {
      case (SourceKind.maildir.rawValue, .directory): "is a directory without cur and new"
      case (_, .directory), (_, .maildir): "is a directory"
      default: "is not a directory"
      }
    return Failure(.usage, "wrong_kind", "'\(path)' \(what)", hint: hint(kind, path))
  }

  /// The command that reads what is at `path`.
  static func hint(_ kind: String, _ path: String) -> String {
    guard path != "-" else { return help }
    let word = ShellWord.quoted(path)
    guard let found = SourceKind.recognized(at: path) else {
      return "'coffer message add \(word)' stores any file"
    }
    return found.rawValue == kind ? help : "'coffer message import \(found.rawValue) \(word)' reads it"
  }
}
