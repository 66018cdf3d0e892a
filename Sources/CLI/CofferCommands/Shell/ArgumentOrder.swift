// SPDX-License-Identifier: Apache-2.0
//
// Global and passphrase options are accepted before and after the command. The parser accepts them only after it, so
// those in front are moved to directly after the command's words.

internal import ArgumentParser

enum ArgumentOrder {
  private static let flags: Set<String> = ["--json", "--quiet", "--no-pager", "--security-key"]
  private static let options: Set<String> = [
    "--home", "--passphrase-fd", "--passphrase-file", "--new-passphrase-fd", "--new-passphrase-file",
    "--phrase-fd", "--phrase-file", "--pin-fd", "--pin-file", "--guard-pin-fd", "--guard-pin-file",
    "--new-guard-pin-fd", "--new-guard-pin-file",
  ]

  /// Commands of `coffer message` that may stand without it.
  static let aliases: Set<String> = [
    "add", "show", "list", "search", "copy", "edit", "set", "history", "remove",
  ]

  /// A command line, taken apart.
  struct Sorted {
    /// The command's words, such as `message` and `add`.
    var words: [String]
    /// The shared options before or between the words.
    var leading: [String]
    /// Everything from the first argument on that is neither.
    var rest: [String]
    var command: any HelpPage.Type

    /// All arguments in the order that the parser expects.
    var arguments: [String] { words + leading + rest }

    /// The arguments that may be options; a lone `--` ends them.
    var options: [String] { leading + rest.prefix { $0 != "--" } }

    /// The first word that looks like an option and is none of the command's; nil if all are.
    var unknownOption: String? {
      let known = command.optionNames
      return rest.prefix { $0 != "--" }.map { String($0.prefix { $0 != "=" }) }
        .first { $0.hasPrefix("--") && !known.contains($0) }
    }
  }

  /// Whether an option of this name is followed by a value.
  static func takesValue(_ option: String) -> Bool { options.contains(option) }

  /// - Parameter takesDefault: whether a group without a word of its own is what it does by default.
  static func sorted(
    _ arguments: [String], root: any HelpPage.Type, takesDefault: Bool = false
  ) -> Sorted {
    var leading: [String] = []
    var rest = arguments[...]
    var words: [String] = []
    var command = root
    scan: while let argument = rest.first {
      if flags.contains(argument) || options.contains(where: { argument.hasPrefix($0 + "=") }) {
        leading.append(argument)
        rest.removeFirst()
      } else if options.contains(argument), rest.count > 1 {
        leading += rest.prefix(2)
        rest.removeFirst(2)
      } else if command == root, aliases.contains(argument), let group = root.subcommand(named: "message"),
        let next = group.subcommand(named: argument)
      {
        command = next
        words += ["message", argument]
        rest.removeFirst()
      } else if let next = command.subcommand(named: argument) {
        command = next
        words.append(argument)
        rest.removeFirst()
      } else {
        break scan
      }
    }
    let isBare = rest.first.map { $0.hasPrefix("-") && !["-h", "--help"].contains($0) } ?? true
    if takesDefault, isBare, let next = command.configuration.defaultSubcommand as? any HelpPage.Type {
      command = next
      words.append(next._commandName)
    }
    let arguments = command is any SearchingCommand.Type ? excludedLast(rest) : Array(rest)
    return Sorted(words: words, leading: leading, rest: arguments, command: command)
  }

  /// The arguments with those that a search excludes, such as `-draft`, after a `--`: there they are not options.
  private static func excludedLast(_ arguments: ArraySlice<String>) -> [String] {
    let end = arguments.firstIndex(of: "--") ?? arguments.endIndex
    var (options, excluded): ([String], [String]) = ([], [])
    for argument in arguments[..<end] {
      // A number after an option is its value; that it is negative is said later.
      let isValue = Int(argument) != nil && options.last?.hasPrefix("--") == true
      if argument.hasPrefix("-"), !argument.hasPrefix("--"), !["-", "-h"].contains(argument), !isValue,
        !ForeignOptions.isLetter(argument)
      {
        excluded.append(argument)
      } else {
        options.append(argument)
      }
    }
    return excluded.isEmpty ? Array(arguments) : options + ["--"] + excluded + arguments[end...].dropFirst()
  }
}

extension HelpPage {
  /// The words that may follow the command's own.
  static var subcommandNames: Set<String> {
    let names = Set(configuration.subcommands.map { $0._commandName })
    return self == CofferRoot.self ? names.union(ArgumentOrder.aliases) : names
  }

  /// The options that the page has, and those that every command has.
  static var optionNames: Set<String> {
    let words = page.split { !($0 == "-" || $0.isASCII && ($0.isLetter || $0.isNumber)) }
    let named = Set(words.lazy.filter { $0.hasPrefix("--") && $0.count > 2 }.map(String.init))
    // Whatever opens the coffer with a PIN takes these too, and most pages leave them out.
    let opening = ["--security-key", "--guard-pin-fd", "--guard-pin-file"]
    return named.union(named.contains("--pin-file") ? opening : [])
      .union([
        "--json", "--quiet", "--no-pager", "--home", "--help", "--version", "--generate-completion-script",
      ])
  }

  static func subcommand(named name: String) -> (any HelpPage.Type)? {
    // The name is compared first: whether a type is a page takes the runtime a search through the whole program.
    configuration.subcommands.first { $0._commandName == name } as? any HelpPage.Type
  }
}
