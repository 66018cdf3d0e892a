// SPDX-License-Identifier: Apache-2.0
//
// Colours on a terminal, as the setting `theme` has them. A colour never says anything that the words do not say.

internal import CofferKit
internal import ProtectedData

/// What a coloured part of a line says.
enum Tone: CaseIterable {
  /// Verified.
  case good
  /// There is something to do before long.
  case warning
  /// Not to be relied on, or not to be used any more.
  case bad
}

/// The colours for standard output or standard error.
struct Palette: Sendable {
  /// Nil for none.
  private let theme: ColourTheme?

  /// - Parameter theme: nil for no colours.
  init(_ theme: ColourTheme?) { self.theme = theme == .plain ? nil : theme }

  /// The part of a line in a tone; without one, as it is.
  func paint(_ line: ShownLine, _ tone: Tone?) -> ShownLine {
    guard let theme, let tone else { return line }
    return ShownLine(stringLiteral: "\u{1B}[\(Self.code(theme, tone))m") + line + "\u{1B}[0m"
  }

  /// ECMA-48, "select graphic rendition". On a light ground the terminal's own yellow and green can hardly be read.
  private static func code(_ theme: ColourTheme, _ tone: Tone) -> String {
    switch (theme, tone) {
    case (.light, .good): "38;5;22"
    case (.light, .warning): "38;5;94"
    case (.light, .bad): "38;5;124"
    case (.dark, .good): "92"
    case (.dark, .warning): "93"
    case (.dark, .bad): "91"
    case (_, .good): "32"
    case (_, .warning): "33"
    case (_, .bad): "31"
    }
  }
}

extension CommandContext {
  /// The colours for standard output. Protected data must be unlocked; if the settings cannot be read, the colours
  /// are those of a new coffer.
  func outputPalette(_ coffer: Coffer) -> Palette { palette(coffer, isTerminal: Terminal.isOutputTerminal) }

  /// The same for standard error.
  func errorPalette(_ coffer: Coffer) -> Palette { palette(coffer, isTerminal: Terminal.isErrorTerminal) }

  private func palette(_ coffer: Coffer, isTerminal: Bool) -> Palette {
    guard Terminal.wantsColour(isTerminal) else { return Palette(nil) }
    return Palette(settings(coffer).colourTheme)
  }

  /// Says what to do next, unless the setting `next-steps` is off.
  func nextSteps(_ coffer: Coffer, _ lines: ShownLine...) {
    guard !isQuiet, !isJSON, settings(coffer).showsNextSteps else { return }
    for line in lines { remark(line) }
  }

  private func settings(_ coffer: Coffer) -> ProtectedSettings {
    (try? coffer.protectedSettings()) ?? .initial
  }
}

extension ColourTheme {
  /// As `coffer settings` takes and shows it.
  var word: String {
    switch self {
    case .system: "system"
    case .light: "light"
    case .dark: "dark"
    case .plain: "none"
    }
  }
}
