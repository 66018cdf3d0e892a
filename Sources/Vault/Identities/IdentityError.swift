// SPDX-License-Identifier: Apache-2.0

public import OpenPGP

/// Why an identity could not be made, found or given out. No case carries a name or a fingerprint.
@nonexhaustive
public enum IdentityError: Error, Equatable, Sendable {
  /// There is no such identity any more.
  case missing
  /// So many user IDs at most, and at least one.
  case wrongNumberOfUserIDs(limit: Int)
  /// The end is not after the present, or later than OpenPGP can say.
  case invalidExpiry
  /// The coffer holds its maximum of identities already.
  case tooMany(limit: Int)
  /// Deleting would lose the only copy, and that was not acknowledged.
  case noBackup
  /// The stored public part is not what was written.
  case corrupt
  /// The public part cannot be written, with this error of the system.
  case cannotWrite(errno: Int32)
  /// The OpenPGP engine failed, with this error.
  case engine(OpenPGPError)
}

/// What is wrong with the text of a user ID.
public enum UserIDProblem: Error, Sendable, CaseIterable {
  /// Nothing, or blanks alone.
  case empty
  /// More bytes than ``UserIDText/byteCountLimit``.
  case tooLong
  /// Control characters, invisible characters, or bytes that are not UTF-8.
  case unprintable
}
