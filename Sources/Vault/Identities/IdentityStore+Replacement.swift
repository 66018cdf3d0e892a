// SPDX-License-Identifier: Apache-2.0
//
// One identity replaces another. That counts when both keys say it, and each key is written by itself: the new one
// first, since what it says alone changes nothing.

public import KeyCustody
internal import OpenPGP

extension IdentityStore {
  /// Whether one identity can be replaced by another one, as far as that can be told without their private parts.
  /// - Throws: ``IdentityError/cannotReplace`` when both are the same, or the new one is replaced by a third one; as
  ///   ``check(_:of:)`` for both of them.
  public func check(replacing old: Identity, by new: Identity) throws(IdentityError) {
    guard old.fingerprint != new.fingerprint else { throw .cannotReplace }
    if case .successor(let target) = new.statement.replacement, !target.names(old.certificate.primaryKey) {
      throw .cannotReplace
    }
    guard new.state == .good else { throw .unusable }
    try check(.replacement(old.statement(replacedBy: new)), of: old)
    try check(.replacement(new.statement(replacing: old)), of: new)
  }

  /// Makes both say that one replaces the other. After an interruption the same call goes on: what one says already
  /// is not written again.
  /// - Parameter now: seconds since 1970, UTC.
  /// - Returns: both as they are then.
  /// - Throws: as ``check(replacing:by:)``; `CustodyError`; `ProtectedDataError`.
  public func replace(
    _ old: Identity, by new: Identity, _ authorization: CustodyAuthorization, at now: Int64
  ) throws -> (old: Identity, new: Identity) {
    try check(replacing: old, by: new)
    func state(_ replacement: KeyReplacement, _ identity: Identity) throws -> Identity {
      identity.statement.replacement == replacement
        ? identity : try make(.replacement(replacement), of: identity, authorization, at: now)
    }
    let stating = try state(new.statement(replacing: old), new)
    return (try state(old.statement(replacedBy: stating), old), stating)
  }
}

extension Identity {
  fileprivate func statement(replacedBy new: Identity) -> KeyReplacement {
    .successor(KeyReplacement.Target(new.certificate.primaryKey))
  }

  /// With those that it replaces already.
  fileprivate func statement(replacing old: Identity) -> KeyReplacement {
    var targets: [KeyReplacement.Target] = []
    if case .predecessors(let former) = statement.replacement { targets = former }
    let target = KeyReplacement.Target(old.certificate.primaryKey)
    return .predecessors(targets.contains(target) ? targets : targets + [target])
  }
}
