// SPDX-License-Identifier: Apache-2.0

public import Keychains

/// What the composition root refuses by itself; every other error comes from the room it happened in.
public enum CofferError: Error, Equatable, Sendable {
  /// The passphrase does not satisfy the coffer's policy.
  case weakPassphrase([PassphraseAssessment.Problem])
  /// Nothing shows that the recovery phrase works, so erasing is refused unless forced.
  case recoveryUnproven
  /// This machine was forgotten, so nothing signs its captures.
  case deviceNotRegistered
  /// What is asked for wants the person, and an agent's keys opened the coffer.
  case personRequired
}
