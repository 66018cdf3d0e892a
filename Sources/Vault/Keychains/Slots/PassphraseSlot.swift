// SPDX-License-Identifier: Apache-2.0
//
// Slots that a passphrase opens: kind 1, stretched by PBKDF2 or Argon2id.

internal import Primitives
public import Secrets

extension SlotKind {
  /// A passphrase.
  public static let passphrase = SlotKind(rawValue: 1)
}

extension SlotKDF {
  /// The default of new passphrase slots.
  public static let recommended = SlotKDF.argon2id(.recommended)
  /// PBKDF2 with 600,000 iterations.
  public static let pbkdf2 = SlotKDF.pbkdf2(iterations: PBKDF2.passphraseIterations)
}

/// A passphrase.
public enum PassphraseSlot: SlotMethod {
  /// ``SlotKind/passphrase``.
  public static let kind = SlotKind.passphrase
  /// The word for lists and programs.
  public static let name = "passphrase"
  /// A passphrase works on any machine.
  public static let isPortable = true
  /// You know it.
  public static let isEnough = true

  /// At most a hundred million: a changed file may not occupy the machine for hours.
  static let iterationRange = 1...100_000_000

  /// PBKDF2 (code 1) or Argon2id (code 2) with the costs of a record; nil for costs out of bounds.
  public static func derivation(code: UInt8, costs: SlotCosts) -> SlotKDF? {
    switch code {
    case 1 where costs.second == 0 && costs.third == 0: return .pbkdf2(iterations: costs.first)
    case 2:
      // Costs out of bounds are no parameters.
      let parameters = try? Argon2idParameters(
        memoryKiB: costs.first, passes: costs.second, lanes: costs.third)
      return parameters.map { .argon2id($0) }
    default: return nil
    }
  }

  /// Whether the derivation is PBKDF2 or Argon2id, with costs in their bounds.
  public static func allows(_ kdf: SlotKDF) -> Bool {
    switch kdf {
    case .pbkdf2(let iterations): iterationRange.contains(iterations)
    // The bounds of the costs are in the type.
    case .argon2id: true
    case .expansion: false
    }
  }
}

extension SlotCredential {
  /// The bytes of a passphrase, as they enter the key derivation: UTF-8, NFC.
  public init(_ passphrase: borrowing Passphrase) {
    self.init(PassphraseSlot.self, input: passphrase.withBytes { SecretBytes(copying: $0) })
  }
}
