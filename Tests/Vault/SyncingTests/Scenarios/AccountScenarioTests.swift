// SPDX-License-Identifier: Apache-2.0

import Extents
import Foundation
import Testing

@Suite("Scenarios of whole coffers")
struct AccountScenarioTests {
  /// Seeds to play: `COFFER_SCENARIOS=FIRST:COUNT` plays others (`scripts/simulate --whole`).
  static let seeds: [UInt64] = {
    let given = ProcessInfo.processInfo.environment["COFFER_SCENARIOS"]?.split(separator: ":").compactMap {
      UInt64($0)
    }
    guard let given, given.count == 2 else { return Shares("whole coffers", count: 4).seeds(1..<5) }
    return Array(given[0]..<given[0] + given[1])
  }()

  @Test(
    "Whatever happens to the devices of an account, all show the same in the end, and nothing that was acknowledged is missing",
    arguments: seeds)
  func scenario(_ seed: UInt64) throws {
    let scenario = try Self.played(seed)
    guard !scenario.breaches.isEmpty else { return }
    Issue.record(
      "seed \(seed): \(scenario.breaches.joined(separator: "\n"))\n\(scenario.script.joined(separator: "\n"))"
    )
  }

  @Test(
    "What must not be is noticed", arguments: Shares("sabotage of coffers", count: 4).of(Sabotage.allCases))
  private func noticed(sabotage: Sabotage) throws {
    let scenario = try Self.played(1, deedCount: 12) { try sabotage.perform(in: &$0) }
    #expect(scenario.breaches.contains { $0.contains(sabotage.breach) }, "\(scenario.breaches)")
  }

  /// A scenario at its end.
  /// - Parameter last: is done when everything has come to rest, before the end is looked at.
  private static func played(
    _ seed: UInt64, deedCount: Int = 60, then last: (inout AccountScenario) throws -> Void = { _ in }
  ) throws -> AccountScenario {
    var scenario = try AccountScenario(seed: seed)
    do {
      try scenario.play(deedCount: deedCount)
      try scenario.comeToRest()
      try last(&scenario)
      try scenario.check()
    } catch {
      scenario.expect(false, "ended with \(error)")
    }
    return scenario
  }
}

/// What no scenario may end with.
private enum Sabotage: CaseIterable {
  /// A device erases a message that was acknowledged, and sends that.
  case losesMessage
  /// A device has something that the others lack.
  case keepsMessage
  /// A text is at the place in the clear.
  case writesText
  /// The place loses what the devices sealed last.
  case losesPacks

  func perform(in scenario: inout AccountScenario) throws {
    let device = try #require(scenario.present.last)
    let coffer = scenario.coffer(device)
    switch self {
    case .losesMessage:
      let note = try #require(
        scenario.notes.values.first { $0.isAcknowledged && !$0.isGone && !$0.isCapture })
      try coffer.coffer.removeMessage(note.record)
      try coffer.coffer.eraseMessages([note.record])
      for device in scenario.present { try scenario.run(device) }
    case .keepsMessage: try coffer.add("kept here")
    case .writesText: try scenario.remote.put("account/slots/a", Array(AccountScenario.mark.utf8))
    case .losesPacks:
      for name in scenario.remote.objects.keys where name.contains("/pack/") {
        try scenario.remote.delete(name)
      }
    }
  }

  /// Part of what is said of it.
  var breach: String {
    switch self {
    case .losesMessage: "does not show"
    case .keepsMessage: "wait"
    case .writesText: "account/slots/a"
    case .losesPacks: "missing"
    }
  }
}
