// SPDX-License-Identifier: Apache-2.0

internal import Backups
internal import Glibc

extension Failure {
  init(backup error: BackupError) {
    switch error {
    case .notABackup:
      self.init(.refused, "not_a_backup", "this file is not a backup of a coffer")
    case .unknownVersion:
      self.init(
        .refused, "backup_version", "this backup was made by a later version of Coffer",
        hint: "restore it with that version")
    case .damaged:
      self.init(
        .corrupt, "backup_damaged", "this backup was changed or cut off; nothing of it was restored",
        hint: "try another copy of it")
    case .noRoom(0, _):
      self.init(.noRoom, "full", "the disk is full", hint: Self.fullExportHint)
    case .noRoom(let needed, let free):
      self.init(
        .noRoom, "full",
        "this needs \(ByteCount.text(needed)) on that disk, and \(ByteCount.text(free)) are free",
        hint: Self.fullExportHint)
    case .stopped: self = .interrupted("nothing was left")
    case .changing:
      self.init(
        .inUse, "in_use", "the coffer changed each time while it was read", hint: "try again when it is quiet"
      )
    case .system(ENOENT): self.init(.missing, "no_such_file", "there is no such file")
    case .system: self.init(.missing, "not_permitted", "the file cannot be read")
    }
  }
}
