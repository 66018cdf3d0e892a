// SPDX-License-Identifier: Apache-2.0
//
// The audit log: what was done to a coffer and when, in one keychain item (Specs/keychain.md, "Items of Coffer"). It
// holds kinds and counts, no identifiers. The newest 1,000 entries are kept.
//
//   version 1 (1) ‖ dropped (4) ‖ count (2) ‖ entries: event (1) ‖ count (4) ‖ time (8)

internal import Keychains
internal import Logging
internal import Primitives
internal import Secrets
internal import Storage
internal import Vaults

/// The log that `coffer audit` shows.
public struct AuditLog: Equatable, Sendable {
  /// The events that are logged. The numbers are stored: a new event gets a new one.
  public enum Event: UInt8, Sendable, CaseIterable {
    /// The coffer was created.
    case created = 1
    /// A passphrase was replaced.
    case passphraseChanged = 2
    /// A slot was added.
    case slotAdded = 3
    /// A slot was removed.
    case slotRemoved = 4
    /// A new passphrase was set with the recovery phrase.
    case recovered = 5
    /// A recovery drill has succeeded.
    case recoveryDrill = 6
    /// Messages were stored; how many.
    case messagesAdded = 7
    /// Messages were moved to the trash; how many.
    case messagesRemoved = 8
    /// Messages were exported; how many.
    case messagesExported = 9
    /// A rotation of the vault key has finished; how many messages have the new key.
    case keyRotated = 10
    /// A rollback of the vault key has finished; how many messages have the previous key again.
    case keyRolledBack = 11
    /// An examination has found damage; how many findings.
    case damageFound = 12
    /// This machine was forgotten.
    case deviceForgotten = 13
    /// This machine was registered again.
    case deviceRegistered = 14
    /// A capture was stored.
    case captureAdded = 15
    /// A capture was removed.
    case captureRemoved = 16
    /// A capture was exported.
    case captureExported = 17
    /// Title, note or tags of a capture were changed.
    case captureChanged = 54
    /// The authentication mode of the private keys was changed.
    case modeSwitched = 18
    /// The guard of high security was given up with the private keys that it opens; how many.
    case guardGivenUp = 53
    /// One domain of protected data was reset.
    case domainReset = 19
    /// All protected data was reset.
    case protectedDataReset = 20
    /// An interrupted change of private keys could not be recovered.
    case privateKeysIncomplete = 21
    /// Enough messages failed to open for a warning; how many.
    case failuresWarned = 22
    /// So many messages failed to open that the vault has locked itself; how many.
    case vaultLocked = 23
    /// An examination has named the messages that do not open; how many failures the warning had counted.
    case failuresExamined = 24
    /// The owner has accepted a restored, older state of the coffer.
    case earlierStateAccepted = 25
    /// An identity was made.
    case identityGenerated = 26
    /// An identity was deleted.
    case identityDeleted = 27
    /// A contact's public part was stored.
    case contactStored = 28
    /// A contact was given another name.
    case contactRenamed = 29
    /// A contact was removed.
    case contactRemoved = 30
    /// A contact's fingerprint was compared, and is the same.
    case contactVerified = 31
    /// A contact's fingerprint was compared, and is not the same.
    case contactNotConfirmed = 32
    /// A contact is no longer verified.
    case contactVerificationUndone = 33
    /// An OpenPGP message was written.
    case openPGPEncrypted = 34
    /// An OpenPGP message was opened.
    case openPGPDecrypted = 35
    /// A file was signed, or a message that was written.
    case openPGPSigned = 36
    /// The whole coffer was backed up, without private parts.
    case backedUp = 50
    /// The whole coffer was backed up with its private parts; how many.
    case backedUpWithIdentities = 51
    /// This coffer was restored from a backup.
    case restored = 52
    /// A setting was changed.
    case settingsChanged = 46
    /// A backup of an identity was written and read back.
    case identityBackedUp = 38
    /// Private keys of a file were sealed; how many.
    case identitiesImported = 39
    /// An identity was given another end.
    case identityEndChanged = 40
    /// An identity was revoked.
    case identityRevoked = 41
    /// A user ID or a subkey of an identity was added or revoked.
    case identityChanged = 42
    /// The revocation certificate of an identity was written to a file.
    case revocationExported = 43
    /// A contact's names were certified.
    case contactCertified = 44
    /// Messages were edited; how many.
    case messagesEdited = 70
    /// Messages were taken out of the trash; how many.
    case messagesPutBack = 71
    /// Messages of the trash were erased; how many.
    case messagesErased = 72
    /// Git had a commit, a tag or a push signed.
    case gitSigned = 60
    /// The same with a key of version 6, for the first time: what that means was said.
    case gitSignedExplained = 61
    /// An account of several devices was made.
    case accountMade = 80
    /// This coffer has joined an account.
    case accountJoined = 81
    /// The account was forgotten here.
    case accountForgotten = 82
    /// Another device was let into the account.
    case deviceApproved = 83
    /// A device of the account was revoked.
    case deviceRevoked = 84
    /// This device has joined its account again.
    case deviceRejoined = 85
    /// What opens the account was changed: a passphrase, words or the card.
    case accountSecretsChanged = 86
    /// The owner has chosen between continuations of the account.
    case accountSettled = 87
    /// Held removals of a device were confirmed.
    case removalsConfirmed = 88
    /// Messages and captures that were cut off were taken in; how many.
    case quarantineTaken = 89
    /// Captures were freed here; how many.
    case capturesReleased = 90
    /// The account was moved to another place.
    case accountMoved = 91
    /// Packs of removed messages were deleted at the place; how many.
    case packsDeleted = 92
    /// The account was deleted at its place.
    case accountDestroyed = 93
  }

