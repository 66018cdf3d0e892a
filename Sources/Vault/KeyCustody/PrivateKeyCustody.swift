// SPDX-License-Identifier: Apache-2.0
//
// Keeps OpenPGP private keys, each sealed to a key of its own in an enclave. PrivateKeyCustody+Change.swift
// makes changes of several keys atomic, PrivateKeyCustody+Recovery.swift ends interrupted ones.

public import Enclaves
public import Keychains
internal import Logging
public import OpenPGP
public import ProtectedData
public import Secrets
public import Storage
internal import Synchronization
public import UserAuthentication

/// The sealed private keys of a coffer (SE-01 to SE-12, AM-01 to AM-19).
public final class PrivateKeyCustody: Sendable {
  /// nil for a custody in memory, which no other process can change.
  let file: DatabaseFile?
  let keychain: KeychainService
  let records: any CustodyRecords
  /// Where new keys are made.
  let enclave: any Enclave
  let enclaveOfKind: @Sendable (EnclaveKind) -> (any Enclave)?
  /// One change at a time; other processes are kept out by the writer's lock.
  let changing = Mutex<Void>(())

  static let log = Logger(label: "app.rial.custody")

  /// - Parameters:
  ///   - file: the coffer's file, whose writer's lock every change takes.
  ///   - keychain: where envelopes and manifest are items.
  ///   - records: the journal.
  ///   - enclave: makes the keys of new envelopes. A private key that is in hardware stays in hardware, whatever this
  ///     one is.
  ///   - enclaveOfKind: opens the others; nil for a kind that is not here.
  public convenience init(
    file: DatabaseFile, keychain: KeychainService, records: any CustodyRecords, enclave: any Enclave,
    enclaveOfKind: @escaping @Sendable (EnclaveKind) -> (any Enclave)?
  ) {
    self.init(
      writing: file, keychain: keychain, records: records, enclave: enclave, enclaveOfKind: enclaveOfKind)
  }

  init(
    writing file: DatabaseFile?, keychain: KeychainService, records: any CustodyRecords,
    enclave: any Enclave, enclaveOfKind: @escaping @Sendable (EnclaveKind) -> (any Enclave)?
  ) {
    self.file = file
    self.keychain = keychain
    self.records = records
    self.enclave = enclave
    self.enclaveOfKind = enclaveOfKind
  }

  /// Makes an empty custody. Once, while a coffer is made.
  public static func prepare(_ keychain: KeychainService) throws(KeychainError) {
    var changes: [SecretChange] = [
      .save(FingerKey.generate(), account: FingerKey.account, accessibility: CustodyItems.accessibility),
      KeychainFingerCount.initial,
    ]
    changes.save(CustodyManifest())
    try keychain.apply(changes)
  }

  // MARK: Looking

  /// The mode of all keys.
  public func mode() throws -> AuthenticationMode { try CustodyItems(keychain).manifest.mode }

  /// The fingerprints of all keys, ascending.
  public func fingerprints() throws -> [Fingerprint] {
    try CustodyItems(keychain).manifest.digests.keys.sorted()
  }

  /// Answers enclaves for a recognised finger, until the context's deadline.
  ///
  /// - Throws: `AuthenticationError.expired`, `.factorNotAccepted`; `CustodyError.locked`, `.corrupt`.
  public func fingerVerifier(_ context: borrowing AuthenticatedContext) throws -> any BiometryVerifier {
    try context.require(.deviceOwnerWithBiometrics)
    return try CustodyItems(keychain).fingerKey().verifier(until: context.deadline)
  }

  // MARK: Using

  /// Opens a private key, lends it to `body`, and erases it, also when `body` throws (D43).
  ///
  /// - Throws: ``CustodyError``, and what `body` throws.
  public func withPrivateKey<R>(
    _ fingerprint: Fingerprint, _ authorization: CustodyAuthorization,
    _ body: (RawSpan, PrivateKeyPayload) throws -> R
  ) throws -> R {
    let items = try CustodyItems(keychain, only: fingerprint)
    let envelope = try items.envelope(fingerprint)
    let secret = try open(envelope, authorization)
    return try secret.withBytes { try body($0, envelope.payload) }
  }

