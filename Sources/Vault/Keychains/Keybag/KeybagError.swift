// SPDX-License-Identifier: Apache-2.0

public import Enclaves
public import Primitives

/// Why a keybag does not do what was asked.
@nonexhaustive
public enum KeybagError: Error, Equatable, Sendable {
  /// Not the passphrase or phrase of any slot.
  case wrongSecret
  /// No slot of the kind that was tried.
  case noSuchSlot
  /// The record is not what was written.
  case corrupt
  /// The chip that the slots need does not open them.
  case enclave(EnclaveError)
  /// A slot of this kind of enclave would protect nothing: software cannot count wrong PINs.
  case notHardware
  /// It would leave no passphrase and no recovery phrase.
  case lastSlot
  /// More slots than a keybag holds.
  case tooManySlots(limit: Int)
  /// The derivation was refused: memory, or costs out of bounds.
  case derivation(Argon2idError)

  /// Whether what was typed was wrong, and the slot was one that it could have opened.
  var isWrongSecret: Bool { self == .wrongSecret || self == .enclave(.wrongPasscode) }
}
