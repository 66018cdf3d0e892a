// SPDX-License-Identifier: Apache-2.0
//
// A backup of a whole coffer, with its private parts: a whole file, or none, and the coffer as it was.

import CofferKit
import CrashDisk
import Foundation
import Identities
import Keychains
import MessageFormats
import OpenPGP
import Primitives
import ProtectedData
import Secrets
import Storage
import Vaults

/// A coffer with something of everything that a backup takes along, and what is in it.
enum BackedUpCoffer {
  static func make(_ home: String) throws {
    let coffer = try CofferOperation.create(home)
    defer { coffer.close() }
    let text = Array("of the old machine".utf8)
    _ = try coffer.addMessage(
      SecretBytes(copying: text.span.bytes), metadata: MessageMetadata(title: "", contentType: "text/plain"))
    try CofferOperation.add(1, to: coffer)
    _ = try coffer.generateIdentity(
      NewIdentity(userIDs: [UserIDText(new: "Ada")], expiry: .never), coffer.openIdentities(),
      coffer.authorization())
  }

  static func backUp(_ coffer: Coffer, home: String, to path: String) throws {
    let parts = BackupOfPrivateParts(
      custody: try coffer.openPrivateKeys().custody, authorization: coffer.authorization())
    _ = try coffer.backUp(to: path, privateParts: parts, record: UnfinishedExports(home: home)) { _, _ in
      true
    }
  }

  static func restore(_ path: String, to home: String) throws -> RestoredCoffer {
    let backup = try LockedBackup(path: path)
    let keys = try backup.unlock(SlotCredential(CofferOperation.passphrase(CofferOperation.secrets[0])))
    return try Coffer.restore(
      backup, keys, to: home, machine: CofferOperation.machine, clock: .still
    ) { _, _ in true }
  }

  /// What must be the same in a coffer and in what was restored from its backup.
  struct Contents: Equatable {
    var captures: Set<[String]>
    var messageCount: Int
    /// By their fingerprints; each was opened.
    var privateParts: [String: [UInt8]] = [:]

    /// - Throws: `CrashFinding.lost` when anything in it is damaged.
    init(_ coffer: Coffer) throws {
      let whole = try CofferContents(coffer, opening: [])
      (captures, messageCount) = (whole.captures, whole.messageCount)
      let custody = try coffer.openPrivateKeys().custody
      for fingerprint in try custody.fingerprints() {
        privateParts[Hexadecimal.text(fingerprint.bytes)] = try custody.withPrivateKey(
          fingerprint, coffer.authorization()
        ) { secret, _ in [UInt8](copying: secret) }
      }
      let found = try coffer.captures.examine(isDeep: false)
      guard found.strayBlobCount == 0 else { throw CrashFinding.mixed("blobs belong to nothing") }
    }
  }

  /// A folder of this process that nobody watches; removed afterwards.
  static func elsewhere<Result>(_ body: (String) throws -> Result) throws -> Result {
    let folder = URL(filePath: RecordedDisk.parent).appending(path: "coffer-copy-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    return try body(folder.path)
  }
}

/// A backup is made: it is whole under its name, or nothing is there. Only once it is there, dates of it may be noted.
final class BackupOperation: CrashScenario {
  let store = "file"
  let operation = "backup"
  private var before: CofferContents?
  private var identities: [PGPKeyIdentity] = []
  private var content: BackedUpCoffer.Contents?
  /// Backups that were found whole.
  private var whole: Set<[UInt8]> = []

  typealias Store = (home: String, opened: CofferOperation.Opened)

  private static func coffer(_ home: String) -> String { home + "/coffer" }
  private static func folder(_ home: String) -> String { home + "/backups" }
  private static func backup(_ home: String) -> String { folder(home) + "/backup" }

  func prepare(_ home: String) throws {
    try FileManager.default.createDirectory(
      atPath: Self.folder(home), withIntermediateDirectories: false)
    try BackedUpCoffer.make(Self.coffer(home))
    let store = try open(home)
    before = try CofferOperation.contents(store.opened)
    identities = try store.opened.coffer.protectedDomains().identities()
    content = try BackedUpCoffer.Contents(store.opened.coffer)
    close(store)
  }

  func open(_ home: String) throws -> Store { (home, try CofferOperation.open(Self.coffer(home))) }

  func operate(_ store: Store) throws {
    try BackedUpCoffer.backUp(
      store.opened.coffer, home: Self.coffer(store.home), to: Self.backup(store.home))
  }

