// SPDX-License-Identifier: Apache-2.0
//
// What other devices changed, as changes of the vault's rows.

internal import Histories
internal import Primitives
internal import Secrets
internal import Vaults

/// Changes of rows that follow from a step.
struct Arrivals {
  private var insertions: [(row: VersionRow, frame: SharedSecretBytes)] = []
  private var standings: [RowChange] = []
  private(set) var newCount = 0
  private(set) var changedCount = 0
  private var inserted: Set<MessageID> = []

  /// The changes in the order in which they are made: new rows as they were stored, since lists show rows of one second in
  /// the order of their numbers.
  var changes: [RowChange] {
    insertions.sorted { one, other in
      one.row.stored == other.row.stored ? one.row.id < other.row.id : one.row.stored < other.row.stored
    }.map { .insert($0.row, frame: $0.frame) } + standings
  }

  /// A content came.
  /// - Parameters:
  ///   - version: whose content it is.
  ///   - storedAt: as its author says, in seconds since 1970.
  mutating func take(
    _ sent: SharedSecretBytes, of version: RecordVersion, storedAt: UInt64, contents: VaultContents,
    vault: Vault?
  ) throws {
    guard let vault, let frame = SentFrame(sent),
      let facts = frame.frame.withBytes({ VersionRow.facts(of: $0, row: frame.row) }),
      facts.message == version.record
    else { return takeUnusable(version, contents) }
    let known = KnownRow(message: version.record, version: version.version, standing: .shown)
    if let here = contents.rows[frame.row] {
      // The same row again, as after it was put back from the trash elsewhere. A row of another message has its name by no
      // accident: a bad member made it.
      guard here.message == version.record, let standing = here.standing else {
        return takeUnusable(version, contents)
      }
      return contents.set(
        frame.row, KnownRow(message: here.message, version: version.version, standing: standing))
    }
    // A row that was here before this coffer joined, as in one that was restored from a backup.
    if let here = try vault.rows(named: [frame.row])[frame.row] {
      guard here.message == version.record else { return takeUnusable(version, contents) }
      return contents.set(
        frame.row, KnownRow(message: here.message, version: version.version, standing: here.standing))
    }
    let row = VersionRow(
      id: frame.row, message: version.record, standing: .shown, stored: Int64(clamping: storedAt))
    insertions.append((row, frame.frame))
    inserted.insert(frame.row)
    contents.set(frame.row, known)
  }

  /// A content that no vault can store. It is not asked for again.
  private func takeUnusable(_ version: RecordVersion, _ contents: VaultContents) {
    contents.set(
      MessageID(), KnownRow(message: version.record, version: version.version, standing: nil))
  }

  /// Gives the rows of records the standing that the history says.
  mutating func settle(_ records: Set<RecordID>, _ history: History, _ contents: VaultContents) {
    let shown = history.shownVersions(of: records)
    for record in records {
      let versions = shown[record] ?? []
      let rows = Set(
        (history.versions(of: record) + versions.map(\.version)).compactMap { version in
          contents.row(of: RecordVersion(record: record, version: version))
        }.filter { contents.rows[$0]?.standing != nil })
      let top = versions.lazy.compactMap { version in
        contents.row(of: RecordVersion(record: record, version: version.version))
      }.first { contents.rows[$0]?.standing != nil }
      let isNew = rows.allSatisfy { inserted.contains($0) }
      var hasChanged = false
      for row in rows where row != top {
        guard let standing = contents.rows[row]?.standing else { continue }
        // A message of which nothing is shown is in the trash with the row that was; one whose content is not here yet
        // stays as it is.
        let new: RowStanding =
          if top != nil { .replaced } else if standing == .shown, versions.isEmpty { .removed } else {
            standing
          }
        guard new != standing else { continue }
        set(row, new, contents)
        hasChanged = true
      }
      if let top, contents.rows[top]?.standing != .shown {
        set(top, .shown, contents)
        hasChanged = true
      }
      if isNew, top != nil, !rows.isEmpty {
        newCount += 1
      } else if hasChanged || rows.contains(where: inserted.contains) {
        changedCount += 1
      }
    }
  }

  private mutating func set(_ row: MessageID, _ standing: RowStanding, _ contents: VaultContents) {
    standings.append(.set(row, standing))
    contents.setStanding(row, standing)
  }
}

extension MessageID {
  fileprivate static func < (one: MessageID, other: MessageID) -> Bool {
    one.withBytes { one in
      other.withBytes { other in
        let offset = (0..<one.byteCount).first { offset in
          unsafe one.unsafeLoad(fromByteOffset: offset, as: UInt8.self)
            != other.unsafeLoad(fromByteOffset: offset, as: UInt8.self)
        }
        guard let offset else { return false }
        return unsafe one.unsafeLoad(fromByteOffset: offset, as: UInt8.self)
          < other.unsafeLoad(fromByteOffset: offset, as: UInt8.self)
      }
    }
  }
}
