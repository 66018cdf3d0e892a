// SPDX-License-Identifier: Apache-2.0

internal import CofferKit
internal import Storage

extension Failure {
  init(storage error: StorageError) {
    let message = error.sentence
    switch error {
    case .notFound: self.init(.missing, "no_coffer", message, hint: "'coffer init' makes one")
    case .alreadyExists: self.init(.inUse, "already_exists", message, hint: "name another place with --home")
    case .notEmpty: self.init(.refused, "not_empty", message, hint: "name a new folder with --home")
    case .inUse: self.init(.inUse, "in_use", message, hint: "try again when it is done")
    case .full:
      self.init(
        .noRoom, "full", message, hint: "everything that was acknowledged is safe; make room and go on")
    case .notPermitted:
      self.init(
        .missing, "not_permitted", message,
        hint: "check the owner and the mode of the folder")
    case .readOnly:
      self.init(
        .missing, "read_only", message,
        hint: "copy the whole folder to a place where you can write, and name that with --home")
    case .placeTaken:
      self.init(
        .corrupt, "foreign_file", message,
        hint: "look at what is there, then restore the coffer's own file from a backup")
    case .inputOutput:
      self.init(.corrupt, "input_output", message, hint: "check the disk, then run 'coffer doctor'")
    case .corrupt, .unknownFormat: self.init(.corrupt, "corrupt", message, hint: Self.corruptHint)
    case .outdated:
      self.init(
        .corrupt, "outdated", message,
        hint: "restore every file of the coffer from one backup, not just some of them")
    case .earlierState:
      self.init(
        .corrupt, "earlier_state", message,
        hint:
          "if you restored a backup yourself, run 'coffer doctor --accept-earlier-state' to accept it"
      )
    case .staleLog:
      self.init(
        .corrupt, "foreign_log", message,
        hint: "nothing was read from it; move coffer.db-wal and coffer.db-shm out of the folder, keep them, "
          + "and run 'coffer doctor'")
    }
  }

  /// An error with the coffer in `home`; names the folder, since a wrong folder is the likeliest cause.
  /// - Parameter isChosen: whether `--home` named it.
  init(_ error: StorageError, home: String, isChosen: Bool) {
    self.init(storage: error)
    switch error {
    case .notFound:
      message = "there is no coffer in '\(home)'"
      if isChosen { hint = "'coffer --home \(ShellWord.quoted(home)) init' makes one" }
    case .alreadyExists: message = "there is a coffer in '\(home)' already"
    case .notEmpty: message = "'\(home)' is not empty, and a coffer needs its own folder"
    case .readOnly: message = "'\(home)' is on a read-only medium"
    case .notPermitted: message = "the coffer in '\(home)' cannot be read and written by this user"
    default: break
    }
  }
}
