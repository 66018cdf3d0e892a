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
        hint: "look at the owner and the modes of the folder")
    case .readOnly:
      self.init(
        .missing, "read_only", message,
        hint: "name a place where you can write with --home: a copy of the whole folder, say")
    case .placeTaken:
      self.init(
        .corrupt, "foreign_file", message,
        hint: "look what stands there, then restore what belongs there from a backup")
    case .inputOutput:
      self.init(.corrupt, "input_output", message, hint: "look at the disk, then run 'coffer doctor'")
    case .corrupt, .unknownFormat: self.init(.corrupt, "corrupt", message, hint: Self.corruptHint)
    case .outdated:
      self.init(
        .corrupt, "outdated", message,
        hint: "put every file of the coffer back from one copy, not some of them")
    case .earlierState:
      self.init(
        .corrupt, "earlier_state", message,
        hint:
          "if you put a copy back yourself, 'coffer doctor --accept-earlier-state' takes it for the present one"
      )
    case .staleLog:
      self.init(
        .corrupt, "foreign_log", message,
        hint: "nothing was read from it; move coffer.db-wal and coffer.db-shm out of the folder, keep them, "
          + "and run 'coffer doctor'")
    }
  }

  /// An error with the coffer in `home`; says where that is, since a wrong place is the likeliest cause.
  init(_ error: StorageError, home: String) {
    self.init(storage: error)
    switch error {
    case .notFound: message = "there is no coffer in '\(home)'"
    case .alreadyExists: message = "there is a coffer in '\(home)' already"
    case .notEmpty: message = "'\(home)' is not empty, and a coffer wants a folder of its own"
    case .readOnly: message = "'\(home)' is on a medium that cannot be written"
    case .notPermitted: message = "the coffer in '\(home)' cannot be read and written by this user"
    default: break
    }
  }
}
