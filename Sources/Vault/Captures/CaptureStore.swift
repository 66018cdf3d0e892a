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
  /// Total bytes of all parts from which the user is warned.
  public static let warningByteCount = 500_000_000

  let file: DatabaseFile
  let keychain: KeychainService
  let clock: CaptureClock
  private let cached = Mutex<CaptureKeys?>(nil)
  private let order = Mutex(Order.unknown)
  /// Held while a capture is added; taken before `order`.
  let adding = Mutex(())

  /// The captures in `file`, with their key in `keychain`. Nothing is read yet.
  public init(file: DatabaseFile, keychain: KeychainService, clock: CaptureClock = .system) {
    self.file = file
    self.keychain = keychain
    self.clock = clock
  }

  // MARK: Keys

  /// Makes the capture key if there is no key and nothing that was sealed with one.
  /// - Throws: `CaptureError.encryptionKeyNotFound` when there are captures and no key; `.locked`.
  public func loadOrCreateEncryptionKey() throws { _ = try order.withLock { _ in try keysForWriting() } }

  /// The keys of a store that has captures.
  /// - Throws: `CaptureError.encryptionKeyNotFound`, `.locked`.
  func keys() throws -> CaptureKeys {
    if let keys = cached.withLock({ $0 }) { return keys }
    guard let keys = try loadKeys() else { throw CaptureError.encryptionKeyNotFound }
    cached.withLock { $0 = keys }
    return keys
  }

  /// The keys, if they were read before and not dropped since: within a transaction they cannot be read.
  /// - Throws: `CaptureError.locked`
  func keysInMemory() throws(CaptureError) -> CaptureKeys {
    guard let keys = cached.withLock({ $0 }) else { throw .locked }
    return keys
  }

  /// Call this only with `order` locked: two threads must not make two keys.
  private func keysForWriting() throws -> CaptureKeys {
    if let keys = cached.withLock({ $0 }) { return keys }
    try file.claimWriting()
    if let keys = try loadKeys() {
      cached.withLock { $0 = keys }
      return keys
    }
    guard try isEmpty() else { throw CaptureError.encryptionKeyNotFound }
    let key = SymmetricKey()
    let keys = CaptureKeys(key.withBytes { SecretBytes(copying: $0) })
    // The state is written first, so that a key without a state always means damage and never a crash.
    try file.write(.captures) { transaction in
      var state = CaptureState()
      try state.save(transaction, keys: keys)
    }
    do { try keychain.saveSymmetricKey(key, forKey: KeychainService.Account.captureKey) } catch {
      throw Self.sorted(error)
    }
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

  /// Whether there is nothing that a lost key had sealed, and nothing that the account knows to be here. A state alone was
  /// left by a crash before the key was stored in the keychain.
  func isEmpty() throws -> Bool {
    let rows = try file.read(.captures) { transaction in
      try transaction.firstRow(
        """
        SELECT (SELECT count(*) FROM captures) + (SELECT count(*) FROM captureParts)
          + (SELECT count(*) FROM syncRows WHERE standing = 16)
        """
      ) { try $0.integer(0) }
    }
    return try rows == 0 && file.blobs.names().isEmpty
  }

  private static func sorted(_ error: KeychainError) -> any Error {
    switch error {
    case .locked: CaptureError.locked
    case _ where error.isDamage: CaptureError.corrupt(nil)
    default: error
    }
  }

  /// Drops the keys from memory.
  public func clearCache() { cached.withLock { $0 = nil } }

  // MARK: Transactions

  /// Takes the writer's lock and, the first time, cleans up after a crash.
  ///
  /// If a row is damaged or missing, no blob is removed, because the blobs may belong to that row. New captures
  /// can still be added.
  ///
  /// - Parameter own: blobs of a transaction of ours that failed; a row may or may not name them.
  func prepareWriting(own: [BlobName] = []) throws -> CaptureKeys {
    try file.claimWriting()
    // The lock is held until the cleanup is done: it must not remove another thread's first blob.
    return try order.withLock { order in
      let keys = try keysForWriting()
      if order == .tidy { return keys }
      guard try hasState() else { throw CaptureError.corrupt(nil) }
      let isUnsettled = order == .unsettled
      let scan = try file.write(.captures) { transaction in
        if isUnsettled {
          var state = try CaptureState.load(transaction, keys: keys)
          try state.save(transaction, keys: keys)
        }
        let scan = try Self.scan(transaction, keys: keys)
        for row in scan.rows where row.upload.state == .uploading {
          var upload = row.upload
          upload.recover(clock.now())
          guard upload != row.upload else { continue }
          try Self.save(upload, row.id, transaction, keys: keys)
        }
        return scan
      }
      if scan.isComplete {
        let named = Set(scan.rows.flatMap(\.record.blobs))
        for name in own where !named.contains(name) { file.blobs.remove(name) }
        try file.sweepBlobs(except: named)
      }
      order = .tidy
      return keys
    }
  }

  /// Whether blobs and rows match.
  private enum Order {
    /// Not checked yet.
    case unknown
    /// A transaction failed, but may still be in the write-ahead log; after a crash it would then be applied.
    /// The next transaction that succeeds overwrites it.
    case unsettled
    case tidy
  }

  /// Cleans up after a transaction that failed: now if the disk permits, else before the next capture.
  /// - Parameter blobs: those that the transaction would have named.
  func settle(_ blobs: [BlobName]) {
    order.withLock { $0 = .unsettled }
    _ = try? prepareWriting(own: blobs)
  }

  /// Removes the blobs of a change that failed.
  /// - Parameter mayBeNamed: whether a transaction was begun that names them.
  func discard(_ blobs: [BlobName], mayBeNamed: Bool) {
    if mayBeNamed { return settle(blobs) }
    for name in blobs { file.blobs.remove(name) }
  }

  /// Whether there is a state, as there is since before there was a key.
  func hasState() throws -> Bool {
    try file.read(.captures) { try $0.firstRow("SELECT 1 FROM captureState") { try $0.integer(0) } } != nil
  }

  static let log = Logger(label: "app.rial.captures")
}

extension CaptureID {
  /// As a column holds it.
  var column: StorageValue {
    .bytes(withBytes { bytes in unsafe bytes.withUnsafeBytes { unsafe Data($0) } })
  }
}

extension CaptureRecord {
  /// The blobs that belong to it.
  var blobs: [BlobName] { parts.blobs }
}

extension [PartEntry] {
  /// The blobs that they are in.
  var blobs: [BlobName] {
    compactMap { if case .blob(let name) = $0.place { name } else { nil } }
  }
}

/// The clock and random numbers of a store; tests use their own.
public struct CaptureClock: Sendable {
  /// Seconds since 1970, UTC.
  public var now: @Sendable () -> Int64
  /// A new random number from 0 to 1.
  public var jitter: @Sendable () -> Double

  /// A clock with this time and these random numbers.
  public init(now: @escaping @Sendable () -> Int64, jitter: @escaping @Sendable () -> Double) {
    self.now = now
    self.jitter = jitter
  }

  /// The system's clock and random numbers.
  public static let system = CaptureClock(
    now: { Int64(Date.now.timeIntervalSince1970) }, jitter: { Double.random(in: 0...1) })
}
