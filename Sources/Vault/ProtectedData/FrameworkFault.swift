// SPDX-License-Identifier: Apache-2.0

/// What is wrong with the framework as a whole. None of these is a passing condition.
@nonexhaustive
public enum FrameworkFault: String, Error, Sendable, CaseIterable {
  case registryMissing
  /// The registry is not the bytes of one: an accident, told before unlocking.
  case registryCorrupt
  /// The registry is well made and not by us.
  case registryTampered
  /// A reset was cut off between keychain and file: the registry is the one that it was to replace. What the
  /// domains held was given up already; only the reset has to be ended.
  case resetInterrupted
  /// The registry is an older one.
  case registryRolledBack
  /// The registry is newer than the keychain's ledger can account for.
  case ledgerBehind
  case ledgerMissing
  case ledgerCorrupt
  case rootSecretMissing
  case rootSecretCorrupt
  /// A root secret of the first format, where the second had been reached (PD-07).
  case rootSecretDowngraded
  /// The marker of the lowest format and the registry contradict each other.
  case formatFloorInconsistent
  case bindingKeyMissing
  /// The binding key is damaged, of another chip, another key than the envelope's, or asks for more than it may.
  case bindingKeyUnusable
}
