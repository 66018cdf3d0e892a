// SPDX-License-Identifier: Apache-2.0
//
// How several envelopes change as one (Specs/envelopes.md, "A change"): authenticate, journal, stage, verify,
// flip. Before the flip nothing has changed; after it everything has.

internal import Enclaves
internal import Keychains
internal import Logging
internal import OpenPGP
internal import Primitives
internal import ProtectedData
internal import Secrets
internal import Storage
internal import Synchronization

extension PrivateKeyCustody {
  /// Makes one change.
  ///
  /// - Parameters:
  ///   - kind: for the journal.
  ///   - mode: the next mode; nil to stay.
  ///   - authorization: must satisfy the present mode, if `make` opens anything, and the next.
  ///   - newGuard: takes the place of the present guard; nil to keep it, or to have none.
  ///   - make: opens present keys and seals new ones, with the metadata that these have then. Nothing is written
  ///     while it runs. The metadata is staged before the change is made, and takes its place afterwards.
  func change(
    _ kind: RecoveryJournal.Kind, to mode: AuthenticationMode?, _ authorization: CustodyAuthorization,
    guard newGuard: NewGuard? = nil,
    make: (CustodyItems, inout NewEnvelopes) throws -> Void
  ) throws {
    try changing.withLock { _ in
      try file?.claimWriting()
      try endPendingChange()
      let items = try CustodyItems(keychain)
      let mode = mode ?? items.manifest.mode
      let openGuard = try items.openGuard(for: mode, authorization, newGuard)
      let later = openGuard.map { authorization.with(guard: $0) } ?? authorization
      _ = try later.key(for: mode)
      var new = NewEnvelopes(
        mode, in: enclave,
        try authorization.enrolment(for: mode, fingerKey: items.fingerKey().publicKey), openGuard,
        formerKind: { items.stored($0, .permanent)?.key.kind }, enclaveOfKind: enclaveOfKind)
      try make(items, &new)
      let next = try items.manifest.next(with: new.envelopes, mode, guardDigest: openGuard?.digest)
      let journal = RecoveryJournal(
        kind: kind, phase: .staging, targetMode: mode, targetGeneration: next.generation,
        fingerprints: new.envelopes.map(\.fingerprint))
      do {
        try records.changeControl { $0.recoveryJournal = journal }
        try stage(new.envelopes, newGuard)
        try verify(new, newGuard, later)
        // Another mode leaves the metadata alone, whatever state that is in.
        if kind != .rewrap, try records.metadata().staged != new.identities {
          try records.changeMetadata { $0.staged = new.identities }
        }
        try flip(
          new.envelopes, to: next, newGuard?.record, discarding: items.restsBeside(journal.fingerprints))
      } catch {
        guard undo(journal) else { throw error }
      }
      if items.manifest.guardDigest != next.guardDigest { forget(try? items.guardRecord()) }
      forget(new.envelopes.compactMap { items.stored($0.fingerprint, .permanent) })
      finish(journal, next)
    }
  }

  private func stage(_ envelopes: [PrivateKeyEnvelope], _ newGuard: NewGuard?) throws(CustodyError) {
    var changes: [SecretChange] = []
    if let newGuard { changes.save(newGuard.record, GuardRecord.pendingAccount) }
    for envelope in envelopes { changes.save(envelope, .pending) }
    guard !changes.isEmpty else { return }
    do { try keychain.apply(changes) } catch { throw CustodyError(error) }
  }

  /// Reads the staged guard and envelopes back, and opens them as a later use will.
  private func verify(
    _ new: borrowing NewEnvelopes, _ newGuard: NewGuard?, _ authorization: CustodyAuthorization
  ) throws {
    let items = try CustodyItems(keychain)
    if let newGuard {
      guard let staged = items.pendingGuard, staged == newGuard.record else { throw CustodyError.corrupt }
      for opened in try newGuard.open(staged, enclaveOfKind) {
        let isSame = opened.key.withBytes { found in
          newGuard.open.key.withBytes { constantTimeEqual(found, $0) }
        }
        guard isSame else { throw CustodyError.corrupt }
      }
    }
    for envelope in new.envelopes {
      guard items.stored(envelope.fingerprint, .pending) == envelope else { throw CustodyError.corrupt }
      let secret = try open(envelope, authorization)
      guard new.isWhatWasSealed(secret, envelope.fingerprint) else { throw CustodyError.corrupt }
    }
  }

