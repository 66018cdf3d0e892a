// SPDX-License-Identifier: Apache-2.0
//
// The items of custody at one moment (Specs/envelopes.md, "Items").

internal import Keychains
internal import OpenPGP
internal import Primitives
internal import ProtectedData
internal import Secrets

struct CustodyItems {
  static let accessibility = AccessibilityClass.whenUnlockedThisDeviceOnly

  /// Where an envelope is (SE-11).
  enum Place: String, CaseIterable {
    case permanent = "com.cypherair.v1.se-key."
    /// The place of a new envelope until its change is complete.
    case pending = "com.cypherair.v1.pending-se-key."

    func account(_ fingerprint: Fingerprint) -> String { rawValue + fingerprint.storedText }
  }

  private static let single = [
    CustodyManifest.account, FingerKey.account, GuardRecord.account, GuardRecord.pendingAccount,
  ]

  let manifest: CustodyManifest
  private let items: [String: SharedSecretBytes]

  /// - Parameter only: the one key that is asked for; nil for all.
  /// - Throws: `CustodyError.locked`, `.corrupt`, `.keychain`.
  init(_ keychain: KeychainService, only: Fingerprint? = nil) throws(CustodyError) {
    let prefixes = Place.allCases.map { place in only.map { place.account($0) } ?? place.rawValue }
    do {
      items = try keychain.secrets(in: Self.accessibility) { account in
        Self.single.contains(account) || prefixes.contains { account.hasPrefix($0) }
      }
    } catch { throw CustodyError(error) }
    guard let stored = items[CustodyManifest.account] else { throw .corrupt }
    manifest = try stored.withBytes { bytes throws(CustodyError) in try CustodyManifest(bytes) }
  }

  func fingerKey() throws(CustodyError) -> FingerKey { try FingerKey(items[FingerKey.account]) }

  /// The guard record of the present mode.
  /// - Throws: `CustodyError.corrupt` when it is not the one that the manifest names, or the mode has none.
  func guardRecord() throws(CustodyError) -> GuardRecord {
    guard let record = record(GuardRecord.account), record.digest() == manifest.guardDigest else {
      throw .corrupt
    }
    return record
  }

  /// The guard record that takes its place when a change is complete.
  var pendingGuard: GuardRecord? { record(GuardRecord.pendingAccount) }

  private func record(_ account: String) -> GuardRecord? {
    items[account]?.withBytes { try? GuardRecord($0) }
  }

  /// The envelope of a key.
  /// - Throws: `CustodyError.missing` when the manifest names no such key; `.corrupt` when it does, and the
  ///   envelope does not match.
  func envelope(_ fingerprint: Fingerprint) throws(CustodyError) -> PrivateKeyEnvelope {
    guard manifest.digests[fingerprint] != nil else { throw .missing }
    guard let envelope = stored(fingerprint, .permanent), manifest.names(envelope) else { throw .corrupt }
    return envelope
  }

  /// The envelope at a place; nil when there is none of that key.
  func stored(_ fingerprint: Fingerprint, _ place: Place) -> PrivateKeyEnvelope? {
    guard let item = items[place.account(fingerprint)],
      let envelope = item.withBytes({ try? PrivateKeyEnvelope($0) }), envelope.fingerprint == fingerprint
    else { return nil }
    return envelope
  }

  /// The names of all pending items, whatever is in them.
  var pendingAccounts: [String] {
    items.keys.filter { $0.hasPrefix(Place.pending.rawValue) || $0 == GuardRecord.pendingAccount }.sorted()
  }

  /// Whether the guard record that the manifest names is there; true if it names none.
  var isGuardWhole: Bool { manifest.guardDigest == nil || (try? guardRecord()) != nil }

  /// Whether every envelope that the manifest names is there.
  var isWhole: Bool { isWhole(but: []) }

  /// Whether every envelope that the manifest names is there, those of some keys left out.
  func isWhole(but left: [Fingerprint]) -> Bool {
    isGuardWhole && manifest.digests.keys.allSatisfy { left.contains($0) || (try? envelope($0)) != nil }
  }

  /// Whether every key that a change concerns is as before it.
  func isWhole(before journal: RecoveryJournal) -> Bool {
    isGuardWhole
      && journal.fingerprints.allSatisfy { manifest.digests[$0] == nil || (try? envelope($0)) != nil }
  }

  /// Whether the staged envelopes of a change can take the place of the former ones: under another mode or guard, no key
  /// that opens stays behind.
  func mayPromote(_ journal: RecoveryJournal) -> Bool {
    if journal.targetMode == manifest.mode, targetGuardDigest(journal) == manifest.guardDigest {
      return isGuardWhole
    }
    return manifest.digests.keys.allSatisfy {
      journal.fingerprints.contains($0) || (try? envelope($0)) == nil
    }
  }

  /// The pending envelopes of a change; nil when one is missing, or is not of the change's mode and guard.
  func pendingEnvelopes(_ journal: RecoveryJournal) -> [PrivateKeyEnvelope]? {
    let found = journal.fingerprints.compactMap { stored($0, .pending) }
    let guardDigest = targetGuardDigest(journal)
    guard found.count == journal.fingerprints.count,
      found.allSatisfy({ $0.mode == journal.targetMode && $0.guardDigest == guardDigest }),
      (guardDigest != nil) == (journal.targetMode == .highSecurityWithGuard)
    else { return nil }
    return found
  }

  /// The guard record that holds after a change: the pending one, or else the present one if it is there.
  func targetGuardDigest(_ journal: RecoveryJournal) -> [UInt8]? {
    guard journal.targetMode == .highSecurityWithGuard else { return nil }
    return pendingGuard?.digest() ?? (isGuardWhole ? manifest.guardDigest : nil)
  }
}

extension [SecretChange] {
  /// Writes an envelope to its place.
  mutating func save(_ envelope: PrivateKeyEnvelope, _ place: CustodyItems.Place) {
    append(
      .save(
        SharedSecretBytes(envelope.bytes()),
        account: place.account(envelope.fingerprint), accessibility: CustodyItems.accessibility))
  }

  /// Writes a guard record under a name.
  mutating func save(_ record: GuardRecord, _ account: String) {
    append(
      .save(
        SharedSecretBytes(record.bytes()), account: account, accessibility: CustodyItems.accessibility))
  }

  mutating func save(_ manifest: CustodyManifest) {
    let bytes = manifest.bytes
    append(
      .save(
        SharedSecretBytes(SecretBytes(copying: bytes.rawSpan)), account: CustodyManifest.account,
        accessibility: CustodyItems.accessibility))
  }
}
