// SPDX-License-Identifier: Apache-2.0
//
// Which identities some words mean. Several is an answer too: nothing is guessed.

internal import OpenPGP
internal import Primitives

extension [Identity] {
  /// The answer to some words of a user.
  public enum Choice: Sendable {
    /// Exactly this one.
    case one(Identity)
    /// Several fit; the words have to be longer.
    case several([Identity])
    /// Nothing fits.
    case nothing
    /// Nothing fits, and the words look like a fingerprint that was cut off, which can be forged.
    case shortFingerprint
  }

  /// The identities that words mean. The first of these rules that fits anything decides: a whole fingerprint
  /// of a key or subkey, or a key ID of 16 digits; an address; a name; words that begin words of a name; `me`,
  /// the default identity. Letter case does not matter.
  public func choose(_ who: String) -> Choice {
    let digits = Self.digits(who)
    if let digits, let fitting = fitting(digits: digits.text) { return Choice(fitting) }
    let wanted = who.lowercased()
    let rules: [(UserIDText) -> Bool] = [
      { $0.address?.lowercased() == wanted }, { $0.text.lowercased() == wanted },
      { $0.name?.lowercased() == wanted },
      { $0.hasWords(beginning: wanted.split(whereSeparator: \.isWhitespace)) },
    ]
    for rule in rules {
      let fitting = filter { $0.userIDs.contains(where: rule) }
      if !fitting.isEmpty { return Choice(fitting) }
    }
    if wanted == "me", let first { return .one(first) }
    return digits?.isFingerprintCutOff == true ? .shortFingerprint : .nothing
  }

  /// Nil when these are not as many digits as a fingerprint or a key ID has.
  private func fitting(digits: String) -> [Identity]? {
    let texts: (PublicKey) -> String
    switch digits.count {
    case 40, 64: texts = { Hexadecimal.text($0.fingerprint.bytes) }
    case 16: texts = { Hexadecimal.text($0.keyID.bytes) }
    default: return nil
    }
    return filter { $0.certificate.publicKeys.contains { texts($0) == digits } }
  }

  /// Hexadecimal digits without blanks, colons and a leading `0x`; nil when there is anything else.
  private static func digits(_ who: String) -> (text: String, isFingerprintCutOff: Bool)? {
    let text = who.lowercased().filter { !$0.isWhitespace && $0 != ":" }
    let isMarked = text.hasPrefix("0x")
    let digits = isMarked ? String(text.dropFirst(2)) : text
    guard !digits.isEmpty,
      digits.utf8.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0) })
    else { return nil }
    // Shorter ones may be names, such as Ada.
    return (digits, isMarked || digits.count >= 8)
  }
}

extension [Identity].Choice {
  fileprivate init(_ fitting: [Identity]) {
    self = fitting.isEmpty ? .nothing : fitting.count == 1 ? .one(fitting[0]) : .several(fitting)
  }
}

extension UserIDText {
  /// Whether each of these begins a word of the name, in their order.
  fileprivate func hasWords(beginning starts: [Substring]) -> Bool {
    var rest = words[...]
    guard !starts.isEmpty else { return false }
    for start in starts {
      guard let index = rest.firstIndex(where: { $0.hasPrefix(start) }) else { return false }
      rest = rest[(index + 1)...]
    }
    return true
  }
}
