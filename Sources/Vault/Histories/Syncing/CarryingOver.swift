// SPDX-License-Identifier: Apache-2.0
//
// A content that is wanted and that the remote has lost, while it is here as that of another version of its record: what a
// device says again under its present identifier has the same content.

internal import Primitives

extension History {
  /// In a run: takes contents that no pack has from versions that are not shown any more, and gives them new places: the
  /// other devices need them too.
  mutating func carryOverWhatIsLost(at now: UInt64, on machine: some Machine) -> [Effect] {
    let lost = Set(contentsToGet.filter { isLost($0, at: now) }.map(\.version))
    var effects: [Effect] = []
    for (record, names) in Dictionary(grouping: lost, by: \.record).sorted(by: { $0.key < $1.key }) {
      let here = hiddenContents(of: record, on: machine)
      if here.isEmpty { continue }
      for name in names.sorted() {
        guard let entry = records.entry(record, name.version),
          let former = here[KnownContent(kind: entry.kind, hashes: entry.hashes)]
        else { continue }
        carried[name] = former
        effects.append(.carry(from: former, to: name))
        for (part, hash) in zip(entry.parts, entry.hashes) {
          wanted.remove(ContentName(name, part: part))
          outbox.append(
            .place(kind: entry.kind, record: record, version: name.version, part: part, frameHash: hash))
        }
      }
    }
    return effects
  }

  /// Whether this run has found a content at none of its places, and it is not only late.
  private func isLost(_ content: ContentName, at now: UInt64) -> Bool {
    guard let run, let pack = firstPack(of: content), bestPack(for: content, without: run.absentPacks) == nil
    else { return false }
    return isMissedForLong(pack, at: now)
  }

  /// Versions of a record that are not shown, and of which all parts are here and open. If a user removed anything of the
  /// record, its contents may be what that user meant. Of labels, a machine has only the one in force.
  private func hiddenContents(
    of record: RecordID, on machine: some Machine
  ) -> [KnownContent: RecordVersion] {
    let isRemoved = (records.marks[record] ?? [:]).values.joined().contains { removes($0) }
    guard !isRemoved, !hasWaitingRemoval(of: record) else { return [:] }
    var here: [KnownContent: RecordVersion] = [:]
    for (version, entry) in records.versions(of: record).sorted(by: { $0.version < $1.version })
    where entry.kind != .label && (!counts(entry) || isGone(record, version, heldCounts: false)) {
      let name = RecordVersion(record: record, version: version)
      guard entry.parts.allSatisfy({ hasContent(ContentName(name, part: $0), on: machine) }),
        content(ContentName(name), on: machine) != nil
      else { continue }
      here[KnownContent(kind: entry.kind, hashes: entry.hashes)] = name
    }
    return here
  }
}

/// What two versions have in common that say the same.
private struct KnownContent: Hashable {
  let kind: RecordKind
  let hashes: [FrameHash]
}
