// SPDX-License-Identifier: Apache-2.0
//
// The audit log has a line of what was done, whoever asked for it, and none of what was not done.

import Captures
import Foundation
import Keychains
import MessageFormats
import Primitives
import Secrets
import Storage
import TemporaryHomes
import Testing
import Vaults

@testable import CofferKit

@Suite("What leaves a line in the audit log")
struct AuditTests {
  private let home: TemporaryHome
  private let coffer: Coffer
  private let metadata = MessageMetadata(title: "a", contentType: "text/plain")

  init() throws {
    home = try TemporaryHome()
    coffer = try makeCoffer(home.path)
  }

  private func lines() throws -> [String] {
    try coffer.auditLog().dropFirst().map { "\($0.event) \($0.count)" }
  }

  @discardableResult
  private func add() throws -> MessageID {
    try coffer.addMessage(SecretBytes(copying: ([1, 2, 3] as [UInt8]).span.bytes), metadata: metadata)
  }

  @Test("Messages that are added, imported, exported and removed, and a new key")
  func messages() throws {
    let id = try add()
    var source = NumberedSource(count: 3)
    try coffer.importMessages(from: &source) { _, _ in true }
    var sink = CountingSink()
    #expect(try coffer.exportMessages(to: &sink) { _ in true }?.count == 4)
    #expect(sink.count == 4 && sink.isFinished)
    try coffer.removeMessage(id)
    try coffer.putBackMessage(id)
    let base = try coffer.vault.withVersion(id) { version, _ in version }
    _ = try coffer.editMessage(
      id, from: base.id, to: SecretBytes(zeroed: 1), metadata: base.metadata)
    _ = try coffer.restoreMessage(id, number: 1)
    try coffer.removeMessage(id)
    try coffer.eraseMessages([id])
    _ = try coffer.rotateVaultKey { _ in true }
    _ = try coffer.rollBackVaultKey { _ in true }
    #expect(
      try lines() == [
        "messagesAdded 1", "messagesAdded 3", "messagesExported 4", "messagesRemoved 1", "messagesPutBack 1",
        "messagesEdited 1", "messagesEdited 1", "messagesRemoved 1", "messagesErased 1", "keyRotated 3",
        "keyRolledBack 3",
      ])
  }

  @Test("An import that fails has a line of what it has stored; one that stores nothing has none")
  func importEnds() throws {
    struct Ended: Error {}
    var source = NumberedSource(count: 3)
    #expect(throws: Ended.self) { try coffer.importMessages(from: &source) { _, _ in throw Ended() } }
    var empty = NumberedSource(count: 0)
    try coffer.importMessages(from: &empty) { _, _ in true }
    #expect(try lines() == ["messagesAdded 3"])
  }

  @Test("What was refused or stopped leaves no line")
  func notDone() throws {
    #expect(throws: VaultError.self) { try coffer.removeMessage(MessageID()) }
    try add()
    var sink = CountingSink()
    #expect(try coffer.exportMessages(to: &sink) { _ in false } == nil)
    #expect(!sink.isFinished)
    #expect(try coffer.rotateVaultKey { _ in false } == nil)
    #expect(try lines() == ["messagesAdded 1"])
  }

  @Test("Message and line are one transaction: where it is undone, both are missing")
  func together() throws {
    struct Undone: Error {}
    #expect(throws: Undone.self) {
      try coffer.auditing(.messagesAdded) { line in
        _ = try coffer.vault.add(
          SecretBytes(copying: ([1] as [UInt8]).span.bytes), metadata: metadata,
          alongside: {
            try line($0)
            throw Undone()
          })
      }
    }
    #expect(try lines() == [] && coffer.vault.status().messageCount == 0)
    try add()
    #expect(try lines() == ["messagesAdded 1"])
    #expect(try coffer.file.outdatedParts() == [])
  }

  @Test("A log that is damaged keeps no message from being stored")
  func damagedLog() throws {
    try coffer.keychain.save(
      SecretBytes(copying: ([9] as [UInt8]).span.bytes), forKey: AuditLog.account,
      accessibility: .whenUnlockedThisDeviceOnly)
    let id = try add()
    #expect(try coffer.vault.withMessage(id) { $1.byteCount } == 3)
    #expect(throws: KeychainError.invalidData) { try coffer.auditLog() }
  }

  @Test("Captures leave lines while the coffer is open, and none while it is locked")
  func captures() throws {
    func photo(_ byte: UInt8) -> NewCapture {
      NewCapture(photo: PartSource(SecretBytes(copying: [byte, byte].span.bytes)))
    }
    let access = coffer.captureAccess
    let id = try access.add(photo(1), signer: access.signer()).id
    _ = try access.export(id, to: home.path + "-out")
    #expect(try access.changeLabel(of: id) { $0.title = "meter" })
    #expect(try !access.changeLabel(of: id) { $0.title = "meter" })
    try FileManager.default.removeItem(atPath: home.path + "-out")
    let machine = coffer.machine
    let keys = coffer.keys.locked()
    coffer.close()
    do {
      // Lets the writer's lock go with its end.
      let locked = try LockedCoffer(home: home.path, machine: machine).captures(keys)
      _ = try locked.add(photo(2), signer: locked.signer())
    }
    let again = try Coffer.open(
      home: home.path, credential: SlotCredential(passphrase()), machine: coffer.machine)
    try again.captureAccess.remove(id)
    #expect(try again.captures.list().count == 1)
    #expect(
      try again.auditLog().dropFirst().map(\.event)
        == [.captureAdded, .captureExported, .captureChanged, .captureRemoved])
  }
}

/// Messages with numbers.
private struct NumberedSource: MessageSource {
  let count: Int
  private var next: UInt8 = 0

  init(count: Int) { self.count = count }

  var progress: SourceProgress { SourceProgress(bytesRead: Int(next), bytesTotal: count) }

  mutating func next(_ body: (MessageMetadata, RawSpan) throws -> Void) throws -> Bool {
    guard next < count else { return false }
    next += 1
    try body(MessageMetadata(title: "\(next)", contentType: "text/plain"), [next].span.bytes)
    return true
  }
}

/// Counts what it is given.
private struct CountingSink: MessageSink {
  var count = 0
  var isFinished = false

  mutating func append(
    id: String, _ metadata: MessageMetadata, _ content: RawSpan
  ) throws(MessageFormatError) { count += 1 }

  mutating func finish() throws(MessageFormatError) { isFinished = true }
}
