// SPDX-License-Identifier: Apache-2.0
//
// What is done to messages, and the change of the vault's key. The vault's keys are in the keychain, the
// messages in the coffer's file: over a keychain that is elsewhere these are two stores.

import CrashDisk
import Keychains
import MessageFormats
import Primitives
import Secrets
import Storage
import Vaults

final class VaultOperation: CrashScenario {
  let operation: String
  var store: String { kind.name }
  private let kind: KeychainKind
  private let deed: (Vault) throws -> Void
  private let after: Contents

  /// What a vault holds.
  struct Contents: Equatable {
    var messages: Set<String>
    var keyVersion = 1
  }

  private static let before = Contents(messages: Set((1...6).map { "message \($0)" }))

  /// - Parameters:
  ///   - deed: the operation.
  ///   - change: what it is to do.
  init(
    _ kind: KeychainKind, _ operation: String, _ deed: @escaping (Vault) throws -> Void,
    change: (inout Contents) -> Void
  ) {
    self.kind = kind
    self.operation = operation
    self.deed = deed
    var after = Self.before
    change(&after)
    self.after = after
  }

  static func all(_ kind: KeychainKind) -> [VaultOperation] {
    [
      VaultOperation(kind, "vault key rotation") { vault in
        _ = try vault.rotate { _ in true }
      } change: {
        $0.keyVersion = 2
      },
      VaultOperation(kind, "message add") { vault in
        try add("message 7", to: vault)
      } change: {
        $0.messages.insert("message 7")
      },
      VaultOperation(kind, "message remove") { vault in
        try vault.remove(try first(of: vault))
      } change: {
        $0.messages.remove("message 1")
      },
    ]
  }

  func prepare(_ home: String) throws {
    try OpenKeychain.create(home, kind) { opened in
      let vault = try Vault.create(file: opened.file, keychain: opened.keychain, clock: .still)
      for text in Self.before.messages.sorted() { try Self.add(text, to: vault) }
    }
  }

  func open(_ home: String) throws -> (OpenKeychain, Vault) {
    let opened = try OpenKeychain.open(home, kind)
    // Small batches, so that a rotation has several.
    let vault = Vault(
      file: opened.file, keychain: opened.keychain, clock: .still, batch: BatchLimits(messageCount: 2))
    return (opened, vault)
  }

  func operate(_ store: (OpenKeychain, Vault)) throws { try deed(store.1) }

  func judge(_ store: (OpenKeychain, Vault)) throws -> CrashVerdict {
    let (opened, vault) = store
    let under = try read(vault)
    guard under == Self.before.messages || under == after.messages else {
      throw CrashFinding.mixed("the messages are neither those before nor those after")
    }
    if try vault.status().isRotating { _ = try vault.resumeRotation { _ in true } }
    let status = try vault.status()
    let found = Contents(messages: try read(vault), keyVersion: status.currentKeyVersion)
    guard try opened.file.integrityFindings().isEmpty else { throw CrashFinding.lost("pages are damaged") }
    if found == Self.before, status.keys.count == 1 { return .before }
    if found == after, status.keys.count == after.keyVersion { return .after }
    throw CrashFinding.mixed("the vault is neither what it was before nor what it is after")
  }

  func close(_ store: (OpenKeychain, Vault)) { store.0.file.close() }

  /// The contents of every message, which are as many as the vault counts.
  private func read(_ vault: Vault) throws -> Set<String> {
    var texts: Set<String> = []
    let unreadable = try vault.forEachMessage { _, metadata, content in
      let text = content.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
      guard text.hasPrefix(metadata.title) else { throw CrashFinding.lost("a message has another's title") }
      texts.insert(metadata.title)
      return true
    }
    guard unreadable.isEmpty else { throw CrashFinding.lost("\(unreadable.count) messages do not open") }
    try vault.checkCount()
    return texts
  }

  private static func add(_ title: String, to vault: Vault) throws {
    // Longer than the rest of a page, so that there are several.
    let text = Array((title + String(repeating: ".", count: 900)).utf8)
    _ = try vault.add(
      SecretBytes(copying: text.span.bytes),
      metadata: MessageMetadata(title: title, contentType: MessageMetadata.noteType))
  }

  private static func first(of vault: Vault) throws -> MessageID {
    var found: MessageID?
    _ = try vault.forEachMessage { id, metadata, _ in
      if metadata.title == "message 1" { found = id }
      return found == nil
    }
    guard let found else { throw CrashFinding.lost("message 1") }
    return found
  }
}

extension VaultClock {
  /// A clock that stands, and never waits: what is tried again is tried at once.
  static let still = VaultClock(now: { 1_759_536_000 }, uptime: { 1_000_000 }, pause: { _ in })
}
