// SPDX-License-Identifier: Apache-2.0

public import Keychains

/// Errors of the composition root itself; every other error comes from the module where it happened.
@nonexhaustive
public enum CofferError: Error, Equatable, Sendable {
  /// The passphrase does not satisfy the coffer's policy.
  case weakPassphrase([PassphraseAssessment.Problem])
  /// No recovery drill has succeeded, so erasing is refused unless forced.
  case recoveryUnproven
  /// This machine was forgotten, so nothing signs its captures.
  case deviceNotRegistered
  /// Keys would be made in software, and those that they replace are in hardware, which does not answer. Nobody has
  /// said that software is wanted.
  case hardwareRequired
  /// The operation needs fresh authentication, but an agent's keys opened the coffer.
  case slotRequired
}
