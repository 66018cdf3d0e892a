// SPDX-License-Identifier: Apache-2.0
//
// The keys that a change of mode leaves behind (Specs/envelopes.md, "Keys that cannot be opened").

internal import Enclaves
internal import OpenPGP
internal import ProtectedData

/// The keys that a change of mode does not seal again.
public enum LeftKeys: Sendable {
  /// None: one key that cannot be opened stops the change.
  case none
  /// Those that cannot be opened any more.
  case lost
  /// All, because the guard is lost. Each that is not lost otherwise must have a backup.
  case underLostGuard

  /// - Throws: `CustodyError.backupRequired`; `.guardNotNeeded` when the present mode has no guard.
  func keys(
    of items: CustodyItems, _ enclaveOfKind: @escaping (EnclaveKind) -> (any Enclave)?,
    withBackup: () throws -> Set<Fingerprint>
  ) throws -> Set<Fingerprint> {
    if self == .none { return [] }
    var finder = PlaceFinder(items, enclaveOfKind)
    let lost = finder.lost()
    guard self == .underLostGuard else { return lost }
    guard items.manifest.mode.isHighSecurity else { throw CustodyError.guardNotNeeded }
    let all = Set(items.manifest.digests.keys)
    let bare = all.subtracting(lost).subtracting(try withBackup())
    guard bare.isEmpty else { throw CustodyError.backupRequired(keysWithoutBackup: bare.count) }
    return all
  }
}
