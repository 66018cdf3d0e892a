// SPDX-License-Identifier: Apache-2.0
//
// A coffer that is backed up in one place and restored in another.

import Backups
import Captures
import Enclaves
import Foundation
import KeyCustody
import Keychains
import MessageFormats
import Primitives
import ProtectedData
import Secrets
import Storage
import TemporaryHomes
import Testing

@testable import CofferKit

@Suite("A backup and what is restored from it")
struct RestoreTests {
  @Test("Everything comes: messages, captures, settings, identities; private parts are the same")
  func roundTrip() throws {
    let fixture = try BackupFixture()
    let ada = try fixture.addIdentity("Ada <ada@example.org>")
    let work = try fixture.addIdentity("Ada at work <ada@corp.example>")
    try fixture.coffer.protectedDomains().update(ProtectedSettings.self) { $0.gracePeriodSeconds = 77 }
    let report = try fixture.backUp(withIdentities: true)
    #expect(report.messageCount == 3 && report.captureCount == 2)
    #expect(report.identityCount == 2 && report.privatePartCount == 2)
    #expect(try report.fileByteCount == fixture.bytes().count)

    let home = try TemporaryHome()
    let restored = try restore(fixture.path(), to: home.path)
    let coffer = restored.coffer
    #expect(restored.messageCount == 3 && restored.captureCount == 2)
    #expect(restored.identities.map(\.fingerprint) == [ada, work])
    #expect(restored.identities.first?.name == "Ada <ada@example.org>")
    #expect(restored.missingIdentities == [] && restored.leftOutSlots == [])
    #expect(try texts(coffer) == texts(fixture.coffer))
    #expect(try privateParts(coffer) == privateParts(fixture.coffer))
    #expect(try coffer.protectedDomains().read(ProtectedSettings.self).gracePeriodSeconds == 77)
    #expect(try coffer.identities(coffer.openIdentities()).map(\.hasPrivatePart) == [true, true])
    let found = try coffer.captures.examine(isDeep: true)
    #expect(found.captureCount == 2 && found.damaged == [] && found.strayBlobCount == 0)
    #expect(try coffer.captures.list() == fixture.coffer.captures.list())
    #expect(try coffer.captures.list().last?.label.title == "photo 100")
    #expect(try coffer.examine(isDeep: true).isHealthy)
    #expect(try coffer.auditLog().last?.event == .restored)
    coffer.close()
    let again = try Coffer.open(
      home: home.path, credential: SlotCredential(passphrase()), machine: plainMachine)
    #expect(try again.file.outdatedParts() == [])
    #expect(try privateParts(again).count == 2)
  }

  @Test("Names of slots come along, and a new passphrase takes over that of the former one")
  func slotNames() throws {
    let fixture = try BackupFixture(blobs: false)
    let kdf = SlotKDF.pbkdf2(iterations: 600_000)
    let other = "Another-horse-8-battery"
    _ = try fixture.coffer.addSlot(passphrase(other), label: "blé, at work", kdf: kdf)
    let entropy = [UInt8](repeating: 9, count: 16)
    let words = RecoveryPhrase(entropy: SecretBytes(copying: entropy.rawSpan))
    _ = try fixture.coffer.addSlot(words, label: "safe")
    let names = [nil, nil, "blé, at work", "safe"]
    #expect(try fixture.coffer.slots().map(\.label) == names)
    #expect(throws: KeybagError.labelTaken) {
      try fixture.coffer.addSlot(passphrase("A-third-horse-9-battery"), label: "safe", kdf: kdf)
    }
    try fixture.backUp()
    let home = try TemporaryHome()
    let coffer = try restore(fixture.path(), to: home.path).coffer
    #expect(try coffer.slots().map(\.label) == names)
    coffer.close()

