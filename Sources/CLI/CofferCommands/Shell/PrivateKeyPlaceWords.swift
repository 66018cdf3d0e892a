// SPDX-License-Identifier: Apache-2.0
//
// Where a private key is, in words and for programs.

internal import Enclaves
internal import Identities
internal import KeyCustody

extension PrivateKeyLoss {
  /// For programs; stable.
  var code: String {
    switch self {
    case .damaged: "damaged"
    case .otherChip: "other_chip"
    case .guardOfOtherChip: "guard_of_other_chip"
    case .leftBehind: "left_behind"
    }
  }

  /// For people.
  var sentence: String {
    switch self {
    case .damaged: "it is not what was stored"
    case .otherChip: "it is sealed to another chip, or to this one before it was cleared"
    case .guardOfOtherChip: "the guard's PIN belongs to another chip, or to this one before it was cleared"
    case .leftBehind: "a change of mode left it behind"
    }
  }
}

extension PrivateKeyPlace {
  /// Why it cannot be opened any more; nil if nothing speaks against it.
  var loss: PrivateKeyLoss? { if case .lost(let loss) = state { loss } else { nil } }

  /// After "private part".
  var sentence: String {
    switch state {
    case .here: kind?.sealedTo ?? "lost"
    case .away: (kind?.sealedTo ?? "lost") + ", which does not answer now"
    case .lost(let loss): "lost: \(loss.sentence)"
    }
  }
}

extension [UnlistedKey] {
  /// Those that may open.
  var openable: [UnlistedKey] { filter { !$0.place.isLost } }
  /// Those that cannot be opened any more.
  var lost: [UnlistedKey] { filter(\.place.isLost) }

  /// The key of a whole fingerprint or a key ID of 16 digits; nil if there is none, or several.
  func named(_ who: String) -> UnlistedKey? {
    let digits = who.lowercased().filter { !$0.isWhitespace && $0 != ":" }
    let found = filter { key in
      if key.fingerprint == digits { return true }
      guard digits.utf8.count == 16 else { return false }
      return key.fingerprint.utf8.count == 40
        ? key.fingerprint.hasSuffix(digits) : key.fingerprint.hasPrefix(digits)
    }
    return found.count == 1 ? found[0] : nil
  }
}
