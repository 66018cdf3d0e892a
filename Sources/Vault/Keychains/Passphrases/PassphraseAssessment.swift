// SPDX-License-Identifier: Apache-2.0

/// The result of a ``PassphrasePolicy``: a strength to show, and all reasons to refuse.
public struct PassphraseAssessment: Sendable, Equatable {
  /// 0 to 4 by the guesses that an attacker needs: below 10^3, 10^6, 10^8, 10^10, and more.
  public let score: Int
  /// The word for a meter.
  public let strength: PassphraseStrength
  /// Why the passphrase is refused; empty when it is not.
  public let problems: [Problem]

  /// Whether the policy takes the passphrase.
  public var isAccepted: Bool { problems.isEmpty }

  /// One reason to refuse. Its description says the rule and never the passphrase.
  public enum Problem: Sendable, Equatable, CustomStringConvertible {
    /// Fewer characters (Unicode scalars) than the policy asks for.
    case tooShort(minimum: Int, found: Int)
    /// No letter of the Unicode categories Lu and Lt.
    case noUppercaseLetter
    /// No letter of the Unicode category Ll.
    case noLowercaseLetter
    /// No digit of the Unicode category Nd.
    case noDigit
    /// No punctuation mark or symbol (Unicode categories P and S).
    case noSymbol
    /// The whole passphrase is a common password or word, perhaps with other capitals or digits for letters.
    case common
    /// The estimate of guesses is too low.
    case tooGuessable(minimumScore: Int, score: Int)

    /// The rule, for users.
    public var description: String {
      switch self {
      case .tooShort(let minimum, let found): "needs at least \(minimum) characters; this has \(found)"
      case .noUppercaseLetter: "needs an upper-case letter"
      case .noLowercaseLetter: "needs a lower-case letter"
      case .noDigit: "needs a digit"
      case .noSymbol: "needs a symbol, such as - or !"
      case .common: "is a common password or word"
      case .tooGuessable(let minimum, let score):
        "is too easy to guess: strength \(score) of 4, and \(minimum) is needed"
      }
    }
  }

  static func strength(of estimate: StrengthEstimate) -> PassphraseStrength {
    if estimate.isCommon { return .weak }
    return switch estimate.score {
    case ...2: .weak
    case 3: .medium
    default: .strong
    }
  }
}

/// The three words of a strength meter.
public enum PassphraseStrength: String, Sendable {
  /// An estimate of 0 to 2, or a common password: refused.
  case weak
  /// An estimate of 3.
  case medium
  /// An estimate of 4.
  case strong
}
