// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Identities

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
        hint: "add --no-backup if that is what you want")
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
