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
    /// Titles of what is in the trash.
    var trash: Set<String> = ["message 0"]
    /// Versions of "message 2".
    var versionCount = 2
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
        try vault.remove(try named("message 1", in: vault))
      } change: {
        $0.messages.remove("message 1")
        $0.trash.insert("message 1")
      },
      VaultOperation(kind, "message edit") { vault in
        try edit("message 2", to: "message 2 edited", in: vault)
      } change: {
        $0.messages.remove("message 2")
        $0.messages.insert("message 2 edited")
        $0.versionCount = 3
      },
      VaultOperation(kind, "trash restore") { vault in
        try vault.putBack(try trash(of: vault).map(\.key)[0])
      } change: {
        $0.messages.insert("message 0")
        $0.trash = []
      },
      VaultOperation(kind, "trash empty") { vault in
        try vault.eraseRemoved(try trash(of: vault).map(\.key))
      } change: {
        $0.trash = []
      },
    ]
  }

  func prepare(_ home: String) throws {
    try OpenKeychain.create(home, kind) { opened in
      let vault = try Vault.create(file: opened.file, keychain: opened.keychain, clock: .still)
      for text in Self.before.messages.sorted() { try Self.add(text, to: vault) }
      try Self.edit("message 2", to: "message 2", in: vault)
      try vault.remove(try Self.add("message 0", to: vault))
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
    let edited = try Self.named("message 2", in: vault)
    let found = Contents(
      messages: try read(vault), keyVersion: status.currentKeyVersion,
      trash: Set(try Self.trash(of: vault).values), versionCount: try vault.history(edited).versions.count)
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
    try vault.checkRows()
    return texts
  }

  @discardableResult
  private static func add(_ title: String, to vault: Vault) throws -> MessageID {
    try vault.add(content(title), metadata: metadata(title))
  }

  private static func edit(_ title: String, to other: String, in vault: Vault) throws {
    let id = try named(title, in: vault)
    _ = try vault.edit(id, from: nil, to: content(other), metadata: metadata(other))
  }

  private static func content(_ title: String) -> SecretBytes {
    // Longer than the rest of a page, so that there are several.
    let text = Array((title + String(repeating: ".", count: 900)).utf8)
    return SecretBytes(copying: text.span.bytes)
  }

  private static func metadata(_ title: String) -> MessageMetadata {
    MessageMetadata(title: title, contentType: MessageMetadata.noteType)
  }

  /// The message whose title begins so.
  private static func named(_ title: String, in vault: Vault) throws -> MessageID {
    var found: MessageID?
    _ = try vault.forEachMessage { id, metadata, _ in
      if metadata.title.hasPrefix(title) { found = id }
      return found == nil
    }
    guard let found else { throw CrashFinding.lost(title) }
    return found
  }

  /// The titles in the trash.
  private static func trash(of vault: Vault) throws -> [MessageID: String] {
    var titles: [MessageID: String] = [:]
    let unreadable = try vault.listTrash { id, metadata, _, _ in
      titles[id] = metadata.title
      return true
    }
    guard unreadable.isEmpty else { throw CrashFinding.lost("a message in the trash") }
    return titles
  }
}

extension VaultClock {
  /// A clock that stands, and never waits: what is tried again is tried at once.
  static let still = VaultClock(now: { 1_759_536_000 }, uptime: { 1_000_000 }, pause: { _ in })
}
