// SPDX-License-Identifier: Apache-2.0
//
// The graphics of a terminal, found out from the environment alone: a query to the terminal would wait for an
// answer that may never come, and would swallow keys that are typed meanwhile.

/// A way to show a picture on a terminal.
public enum TerminalGraphics: Equatable, Sendable {
  /// The kitty graphics protocol: pixels in true colour.
  case kitty
  /// Sixels: pixels in 256 colours of the picture's own choice.
  case sixel
  /// Two pixels a character, in true colour.
  case halfBlocks
  /// Two pixels a character, in the 256 colours of xterm.
  case halfBlocks256
  /// Not at all.
  case none

  /// The best way that the terminal of this environment is known to have.
  ///
  /// The caller checks whether there is a terminal at all. Inside tmux and screen, which do not pass pixels
  /// on, it is half blocks. `NO_COLOR`, and a terminal that knows no escape sequences, mean none.
  public static func detect(environment: [String: String]) -> TerminalGraphics {
    func variable(_ name: String) -> String { environment[name] ?? "" }
    let terminal = variable("TERM")
    if !variable("NO_COLOR").isEmpty || terminal.isEmpty || terminal == "dumb" { return .none }

    let isMultiplexed =
      !variable("TMUX").isEmpty || !variable("STY").isEmpty || terminal.hasPrefix("tmux")
      || terminal.hasPrefix("screen")
    if !isMultiplexed {
      let program = variable("TERM_PROGRAM")
      if kittyTerminals.contains(terminal) || program == "ghostty" || !variable("KITTY_WINDOW_ID").isEmpty {
        return .kitty
      }
      if sixelTerminals.contains(where: { terminal == $0 || terminal.hasPrefix($0 + "-") })
        || sixelPrograms.contains(program) || (Int(variable("KONSOLE_VERSION")) ?? 0) >= konsoleWithSixels
      {
        return .sixel
      }
    }

    let depth = variable("COLORTERM")
    if depth == "truecolor" || depth == "24bit" || terminal.hasSuffix("-direct") { return .halfBlocks }
    if terminal.contains("256color") || terminal.hasPrefix("xterm") { return .halfBlocks256 }
    return .none
  }

  private static let kittyTerminals = ["xterm-kitty", "xterm-ghostty"]
  private static let sixelTerminals = ["foot", "mlterm", "contour", "vt340", "yaft"]
  private static let sixelPrograms = ["WezTerm", "iTerm.app"]
  /// Konsole 22.04.
  private static let konsoleWithSixels = 220_400
}
