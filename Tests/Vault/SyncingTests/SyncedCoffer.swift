// SPDX-License-Identifier: Apache-2.0
//
// A coffer with an account in a folder, as the tests of synchronisation use it.

import CofferKit
import Enclaves
import Foundation
import Histories
import Keychains
import MessageFormats
import Primitives
import Remotes
import Secrets
import Synchronization
import TemporaryHomes
import Vaults

@testable import Syncing

/// What a list shows of a message: title, tags, text.
struct Shown: Hashable {
  let title: String
  let tags: [String]
  let text: String
}

/// A coffer on a machine without a chip.
struct SyncedCoffer {
  let place: TemporaryHome
  let coffer: Coffer

  static let enclave = SoftwareEnclave()

  static var words: RecoveryPhrase {
    RecoveryPhrase(entropy: SecretBytes(copying: [UInt8](repeating: 7, count: 16).span.bytes))
  }
  static func costs() throws -> Argon2idParameters {
    try Argon2idParameters(memoryKiB: 8 << 10, passes: 1, lanes: 1)
  }

  static func passphrase(_ text: String = "Correct-horse-7-battery") throws -> Passphrase {
    try Passphrase(utf8: SecretBytes(copying: Array(text.utf8).span.bytes))
  }

  init(clock: VaultClock = .system) throws {
    place = try TemporaryHome()
    coffer = try Coffer.create(
      home: place.path, passphrase: Self.passphrase(), recoveryPhrase: Self.words,
      kdf: .argon2id(Self.costs()), machine: Machine(enclaves: [SoftwareEnclave()]), clock: clock)
  }

  /// The coffer that is at a place already.
  init(opening place: TemporaryHome, clock: VaultClock = .system) throws {
    self.place = place
    coffer = try Coffer.open(
      home: place.path, credential: SlotCredential(Self.passphrase()),
      machine: Machine(enclaves: [SoftwareEnclave()]), clock: clock)
  }

  /// Makes an account at a remote and sends everything.
  @discardableResult
  func makeAccount(at remote: any Remote, folder: String) throws -> SyncReport {
    try makeAccount(at: remote, place: .folder(path: folder))
  }

  @discardableResult
  func makeAccount(at remote: any Remote, place: RemotePlace) throws -> SyncReport {
    let synchronizer = try coffer.account.make(
      at: remote, place, passphrase: Self.passphrase(), words: Self.words,
      costs: Self.costs(),
      enclave: SoftwareEnclave(), name: "first")
    return try synchronizer.run(.sync, at: remote)
  }

  /// Joins the account of another coffer.
  @discardableResult
  func join(
    _ other: SyncedCoffer, at remote: any Remote, with secret: AccountSecret? = nil, name: String = "second",
    isOwn: Bool? = nil
  ) throws -> SyncReport {
    try coffer.account.join(
      at: remote, try other.coffer.account.open().address(),
      with: try secret ?? AccountSecret(Self.passphrase()), enclave: SoftwareEnclave(), name: name,
      isOwn: secret == nil ? true : isOwn
    ).report
  }

  /// This device's identifier in the account.
  func device() throws -> DeviceID { try coffer.account.open().device }

  /// Opens the account as a new process does, and runs.
  @discardableResult
  func sync(_ purpose: Purpose = .sync, at remote: any Remote) throws -> SyncReport {
    try coffer.account.open().run(purpose, at: remote)
  }

  // MARK: Messages

  @discardableResult
  func add(_ text: String, title: String = "", tags: [String] = []) throws -> MessageID {
    try coffer.addMessage(Self.secret(text), metadata: Self.metadata(title, tags))
  }

  func edit(_ id: MessageID, _ text: String, title: String = "", tags: [String] = []) throws {
    let base = try coffer.vault.withVersion(id) { version, _ in version.id }
    _ = try coffer.editMessage(id, from: base, to: Self.secret(text), metadata: Self.metadata(title, tags))
  }

  private static func secret(_ text: String) -> SecretBytes {
    SecretBytes(copying: Array(text.utf8).span.bytes)
  }

  private static func metadata(_ title: String, _ tags: [String]) -> MessageMetadata {
    MessageMetadata(title: title, tags: tags, contentType: "text/plain", date: 1_700_000_000)
  }

