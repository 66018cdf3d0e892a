// SPDX-License-Identifier: Apache-2.0
//
// What other devices changed, as changes of the vault's rows.

internal import Histories
internal import Primitives
internal import Secrets
internal import Vaults

/// A content of a message that came.
struct Arrived {
  let version: RecordVersion
  /// All of its parts.
  let parts: [SharedSecretBytes]
  /// As its author says, in seconds since 1970.
  let storedAt: UInt64
}

/// Changes of rows that follow from a step.
struct Arrivals {
  private var insertions: [(row: VersionRow, frame: SharedSecretBytes)] = []
  private var standings: [RowChange] = []
  private(set) var newCount = 0
  private(set) var changedCount = 0
  /// Of these, messages of which nothing is shown any more.
  private(set) var removed: Set<MessageID> = []
  /// Of these, messages that were changed on several devices at once, so that one version of several is shown.
  private(set) var parallel: Set<MessageID> = []
  /// Messages that were removed here, and of which a version came whose author had not seen that.
  private(set) var returned: Set<MessageID> = []

  /// The changes in the order in which they are made: new rows as they were stored, since lists show rows of one second in
  /// the order of their numbers.
  var changes: [RowChange] {
    insertions.sorted { one, other in
      one.row.stored == other.row.stored ? one.row.id < other.row.id : one.row.stored < other.row.stored
    }.map { .insert($0.row, frame: $0.frame) } + standings
  }

  /// Contents came.
  mutating func take(_ arrived: [Arrived], contents: VaultContents, vault: Vault) throws {
    let frames = arrived.map { SentFrame($0.parts) }
    let unknown = frames.compactMap { $0?.row }.filter { contents.rows[$0] == nil }
    // One transaction for all of them.
    let here = try vault.rows(named: unknown)
    for (arrived, frame) in zip(arrived, frames) {
      take(frame, arrived, here: here, contents)
    }
  }

  /// - Parameter here: rows of the vault that no history knows.
  private mutating func take(
    _ frame: SentFrame?, _ arrived: Arrived, here: [MessageID: VersionRow], _ contents: VaultContents
  ) {
    let version = arrived.version
    guard let frame, let facts = frame.frame.withBytes({ VersionRow.facts(of: $0, row: frame.row) }),
      facts.message == version.record
    else { return takeUnusable(version, contents) }
    if let known = contents.rows[frame.row] {
      // The same row again, as after it was put back from the trash elsewhere. A row of another message has its name by no
      // accident: a bad member made it.
      guard known.message == version.record, let standing = known.standing else {
        return takeUnusable(version, contents)
      }
      return contents.set(
        frame.row, KnownRow(message: known.message, version: version.version, standing: standing))
    }
    // A row that was here before this coffer joined, as in one that was restored from a backup.
    if let here = here[frame.row] {
      guard here.message == version.record else { return takeUnusable(version, contents) }
      return contents.set(
        frame.row, KnownRow(message: here.message, version: version.version, standing: here.standing))
    }
    let row = VersionRow(
      id: frame.row, message: version.record, standing: .shown, stored: Int64(clamping: arrived.storedAt))
    insertions.append((row, frame.frame))
    contents.set(
      frame.row, KnownRow(message: version.record, version: version.version, standing: .shown))
  }

  /// A content that no vault can store. It is not asked for again.
  func takeUnusable(_ version: RecordVersion, _ contents: VaultContents) {
    contents.set(
      MessageID(), KnownRow(message: version.record, version: version.version, standing: nil))
  }

  /// Gives the rows of records the standing that the history says. What the user of this device stored and no history has
  /// yet stays shown: it is the last that was done here.
  mutating func settle(
    _ records: Set<RecordID>, _ history: History, _ contents: VaultContents, _ vault: Vault
  ) throws {
    let shown = history.shownVersions(of: records)
    let here = try vault.rows(ofMessages: records)
    let new = Dictionary(grouping: insertions.map(\.row), by: \.message)
    for record in records {
      let rows = (here[record] ?? []) + (new[record] ?? [])
      let versions = shown[record] ?? []
      let candidates = versions.compactMap { version in
        contents.row(of: RecordVersion(record: record, version: version.version))
      }.filter { row in rows.contains { $0.id == row } }
      let known = candidates.first
      let top = rows.last { $0.standing == .shown && contents.rows[$0.id] == nil }?.id ?? known
      var (hasChanged, isRemoved) = (false, false)
      for row in rows {
        let standing: RowStanding =
          if row.id == top { .shown } else if top != nil { .replaced }
          // A message of which nothing is shown is in the trash with the row that was.
          else if versions.isEmpty, row.standing == .shown { .removed }
          // One whose content is not here yet stays as it is.
          else { row.standing }
        contents.setStanding(row.id, standing)
        guard standing != row.standing else { continue }
        // Rows that leave what is shown go before the one that comes.
        standings.insert(.set(row.id, standing), at: standing == .shown ? standings.count : 0)
        hasChanged = true
        isRemoved = isRemoved || standing == .removed
      }
      if isRemoved { removed.insert(record) }
      let rowsHere = here[record] ?? []
      if let top, new[record]?.contains(where: { $0.id == top }) == true,
        !rowsHere.contains(where: { $0.standing == .shown }), let version = contents.rows[top]?.name,
        history.crossesRemoval(version, ofThisDeviceAlone: rowsHere.isEmpty)
      {
        returned.insert(record)
      }
      if Set(candidates).count > 1, hasChanged || new[record] != nil { parallel.insert(record) }
      if here[record] == nil, top != nil, new[record] != nil {
        newCount += 1
      } else if hasChanged || new[record] != nil {
        changedCount += 1
      }
    }
  }
}
