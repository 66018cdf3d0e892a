// SPDX-License-Identifier: Apache-2.0

/// What is wrong with one domain. None of these is a passing condition.
@nonexhaustive
public enum DomainFault: String, Error, Sendable, CaseIterable {
  /// The registry does not have it: its making was given up half-way, or its removal finished.
  case absent
  /// The registry has it and its row is gone.
  case missing
  case keyCorrupt
  case payloadCorrupt
  /// The payload is an older one.
  case rolledBack
  /// The payload is newer than the keychain's ledger can account for.
  case ledgerBehind
  /// Written by a program that knows more.
  case unknownSchema
  /// Authentic, and not what the schema allows.
  case malformed
}