  /// Makes the new envelopes valid and removes the former ones, in one batch.
  func flip(
    _ envelopes: [PrivateKeyEnvelope], to manifest: CustodyManifest, _ newGuard: GuardRecord?,
    discarding rests: [String] = []
  ) throws(CustodyError) {
    var changes: [SecretChange] = rests.map { .delete(account: $0) }
    if let newGuard {
      changes.save(newGuard, GuardRecord.account)
      changes.append(.delete(account: GuardRecord.pendingAccount))
    } else if manifest.guardDigest == nil {
      changes.append(.delete(account: GuardRecord.account))
    }
    for envelope in envelopes {
      changes.save(envelope, .permanent)
      changes.append(.delete(account: CustodyItems.Place.pending.account(envelope.fingerprint)))
    }
    changes.save(manifest)
    do { try keychain.apply(changes) } catch { throw CustodyError(error) }
  }

  /// After a failure: removes the staged envelopes and the journal. ``recover()`` removes what cannot be
  /// removed now.
  ///
  /// - Returns: whether the change was still made: a store may fail after it has written. The change may not
  ///   be on the disk yet then; it is once the journal, which is written later, could be cleared.
  func undo(_ journal: RecoveryJournal) -> Bool {
    do {
      let items = try CustodyItems(keychain)
      guard items.manifest.generation < journal.targetGeneration else {
        try records.settle(journal, items.manifest)
        try records.end(items.manifest.mode)
        return true
      }
      try discard(items.rests(of: journal))
      try records.settle(journal, items.manifest)
      try records.end(items.manifest.mode)
    } catch {
      Self.log.warning("a change that failed is cleaned up after the next unlock")
    }
    return false
  }

  func discard(_ accounts: [String]) throws(CustodyError) {
    guard !accounts.isEmpty else { return }
    do { try keychain.apply(accounts.map { .delete(account: $0) }) } catch { throw CustodyError(error) }
  }

  /// Settles the metadata after a change that was made, and clears the journal: a failure here does not undo the
  /// change.
  func finish(_ journal: RecoveryJournal, _ manifest: CustodyManifest) {
    do {
      try records.settle(journal, manifest)
      try records.end(manifest.mode)
    } catch {
      Self.log.warning("a change that was made is cleaned up after the next unlock")
    }
  }
}

extension CustodyItems {
  /// Pending items that can be deleted once a change is finished or rolled back: its own, and all others if
  /// every key has its envelope. If one is missing, a pending item may be the only copy, and a deletion stages
  /// nothing.
  func rests(of journal: RecoveryJournal) -> [String] {
    if isWhole { return pendingAccounts }
    guard journal.kind != .delete else { return [] }
    return (journal.fingerprints.map(Place.pending.account) + [GuardRecord.pendingAccount])
      .filter(pendingAccounts.contains)
  }

  /// Pending items that belong to no change, if every other key has its envelope.
  fileprivate func restsBeside(_ keys: [Fingerprint]) -> [String] {
    isWhole(but: keys) ? pendingAccounts : []
  }
}

extension CustodyManifest {
  /// The manifest after a change.
  /// - Throws: `CustodyError.tooManyKeys`.
  func next(
    with envelopes: [PrivateKeyEnvelope], _ mode: AuthenticationMode, guardDigest: [UInt8]?
  ) throws(CustodyError) -> CustodyManifest {
    var next = self
    next.generation += 1
    next.mode = mode
    next.guardDigest = guardDigest
    for envelope in envelopes {
      next.digests[envelope.fingerprint] = envelope.digest()
    }
    guard next.digests.count <= Self.keyLimit else { throw .tooManyKeys(limit: Self.keyLimit) }
    return next
  }
}
