// SPDX-License-Identifier: Apache-2.0
//
// The encrypted capture store (CA-*; Specs/captures.md). Everything here works with the class *after first
// unlock* alone.
//
// Concurrency: a store is a value of shared references; writers of other processes are kept out by the file.

internal import Foundation
public import Keychains
internal import Logging
internal import Primitives
internal import Secrets
public import Storage
internal import Synchronization

/// The captures of a coffer.
public final class CaptureStore: Sendable {
  /// Bytes of parts from which on a warning is due (CA-06).
  public static let warningByteCount = 500_000_000

  let file: DatabaseFile
  let keychain: KeychainService
  let clock: CaptureClock
  private let cached = Mutex<CaptureKeys?>(nil)
  private let isTidy = Mutex(false)

  public init(file: DatabaseFile, keychain: KeychainService, clock: CaptureClock = .system) {
    self.file = file
    self.keychain = keychain
    self.clock = clock
  }

  // MARK: Keys

  /// Makes the capture key if there is none and there was never anything to seal with one (CA-03, D39).
  /// - Throws: `CaptureError.encryptionKeyNotFound` when there are captures and no key; `.locked`.
  public func loadOrCreateEncryptionKey() throws { _ = try keysForWriting() }

  /// The keys of a store that has captures.
  /// - Throws: `CaptureError.encryptionKeyNotFound`, `.locked`.
  func keys() throws -> CaptureKeys {
    if let keys = cached.withLock({ $0 }) { return keys }
    guard let keys = try loadKeys() else { throw CaptureError.encryptionKeyNotFound }
    cached.withLock { $0 = keys }
    return keys
  }

  private func keysForWriting() throws -> CaptureKeys {
    if let keys = cached.withLock({ $0 }) { return keys }
    try file.claimWriting()
    if let keys = try loadKeys() {
      cached.withLock { $0 = keys }
      return keys
    }
    guard try isUntouched() else { throw CaptureError.encryptionKeyNotFound }
    let key = SymmetricKey()
    do { try keychain.saveSymmetricKey(key, forKey: KeychainService.Account.captureKey) } catch {
      throw Self.sorted(error)
    }
    let keys = CaptureKeys(key.withBytes { SecretBytes(copying: $0) })
    cached.withLock { $0 = keys }
    return keys
  }

  private func loadKeys() throws -> CaptureKeys? {
    do {
      let key = try keychain.loadSecret(
        forKey: KeychainService.Account.captureKey, in: .afterFirstUnlockThisDeviceOnly)
      guard let key else { return nil }
      guard key.count == SymmetricKey.byteCount else { throw CaptureError.corrupt(nil) }
      return CaptureKeys(key)
    } catch let error as KeychainError {
      throw Self.sorted(error)
    }
  }

  /// Whether nothing was ever sealed here.
  private func isUntouched() throws -> Bool {
    let rows = try file.read { transaction in
      try transaction.firstRow(
        "SELECT (SELECT count(*) FROM captures) + (SELECT count(*) FROM captureState)") { try $0.integer(0) }
    }
    return try rows == 0 && file.blobs.names().isEmpty
  }

  private static func sorted(_ error: KeychainError) -> any Error {
    switch error {
    case .locked: CaptureError.locked
    case .invalidData, .decodingFailed: CaptureError.corrupt(nil)
    case .loadFailed, .serviceUnavailable: CaptureError.keychainUnavailable
    default: error
    }
  }

  /// Drops the keys from memory.
  public func clearCache() { cached.withLock { $0 = nil } }

  // MARK: Transactions

  /// Takes the writer's lock and, the first time, tidies up what a crash may have left.
  func prepareWriting() throws -> CaptureKeys {
    try file.claimWriting()
    let keys = try keysForWriting()
    if isTidy.withLock({ $0 }) { return keys }
    try file.write { transaction in
      if try transaction.firstRow("SELECT 1 FROM captureState", body: { try $0.integer(0) }) == nil {
        var state = CaptureState()
        try state.save(transaction, keys: keys)
      }
      for row in try Self.rows(transaction, keys: keys) where row.upload.state == .uploading {
        var upload = row.upload
        upload.recover()
        try Self.save(upload, row.id, transaction, keys: keys)
      }
    }
    try sweep(keys: keys)
    isTidy.withLock { $0 = true }
    return keys
  }

