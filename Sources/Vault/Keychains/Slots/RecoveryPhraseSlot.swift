// SPDX-License-Identifier: Apache-2.0
//
// Slots that a recovery phrase opens: kind 2. The seed of a phrase (BIP-39) needs no stretching of ours: the
// phrase holds 128 random bits.

extension SlotKind {
  /// A recovery phrase.
  public static let recoveryPhrase = SlotKind(rawValue: 2)
}

extension SlotKDF {
  /// `kdf = 3`: the seed of a recovery phrase.
  public static let seed = SlotKDF.expansion(
    Expansion(code: 3, name: "bip39", info: "coffer keybag v1 seed"))
}

/// Twelve words.
public enum RecoveryPhraseSlot: SlotMethod {
  /// ``SlotKind/recoveryPhrase``.
  public static let kind = SlotKind.recoveryPhrase
  /// The word for lists and programs.
  public static let name = "recovery"
  /// A recovery phrase works on any machine.
  public static let isPortable = true
  /// You have it on paper.
  public static let isEnough = true

  /// The expansion of a seed (code 3), which has no costs.
  public static func derivation(code: UInt8, costs: SlotCosts) -> SlotKDF? {
    code == SlotKDF.seed.code && costs == .none ? .seed : nil
  }

  /// Whether the derivation is the expansion of a seed.
  public static func allows(_ kdf: SlotKDF) -> Bool { kdf == .seed }
}

extension SlotCredential {
  /// The seed of a recovery phrase.
  public init(_ phrase: borrowing RecoveryPhrase) {
    self.init(RecoveryPhraseSlot.self, input: phrase.seed())
  }
}
