// SPDX-License-Identifier: Apache-2.0

/// One subcommand; a file each in Commands/.
protocol Subcommand: SendableMetatype {
  static var name: String { get }
  /// What the operands are that must be there, in their order, as the page names them.
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
