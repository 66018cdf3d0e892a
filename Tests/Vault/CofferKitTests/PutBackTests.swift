// SPDX-License-Identifier: Apache-2.0
//
// Parts of a coffer's file that were put back to an earlier state, while the rest is as it was stored last.

import Captures
import Extents
import Foundation
import GRDBSQLite
import Keychains
import MessageFormats
import Primitives
import ProtectedData
import Secrets
import Storage
import TemporaryHomes
import Testing
import Vaults

@testable import CofferKit

@Suite("Parts that were put back")
struct PutBackTests {
  @Test("No set of tables from an earlier state leaves a coffer that is healthy")
  func everySubset() throws {
    let place = try Copies()
    let tables = Copies.tables
    // The last is all of them, which is the earlier coffer as a whole.
    for set in Shares("tables that were put back", count: 8).of(1..<(1 << tables.count) - 1) {
      let chosen = tables.indices.filter { set >> $0 & 1 == 1 }.map { tables[$0] }
      try place.putBack(chosen)
      #expect(try place.isHealthy() == false, "\(chosen)")
    }
  }

  @Test(
    "All tables together are the earlier coffer, and a part of it is told by its name",
    arguments: [
      (["messages", "vault"], BoundPart.messages), (["vault"], .messages),
      (["captures", "captureParts", "captureState"], .captures), (["captureState"], .captures),
      (["protectedRegistry", "protectedDomains"], .protectedData), (["protectedDomains"], .protectedData),
      (["keychain"], .keychain), (["keychain", "protectedRegistry", "protectedDomains"], .keychain),
      (["keybag"], .slots), (["binding"], .slots),
    ] as [([String], BoundPart)])
  func named(tables: [String], part: BoundPart) throws {
    let place = try Copies()
    try place.putBack(Copies.tables)
    #expect(try place.isHealthy())
    try place.putBack(tables)
    switch part {
    case .slots, .keychain:
      #expect(throws: StorageError.outdated(part)) { _ = try place.open() }
    default:
      let coffer = try place.open()
      defer { coffer.close() }
      let findings = try coffer.examine(isDeep: false).findings
      #expect(findings.contains { $0.text == StorageError.outdated(part).sentence })
    }
  }

  @Test("Slots that were put back are known as such before a passphrase is asked for")
  func slotsWithoutKey() throws {
    let place = try Copies()
    try place.putBack(["keybag"])
    #expect(throws: StorageError.outdated(.slots)) { _ = try LockedCoffer(home: place.home.path) }
    let diagnosis = try Diagnosis.withoutKeys(home: place.home.path)
    #expect(diagnosis.findings.contains { $0.text.contains("the slots are not what was stored last") })
  }

  @Test("A vault that was put back gives no message and takes none; captures can be used all the same")
  func messages() throws {
    let place = try Copies()
    try place.putBack(["messages", "vault"])
    let coffer = try place.open()
    defer { coffer.close() }
    #expect(throws: StorageError.outdated(.messages)) { try coffer.vault.forEachMessage { _, _, _ in true } }
    #expect(throws: StorageError.outdated(.messages)) { try place.addMessage(coffer) }
    #expect(throws: StorageError.outdated(.messages)) { try coffer.vault.rotate { _ in true } }
    #expect(try coffer.captures.list().count == 2)
  }

  @Test("Captures that were put back are not swept: the blob of the newest stays where it is")
  func captures() throws {
    let place = try Copies()
    let blobs = try place.blobs()
    #expect(blobs.count == 2)
    try place.putBack(["captures", "captureParts", "captureState"])
    let coffer = try place.open()
    defer { coffer.close() }
    #expect(throws: StorageError.outdated(.captures)) { try coffer.captures.list() }
    #expect(throws: StorageError.outdated(.captures)) { try place.addCapture(coffer, 3) }
    #expect(try place.blobs() == blobs)
  }