  func open(
    _ envelope: PrivateKeyEnvelope, _ authorization: CustodyAuthorization
  ) throws(CustodyError) -> SecretBytes {
    try envelope.open(
      in: enclave(of: envelope), authorization: authorization.key(for: envelope.mode),
      guard: authorization.openGuard)
  }

  /// - Throws: `CustodyError.enclave` when this machine has no enclave of the kind.
  func enclave(of envelope: PrivateKeyEnvelope) throws(CustodyError) -> any Enclave {
    guard let enclave = enclaveOfKind(envelope.key.kind) else { throw .enclave(.unavailable) }
    return enclave
  }

  // MARK: Changing

  /// Seals a private key without metadata.
  ///
  /// - Throws: as ``wrap(listing:_:)``.
  package func wrap(
    _ secret: borrowing SecretBytes, _ payload: PrivateKeyPayload, _ fingerprint: Fingerprint,
    _ authorization: CustodyAuthorization
  ) throws {
    let secret = SharedSecretBytes(secret.duplicate())
    try change(.wrap, to: nil, authorization) { items, new in
      guard items.manifest.digests[fingerprint] == nil else { throw CustodyError.alreadyExists }
      try secret.withBytes { try new.seal($0, payload, fingerprint) }
    }
  }

  /// Seals new private keys with their metadata, all or none: keys and metadata are written both or neither, also
  /// when the process ends meanwhile. Erase your own copies only after this returns (SE-07). A key that is here and
  /// cannot be opened any more is replaced.
  ///
  /// - Throws: `CustodyError.alreadyExists`, `.tooManyKeys`, `.invalidInput`, and as ``switchMode(to:_:guard:leaving:acknowledgesMissingBackup:)``.
  public func wrap(listing keys: [ListedPrivateKey], _ authorization: CustodyAuthorization) throws {
    try change(.wrap, to: nil, authorization) { [self] items, new in
      var finder = PlaceFinder(items, enclaveOfKind)
      for key in keys {
        let fingerprint = key.identity.fingerprint
        guard items.manifest.digests[fingerprint] == nil || finder.place(fingerprint).isLost else {
          throw CustodyError.alreadyExists
        }
        try new.seal(key)
      }
    }
  }

  /// Seals imported private keys, all or none; existing keys are replaced.
  ///
  /// - Throws: as ``wrap(listing:_:)``, but for `.alreadyExists`.
  public func importKeys(
    _ keys: [(secret: SharedSecretBytes, payload: PrivateKeyPayload, fingerprint: Fingerprint)],
    _ authorization: CustodyAuthorization
  ) throws {
    try change(.import, to: nil, authorization) { _, new in
      for key in keys { try key.secret.withBytes { try new.seal($0, key.payload, key.fingerprint) } }
    }
  }

  /// Replaces a private key by another of the same fingerprint, for example with a new expiry (AM-19).
  ///
  /// - Parameters:
  ///   - fingerprint: of the key to replace.
  ///   - authorization: opens the present key; a key of mode *standard* needs the passcode.
  ///   - replacement: makes the new key from the present one, which is lent and erased.
  package func replace(
    _ fingerprint: Fingerprint, _ authorization: CustodyAuthorization,
    by replacement: (RawSpan) throws -> SecretBytes
  ) throws {
    try change(.modifyExpiry, to: nil, authorization) { [self] items, new in
      let envelope = try items.envelope(fingerprint)
      let present = try open(envelope, authorization)
      let next = try present.withBytes { try replacement($0) }
      try next.withBytes { try new.seal($0, envelope.payload, fingerprint) }
    }
  }

  /// The same, with the metadata that the key has then: both change, or neither, also when the process ends
  /// meanwhile.
  ///
  /// - Parameter replacement: makes the new key and its metadata; of the fingerprint and payload of the present one.
  /// - Throws: `CustodyError.invalidInput` for another fingerprint; what `replacement` throws.
  public func replaceListed(
    _ fingerprint: Fingerprint, _ authorization: CustodyAuthorization,
    by replacement: (RawSpan) throws -> ListedPrivateKey
  ) throws {
    try change(.modifyExpiry, to: nil, authorization) { [self] items, new in
      let present = try open(try items.envelope(fingerprint), authorization)
      let next = try present.withBytes { try replacement($0) }
      guard next.identity.fingerprint == fingerprint else { throw CustodyError.invalidInput }
      try new.seal(next)
    }
  }

