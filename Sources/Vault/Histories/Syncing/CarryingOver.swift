// SPDX-License-Identifier: Apache-2.0
//
// A content that is wanted and that the remote has lost, while it is here as that of another version of its record: what a
// device says again under its present identifier has the same content.

internal import Primitives

extension History {
  /// In a run: takes contents that no pack has from versions that are not shown any more and that no user removed, and gives
  /// them new places: the other devices need them too.
  mutating func carryOverWhatIsLost(at now: UInt64, on machine: some Machine) -> [Effect] {
    let lost = Set(contentsToGet.filter { isLost($0, at: now) }.map(\.version))
    var effects: [Effect] = []
    for (record, names) in Dictionary(grouping: lost, by: \.record).sorted(by: { $0.key < $1.key }) {
      let here = hiddenContents(of: record, on: machine)
      if here.isEmpty { continue }
      for name in names.sorted() {
        guard let entry = records.entry(record, name.version), let former = here[entry.hashes] else { continue }
        carried[name] = former
        effects.append(.carry(from: former, to: name))
        for part in entry.parts {
          let content = ContentName(name, part: part)
          wanted.remove(content)
          guard let hash = entry.hash(ofPart: part), hasContent(content, on: machine) else { continue }
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

  /// Versions of a record that are here and not shown, by their contents. Of labels, a machine has only the one in force.
  private func hiddenContents(of record: RecordID, on machine: some Machine) -> [[FrameHash]: RecordVersion] {
    var here: [[FrameHash]: RecordVersion] = [:]
    for (version, entry) in records.versions(of: record).sorted(by: { $0.version < $1.version })
    where entry.kind != .label && (!counts(entry) || isGone(record, version, heldCounts: false)) {
      let name = RecordVersion(record: record, version: version)
      let isRemoved = (records.marks[record]?[version] ?? []).contains { !$0.isReplacement && isInForce($0.by) }
      guard !isRemoved, entry.wantedParts.allSatisfy({ hasContent(ContentName(name, part: $0), on: machine) })
      else { continue }
      here[entry.hashes] = name
    }
    return here
  }
}