  /// One line of the log.
  public struct Entry: Equatable, Sendable {
    /// What was done.
    public let event: Event
    /// How many, for events that count something; else 0.
    public let count: Int
    /// Seconds since 1970, UTC.
    public let time: Int64
  }

  /// The oldest first.
  public private(set) var entries: [Entry] = []
  /// Older entries that are no longer kept.
  public private(set) var droppedCount = 0

  static let account = "coffer.audit"
  /// A year of three entries a day; about 13 KiB, which are rewritten with each entry.
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

  /// - Throws: `KeychainError.invalidData` when the item is gone or was changed.
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
    return SecretBytes(copying: bytes.rawSpan)
  }
}

extension AuditLog {
  /// Adds an entry to the log in its item.
  static func line(
    _ event: Event, count: Int, at time: Int64
  ) -> (RawSpan) throws(KeychainError) -> SecretBytes {
    { bytes throws(KeychainError) in
      var log = try AuditLog(bytes)
      log.append(event, count: count, at: time)
      return log.bytes
    }
  }
}

extension Coffer {
  /// The entries of the audit log, oldest first.
  public func auditLog() throws -> [AuditLog.Entry] { try AuditLog.load(keychain).entries }

  /// Adds an entry to the audit log, after the operation.
  ///
  /// An entry that cannot be written is left out: an operation that succeeded, such as a new passphrase or a
  /// finished export, must not be reported as failed. ``auditLog()`` and the examination report a damaged log.
  func audit(_ event: AuditLog.Event, count: Int = 0) {
    do {
      try file.claimWriting()
      try keychain.replaceSecret(forKey: AuditLog.account, by: line(event, count))
    } catch {
      Self.log.error("a line of the audit log is left out")
    }
    counter.countUpIfDue()
  }

  /// Adds a line to the audit log after the account was changed. As with all lines, one that cannot be written is left out.
  public func noteAccountChange(_ event: AuditLog.Event, count: Int = 0) {
    // Others may write while the run that follows waits for the place.
    do { try file.withWriting(tries: 60) { audit(event, count: count) } } catch {
      Self.log.error("a line of the audit log is left out")
    }
  }

  /// Runs an operation and adds its entry to the audit log: in the same transaction if the keychain is in the
  /// coffer's file, else afterwards.
  ///
  /// - Parameter deed: the operation; it calls its argument within its transaction.
  func auditing<R>(
    _ event: AuditLog.Event, count: Int = 1, _ deed: ((borrowing Transaction) throws -> Void) throws -> R
  ) throws -> R {
    var isDealtWith = false
    let result = try deed { transaction in
      do {
        isDealtWith = try keychain.replaceSecret(
          forKey: AuditLog.account, in: transaction, by: line(event, count))
      } catch  where error is KeychainError || error as? StorageError == .outdated(.keychain) {
        // Nothing was written. A damaged log must not prevent the operation.
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
    AuditLog.line(event, count: count, at: clock.now())
  }
}