  /// Seals every key under another mode, all or none.
  ///
  /// - Parameters:
  ///   - mode: the next mode; the present one seals all keys again.
  ///   - newGuard: the guard of the next mode, if that has a guard record.
  ///   - authorization: must satisfy the present mode and the next, apart from `newGuard`.
  ///   - left: the keys that are not sealed again, and so stay under a mode that does not hold any more: only their
  ///     backups bring them back.
  ///   - acknowledgesMissingBackup: whether the user knows that keys without a backup are lost with the
  ///     fingers or the guard (AM-05).
  /// - Throws: `CustodyError.acknowledgementRequired`, `.secondKeyRequired`, `.backupRequired`, `.fingerRequired`,
  ///   `.passcodeRequired`, before anything is written; ``CustodyError``, after which nothing has changed.
  public func switchMode(
    to mode: AuthenticationMode, _ authorization: CustodyAuthorization, guard newGuard: NewGuard? = nil,
    leaving left: LeftKeys = .none, acknowledgesMissingBackup: Bool = false
  ) throws {
    guard (newGuard != nil) == (mode == .highSecurityWithGuard) else { throw CustodyError.guardRequired }
    try change(.rewrap, to: mode, authorization, guard: newGuard) { [self] items, new in
      let staying = try left.keys(of: items, enclaveOfKind) { [records] in try records.keysWithBackup() }
      let fingerprints = items.manifest.digests.keys.filter { !staying.contains($0) }.sorted()
      let hangsOnOneKey = newGuard?.hangsOnOneKey ?? false
      if mode.isHighSecurity, hangsOnOneKey || !acknowledgesMissingBackup {
        let withBackup = try records.keysWithBackup()
        let count = fingerprints.count { !withBackup.contains($0) }
        guard count == 0 else {
          throw hangsOnOneKey
            ? CustodyError.secondKeyRequired(keysWithoutBackup: count)
            : .acknowledgementRequired(keysWithoutBackup: count)
        }
      }
      for fingerprint in fingerprints {
        let envelope = try items.envelope(fingerprint)
        let secret = try open(envelope, authorization)
        try secret.withBytes { try new.seal($0, envelope.payload, fingerprint) }
      }
    }
  }

  /// Deletes a private key permanently, even if its envelope is missing or damaged (SE-12), and then its metadata.
  ///
  /// The items are deleted first: a chip that no longer answers must not prevent the deletion of a key.
  public func delete(_ fingerprint: Fingerprint) throws {
    try changing.withLock { _ in
      try file?.claimWriting()
      try endPendingChange()
      let items = try CustodyItems(keychain)
      guard items.manifest.digests[fingerprint] != nil else { throw CustodyError.missing }
      let envelope = items.stored(fingerprint, .permanent)
      var manifest = items.manifest
      manifest.generation += 1
      manifest.digests[fingerprint] = nil
      let journal = RecoveryJournal(
        kind: .delete, phase: .staging, targetMode: manifest.mode, targetGeneration: manifest.generation,
        fingerprints: [fingerprint])
      var changes = CustodyItems.Place.allCases.map { SecretChange.delete(account: $0.account(fingerprint)) }
      changes.save(manifest)
      try records.changeControl { $0.recoveryJournal = journal }
      do throws(KeychainError) { try keychain.apply(changes) } catch {
        guard undo(journal) else { throw CustodyError(error) }
      }
      if let envelope { forget([envelope]) }
      finish(journal, manifest)
    }
  }

  /// Removes the keys of a former guard record from their chip.
  func forget(_ record: GuardRecord?) {
    for way in record?.pinWays ?? [] {
      do { try enclaveOfKind(way.key.kind)?.deleteKey(way.key) } catch {
        Self.log.warning("a key that is not used any more stays in its enclave")
      }
    }
  }

  /// Removes former keys from their enclaves, and their envelopes from the log. The change is complete by
  /// then, so failures do not matter.
  func forget(_ envelopes: [PrivateKeyEnvelope]) {
    for envelope in envelopes {
      do { try enclave(of: envelope).deleteKey(envelope.key) } catch {
        Self.log.warning("a key that is not used any more stays in its enclave")
      }
    }
    _ = try? file?.truncateLog()
  }
}
