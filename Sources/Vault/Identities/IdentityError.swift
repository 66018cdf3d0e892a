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
  /// Custody has no private part of it any more.
  case privatePartLost
  /// The primary key is not here: only parts for daily use are, and nothing can be changed with them.
  case primaryMissing
  /// It is revoked already.
  case revoked
  /// Its public part does not say enough, or the policy refuses it, so that it cannot sign statements.
  case unusable
  /// It has no such user ID, or has it already.
  case userIDMissing
  /// There is this user ID already.
  case userIDExists
  /// The last user ID cannot be revoked: revoke the identity instead.
  case lastUserID
  /// It has no such subkey, or one that is revoked.
  case subkeyMissing
  /// An identity is not replaced by itself, and not by one that a third one replaces.
  case cannotReplace
  /// A public part, with what revoking it would add, or a private part is larger than what can be stored.
  case tooLarge
  /// The file is not a private key that can be read.
  case notAPrivateKey
  /// The file holds public parts only.
  case publicPartsOnly
  /// The passphrase does not open the private key of a file.
  case wrongPassphrase
  /// A backup was written, and did not read back as the identity: it was removed.
  case backupUnreadable
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
