// SPDX-License-Identifier: Apache-2.0
//
// What to ask when an argument is missing: a question is clearer than the name that the parser has for it.

/// The argument that a command line lacks.
enum MissingArgument {
  /// The question; nil for an argument whose name says enough.
  /// - Parameters:
  ///   - name: as the parser has it.
  ///   - command: as it is typed, such as "coffer message show".
  static func question(_ name: String, of command: String) -> String? {
    let group = command.split(separator: " ").dropFirst().first.map(String.init) ?? ""
    switch (name, group) {
    case ("which", "capture"), ("id", "capture"):
      return "which capture? give its title or the end of its id: 'coffer capture list' shows it"
    case ("which", "slot"):
      return "which slot? give its id or name: 'coffer slot list' shows them"
    case ("which", _):
      return "which message? give its title, the end of its id, or @N for line N of the last list"
    case ("who", "identity"), ("who", "contact"), ("contact", _):
      let kind = name == "contact" ? name : group
      return "which \(kind)? give a name, an address or a fingerprint"
    case ("photo", _): return "which photo? give its file"
    case ("file", _), ("path", _): return "which file? give its path"
    case ("directory", _): return "which directory? give its path"
    default: return nil
    }
  }
}
