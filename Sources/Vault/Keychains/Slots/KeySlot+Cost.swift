// SPDX-License-Identifier: Apache-2.0
//
// What one try of a secret may cost. Slots are told apart from forged ones only after a derivation, and one try
// runs those of every slot of its kind: bounds for each alone would let a changed file take hours.

internal import Primitives

extension SlotKDF {
  /// What the derivation costs, in iterations of PBKDF2-HMAC-SHA256 (Specs/keybag.md, «Limits»). One KiB that
  /// Argon2id goes over once takes about as long as three.
  var cost: Int {
    switch self {
    case .pbkdf2(let iterations): iterations
    case .argon2id(let costs): 3 * costs.memoryKiB * costs.passes
    case .expansion: 0
    }
  }
}

extension Keybag {
  /// What the slots of a keybag may cost together: about a minute of one core. Sixteen slots as this program
  /// makes them take a fourteenth of it; sixteen of the first choice of RFC 9106, 2 GiB in one pass, fit as
  /// well.
  static let costLimit = 1 << 27

  /// Whether one try on slots with these derivations costs no more than may be.
  static func isAffordable(_ derivations: [SlotKDF]) -> Bool {
    derivations.reduce(0) { $0 + $1.cost } <= costLimit
  }

  /// Asked before a slot is made, so that none is written that could not be read again.
  /// - Throws: `KeybagError.derivation`.
  static func requireAffordable(_ derivations: [SlotKDF]) throws(KeybagError) {
    guard isAffordable(derivations) else { throw .derivation(.parameters) }
  }
}
