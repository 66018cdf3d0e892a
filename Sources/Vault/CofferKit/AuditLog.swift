// SPDX-License-Identifier: Apache-2.0
//
// What was done to a coffer and when, in one keychain item (Specs/keychain.md, "Items of Coffer"). It
// holds kinds and counts, no identifiers. The newest thousand entries are kept.
//
//   version 1 (1) ‖ dropped (4) ‖ count (2) ‖ entries: event (1) ‖ count (4) ‖ time (8)

internal import Keychains
internal import Logging
internal import Primitives
internal import Secrets
internal import Storage
internal import Vaults

/// The log behind `coffer audit`.
public struct AuditLog: Equatable, Sendable {
  /// What can be noted. The numbers are stored: a new event gets a new one.
  public enum Event: UInt8, Sendable, CaseIterable {
    case created = 1
    case passphraseChanged = 2
    case slotAdded = 3
    case slotRemoved = 4
    case recovered = 5
    case recoveryDrill = 6
    case messagesAdded = 7
    case messagesRemoved = 8
    case messagesExported = 9
    case keyRotated = 10
    case keyRolledBack = 11
    case damageFound = 12
    case deviceForgotten = 13
    case deviceRegistered = 14
    case captureAdded = 15
    case captureRemoved = 16
    case captureExported = 17
    case modeSwitched = 18
    case domainReset = 19
    case protectedDataReset = 20
    case privateKeysIncomplete = 21
    /// More messages failed to open than warn; how many.
    case failuresWarned = 22
    /// More messages failed to open than a vault bears: it has locked itself; how many.
    case vaultLocked = 23
    /// An examination has named the messages that do not open; of how many failures was warned.
    case failuresExamined = 24
    /// The owner has taken a coffer that was put back for the present one.
    case earlierStateAccepted = 25
  }

  /// One line of the log.
  public struct Entry: Equatable, Sendable {
    public let event: Event
    /// How many, where that says something; else 0.
    public let count: Int
    /// Seconds since 1970, UTC.
    public let time: Int64
  }

  /// The oldest first.
  public private(set) var entries: [Entry] = []
  /// Older entries that are no longer kept.
  public private(set) var droppedCount = 0

  static let account = "coffer.audit"
  /// A year of three entries a day; some 13 KiB, written anew with each entry.
  private static let entryLimit = 1_000

  init() {}

  mutating func append(_ event: Event, count: Int, at time: Int64) {
    entries.append(Entry(event: event, count: count, time: time))
    let excess = entries.count - Self.entryLimit
    if excess > 0 {
      entries.removeFirst(excess)
      droppedCount += excess
    }
  }

  // MARK: The item

  /// - Throws: `KeychainError.invalidData` when the item is gone or not what was stored.
  static func load(_ keychain: KeychainService) throws(KeychainError) -> AuditLog {
    guard let bytes = try keychain.loadSecret(forKey: account) else { throw .invalidData }
    return try bytes.withBytes { bytes throws(KeychainError) in try AuditLog(bytes) }
  }

  /// Stores the log of a new coffer.
  func save(_ keychain: KeychainService) throws(KeychainError) {
    try keychain.save(bytes, forKey: Self.account, accessibility: .whenUnlockedThisDeviceOnly)
  }

  fileprivate init(_ bytes: RawSpan) throws(KeychainError) {
    var cursor = ByteCursor()
    do {
      guard try cursor.readByte(bytes) == 1 else { throw KeychainError.invalidData }
      droppedCount = try cursor.readUInt32(bytes)
      for _ in 0..<(try cursor.readUInt16(bytes)) {
        guard let event = Event(rawValue: try cursor.readByte(bytes)) else {
          throw KeychainError.invalidData
        }
        let count = try cursor.readUInt32(bytes)
        entries.append(Entry(event: event, count: count, time: try cursor.readInt64(bytes)))
      }
      guard cursor.isAtEnd(of: bytes) else { throw KeychainError.invalidData }
    } catch {
      throw .invalidData
    }
  }

  fileprivate var bytes: SecretBytes {
    var bytes: [UInt8] = [1]
    bytes.append(bigEndian: UInt32(clamping: droppedCount))
    bytes.append(bigEndian: UInt16(entries.count))
    for entry in entries {
      bytes.append(entry.event.rawValue)
      bytes.append(bigEndian: UInt32(clamping: entry.count))
      bytes.append(bigEndian: entry.time)
    }
    return unsafe SecretBytes(copying: bytes.span.bytes)
  }
}

extension Coffer {
  /// What was done, the oldest first.
  public func auditLog() throws -> [AuditLog.Entry] { try AuditLog.load(keychain).entries }

  /// Adds a line to the audit log, after the deed.
  ///
  /// A line that cannot be written is left out: what was done must not be reported as failed, least of all
  /// a new passphrase or a finished export. A damaged log is for ``auditLog()`` and the examination to tell.
  func audit(_ event: AuditLog.Event, count: Int = 0) {
    do {
      try file.claimWriting()
      try keychain.replaceSecret(forKey: AuditLog.account, by: line(event, count))
    } catch {
      Self.log.error("a line of the audit log is left out")
    }
    counter.countUpIfDue()
  }

  /// Does a deed with its line in the audit log: in one transaction where the keychain is in the coffer's file,
  /// else the line afterwards.
  ///
  /// - Parameter deed: calls what it is given within its transaction.
  func auditing<R>(
    _ event: AuditLog.Event, count: Int = 1, _ deed: ((borrowing Transaction) throws -> Void) throws -> R
  ) throws -> R {
    var isDealtWith = false
    let result = try deed { transaction in
      do {
        isDealtWith = try keychain.replaceSecret(
          forKey: AuditLog.account, in: transaction, by: line(event, count))
      } catch  where error is KeychainError || error as? StorageError == .outdated(.keychain) {
        // Nothing was written: the log is damaged, which must not keep the deed from being done.
        Self.log.error("a line of the audit log is left out")
        isDealtWith = true
      }
    }
    if isDealtWith { counter.countUpIfDue() } else { audit(event, count: count) }
    return result
  }

  private func line(
    _ event: AuditLog.Event, _ count: Int
  ) -> (RawSpan) throws(KeychainError) -> SecretBytes {
    let now = clock.now()
    return { bytes throws(KeychainError) in
      var log = try AuditLog(bytes)
      log.append(event, count: count, at: now)
      return log.bytes
    }
  }
}
