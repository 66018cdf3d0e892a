// SPDX-License-Identifier: Apache-2.0
//
// Whether two histories of one device say the same. A restored one may lack control operations that a slot had opened with
// a key that did not stay; then it lacks what hangs on them, too, and the two are not compared.

@testable import Histories

extension History {
  /// What differs between two histories that should be equal, of all that a run or a user asks; nil if nothing does.
  func difference(from other: History, on machine: some Machine) -> String? {
    var (one, other) = (self, other)
    let comparisons = [
      ("position", one.position == other.position), ("digest", one.digest() == other.digest()),
      ("members", one.membership.counting == other.membership.counting),
      ("choices of owners", one.settled == other.settled),
      ("records that are shown", one.shownRecords == other.shownRecords),
      ("alarms", one.alarms == other.alarms),
      ("contents that are wanted", one.contentsToGet == other.contentsToGet),
      ("contents that are hidden", one.hidden(on: machine) == other.hidden(on: machine)),
      ("held segments", one.holds.segments == other.holds.segments),
      ("late removals", one.late.beginnings == other.late.beginnings),
      ("order of segments", one.chains.ordered.map(\.name) == other.chains.ordered.map(\.name)),
      ("places", one.readBack == other.readBack && one.notReadBack == other.notReadBack),
      (
        "former identifiers",
        one.former == other.former && one.unrepeatable == other.unrepeatable && one.unsaid == other.unsaid
      ),
      ("changes that wait", one.pendingChanges == other.pendingChanges),
      ("slots", one.slotObjects == other.slotObjects),
    ]
    return comparisons.first { !$0.1 }?.0
  }
}

extension History {
  /// Those that are still here: a user may have erased some.
  fileprivate func hidden(on machine: some Machine) -> Set<RecordVersion> {
    hidden.filter { hasSomeContent(of: $0, on: machine) }
  }
}
