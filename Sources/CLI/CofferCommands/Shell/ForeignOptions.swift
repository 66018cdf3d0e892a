// SPDX-License-Identifier: Apache-2.0
//
// Options that GnuPG, head or git have under other names: whoever types them is told the name here. They are not
// accepted, so that there is one name for one thing.

enum ForeignOptions {
  private static let names = [
    "-r": "--to", "--recipient": "--to", "-u": "--as", "--local-user": "--as", "-o": "--output",
    "-a": "--armor", "--clear-sign": "--clear", "--clearsign": "--clear", "-n": "--limit",
    "-c": "--count",
  ]

  /// The first such option that this command has under another name; nil if there is none.
  static func known(in line: ArgumentOrder.Sorted) -> (option: String, name: String)? {
    for option in line.options {
      guard let name = names[String(option.prefix { $0 != "=" })] else { continue }
      if line.command.page.contains(name) { return (option, name) }
    }
    return nil
  }

  /// Whether an argument of a search looks like an option of grep, head or git: a letter or digit after a hyphen, or a
  /// letter and a number. To leave out what has one letter is what nobody wants.
  static func isLetter(_ argument: String) -> Bool {
    argument.wholeMatch(of: /-(?:[A-Za-z0-9]|[A-Za-z][0-9]+)/) != nil
  }

  /// The first such argument of a search; nil if there is none.
  static func letter(in line: ArgumentOrder.Sorted) -> String? {
    guard line.command is any SearchingCommand.Type else { return nil }
    let options = line.options
    return zip([""] + options, options).first { before, option in
      // A number after an option is its value; that it is negative is said later.
      isLetter(option) && option != "-h" && !(Int(option) != nil && before.hasPrefix("--"))
    }?.1
  }
}
