// SPDX-License-Identifier: Apache-2.0
//
// Which row of the vault holds which version of the account's history. A message that was put back from the trash has
// another version in the same row: the highest is the row's own, the others lead to it.

internal import Histories
internal import Primitives
internal import Secrets
internal import Vaults

/// What synchronisation knows of a row.
struct KnownRow: Equatable, Sendable {
  let message: MessageID
  let version: Version
  /// What the row is to its message; nil for a version whose content no vault can store, and that has no row.
  var standing: RowStanding?
}

/// The rows of a vault with their versions.
final class VaultContents {
  private let vault: Vault?
  private(set) var rows: [MessageID: KnownRow] = [:]
  private var byVersion: [RecordVersion: MessageID] = [:]
  private var earlier: [MessageID: Set<Version>] = [:]
  /// Rows whose entry differs from what is on the disk.
  private(set) var changed: Set<MessageID> = []
  /// Contents that wait to be sealed, so that they need not be opened twice.
  private var frames: [RecordVersion: SharedSecretBytes] = [:]
  private(set) var framesByteCount = 0

  /// - Parameter vault: nil where contents are only compared and not stored.
  init(_ vault: Vault?) { self.vault = vault }

  func row(of version: RecordVersion) -> MessageID? { byVersion[version] }

  /// The content of a version; nil if it is not here or does not open.
  func frame(of version: RecordVersion) -> SharedSecretBytes? {
    if let frame = frames[version] { return frame }
    guard let vault, let row = byVersion[version], rows[row]?.standing != nil else { return nil }
    var frame: SharedSecretBytes?
    // An error of the file ends the run at its next transaction; a row that does not open counts as not here.
    _ = try? vault.withFrames([row]) { id, bytes in
      frame = SentFrame.bytes(row: id, frame: bytes)
      return false
    }
    return frame
  }

  /// Keeps a content until it was sealed.
  func keep(_ frame: SharedSecretBytes, of version: RecordVersion) {
    frames[version] = frame
    framesByteCount += frame.count
  }

  func forgetFrames() {
    frames = [:]
    framesByteCount = 0
  }

  // MARK: Entries

  /// Enters what is on the disk.
  func restore(_ row: MessageID, _ known: KnownRow) {
    byVersion[RecordVersion(record: known.message, version: known.version)] = row
    guard let other = rows[row] else { return rows[row] = known }
    let isHigher = other.version < known.version
    if isHigher { rows[row] = known }
    guard other.version != known.version else { return rows[row] = known }
    earlier[row, default: []].insert(isHigher ? other.version : known.version)
  }

  func set(_ row: MessageID, _ known: KnownRow) {
    restore(row, known)
    changed.insert(row)
  }

  /// The entries of a row: its own and those of earlier versions.
  func entries(of row: MessageID) -> [KnownRow] {
    guard let known = rows[row] else { return [] }
    return [known]
      + (earlier[row] ?? []).map { KnownRow(message: known.message, version: $0, standing: known.standing) }
  }

  func setStanding(_ row: MessageID, _ standing: RowStanding) {
    guard let known = rows[row], known.standing != standing else { return }
    rows[row]?.standing = standing
    changed.insert(row)
  }

  func remove(_ row: MessageID) {
    for entry in entries(of: row) {
      byVersion[RecordVersion(record: entry.message, version: entry.version)] = nil
    }
    rows[row] = nil
    earlier[row] = nil
    changed.insert(row)
  }

  /// The entries are on the disk.
  func noteStored() { changed = [] }
}
