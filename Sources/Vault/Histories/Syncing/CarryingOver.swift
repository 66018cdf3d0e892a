// SPDX-License-Identifier: Apache-2.0
//
// A content that is wanted and is here already, as that of another version of its record: what a device says again under
// its present identifier has the same content. Nobody has to get it, and it may be lost at the remote.

internal import Primitives

extension History {
  /// Takes contents that are wanted from versions that are not shown any more. Of labels, a machine has only the one in
  /// force.
  mutating func carryOverWhatIsHere(on machine: some Machine) -> [Effect] {
    var effects: [Effect] = []
    for name in Set(wanted.map(\.version)).sorted() {
      let versions = records.versions(of: name.record)
      guard versions.count > 1, let entry = records.entry(name.record, name.version), entry.kind != .label
      else { continue }
      let same = versions.filter { version, other in
        version != name.version && other.kind == entry.kind && other.hashes == entry.hashes
          && (!counts(other) || isGone(name.record, version, heldCounts: false))
      }
      let former = same.map { RecordVersion(record: name.record, version: $0.version) }.sorted().first { former in
        entry.wantedParts.allSatisfy { hasContent(ContentName(former, part: $0), on: machine) }
      }
      guard let former else { continue }
      carried[name] = former
      for part in entry.wantedParts { wanted.remove(ContentName(name, part: part)) }
      effects.append(.carry(from: former, to: name))
    }
    return effects
  }
}
