// SPDX-License-Identifier: Apache-2.0

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
