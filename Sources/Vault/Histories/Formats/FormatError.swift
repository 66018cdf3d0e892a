// SPDX-License-Identifier: Apache-2.0

/// Why the bytes of an object are not taken. No case reveals anything of their content.
@nonexhaustive
public enum FormatError: Error, Equatable, Sendable {
  /// No writer of this format makes such bytes: cut off, or not in the one form that the format allows. If they were
  /// authentic, their author is at fault; else the object may still come, whole.
  case malformed
  /// The bytes are not those that were sealed, or were not sealed for this place and account.
  case notAuthentic
  /// The key is not the one that this was sealed under: another passphrase, other words, or another recipient.
  case wrongKey
  /// Sealed under another epoch than that of the keys given. The head of the object names the right one.
  case otherEpoch
  /// Authentic, but it says of itself that it belongs to another account, device or number.
  case misplaced
  /// A version, or a mechanism, that a later program knows.
  case unknownVersion
  /// An operation that must be understood, and that a later program knows.
  case unknownOperation
  /// More bytes or entries than the format allows.
  case tooLarge
}
