// SPDX-License-Identifier: Apache-2.0
//
// A backup of the whole coffer in one file (Specs/backup.md), while it is in use.

internal import Backups
internal import Captures
internal import Identities
public import KeyCustody
internal import Keychains
internal import Logging
public import MessageFormats
internal import OpenPGP
internal import Primitives
internal import ProtectedData
internal import Secrets
internal import Storage
internal import Vaults

/// What a backup holds.
public struct BackupReport: Equatable, Sendable {
  /// Messages.
  public var messageCount = 0
  /// Captures.
  public var captureCount = 0
  /// Contacts.
  public var contactCount = 0
  /// Identities of the coffer and private keys that none lists, whether or not their private parts are in the backup.
  public var identityCount = 0
  /// Private parts in the backup.
  public var privatePartCount = 0
  /// Private keys that were to come along and cannot be opened any more.
  public var lostPrivatePartCount = 0
  /// Bytes of the file.
  public var fileByteCount = 0
}

/// The right to take private parts along.
public struct BackupOfPrivateParts: Sendable {
  let custody: PrivateKeyCustody
  let authorization: CustodyAuthorization

  /// - Parameters:
  ///   - custody: after recovery from an interrupted change.
  ///   - authorization: opens every private part.
  public init(custody: PrivateKeyCustody, authorization: CustodyAuthorization) {
    self.custody = custody
    self.authorization = authorization
  }
}

extension Coffer {
  /// Writes a backup to `path`, reads it back, and gives it its name. If this throws, there is no file.
  ///
  /// - Parameters:
  ///   - path: must be free.
  ///   - privateParts: takes the private parts along; nil leaves them out.
  ///   - record: is told of a name that the file has meanwhile.
  ///   - progress: called with the bytes done and of all; false stops.
  /// - Throws: `MessageFormatError`; `BackupError`; `CofferError.slotRequired` for private parts when an agent's keys
  ///   opened this coffer; errors of reading the coffer.
  public func backUp(
    to path: String, privateParts: BackupOfPrivateParts?, record: (any UnfinishedExportRecord)?,
    progress: @escaping (Int, Int) -> Bool
  ) throws -> BackupReport {
    guard privateParts == nil || slot != nil else { throw CofferError.slotRequired }
    try vault.checkRows()
    let contents = try movableContents()
    var tries = 0
    while true {
      tries += 1
      // At last nobody else may write, so that what was read stays as it was.
      if tries == Self.triesBesideWriters { try file.claimWriting() }
      do {
        return try backUpOnce(to: path, contents, privateParts, record, progress)
      } catch BackupError.changing where tries < Self.triesBesideWriters {
        continue
      }
    }
  }

  private static let triesBesideWriters = 3

  private func movableContents() throws -> [DomainContent] {
    let report = try unlockProtectedData()
    guard report.outcome != .notAuthorised else { throw ProtectedDataError.notAuthorised }
    return try protectedDomains().movableContents()
  }

