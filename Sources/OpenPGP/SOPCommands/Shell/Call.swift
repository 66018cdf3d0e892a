// SPDX-License-Identifier: Apache-2.0
//
// The words of a call, taken apart, and what a subcommand is. The draft's grammar is small (`--name`,
// `--name=value`, `--name value`, `--`) and its exit codes for mistakes (19, 37, 83) must be met exactly:
// that is why this is not a general parser.

/// A subcommand with its options and operands.
struct Call {
  private var flags: Set<String> = []
  private var values: [String: [String]] = [:]
  private(set) var operands: [String] = []

  /// - Parameters:
  ///   - words: after the name of the subcommand.
  ///   - rules: what the subcommand knows; `--help` and `--debug` are known everywhere.
  init(_ words: [String], rules: [OptionRule]) throws(Failure) {
    var rest = words[...]
    while let word = rest.popFirst() {
      if word == "--" {
        operands += rest
        return
      }
      if word.hasPrefix("--") {
        try takeOption(word, &rest, rules + Self.everywhere)
      } else if word.hasPrefix("-") && word != "-" {
        throw Self.unknown(word)
      } else {
        operands.append(word)
      }
    }
  }

  /// All values and operands.
  var words: [String] { values.values.flatMap(\.self) + operands }

  func has(_ name: String) -> Bool { flags.contains(name) }

  /// The value of an option that can be given once.
  func value(_ name: String) -> String? { values[name]?.first }

  func all(_ name: String) -> [String] { values[name] ?? [] }

  /// One of the words that an option allows.
  func choice<Choice: RawRepresentable>(_ name: String, _ standard: Choice) throws(Failure) -> Choice
  where Choice.RawValue == String {
    guard let word = value(name) else { return standard }
    guard let choice = Choice(rawValue: word) else {
      throw Failure(.unsupportedOption, "--\(name) does not know '\(word)'")
    }
    return choice
  }

  private mutating func takeOption(
    _ word: String, _ rest: inout ArraySlice<String>, _ rules: [OptionRule]
  ) throws(Failure) {
    let parts = word.dropFirst(2).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    let name = String(parts[0])
    guard let rule = rules.first(where: { $0.name == name }) else { throw Self.unknown("--\(name)") }
    if case .flag = rule {
      guard parts.count == 1 else { throw Failure(.unsupportedOption, "--\(name) takes no value") }
      flags.insert(name)
      return
    }
    guard let value = parts.count == 2 ? String(parts[1]) : rest.popFirst() else {
      throw Failure(.missingArgument, "--\(name) needs a value")
    }
    if case .value = rule, values[name] != nil {
      throw Failure(.incompatibleOptions, "--\(name) can be given once only")
    }
    values[name, default: []].append(value)
  }

  private static func unknown(_ word: String) -> Failure {
    Failure(
      .unsupportedOption, "there is no option '\(word)' here", hint: "add --help for those that there are")
  }

  private static let everywhere: [OptionRule] = [.flag("help"), .flag("debug")]
}

/// An option that a subcommand knows, without its hyphens.
enum OptionRule: Equatable {
  /// Present or not.
  case flag(String)
  /// With one value, once.
  case value(String)
  /// With a value, any number of times.
  case values(String)

  var name: String {
    switch self {
    case .flag(let name), .value(let name), .values(let name): name
    }
  }
}

/// One subcommand; a file each in Commands/.
protocol Subcommand: SendableMetatype {
  static var name: String { get }
  /// The names of the operands that must be there, in their order, as on the page.
  static var operandNames: [String] { get }
  /// How many operands there may be.
  static var operandCounts: ClosedRange<Int> { get }
  static var options: [OptionRule] { get }
  /// What `--help` prints: what goes in, what comes out, each option, an example.
  static var page: String { get }

  static func run(_ call: Call) throws(Failure)
}

extension Subcommand {
  static var operandNames: [String] { [] }
  static var options: [OptionRule] { [] }
  /// As many as there are.
  static var any: Int { Int.max }
}
