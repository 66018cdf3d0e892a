// SPDX-License-Identifier: Apache-2.0
//
// A coffer file with a vault in it, for one test: clocks that the test sets, keys that it can take away,
// and a second connection for changing rows behind the vault's back.

import Foundation
import GRDBSQLite
import InMemoryKeychains
import Keychains
import MessageFormats
import Primitives
import Secrets
import Storage
import Synchronization
import TemporaryHomes

@testable import Vaults

/// Clocks that stand still until a test moves them.
final class TestClock: Sendable {
  /// 2025-10-04T00:00:00Z
  static let start: Int64 = 1_759_536_000
  private let seconds = Atomic<Int64>(0)
  let pauses = Mutex<[Int]>([])

  func advance(_ seconds: Int64) { self.seconds.add(seconds, ordering: .relaxed) }
  func advance(days: Int64) { advance(days * 86_400) }

  var clock: VaultClock {
    VaultClock(
      now: { Self.start + self.seconds.load(ordering: .relaxed) },
      uptime: { 1_000_000 + self.seconds.load(ordering: .relaxed) },
      pause: { seconds in self.pauses.withLock { $0.append(seconds) } })
  }
}

final class VaultFixture {
  let home: TemporaryHome
  let time = TestClock()
  let keys: ClassKeys
  let keychain: InMemoryKeychain
  let file: DatabaseFile
  private(set) var vault: Vault

  init() throws {
    home = try TemporaryHome()
    keys = ClassKeys(whenUnlocked: secret(0x11), afterFirstUnlock: secret(0x22))
    keychain = InMemoryKeychain()
    let service = KeychainService(keychain: keychain, keys: keys)
    try service.prepare()
    let clock = time.clock
    file = try DatabaseFile.create(home: home.path) { file in
      _ = try Vault.create(file: file, keychain: service, clock: clock)
    }
    vault = try Vault.open(file: file, keychain: service, isAuthenticated: false, clock: clock)
  }

  var service: KeychainService { KeychainService(keychain: keychain, keys: keys) }

  /// The vault as another command would find it.
  func reopened(isAuthenticated: Bool = false) throws -> Vault {
    try Vault.open(file: file, keychain: service, isAuthenticated: isAuthenticated, clock: time.clock)
  }

  /// The same vault with small batches.
  func vault(batchOf count: Int, keptByteCount: Int = 8 << 20) -> Vault {
    Vault(
      file: file, keychain: service, clock: time.clock,
      batch: BatchLimits(messageCount: count, keptByteCount: keptByteCount))
  }

  /// The coffer as it is now, in another folder and not in use.
  func copyOfHome() throws -> TemporaryHome {
    try file.truncateLog()
    let copy = try TemporaryHome()
    try FileManager.default.createDirectory(atPath: copy.path, withIntermediateDirectories: true)
    try FileManager.default.copyItem(
      atPath: home.path + "/" + DatabaseFile.name, toPath: copy.path + "/" + DatabaseFile.name)
    return copy
  }

  /// Changes the file behind the vault's back.
  func tamper(_ statements: String...) throws {
    try file.truncateLog()
    var connection: OpaquePointer?
    guard sqlite3_open(home.path + "/" + DatabaseFile.name, &connection) == SQLITE_OK else {
      throw TamperFailed(text: "open")
    }
    defer { sqlite3_close(connection) }
    for statement in statements where sqlite3_exec(connection, statement, nil, nil, nil) != SQLITE_OK {
      throw TamperFailed(text: String(cString: sqlite3_errmsg(connection)))
    }
  }

  struct TamperFailed: Error {
    let text: String
  }
}

func secret(_ byte: UInt8) -> SharedSecretBytes {
  SharedSecretBytes(SecretBytes(copying: [UInt8](repeating: byte, count: 32).span.bytes))
}

func bytes(of text: String) -> SecretBytes { SecretBytes(copying: Array(text.utf8).span.bytes) }

func hex(_ text: String) -> [UInt8] {
  let digits = text.compactMap(\.hexDigitValue)
  return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
}

func hex(_ bytes: [UInt8]) -> String { bytes.map { String(format: "%02x", $0) }.joined() }

func array(_ span: RawSpan) -> [UInt8] { span.withUnsafeBytes { Array($0) } }

/// The literal of an identifier in SQL.
func sql(_ id: MessageID) -> String { "x'" + id.withBytes { hex(array($0)) } + "'" }

extension Vault {
  @discardableResult
  func add(_ text: String, tags: [String] = []) throws -> MessageID {
    try add(bytes(of: text), metadata: MessageMetadata(title: text, tags: tags, contentType: "text/plain"))
  }

  func text(_ id: MessageID) throws -> String {
    try withMessage(id) { _, content in String(decoding: array(content), as: UTF8.self) }
  }

  /// The contents of all messages, in the order in which they came.
  func texts(tag: String? = nil) throws -> [String] {
    var texts: [String] = []
    _ = try forEachMessage(tag: tag) { _, _, content in
      texts.append(String(decoding: array(content), as: UTF8.self))
      return true
    }
    return texts
  }

  /// The titles of the selected messages, the newest first.
  func titles(_ selection: Selection = Selection()) throws -> [String] {
    var titles: [String] = []
    _ = try list(selection) { _, metadata in
      titles.append(metadata.title)
      return true
    }
    return titles
  }
}

/// A source that hands on prepared entries; nil stands for an entry that is malformed.
struct ListSource: MessageSource {
  typealias Entry = (metadata: MessageMetadata, content: [UInt8])?
  let entries: [Entry]
  private var next = 0
  /// An entry before the first that cannot be read.
  var unreadable: String?
  /// How the source fails behind its last entry.
  var end: MessageFormatError?

  init(_ entries: [Entry]) { self.entries = entries }

  init(texts: [String]) {
    entries = texts.map { (MessageMetadata(title: $0, contentType: "text/plain"), Array($0.utf8)) }
  }

  var progress: SourceProgress { SourceProgress(bytesRead: next, bytesTotal: entries.count) }

  mutating func next(_ body: (MessageMetadata, RawSpan) throws -> Void) throws -> Bool {
    if let path = unreadable {
      unreadable = nil
      throw MessageFormatError.entry(path: path, .cannotRead(errno: 13))
    }
    guard next < entries.count else {
      if let end { throw end }
      return false
    }
    next += 1
    guard let entry = entries[next - 1] else {
      throw MessageFormatError.malformed(entry: next, what: "a test")
    }
    try body(entry.metadata, entry.content.span.bytes)
    return true
  }
}

/// A keychain in which a test does something, or that fails, before the first change or a reading.
final class HookedKeychain: Keychain {
  private let inner: InMemoryKeychain
  private let beforeUpdate: @Sendable () -> Void
  private let isUsed = Atomic<Bool>(false)
  /// How many readings fail from now on.
  let failures = Atomic<Int>(0)

  init(_ inner: InMemoryKeychain, beforeUpdate: @escaping @Sendable () -> Void = {}) {
    self.inner = inner
    self.beforeUpdate = beforeUpdate
  }

  func items() throws(KeychainError) -> [SealedItem] {
    if failures.load(ordering: .relaxed) > 0 {
      failures.subtract(1, ordering: .relaxed)
      throw .loadFailed(10)
    }
    return try inner.items()
  }

  func update(
    _ body: (_ current: [SealedItem]) throws(KeychainError) -> [KeychainChange]
  ) throws(KeychainError) {
    if !isUsed.exchange(true, ordering: .relaxed) { beforeUpdate() }
    try inner.update(body)
  }
}
