// SPDX-License-Identifier: Apache-2.0
//
// The whole coffer in one file, and a coffer of it. The file stands in the folder that is searched: it is ciphertext.

import CofferKit
import Keychains
import MessageFormats
import Secrets

extension Operation {
  static let backups = [
    Operation("back up the coffer") { workspace in
      try workspace.backUpCoffer(workspace.passphrase())
    },
    Operation("restore a coffer") { workspace in
      let passphrase = try workspace.passphrase()
      try workspace.backUpCoffer(passphrase)
      try workspace.restoreCoffer(passphrase)
    },
  ]
}

extension Workspace {
  private var backup: String { searched + "/backup" }

  /// A message, and an identity with its private part.
  @inline(never)
  fileprivate func backUpCoffer(_ passphrase: borrowing Passphrase) throws {
    try withIdentity(true, passphrase) { coffer, _, _ in
      _ = try coffer.addMessage(
        text("message", byteCount: 240), metadata: MessageMetadata(title: "", contentType: "text/plain"))
      let parts = BackupOfPrivateParts(
        custody: try coffer.openPrivateKeys().custody, authorization: coffer.authorization())
      let report = try coffer.backUp(to: backup, privateParts: parts, record: nil) { _, _ in true }
      try expect(report.privatePartCount == 1 && report.messageCount == 1, "all of it is in the backup")
    }
  }

  @inline(never)
  fileprivate func restoreCoffer(_ passphrase: borrowing Passphrase) throws {
    let locked = try LockedBackup(path: backup)
    let wrong = try self.passphrase("wrong passphrase")
    try expectThrow("a wrong passphrase") { _ = try locked.unlock(SlotCredential(wrong)) }
    let restored = try Coffer.restore(
      locked, locked.unlock(SlotCredential(passphrase)), to: searched + "/second", machine: machine
    ) { _, _ in true }
    defer { restored.coffer.close() }
    try expect(restored.identities.count == 1 && restored.messageCount == 1, "all of it has come")
    try restored.coffer.protectedDomains().relock()
  }
}
