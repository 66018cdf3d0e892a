// SPDX-License-Identifier: Apache-2.0
//
// Which row of the vault holds which version of the account's history. A message that was put back from the trash has
// another version in the same row: the highest is the row's own, the others lead to it.

internal import Captures
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

  var name: RecordVersion { RecordVersion(record: message, version: version) }
}

/// The rows of a vault with their versions.
final class VaultContents {
  private let vault: Vault?
  private(set) var rows: [MessageID: KnownRow] = [:]
  /// Of versions that are not the own one of the row of their message's name. Most are: a message that was never edited has
  /// one row, of its name.
  private var otherRows: [RecordVersion: MessageID] = [:]
  private var earlier: [MessageID: Set<Version>] = [:]
  /// Rows whose entry differs from what is on the disk.
  private(set) var changed: Set<MessageID> = []
  /// Those of which nothing is on the disk.
  private(set) var new: Set<MessageID> = []
  /// Contents that wait to be sealed, so that they need not be opened twice.
  private var frames: [ContentName: SharedSecretBytes] = [:]
  private(set) var framesByteCount = 0
  /// Parts of contents that came, until all of them are here.
  private var parts: [RecordVersion: [UInt16: SharedSecretBytes]] = [:]
  /// An error of the file in a step, which must not be stored then.
  private var failure: (any Error)?
  private static let unfinishedLimit = 4
  /// Contents that were compared and not stored.
  private var compared: Set<ContentName> = []
  /// Versions of captures and of their labels.
  let captures: CaptureContents

  /// Without a vault and captures, contents are only compared and not stored.
  init(_ vault: Vault?, _ captures: CaptureStore?) {
    self.vault = vault
    self.captures = CaptureContents(captures)
  }

  func row(of version: RecordVersion) -> MessageID? {
    if let known = rows[version.record], known.name == version { return version.record }
    return otherRows[version]
  }

  /// Whether a content is here.
  func has(_ content: ContentName) -> Bool {
    row(of: content.version) != nil || parts[content.version]?[content.part] != nil
      || compared.contains(content) || captures.has(content)
  }

  /// A content; nil if it is not here or does not open.
  func frame(of content: ContentName) -> SharedSecretBytes? {
    if let frame = frames[content] ?? parts[content.version]?[content.part] { return frame }
    guard let vault, let row = row(of: content.version) else { return captures.frame(of: content) }
    guard rows[row]?.standing != nil else { return nil }
    var frame: SharedSecretBytes?
    // A row that does not open counts as not here; an error of the file does not.
    do {
      _ = try vault.withFrames([row]) { id, bytes in
        let part = Int(content.part)
        if part < SentFrame.partCount(of: bytes) { frame = SentFrame.part(part, row: id, frame: bytes) }
        return false
      }
    } catch { failure = failure ?? error }
    return frame
  }

  /// Keeps the first part of a content until it was sealed.
  /// - Parameter byteCount: of all parts.
  func keep(_ frame: SharedSecretBytes, of version: RecordVersion, byteCount: Int) {
    frames[ContentName(version)] = frame
    framesByteCount += byteCount
  }

  // MARK: What comes

  /// - Throws: what reading a content has thrown since the last call.
  func checkReading() throws {
    defer { failure = nil }
    if let failure { throw failure }
    try captures.checkReading()
  }

  /// A part of a content came.
  /// - Returns: all parts, if this was the last of them.
  func take(_ frame: SharedSecretBytes, of content: ContentName, partCount: Int) -> [SharedSecretBytes]? {
    if partCount == 1 { return [frame] }
    // Of contents whose other parts do not come, few are kept: another run gets them again.
    if parts.count >= Self.unfinishedLimit, parts[content.version] == nil, let oldest = parts.keys.min() {
      parts[oldest] = nil
    }
    parts[content.version, default: [:]][content.part] = frame
    guard let all = parts[content.version], all.count == partCount else { return nil }
    parts[content.version] = nil
    return all.sorted { $0.key < $1.key }.map(\.value)
  }

  /// The row of a version holds another version, too.
  func carry(_ former: RecordVersion, to version: RecordVersion) {
    forgetParts(of: version)
    guard let row = row(of: former), let known = rows[row] else {
      return captures.carry(former, to: version)
    }
    set(row, KnownRow(message: known.message, version: version.version, standing: known.standing))
  }

  /// Lets go what came of a content.
  func forgetParts(of version: RecordVersion) { parts[version] = nil }

  /// A content came that is not stored.
  func noteCompared(_ content: ContentName) { compared.insert(content) }

  func forgetFrames() {
    frames = [:]
    framesByteCount = 0
  }

  // MARK: Entries

  /// Enters what is on the disk.
  func restore(_ row: MessageID, _ known: KnownRow) {
    guard let other = rows[row], other.version != known.version else {
      if row != known.message { otherRows[known.name] = row }
      return rows[row] = known
    }
    let isHigher = other.version < known.version
    if isHigher { rows[row] = known }
    for name in [other.name, known.name] { otherRows[name] = row }
    earlier[row, default: []].insert(isHigher ? other.version : known.version)
  }

  func set(_ row: MessageID, _ known: KnownRow) {
    if rows[row] == nil, !changed.contains(row) { new.insert(row) }
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
      otherRows[entry.name] = nil
    }
    rows[row] = nil
    earlier[row] = nil
    changed.insert(row)
  }

  /// The entries are on the disk.
  func noteStored() {
    (changed, new) = ([], [])
    captures.noteStored()
  }

  /// Whether anything differs from what is on the disk.
  var hasChanges: Bool { !changed.isEmpty || !captures.changed.isEmpty }
}