  func judge(_ store: Store) throws -> CrashVerdict {
    guard var before else { throw CrashFinding.lost("nothing was prepared") }
    // As the next backup does.
    UnfinishedExports(home: Self.coffer(store.home)).removeLeftovers()
    let names = try FileManager.default.contentsOfDirectory(atPath: Self.folder(store.home))
    let found = try CofferOperation.contents(store.opened)
    for noted in [CofferContents.lastBackup, CofferContents.generations] where !names.isEmpty {
      before.items[noted] = found.items[noted]
    }
    guard found == before else {
      throw CrashFinding.mixed("the coffer is not as it was: \(found.differences(from: before))")
    }
    try checkIdentities(store.opened.coffer, mayBeNoted: !names.isEmpty)
    if names.isEmpty { return .before }
    guard names == ["backup"] else { throw CrashFinding.mixed("something lies beside the backup") }
    try checkIsWhole(Self.backup(store.home))
    return .after
  }

  /// Identities are as they were, but for the date of their backup, once there is one.
  private func checkIdentities(_ coffer: Coffer, mayBeNoted: Bool) throws {
    var found = try coffer.protectedDomains().identities()
    let made = UInt32(VaultClock.still.now())
    for index in found.indices where mayBeNoted && found[index].backedUpAt == made {
      found[index].backedUpAt = nil
    }
    guard found == identities else { throw CrashFinding.mixed("identities are not as they were") }
  }

  private func checkIsWhole(_ path: String) throws {
    let bytes = Array(try Data(contentsOf: URL(filePath: path)))
    let digest = SHA256.hash(bytes.span.bytes)
    if whole.contains(digest) { return }
    try BackedUpCoffer.elsewhere { folder in
      let restored = try BackedUpCoffer.restore(path, to: folder + "/coffer")
      defer { restored.coffer.close() }
      guard try BackedUpCoffer.Contents(restored.coffer) == content else {
        throw CrashFinding.mixed("the backup holds something else than the coffer")
      }
    }
    whole.insert(digest)
  }

  func close(_ store: Store) { store.opened.coffer.close() }
}

/// A coffer is made from a backup: whole, or none; and where there is none, the next attempt makes it.
final class RestoreOperation: CrashScenario {
  let store = "file"
  let operation = "restore"
  /// A judgement makes a whole coffer; all of them would take minutes.
  let stride = 13
  private var content: BackedUpCoffer.Contents?
  private var backup: [UInt8] = []

  private static func path(_ home: String) -> String { home + "/backup" }
  /// Below the folder that is there, so that a folder has to be made too.
  private static func place(_ home: String) -> String { home + "/data/coffer" }

  func prepare(_ home: String) throws {
    try BackedUpCoffer.elsewhere { folder in
      try BackedUpCoffer.make(folder + "/coffer")
      let opened = try CofferOperation.open(folder + "/coffer")
      defer { opened.coffer.close() }
      content = try BackedUpCoffer.Contents(opened.coffer)
      try BackedUpCoffer.backUp(opened.coffer, home: folder + "/coffer", to: folder + "/backup")
      try FileManager.default.copyItem(atPath: folder + "/backup", toPath: Self.path(home))
    }
    backup = try bytes(home)
  }

  func operate(_ home: String) throws {
    try BackedUpCoffer.restore(Self.path(home), to: Self.place(home)).coffer.close()
  }

  func judge(_ home: String) throws -> CrashVerdict {
    guard try bytes(home) == backup else { throw CrashFinding.lost("the backup is not as it was") }
    if try holdsCoffer(Self.place(home)) { return .after }
    // In a copy: the judgement is not to make what it looks for.
    try BackedUpCoffer.elsewhere { copy in
      try DiskImage(of: home).write(to: copy)
      try operate(copy)
      guard try holdsCoffer(Self.place(copy)) else { throw CrashFinding.lost("the next attempt") }
      let left = try FileManager.default.contentsOfDirectory(atPath: Self.place(copy))
      guard !left.contains(where: { $0.contains(".new") }) else {
        throw CrashFinding.mixed("something is left of the first attempt")
      }
    }
    return .before
  }

  /// Whether there is a coffer, with all that was in the backup.
  private func holdsCoffer(_ place: String) throws -> Bool {
    guard DatabaseFile.exists(home: place) else { return false }
    let opened = try CofferOperation.open(place)
    defer { opened.coffer.close() }
    guard try BackedUpCoffer.Contents(opened.coffer) == content else {
      throw CrashFinding.mixed("the coffer holds something else than the backup")
    }
    return true
  }

  private func bytes(_ home: String) throws -> [UInt8] {
    Array(try Data(contentsOf: URL(filePath: Self.path(home))))
  }
}
