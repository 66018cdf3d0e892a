// SPDX-License-Identifier: Apache-2.0
//
// A message is added, then something is done to the search index. Whatever is stopped, the messages are what they were, the index finds
// what opening every message finds, every file that the record names is there, and the next writer leaves no other.

import CrashDisk
import Keychains
import MessageFormats
import Primitives
import Secrets
import Storage
import Vaults

final class IndexOperation: CrashScenario {
  let operation: String
  let store = KeychainKind.file.name
  // Judging opens every message and every block several times.
  let stride = 17
  private let limits: IndexLimits
  private let deed: (Vault) throws -> Void
  /// What holds after the next command at the latest.
  private let isDone: (Vault.IndexStatus) -> Bool

  private init(
    _ operation: String, change: (inout IndexLimits) -> Void = { _ in },
    _ deed: @escaping (Vault) throws -> Void = { try $0.updateIndex() },
    isDone: @escaping (Vault.IndexStatus) -> Bool
  ) {
    var limits = Self.quiet
    change(&limits)
    self.operation = operation
    self.limits = limits
    self.deed = deed
    self.isDone = isDone
  }

  /// Limits with which nothing is due.
  private static var quiet: IndexLimits {
    var limits = IndexLimits()
    limits.instantPurgeCount = 0
    limits.markShare = 1
    return limits
  }

  static var all: [IndexOperation] {
    [
      IndexOperation("index flush", change: { $0.tailCount = 1 }) { $0.indexedCount == $0.messageCount },
      IndexOperation("index purge", change: { $0.instantPurgeCount = 10 }) { $0.markCount == 0 },
      IndexOperation("index merge", change: { $0.fanIn = 2 }) { $0.segmentCount == 1 },
      IndexOperation("index rebuild", { _ = try $0.rebuildIndex { _ in true } }) { $0.segmentCount > 0 },
    ]
  }

  func prepare(_ home: String) throws {
    try OpenKeychain.create(home, .file) { opened in
      _ = try Vault.create(file: opened.file, keychain: opened.keychain, clock: .still)
    }
    let opened = try OpenKeychain.open(home, .file)
    defer { opened.file.close() }
    var limits = Self.quiet
    limits.tailCount = 1
    let vault = Vault(file: opened.file, keychain: opened.keychain, clock: .still, index: limits)
    // Two segments, a mark in the first, and a tail of two.
    for number in 1...8 {
      try Self.add(number, to: vault)
      if number == 3 || number == 6 { try vault.updateIndex() }
    }
    try vault.remove(try Self.ids(vault)[1])
  }

  func open(_ home: String) throws -> (OpenKeychain, Vault) {
    let opened = try OpenKeychain.open(home, .file)
    let vault = Vault(file: opened.file, keychain: opened.keychain, clock: .still, index: limits)
    return (opened, vault)
  }

  func operate(_ store: (OpenKeychain, Vault)) throws {
    try Self.add(9, to: store.1)
    try deed(store.1)
  }

  func judge(_ store: (OpenKeychain, Vault)) throws -> CrashVerdict {
    let (opened, vault) = store
    let found = try messages(vault)
    // The next command that writes.
    try vault.updateIndex()
    guard let status = try vault.indexStatus(isDeep: true), status.trouble == nil, isDone(status) else {
      throw CrashFinding.lost("a segment, or what was to be done")
    }
    guard try messages(vault) == found else { throw CrashFinding.mixed("the index finds something else") }
    try vault.checkRows()
    guard try opened.file.searchFiles.names().count == status.segmentCount else {
      throw CrashFinding.mixed("files that nothing names are left")
    }
    let before = [1, 3, 4, 5, 6, 7, 8].map { "message \($0)" }
    if found == before { return .before }
    if found == before + ["message 9"] { return .after }
    throw CrashFinding.mixed("the messages are neither those before nor those after")
  }

  func close(_ store: (OpenKeychain, Vault)) { store.0.file.close() }

  /// The titles of all messages. The index finds what opening every message finds.
  private func messages(_ vault: Vault) throws -> [String] {
    let query = try SearchExpression(["message"])
    var answers: [[String]] = []
    for search in [
      Vault.Search(), Vault.Search(query), Vault.Search(nil, isScan: true), Vault.Search(query, isScan: true),
    ] {
      var titles: [String] = []
      let findings = try vault.find(search) { _, metadata, _ in
        titles.append(metadata.title)
        return true
      }
      guard findings.indexTrouble == nil, findings.unreadable.isEmpty else {
        throw CrashFinding.lost("the index is damaged, or a message")
      }
      answers.append(titles.sorted())
    }
    guard answers.allSatisfy({ $0 == answers[0] }) else {
      throw CrashFinding.mixed("the index does not find what is there")
    }
    return answers[0]
  }

  private static func add(_ number: Int, to vault: Vault) throws {
    let text = Array("message \(number)".utf8)
    _ = try vault.add(
      SecretBytes(copying: text.span.bytes),
      metadata: MessageMetadata(title: "message \(number)", contentType: MessageMetadata.noteType))
  }

  private static func ids(_ vault: Vault) throws -> [MessageID] {
    var ids: [MessageID] = []
    _ = try vault.forEachMessage { id, _, _ in
      ids.append(id)
      return true
    }
    return ids
  }
}
