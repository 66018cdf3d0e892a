// SPDX-License-Identifier: Apache-2.0
//
// The rules for new passphrases. They apply only where a passphrase is set, never where one opens something.

internal import CUtf8proc
public import Secrets

/// The rules for a new passphrase.
public enum PassphrasePolicy: String, Sendable, CaseIterable {
  /// At least 12 characters with an upper-case letter, a lower-case letter and a digit.
  case standard
  /// As `standard`, and a symbol.
  case strict
  /// At least 15 characters of any kind (NIST SP 800-63B-4, section 3.1.1.2).
  case long

  /// The rules where none were chosen: length and strength alone. Rules for kinds of characters would refuse four random
  /// words.
  public static let usual = PassphrasePolicy.long

  /// The fewest characters (Unicode scalars of the normalised text).
  public var minimumCharacterCount: Int { self == .long ? 15 : Self.shortest }

  /// The fewest characters under any policy.
  public static let shortest = 12

  /// Judges `passphrase`: these rules, the common passwords, and an estimate of at least 3 of 4.
  public func check(_ passphrase: borrowing Passphrase) -> PassphraseAssessment {
    passphrase.withBytes { check($0) }
  }

  /// Judges `typed` so far: for a meter that is shown during typing. It may end in half a character.
  public func check(typed: RawSpan) -> PassphraseAssessment { check(typed) }

  private func check(_ text: RawSpan) -> PassphraseAssessment {
    let found = Composition(of: text)
    let estimate = StrengthEstimate(of: text)
    var problems: [PassphraseAssessment.Problem] = []
    if found.characterCount < minimumCharacterCount {
      problems.append(.tooShort(minimum: minimumCharacterCount, found: found.characterCount))
    }
    if self != .long {
      if !found.hasUppercase { problems.append(.noUppercaseLetter) }
      if !found.hasLowercase { problems.append(.noLowercaseLetter) }
      if !found.hasDigit { problems.append(.noDigit) }
    }
    if self == .strict && !found.hasSymbol { problems.append(.noSymbol) }
    if estimate.isCommon { problems.append(.common) }
    if estimate.score < Self.minimumScore {
      problems.append(.tooGuessable(minimumScore: Self.minimumScore, score: estimate.score))
    }
    return PassphraseAssessment(
      score: estimate.score, strength: PassphraseAssessment.strength(of: estimate), problems: problems)
  }

  /// The estimate that a passphrase must reach: 10^8 guesses.
  public static let minimumScore = 3
}

/// Which kinds of characters there are, by their Unicode general category.
private struct Composition {
  var characterCount = 0
  var hasUppercase = false
  var hasLowercase = false
  var hasDigit = false
  var hasSymbol = false

  /// - Parameter text: UTF-8; counted up to the first byte that is not.
  init(of text: RawSpan) {
    var offset = 0
    while offset < text.byteCount {
      var scalar: Int32 = 0
      let length = unsafe text.extracting(offset..<text.byteCount).withUnsafeBytes { rest in
        unsafe utf8proc_iterate(
          rest.baseAddress?.assumingMemoryBound(to: UInt8.self), rest.count, &scalar)
      }
      guard length > 0 else { return }
      offset += length
      characterCount += 1
      note(utf8proc_category(scalar))
    }
  }

  private mutating func note(_ category: utf8proc_category_t) {
    switch category {
    case UTF8PROC_CATEGORY_LU, UTF8PROC_CATEGORY_LT: hasUppercase = true
    case UTF8PROC_CATEGORY_LL: hasLowercase = true
    case UTF8PROC_CATEGORY_ND: hasDigit = true
    case UTF8PROC_CATEGORY_PC, UTF8PROC_CATEGORY_PD, UTF8PROC_CATEGORY_PS, UTF8PROC_CATEGORY_PE,
      UTF8PROC_CATEGORY_PI, UTF8PROC_CATEGORY_PF, UTF8PROC_CATEGORY_PO, UTF8PROC_CATEGORY_SM,
      UTF8PROC_CATEGORY_SC, UTF8PROC_CATEGORY_SK, UTF8PROC_CATEGORY_SO:
      hasSymbol = true
    default: break
    }
  }
}
