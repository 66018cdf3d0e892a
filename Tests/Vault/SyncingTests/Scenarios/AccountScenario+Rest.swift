// SPDX-License-Identifier: Apache-2.0
//
// The end of a scenario: everything is sent, users do what devices ask for, and then every device shows the same.

import Captures
import CofferKit
import Foundation
import Histories
import Primitives
import Remotes
import Testing
import Vaults

@testable import Syncing

extension AccountScenario {
  var present: [Int] { devices.indices.filter { !devices[$0].isLost } }

  mutating func comeToRest() throws {
    var isQuiet = false
    for round in 0..<12 where !isQuiet {
      isQuiet = round > 2
      for device in present {
        if try attend(device) { isQuiet = false }
        // The user looks whether what was wrong still is.
        if wasPlaceRestored { try run(device, .verify) }
      }
    }
    expect(isQuiet, "devices go on asking")
    for purpose in wasPlaceRestored ? [.sync, .verify, .verify, .sync] : [Purpose.sync, .sync] {
      for device in present { expect(try run(device, purpose).outcome == .complete, "device \(device)") }
    }
    for device in present { try keepCaptures(device) }
  }

  /// Gets all captures. Those that are nowhere are named.
  private mutating func keepCaptures(_ device: Int) throws {
    let account = try account(device)
    let missing = try account.fetch(account.capturesElsewhere(), at: remote)
    guard !missing.isEmpty else { return }
    expect(wasPlaceRestored, "captures are nowhere that device \(device) knows")
    let lost = try coffer(device).sync(.verify, at: remote).lostCaptures
    expect(Set(missing).isSubset(of: lost), "device \(device) does not name captures that are nowhere")
  }

  mutating func check() throws {
    try checkDevices(present)
    checkPlace()
    let member = try #require(present.first)
    let restored = try #require(try restore(by: member, isLimited: false))
    try keepCaptures(restored)
    try run(member)
    try checkDevices([member, restored])
  }

  /// All show the same, and what was acknowledged.
  private mutating func checkDevices(_ numbers: [Int]) throws {
    let first = try #require(numbers.first)
    let expected = try coffer(first).shown()
    for device in numbers {
      let status = try account(device).status()
      expect(try status.words == account(first).status().words, "device \(device) has another history")
      let waits = status.waitingCount + status.onlyHereCount
      expect(
        waits == 0 && status.missingCount == 0 && status.alarms.isEmpty,
        "device \(device): \(waits) wait, \(status.missingCount) are missing, \(status.alarms)")
      let shown = try coffer(device).shown()
      expect(
        shown == expected,
        "device \(device) alone shows \(shown.filter { expected[$0.key] != $0.value }.values), \(first) \(expected.filter { shown[$0.key] != $0.value }.values)"
      )
      expect(try coffer(device).labels() == coffer(first).labels(), "device \(device) shows other captures")
      try checkAcknowledged(device)
    }
  }

  private mutating func checkAcknowledged(_ device: Int) throws {
    let texts = try Set(coffer(device).shown().keys.flatMap { try coffer(device).history($0) })
    let captures = try coffer(device).coffer.captures.list()
    for capture in captures where capture.isWhole {
      _ = try coffer(device).coffer.captures.verify(capture.id)
    }
    let titles = Set(captures.map { Self.name(ofTitle: $0.label.title) })
    let quarantined = try Set(account(device).history.quarantine.flatMap(\.versions).map(\.version.record))
    for (text, note) in notes where note.isAcknowledged && !note.isGone {
      var isThere = note.isCapture ? titles.contains(text) : texts.contains(text)
      // What let a device in that is gone may not count any more; then its user can take that in.
      if devices[note.device].isLost { isThere = isThere || quarantined.contains(note.record) }
      expect(isThere, "device \(device) does not show \(text), which device \(note.device) wrote")
    }
  }

  /// No byte at the place is of a text, a title or an identifier.
  private mutating func checkPlace() {
    let needles =
      [Data(Self.mark.utf8)]
      + notes.values.map { Data($0.record.withBytes { [UInt8](copying: $0) }) }
    for (name, bytes) in remote.objects {
      let data = Data(bytes)
      for needle in needles { expect(data.range(of: needle) == nil, "\(name)") }
    }
  }
}