    let opened = try Coffer.open(
      home: home.path, credential: SlotCredential(passphrase(other)), machine: plainMachine)
    try opened.changePassphrase(to: passphrase("A-fourth-horse-1-battery"), kdf: kdf)
    #expect(try opened.slots().map(\.label) == names)
    opened.close()
    let again = try Coffer.open(
      home: home.path, credential: SlotCredential(passphrase("A-fourth-horse-1-battery")),
      machine: plainMachine)
    #expect(again.slot?.label == "blé, at work")
  }

  @Test("The recovery phrase of the coffer opens it too, and another passphrase does not")
  func credentials() throws {
    let fixture = try BackupFixture(blobs: false)
    try fixture.backUp()
    let backup = try LockedBackup(path: fixture.path())
    #expect(throws: KeybagError.wrongSecret) {
      _ = try backup.unlock(SlotCredential(passphrase("Another-horse-8-battery")))
    }
    let keys = try backup.unlock(SlotCredential(fixture.phrase()))
    let home = try TemporaryHome()
    let restored = try Coffer.restore(
      backup, keys, to: home.path, machine: plainMachine, progress: { _, _ in true })
    #expect(restored.messageCount == 3)
  }

  @Test("Without private parts the identities are named and do not come")
  func withoutIdentities() throws {
    let fixture = try BackupFixture(blobs: false)
    let ada = try fixture.addIdentity("Ada <ada@example.org>")
    let report = try fixture.backUp()
    #expect(report.identityCount == 1 && report.privatePartCount == 0)
    let home = try TemporaryHome()
    let restored = try restore(fixture.path(), to: home.path)
    #expect(restored.identities == [])
    #expect(
      restored.missingIdentities
        == [RestoredCoffer.Identity(fingerprint: ada, name: "Ada <ada@example.org>")])
    let coffer = restored.coffer
    #expect(try coffer.identities(coffer.openIdentities()).isEmpty)
    #expect(try coffer.examine(isDeep: false).isHealthy)
  }

  @Test("An agent's keys back the coffer up, and give no private part")
  func agent() throws {
    let fixture = try BackupFixture(blobs: false)
    _ = try fixture.addIdentity("Ada <ada@example.org>")
    try fixture.backUp("whole", withIdentities: true)
    let keys = fixture.coffer.keys.withoutOwner()
    let session = try LockedCoffer(home: fixture.home.path, machine: plainMachine).unlock(keys)
    _ = try session.backUp(to: fixture.path("session"), privateParts: nil, record: nil) { _, _ in true }
    #expect(try restore(fixture.path("session"), to: TemporaryHome().path).messageCount == 3)
    let parts = BackupOfPrivateParts(
      custody: try session.openPrivateKeys().custody, authorization: session.authorization())
    #expect(throws: CofferError.slotRequired) {
      try session.backUp(to: fixture.path("no"), privateParts: parts, record: nil) { _, _ in true }
    }
    let home = try TemporaryHome()
    #expect(throws: (any Error).self) {
      try Coffer.restore(
        LockedBackup(path: fixture.path("whole")), keys, to: home.path, machine: plainMachine,
        progress: { _, _ in true })
    }
    #expect(!FileManager.default.fileExists(atPath: home.path))
  }

  @Test("Nothing is overwritten: neither a file by a backup, nor a folder by what is restored")
  func places() throws {
    let fixture = try BackupFixture(blobs: false)
    try fixture.backUp()
    let before = try fixture.bytes()
    #expect(throws: MessageFormatError.alreadyExists) { try fixture.backUp() }
    #expect(try fixture.bytes() == before)
    #expect(throws: StorageError.alreadyExists) { try restore(fixture.path(), to: fixture.home.path) }
    #expect(throws: StorageError.notEmpty) { try restore(fixture.path(), to: fixture.folder.path) }
    var status = stat()
    #expect(stat(fixture.path(), &status) == 0 && status.st_mode & 0o777 == 0o600)
  }

  @Test("Stopped at any point, a backup leaves no file and a restoration no folder")
  func stopped() throws {
    let fixture = try BackupFixture()
    for limit in 0..<6 {
      var calls = 0
      let parts = BackupOfPrivateParts(
        custody: try fixture.coffer.openPrivateKeys().custody, authorization: fixture.coffer.authorization())
      let name = "stopped-\(limit)"
      #expect(throws: BackupError.stopped) {
        try fixture.coffer.backUp(to: fixture.path(name), privateParts: parts, record: nil) { _, _ in
          calls += 1
          return calls <= limit
        }
      }
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: fixture.folder.path) == [])
    #expect(try fixture.coffer.lastBackup() == nil)
    try fixture.backUp()
    #expect(try fixture.coffer.lastBackup()?.hasPrivateParts == false)
    for limit in 0..<2 {
      var calls = 0
      let home = try TemporaryHome()
      #expect(throws: BackupError.stopped) {
        try restore(fixture.path(), to: home.path) { _, _ in
          calls += 1
          return calls <= limit
        }
      }
      #expect(!FileManager.default.fileExists(atPath: home.path))
    }
  }

  @Test("Writers go on while a backup is made; it has the state of one moment")
  func concurrent() throws {
    let fixture = try BackupFixture()
    let keys = fixture.coffer.keys.withoutOwner()
    fixture.coffer.close()
    let reader = try Coffer.open(
      home: fixture.home.path, credential: SlotCredential(passphrase()), machine: plainMachine)
    let writer = try LockedCoffer(home: fixture.home.path, machine: plainMachine).unlock(keys)
    var added = 0
    _ = try reader.backUp(to: fixture.path(), privateParts: nil, record: nil) { _, _ in
      let text = Array("while it is read".utf8)
      let id = try? writer.addMessage(
        SecretBytes(copying: text.rawSpan),
        metadata: MessageMetadata(title: "late \(added)", contentType: "text/plain"))
      if id != nil { added += 1 }
      return true
    }
    #expect(added > 0)
    let restored = try restore(fixture.path(), to: TemporaryHome().path)
    #expect(restored.messageCount == 3)
    #expect(try restored.coffer.examine(isDeep: true).isHealthy)
  }

  @Test("A capture that is removed while the backup is made is not in it half")
  func removedCapture() throws {
    let fixture = try BackupFixture()
    let id = try fixture.addCapture(byteCount: 300_000)
    let keys = fixture.coffer.keys.withoutOwner()
    let writer = try LockedCoffer(home: fixture.home.path, machine: plainMachine).unlock(keys)
    fixture.coffer.close()
    let reader = try Coffer.open(
      home: fixture.home.path, credential: SlotCredential(passphrase()), machine: plainMachine)
    var isRemoved = false
    _ = try reader.backUp(to: fixture.path(), privateParts: nil, record: nil) { _, _ in
      if !isRemoved { isRemoved = (try? writer.captureAccess.remove(id)) != nil }
      return true
    }
    #expect(isRemoved)
    let restored = try restore(fixture.path(), to: TemporaryHome().path)
    #expect(restored.captureCount == 2)
    #expect(try restored.coffer.captures.examine(isDeep: true).damaged == [])
  }

  @Test("What a killed restoration left is removed by the next, its blobs too")
  func killed() throws {
    let fixture = try BackupFixture()
    try fixture.backUp()
    let whole = try TemporaryHome()
    try restore(fixture.path(), to: whole.path).coffer.close()
    // As it was just before the file got its name.
    let home = try whole.copy()
    let temporary = home.path + "/coffer.db.new-1f"
    try FileManager.default.moveItem(atPath: home.path + "/coffer.db", toPath: temporary)
    for name in ["coffer.db-wal", "coffer.db-shm"] {
      try? FileManager.default.removeItem(atPath: home.path + "/" + name)
    }
    #expect(throws: StorageError.notEmpty) { try restore(fixture.path(), to: home.path) }
    _ = FileManager.default.createFile(atPath: temporary + ".blobs", contents: nil)
    let restored = try restore(fixture.path(), to: home.path)
    #expect(restored.captureCount == 2)
    #expect(try restored.coffer.captures.examine(isDeep: true).strayBlobCount == 0)
    let names = try FileManager.default.contentsOfDirectory(atPath: home.path)
    #expect(names.allSatisfy { !$0.hasPrefix("coffer.db.new") })
  }
}