  /// - Throws: `BackupError.changing` when another process has changed what was being read.
  private func backUpOnce(
    to path: String, _ contents: [DomainContent], _ privateParts: BackupOfPrivateParts?,
    _ record: (any UnfinishedExportRecord)?, _ progress: @escaping (Int, Int) -> Bool
  ) throws -> BackupReport {
    let keybag = try file.read(.slots, Keybag.load)
    let total = Total()
    var writer = try BackupWriter(
      path: path, keybag: keybag, keys: keys, record: record, isStopped: { !progress($0, total.byteCount) })
    var report = BackupReport()
    let made = clock.now()
    let isHere = keybag.keychain == .file
    let items = isHere ? nil : try keychain.sealedItems()
    let hasCaptures = try captures.prepareReading()
    var blobs: [BlobName] = []
    try file.read { transaction in
      for part in BoundPart.allCases { try binding.verify(part, transaction) }
      if hasCaptures { (report.captureCount, blobs) = try captures.blobs(transaction) }
      total.byteCount = try BackupWriter.rowByteCount(transaction)
      for name in blobs { total.byteCount += byteCount(of: name) }
      try writer.requireRoom(total.byteCount + total.byteCount / Self.overheadShare + Self.reservedByteCount)
      try writer.append(
        BackupAbout(made: made, byteCount: total.byteCount, hasPrivateParts: privateParts != nil))
      try writer.appendRows(transaction, keychain: items)
    }
    do {
      for name in blobs { try writer.append(name, from: file.blobs) }
    } catch let error as StorageError {
      guard try isUnchanged(blobs, items) else { throw BackupError.changing }
      throw error
    }
    guard try isUnchanged(blobs, items) else { throw BackupError.changing }
    for content in contents {
      try writer.append(
        domain: content.domain.rawValue, schemaVersion: content.schemaVersion, payload: content.payload)
    }
    var certificates: [Fingerprint: [UInt8]] = [:]
    if let privateParts {
      certificates = try IdentityStore(privateParts.custody, protectedDomains()).certificates()
      let written = Set(try append(privateParts, to: &writer))
      certificates = certificates.filter { written.contains($0.key) }
      report.privatePartCount = written.count
      report.lostPrivatePartCount = try privateParts.custody.fingerprints().count - written.count
    }
    try writer.finish()
    try writer.verify()
    report.fileByteCount = writer.fileByteCount
    report.messageCount = try vault.status().messageCount
    report.contactCount = try protectedDomains().read(ContactsSnapshot.self).contacts.count
    report.identityCount =
      Set(try protectedDomains().identities().map(\.fingerprint))
      .union(try openPrivateKeys().custody.fingerprints()).count
    try writer.claimName()
    note(LastBackup(made: made, hasPrivateParts: privateParts != nil), report)
    if let privateParts { note(certificates, privateParts.custody, made) }
    return report
  }

  /// The file is complete by now, so a failure here does not matter.
  private func note(_ certificates: [Fingerprint: [UInt8]], _ custody: PrivateKeyCustody, _ made: Int64) {
    do { try IdentityStore(custody, protectedDomains()).noteBackup(of: certificates, at: made) } catch {
      Self.log.warning("that identities are in a backup is not stored")
    }
  }

  /// As above.
  private func note(_ last: LastBackup, _ report: BackupReport) {
    do { try last.save(keychain) } catch { Self.log.warning("the date of the last backup is not stored") }
    audit(last.hasPrivateParts ? .backedUpWithIdentities : .backedUp, count: report.privatePartCount)
  }

  /// Every private part that is not lost, or none if one does not open now.
  private func append(
    _ privateParts: BackupOfPrivateParts, to writer: inout BackupWriter
  ) throws -> [Fingerprint] {
    let fingerprints = try privateParts.custody.places().filter { !$0.value.isLost }.keys.sorted()
    for fingerprint in fingerprints {
      try privateParts.custody.withPrivateKey(fingerprint, privateParts.authorization) { secret, payload in
        try writer.append(
          privatePart: SecretBytes(copying: secret), kind: payload.rawValue, fingerprint: fingerprint.bytes)
      }
    }
    return fingerprints
  }

  /// Whether every capture that was read is still there, and the service's items are the same. A capture that is
  /// removed loses its row before its blobs, so a row that is there proves that the blobs were whole.
  private func isUnchanged(_ blobs: [BlobName], _ items: [SealedItem]?) throws -> Bool {
    if !blobs.isEmpty {
      let now = Set(try file.read { try captures.blobs($0).names })
      guard now.isSuperset(of: blobs) else { return false }
    }
    guard let items else { return true }
    let order: (SealedItem, SealedItem) -> Bool = { $0.account < $1.account }
    return try keychain.sealedItems().sorted(by: order) == items.sorted(by: order)
  }

  /// Zero for a blob that cannot be read: writing it will say why.
  private func byteCount(of name: BlobName) -> Int { (try? file.blobs.open(name).byteCount()) ?? 0 }

  /// One tag for 64 KiB, and the heads of records.
  private static let overheadShare = 64
  /// For domains, private parts and the head.
  private static let reservedByteCount = 1 << 20
}

/// The bytes that a backup will hold, once they are known.
private final class Total {
  var byteCount = 0
}
