// SPDX-License-Identifier: Apache-2.0
//
// Ends an interrupted change (Specs/envelopes.md, "After a crash"; AM-11 to AM-17). It runs after an unlock,
// before anything else, and asks nobody for anything.

internal import Logging
internal import ProtectedData
internal import Storage
internal import Synchronization

/// How an interrupted change ended.
public enum CustodyRecovery: Equatable, Sendable {
  /// There was none.
  case nothingPending
  /// The change had been made; its leftovers were removed.
  case completed
  /// The change had not been made; the keys are as before it.
  case rolledBack
  /// Former envelopes were incomplete and the new ones complete: these are valid now (AM-13).
  case promoted
  /// Neither the former envelopes nor the new ones are complete: restore from a backup (AM-14). Nothing is
  /// deleted.
  case unrecoverable
}

extension PrivateKeyCustody {
  /// Ends an interrupted change, if there is one.
  ///
  /// - Throws: the error that prevents recovery now, such as `CustodyError.locked`; then the journal stays,
  ///   and the next call tries again (AM-15).
  @discardableResult
  public func recover() throws -> CustodyRecovery {
    try changing.withLock { _ in
      // Without a journal, as after most unlocks, the writer's lock is not taken.
      let control = try records.control()
      let items = try CustodyItems(keychain)
      guard control.recoveryJournal != nil || control.authMode != items.manifest.mode else {
        return .nothingPending
      }
      try file?.claimWriting()
      guard let journal = try records.journal() else {
        // The domain was reset, and begins with the mode of a new coffer.
        try records.end(CustodyItems(keychain).manifest.mode)
        return .nothingPending
      }
      return try end(journal)
    }
  }

  /// Called before another change.
  /// - Throws: `CustodyError.recoveryPending` when the interrupted one cannot be ended.
  func endPendingChange() throws {
    guard let journal = try records.journal() else { return }
    do { _ = try end(journal) } catch {
      // The log has the cause.
      Self.log.warning("a change that was interrupted cannot be ended now", metadata: ["error": "\(error)"])
      throw CustodyError.recoveryPending
    }
  }

  private func end(_ journal: RecoveryJournal) throws -> CustodyRecovery {
    let items = try CustodyItems(keychain)
    let present = items.manifest.mode
    if items.manifest.generation >= journal.targetGeneration {
      try discard(items.rests(of: journal))
      try records.settle(journal, items.manifest)
      try records.end(present)
      return .completed
    }
    // A deletion changes nothing before its one batch, also where keys are incomplete.
    if items.isWhole(before: journal) || journal.kind == .delete {
      try discard(items.rests(of: journal))
      try records.settle(journal, items.manifest)
      try records.end(present)
      return .rolledBack
    }
    if let envelopes = items.pendingEnvelopes(journal), items.mayPromote(journal) {
      var next = try items.manifest.next(
        with: envelopes, journal.targetMode, guardDigest: items.targetGuardDigest(journal))
      next.generation = journal.targetGeneration
      try flip(envelopes, to: next, items.pendingGuard)
      try records.settle(journal, next)
      try records.end(journal.targetMode)
      return .promoted
    }
    Self.log.error("private keys are incomplete after an interrupted change")
    try records.settle(journal, items.manifest)
    try records.end(present)
    return .unrecoverable
  }
}
