// SPDX-License-Identifier: Apache-2.0
//
// The limit for the cost of one try of a secret. A forged slot is recognised only after its derivation, and
// one try runs the derivations of all slots of its kind: without a common limit a changed file could take
// hours.

internal import Primitives

extension SlotKDF {
  /// The cost of the derivation, in iterations of PBKDF2-HMAC-SHA256 (Specs/keybag.md, "Limits"). One KiB
  /// that Argon2id goes over once takes about as long as three.
  var cost: Int {
    switch self {
    case .pbkdf2(let iterations): iterations
    case .argon2id(let costs): 3 * costs.memoryKiB * costs.passes
    case .expansion: 0
    }
  }
}

extension Keybag {
  /// The limit for all slots of a keybag together: about a minute of one core. Sixteen slots as this program
  /// makes them take a fourteenth of it; sixteen of the first choice of RFC 9106, 2 GiB in one pass, fit as
  /// well.
  static let costLimit = 1 << 27

  /// Whether one try on slots with these derivations stays within the limit.
  static func isAffordable(_ derivations: [SlotKDF]) -> Bool {
    derivations.reduce(0) { $0 + $1.cost } <= costLimit
  }

  /// Asked before a slot is made, so that none is written that could not be read again.
  /// - Throws: `KeybagError.derivation`.
  static func requireAffordable(_ derivations: [SlotKDF]) throws(KeybagError) {
    guard isAffordable(derivations) else { throw .derivation(.parameters) }
  }
}