  /// What is shown, by message.
  func shown() throws -> [MessageID: Shown] {
    var shown: [MessageID: Shown] = [:]
    let unreadable = try coffer.vault.forEachMessage { id, metadata, content in
      let text = unsafe content.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }
      shown[id] = Shown(title: metadata.title, tags: metadata.tags, text: text)
      return true
    }
    guard unreadable.isEmpty else { throw VaultError.corrupt }
    try coffer.vault.checkRows()
    return shown
  }

  /// The messages as a list shows them.
  func listed(_ order: Vault.Order = .date, limit: Int? = nil, isReversed: Bool = false) throws -> [MessageID]
  {
    var ids: [MessageID] = []
    _ = try coffer.vault.find(.init(nil, .init(limit: limit, order: order, isReversed: isReversed))) {
      id, _, _ in
      ids.append(id)
      return true
    }
    return ids
  }

  /// The messages in the trash.
  func trash() throws -> Set<MessageID> {
    var ids: Set<MessageID> = []
    _ = try coffer.vault.listTrash { id, _, _, _ in
      ids.insert(id)
      return true
    }
    return ids
  }

  /// The texts of all versions of a message.
  func history(_ id: MessageID) throws -> Set<String> {
    var texts: Set<String> = []
    for version in try coffer.vault.history(id).versions {
      _ = try coffer.vault.withVersion(id, number: version.number) { _, content in
        texts.insert(unsafe content.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) })
      }
    }
    return texts
  }
}

extension Synchronizer {
  /// Puts another passphrase of the account in the place of all that it has.
  func exchangePassphrases(
    for new: AccountSecret, with secret: AccountSecret, at remote: any Remote
  ) throws -> SyncReport {
    try changeSlots(
      adding: new, removing: { $0.filter { $0.kind == .passphrase }.map(\.id) }, costs: SyncedCoffer.costs(),
      with: secret, at: remote)
  }
}

/// A clock that a test puts forward.
final class TestClock: Sendable {
  private let seconds = Atomic<Int64>(1_800_000_000)

  var now: Int64 { seconds.load(ordering: .relaxed) }

  func advance(_ seconds: Int64) { self.seconds.add(seconds, ordering: .relaxed) }

  var clock: VaultClock { VaultClock(now: { self.now }, uptime: { self.now }, pause: { _ in }) }
}

/// A folder for one test.
struct RemoteFolder {
  private let place: TemporaryHome
  let path: String
  let remote: FolderRemote

  init() throws {
    place = try TemporaryHome()
    path = place.path
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    guard let remote = FolderRemote(path: path) else { throw RemoteError.unreachable }
    self.remote = remote
  }

  /// Puts everything into another folder that is not there yet.
  func copy(into other: RemoteFolder) throws {
    for (name, data) in try files() where !FileManager.default.fileExists(atPath: other.path + "/" + name) {
      let url = URL(filePath: other.path + "/" + name)
      try FileManager.default.createDirectory(
        at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
      try data.write(to: url)
    }
  }

  /// The files, by their paths below it.
  func files() throws -> [String: Data] {
    var files: [String: Data] = [:]
    for name in try FileManager.default.subpathsOfDirectory(atPath: path) {
      let url = URL(filePath: path + "/" + name)
      if let data = try? Data(contentsOf: url) { files[name] = data }
    }
    return files
  }
}

/// A remote that answers no request after so many, and says that nothing came of it: the one it stops at is carried out or
/// not.
final class StoppingRemote: Remote {
  private let remote: any Remote
  private let limit: Int
  private let carriesLastOut: Bool
  private let requestCount = Atomic<Int>(0)

  var count: Int { requestCount.load(ordering: .relaxed) }

  init(_ remote: any Remote, after limit: Int, carriesLastOut: Bool) {
    self.remote = remote
    self.limit = limit
    self.carriesLastOut = carriesLastOut
  }

  private func answer<R>(_ body: () throws(RemoteError) -> R) throws(RemoteError) -> R {
    let count = requestCount.add(1, ordering: .relaxed).newValue
    guard count > limit else { return try body() }
    if count == limit + 1, carriesLastOut { _ = try body() }
    throw .unreachable
  }

  func list(_ folder: String, _ body: (RemoteObject) -> Void) throws(RemoteError) -> UInt64? {
    try answer { () throws(RemoteError) in try remote.list(folder, body) }
  }
  func get(_ name: String, range: Range<Int>?) throws(RemoteError) -> [UInt8]? {
    try answer { () throws(RemoteError) in try remote.get(name, range: range) }
  }
  func put(_ name: String, _ bytes: [UInt8]) throws(RemoteError) {
    try answer { () throws(RemoteError) in try remote.put(name, bytes) }
  }
  func stat(_ name: String) throws(RemoteError) -> Int? {
    try answer { () throws(RemoteError) in try remote.stat(name) }
  }
  func delete(_ name: String) throws(RemoteError) {
    try answer { () throws(RemoteError) in try remote.delete(name) }
  }
}
