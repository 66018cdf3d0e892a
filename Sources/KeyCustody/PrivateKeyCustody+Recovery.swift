// SPDX-License-Identifier: Apache-2.0
//
// What an interrupted change leaves, and how it ends (Specs/envelopes.md, «After a crash»; AM-11 to AM-17).
// It runs after an unlock, before anything else, and asks nobody for anything.

internal import Logging
internal import Storage
internal import Synchronization

/// How an interrupted change ended.
public enum CustodyRecovery: Equatable, Sendable {
  /// There was none.
  case nothingPending
  /// The change had been made; what it left was removed.
  case completed
  /// The change had not been made; the keys are as before it.
  case rolledBack
  /// Former envelopes were incomplete and the new ones complete: these count now (AM-13).
  case promoted
  /// Neither the former envelopes nor the new ones are complete: restore from a backup (AM-14). What is left
  /// of both stays.
  case unrecoverable
}

extension PrivateKeyCustody {
  /// Ends an interrupted change, if there is one.
  ///
  /// - Throws: what keeps it from being judged or ended now, such as `CustodyError.locked`; then the journal
  ///   stays, and the next call tries again (AM-15).
  @discardableResult
  public func recover() throws -> CustodyRecovery {
    try changing.withLock { _ in
      // The writer's lock is not taken where there is nothing to do, as after most unlocks.
      guard try records.pendingChange() != nil else { return .nothingPending }
      try file.claimWriting()
      guard let change = try records.pendingChange() else { return .nothingPending }
      return try end(change)
    }
  }

  /// For a change that comes next.
  /// - Throws: `CustodyError.recoveryPending` when the interrupted one cannot be ended.
  func endPendingChange() throws {
    guard let change = try records.pendingChange() else { return }
    do { _ = try end(change) } catch { throw CustodyError.recoveryPending }
  }

  private func end(_ change: PendingChange) throws -> CustodyRecovery {
    let items = try CustodyItems(keychain)
    let present = items.manifest.mode
    if items.manifest.generation >= change.generation {
      try discard(items.pendingAccounts)
      try records.end(present)
      return .completed
    }
    if items.isWhole {
      try discard(items.pendingAccounts)
      try records.end(present)
      return .rolledBack
    }
    if let envelopes = items.pendingEnvelopes(change), items.isWhole(but: change.fingerprints),
      change.mode == present || items.manifest.digests.keys.allSatisfy(change.fingerprints.contains)
    {
      var next = try items.manifest.next(with: envelopes, change.mode)
      next.generation = change.generation
      try flip(envelopes, to: next)
      try records.end(change.mode)
      return .promoted
    }
    Self.log.error("private keys are incomplete after an interrupted change")
    try records.end(present)
    return .unrecoverable
  }
}
