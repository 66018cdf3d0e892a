// SPDX-License-Identifier: Apache-2.0

/// Why GnuPG has not given what was asked for.
@nonexhaustive
public enum GnuPGError: Error, Equatable, Sendable {
  /// The program does not exist, or may not be run.
  case missing
  /// What it says of itself is not a version of GnuPG, or one before 2.1.
  case tooOld(version: String?)
  /// There is no folder with its keys; the path.
  case noHome(String)
  /// It did not end in time, and was ended.
  case notAnswering
  /// It wrote more bytes than this.
  case tooLong(byteCountLimit: Int)
  /// Its answer is not in its format.
  case notUnderstood
  /// The private part has a passphrase, which nobody was to be asked for.
  case passphraseNeeded
  /// The passphrase is not that of the private part.
  case wrongPassphrase
  /// Its settings forbid to be given a passphrase; its own pinentry has to ask.
  case loopbackForbidden
  /// The user has given up in its pinentry.
  case cancelled
  /// It has failed for another reason: the number of libgpg-error, or 0.
  case failed(code: UInt32)
}