  @Test("Protected data that were put back do not open, and can be made anew")
  func protectedData() throws {
    let place = try Copies()
    try place.putBack(["protectedRegistry", "protectedDomains"])
    let coffer = try place.open(asPerson: true)
    defer { coffer.close() }
    #expect(throws: ProtectedDataError.frameworkRecovery(.registryRolledBack)) {
      try coffer.unlockProtectedData()
    }
    #expect(try !coffer.examine(isDeep: false).isHealthy)
    try coffer.resetProtectedData()
    try coffer.unlockProtectedData()
    #expect(try coffer.examine(isDeep: true).isHealthy)
  }

  @Test("Rows from before a rotation are found, although each of them opens")
  func rotation() throws {
    let place = try Copies(changing: { coffer, _ in _ = try coffer.vault.rotate { _ in true } })
    try place.putBack(["messages"])
    let coffer = try place.open()
    defer { coffer.close() }
    #expect(try !coffer.examine(isDeep: true).isHealthy)
  }

  @Test("A record that is gone or changed is damage, and nothing opens")
  func record() throws {
    let place = try Copies()
    try place.run("DELETE FROM binding")
    #expect(throws: StorageError.corrupt(part: .binding)) { _ = try place.open() }
    for offset in stride(from: 0, to: 300, by: 13) {
      try place.putBack([])
      let file = try DatabaseFile.open(home: place.home.path)
      try file.write { transaction in
        var record = try transaction.firstRow("SELECT record FROM binding") { try $0.bytes(0) } ?? Data()
        record[record.startIndex + min(offset, record.count - 1)] ^= 4
        try transaction.execute("UPDATE binding SET record = ?", .bytes(record))
      }
      file.close()
      #expect(throws: StorageError.self, "\(offset)") { _ = try place.open() }
    }
  }
}

/// A coffer, and a copy from before its last changes.
final class Copies {
  static let tables = [
    "keybag", "keychain", "binding", "vault", "messages", "captures", "captureParts", "captureState",
    "protectedRegistry", "protectedDomains",
  ]

  let home: TemporaryHome
  private let former: TemporaryHome
  private let latest: TemporaryHome
  private let keys: ClassKeys

  /// - Parameter changing: what is done between the copy and now; without it, something in every table.
  init(changing: ((Coffer, Copies) throws -> Void)? = nil) throws {
    home = try TemporaryHome()
    former = try TemporaryHome()
    latest = try TemporaryHome()
    let coffer = try makeCoffer(home.path)
    keys = coffer.keys.withoutOwner()
    try addMessage(coffer)
    try addCapture(coffer, 1)
    coffer.close()
    try FileManager.default.copyItem(atPath: home.path, toPath: former.path)
    let again = try open(asPerson: true)
    if let changing {
      try changing(again, self)
    } else {
      try addMessage(again)
      try addCapture(again, 2)
      try again.reset(.frameworkSentinel)
      _ = try again.addSlot(newPhrase())
    }
    again.close()
    try FileManager.default.copyItem(atPath: home.path, toPath: latest.path)
  }

  func addMessage(_ coffer: Coffer) throws {
    let text = Array("a message".utf8)
    _ = try coffer.vault.add(
      SecretBytes(copying: text.span.bytes), metadata: MessageMetadata(title: "t", contentType: "text/plain"))
  }

  /// Large enough for a blob.
  func addCapture(_ coffer: Coffer, _ number: UInt8) throws {
    let photo = [UInt8](repeating: number, count: 100_000)
    let access = coffer.captureAccess
    _ = try access.store.add(
      NewCapture(photo: PartSource(SecretBytes(copying: photo.span.bytes))), signer: access.signer())
  }

  func blobs() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: home.path + "/blobs").sorted()
  }

  func open(asPerson: Bool = false) throws -> Coffer {
    let locked = try LockedCoffer(home: home.path)
    return asPerson ? try locked.unlock(SlotCredential(passphrase())) : try locked.unlock(keys)
  }

  /// Whether it opens, and the examination finds nothing; any damage says why not.
  func isHealthy() throws -> Bool {
    let coffer: Coffer
    do { coffer = try open() } catch is StorageError { return false } catch is KeybagError { return false }
    defer { coffer.close() }
    return try coffer.examine(isDeep: true).isHealthy
  }

  /// Makes the coffer as it was stored last, but for these tables, which are the earlier ones.
  func putBack(_ tables: [String]) throws {
    for ending in ["-wal", "-shm"] {
      try? FileManager.default.removeItem(atPath: home.path + "/coffer.db" + ending)
    }
    let file = URL(filePath: home.path + "/coffer.db")
    try FileManager.default.removeItem(at: file)
    try FileManager.default.copyItem(at: URL(filePath: latest.path + "/coffer.db"), to: file)
    try run(
      "ATTACH '\(former.path)/coffer.db' AS former; BEGIN;"
        + tables.map { "DELETE FROM main.\($0); INSERT INTO main.\($0) SELECT * FROM former.\($0);" }.joined()
        + "COMMIT; PRAGMA wal_checkpoint(TRUNCATE)")
  }

  func run(_ statements: String) throws {
    var connection: OpaquePointer?
    defer { sqlite3_close(connection) }
    guard sqlite3_open(home.path + "/coffer.db", &connection) == SQLITE_OK,
      sqlite3_exec(connection, statements, nil, nil, nil) == SQLITE_OK
    else { throw Failed(text: String(cString: sqlite3_errmsg(connection))) }
  }

  struct Failed: Error {
    let text: String
  }
}