  /// Removes blobs that no row names.
  private func sweep(keys: CaptureKeys) throws {
    let stored = try file.blobs.names()
    if stored.isEmpty { return }
    let named = Set(try file.read { try Self.rows($0, keys: keys) }.flatMap { $0.record.blobs })
    for name in stored where !named.contains(name) { file.blobs.remove(name) }
  }

  /// A capture as it stands in the table, opened.
  struct Row {
    let number: Int64
    let id: CaptureID
    let record: CaptureRecord
    let upload: UploadStatus
  }

  /// Every capture, the oldest first, after comparing all with the state.
  /// - Throws: `CaptureError.corrupt(nil)` when a row is not what was sealed, or rows were added or removed.
  static func rows(_ transaction: borrowing Transaction, keys: CaptureKeys) throws -> [Row] {
    var rows: [Row] = []
    var digest = SetDigest()
    var hash = keys.memberHash()
    try transaction.forEachRow("SELECT number, id, mark, record, queue FROM captures ORDER BY number") { row in
      let opened = try Self.row(row, keys: keys)
      try row.withBytes(3) { sealed in
        let member = CaptureState.member(opened.id, sealedRecord: sealed)
        unsafe hash.add(member.span.bytes, to: &digest)
      }
      rows.append(opened)
      return true
    }
    guard try CaptureState.load(transaction, keys: keys).captures == digest else {
      throw CaptureError.corrupt(nil)
    }
    return rows
  }

  private static func row(_ row: borrowing StorageRow, keys: CaptureKeys) throws -> Row {
    guard let id = try row.withBytes(1, { CaptureID($0) }) else { throw CaptureError.corrupt(nil) }
    let mark = Array(try row.bytes(2))
    let record = try row.withBytes(3) { bytes throws(CaptureError) in
      try CaptureRecord(sealed: bytes, id, mark: mark, key: keys.record)
    }
    let upload = try row.withBytes(4) { bytes throws(CaptureError) in
      try UploadStatus(sealed: bytes, id, key: keys.record)
    }
    return Row(number: try row.integer(0), id: id, record: record, upload: upload)
  }

  static func save(
    _ upload: UploadStatus, _ id: CaptureID, _ transaction: borrowing Transaction, keys: CaptureKeys
  ) throws {
    let sealed = upload.sealed(id, key: keys.record)
    let changed = try id.withBytes { bytes in
      try StorageValue.withBorrowed(bytes) { id in
        try transaction.execute("UPDATE captures SET queue = ? WHERE id = ?", .bytes(Data(sealed)), id)
      }
    }
    guard changed == 1 else { throw CaptureError.corrupt(nil) }
  }

  /// The capture of that id.
  /// - Throws: `CaptureError.notFound` only when all rows are those that were stored.
  func find(_ id: CaptureID, keys: CaptureKeys) throws -> Row {
    try file.read { transaction in
      let found = try id.withBytes { bytes in
        try StorageValue.withBorrowed(bytes) { id in
          try transaction.firstRow(
            "SELECT number, id, mark, record, queue FROM captures WHERE id = ?", id
          ) { try Self.row($0, keys: keys) }
        }
      }
      if let found { return found }
      _ = try Self.rows(transaction, keys: keys)
      throw CaptureError.notFound
    }
  }

  static let log = Logger(label: "app.rial.captures")
}

extension CaptureRecord {
  /// The blobs that belong to it.
  var blobs: [BlobName] {
    parts.compactMap { if case .blob(let name) = $0.place { name } else { nil } }
  }
}

/// What tells the time, and chance; tests bring their own.
public struct CaptureClock: Sendable {
  /// Seconds since 1970, UTC.
  public var now: @Sendable () -> Int64
  /// 0 to 1, anew each time.
  public var jitter: @Sendable () -> Double

  public init(now: @escaping @Sendable () -> Int64, jitter: @escaping @Sendable () -> Double) {
    self.now = now
    self.jitter = jitter
  }

  public static let system = CaptureClock(
    now: { Int64(Date.now.timeIntervalSince1970) }, jitter: { Double.random(in: 0...1) })
}
