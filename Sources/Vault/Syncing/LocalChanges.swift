// SPDX-License-Identifier: Apache-2.0
//
// What the user changed since the last run: found by comparing the vault's rows with the versions that the history knows.
// No list of changes has to be kept beside the vault, so none can be lost, and a coffer that joins an account is the same
// comparison.

internal import Histories
internal import Primitives
internal import Secrets
internal import Vaults

/// The rows that a history does not know as they are.
struct LocalChanges {
  /// Versions to send, in the order in which they were stored.
  private var fresh: ArraySlice<MessageID> = []
  /// Messages of which no row is shown: in the trash, or gone.
  private(set) var removed: Set<MessageID> = []
  /// Rows that have gone from the file.
  private(set) var gone: [MessageID] = []
  private(set) var standings: [(row: MessageID, standing: RowStanding)] = []
  /// The digest of the rows that were compared.
  private(set) var digest: [UInt8] = []

  /// How many changes a run would send: versions that are new, and messages that are shown elsewhere and not here.
  func count(_ contents: VaultContents) -> Int {
    let shown = Set(contents.rows.values.lazy.filter { $0.standing == .shown }.map(\.message))
    return fresh.count + removed.intersection(shown).count
  }

  var hasFresh: Bool { !fresh.isEmpty }
  var freshCount: Int { fresh.count }

  mutating func takeFresh(_ limit: Int) -> [MessageID] {
    let taken = Array(fresh.prefix(limit))
    fresh = fresh.dropFirst(taken.count)
    return taken
  }

  /// Those that there was no room for.
  mutating func putBack(_ rows: some Collection<MessageID>) { fresh = Array(rows)[...] + fresh }

  init() {}

  /// The rows have another digest by what other devices changed.
  mutating func note(digest: [UInt8]) { self.digest = digest }

  /// Compares all rows of the vault.
  /// - Throws: `VaultError.corrupt` when rows are missing that the vault counts: their absence means nothing then.
  init(_ vault: Vault, _ contents: VaultContents) throws {
    var unknown: [(row: MessageID, message: MessageID)] = []
    var inTrash: Set<MessageID> = []
    var shown: Set<MessageID> = []
    var seen: Set<MessageID> = []
    _ = try vault.forEachRow { row in
      if row.standing == .removed { inTrash.insert(row.message) }
      if row.standing == .shown, row.id != row.message || contents.rows[row.id]?.standing != .shown {
        shown.insert(row.message)
      }
      guard let known = contents.rows[row.id] else {
        if row.standing != .removed { unknown.append((row.id, row.message)) }
        return
      }
      seen.insert(row.id)
      switch (known.standing, row.standing) {
      case (row.standing, _): return
      case (.shown, _): removed.insert(row.message)
      // Put back from the trash: for the account it is another version.
      case (.removed, .shown):
        unknown.append((row.id, row.message))
        return
      default: break
      }
      standings.append((row.id, row.standing))
    }
    // What is in the trash already was never sent.
    fresh = unknown.filter { !inTrash.contains($0.message) }.map(\.row)[...]
    if seen.count < contents.rows.count {
      for (row, known) in contents.rows where known.standing != nil && !seen.contains(row) {
        gone.append(row)
        removed.insert(known.message)
      }
    }
    removed = removed.union(inTrash).subtracting(shown)
  }
}

/// A version that the history does not know.
struct FreshRow {
  let row: MessageID
  let message: MessageID
  /// Rows that it replaces, as its author said.
  let replaced: [MessageID]
  /// The first part of what is sent, and the hashes of all.
  let first: SharedSecretBytes
  let hashes: [FrameHash]
  /// Of all parts, or some less.
  let byteCount: Int
}
