// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Identities
internal import OpenPGP

extension Failure {
  init(identity error: IdentityError) {
    switch error {
    case .missing: self.init(.missing, "unknown_identity", "there is no such identity any more")
    case .wrongNumberOfUserIDs(let limit): self = .usage("an identity has 1 to \(limit) user IDs")
    case .invalidExpiry:
      self = .usage("--expires: this date is not in the future, or later than OpenPGP can say, 2106-02-07")
    case .tooMany(let limit): self.init(.refused, "too_many_keys", "a coffer has at most \(limit) identities")
    case .noBackup:
      self.init(
        .refused, "no_backup", "there is no backup: messages to this identity could never be read again",
        hint: "'coffer identity backup' makes one; add --no-backup if you want to lose it")
    case .privatePartLost:
      self.init(
        .missing, "no_private_key", "the private part of this identity is lost",
        hint: "'coffer identity import BACKUP' brings it back")
    case .primaryMissing:
      self.init(
        .refused, "primary_missing",
        "the primary key is not here: nothing can be changed or revoked without it",
        hint: "import the file that has everything")
    case .revoked:
      self.init(.refused, "identity_revoked", "this identity is revoked, and that cannot be taken back")
    case .unusable:
      self.init(
        .refused, "identity_unusable", "this identity cannot sign statements now",
        hint:
          "'coffer identity show' says what is wrong; 'coffer identity expire' moves the end of an expired one"
      )
    case .userIDMissing:
      self.init(.missing, "not_found", "there is no such name", hint: "'coffer identity show' lists them")
    case .userIDExists: self.init(.inUse, "already_exists", "the identity has this name already")
    case .lastUserID:
      self.init(
        .refused, "last_user_id", "this is its last name, and an identity needs one",
        hint: "add another one first, or revoke the identity")
    case .subkeyMissing:
      self.init(
        .missing, "not_found", "there is no such subkey, or it is revoked",
        hint: "'coffer identity show WHO --details' lists them")
    case .cannotReplace:
      self.init(
        .refused, "cannot_replace",
        "an identity cannot replace itself, and one that is replaced cannot replace another",
        hint: "'coffer identity show' says which one replaces it")
    case .tooLarge:
      self.init(
        .refused, "certificate_too_large",
        "with its revocation this key would have more than 256 KiB of its owner's statements")
    case .notAPrivateKey: self.init(.refused, "malformed", "this is not a private OpenPGP key")
    case .publicPartsOnly:
      self.init(
        .refused, "malformed", "this file has public parts only", hint: "'coffer contact import' takes these")
    case .wrongPassphrase:
      self.init(.wrongSecret, "wrong_secret", "this passphrase does not open the private key in the file")
    case .backupUnreadable:
      self.init(
        .corrupt, "input_output", "the backup did not read back as it was written, and was removed",
        hint: "use another disk")
    case .engine(.notEnoughMemory(let needed, let available)):
      self.init(
        .noRoom, "not_enough_memory",
        "this key uses memory-intensive protection that exceeds this device's capacity: "
          + "\(needed >> 20) MiB needed, \(available >> 20) MiB available",
        hint: "close other programs and try again")
    case .corrupt:
      self.init(
        .corrupt, "identity_corrupt", "the public part of an identity is not what was stored",
        hint: "'coffer recovery-state' says what to do")
    case .cannotWrite(EEXIST):
      self.init(.inUse, "already_exists", "already exists, and nothing is overwritten")
    case .cannotWrite(ENOSPC), .cannotWrite(EDQUOT):
      self.init(.noRoom, "full", "the disk is full", hint: Self.fullExportHint)
    case .cannotWrite: self.init(.missing, "not_permitted", "the file cannot be written")
    case .engine(let error): self.init(unsorted: "\(type(of: error))")
    }
  }

  /// An error with a file that the user named; the message quotes the name.
  init(_ error: IdentityError, naming path: String) {
    self.init(identity: error)
    if case .cannotWrite = error { message = "'\(path)': \(message)" }
  }
}

extension UserIDProblem {
  /// For people, lower case, without a full stop.
  var sentence: String {
    switch self {
    case .empty: "a user ID cannot be empty"
    case .tooLong: "a user ID has at most \(UserIDText.byteCountLimit) bytes"
    case .unprintable: "a user ID is UTF-8 without control characters and invisible characters"
    }
  }
}
