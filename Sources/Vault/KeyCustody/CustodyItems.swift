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

  let manifest: CustodyManifest
  private let items: [String: SharedSecretBytes]

  /// - Parameter only: the one key that is asked for; nil for all.
  /// - Throws: `CustodyError.locked`, `.corrupt`, `.keychain`.
  init(_ keychain: KeychainService, only: Fingerprint? = nil) throws(CustodyError) {
    let prefixes = Place.allCases.map { place in only.map { place.account($0) } ?? place.rawValue }
    do {
      items = try keychain.secrets(in: Self.accessibility) { account in
        account == CustodyManifest.account || account == FingerKey.account
          || prefixes.contains { account.hasPrefix($0) }
      }
    } catch { throw CustodyError(error) }
    guard let stored = items[CustodyManifest.account] else { throw .corrupt }
    manifest = try stored.withBytes { bytes throws(CustodyError) in try CustodyManifest(bytes) }
  }

  func fingerKey() throws(CustodyError) -> FingerKey { try FingerKey(items[FingerKey.account]) }

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
  var pendingAccounts: [String] { items.keys.filter { $0.hasPrefix(Place.pending.rawValue) }.sorted() }

  /// Whether every envelope that the manifest names is there.
  var isWhole: Bool { isWhole(but: []) }

  /// Whether every envelope that the manifest names is there, those of some keys left out.
  func isWhole(but left: [Fingerprint]) -> Bool {
    manifest.digests.keys.allSatisfy { left.contains($0) || (try? envelope($0)) != nil }
  }

  /// The pending envelopes of a change; nil when one is missing, or is not of the change's mode.
  func pendingEnvelopes(_ journal: RecoveryJournal) -> [PrivateKeyEnvelope]? {
    let found = journal.fingerprints.compactMap { stored($0, .pending) }
    guard found.count == journal.fingerprints.count, found.allSatisfy({ $0.mode == journal.targetMode })
    else { return nil }
    return found
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

  mutating func save(_ manifest: CustodyManifest) {
    let bytes = manifest.bytes
    append(
      .save(
        SharedSecretBytes(SecretBytes(copying: bytes.rawSpan)), account: CustodyManifest.account,
        accessibility: CustodyItems.accessibility))
  }
}
