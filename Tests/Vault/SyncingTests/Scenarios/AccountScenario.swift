// SPDX-License-Identifier: Apache-2.0
//
// The second tier of the simulator (Tests/Support/HistoriesSimulator is the first): whole coffers with their databases,
// captures, keys, slots and signatures, and the code that drives their history. A seed says what happens, not which keys
// are drawn.

import CofferKit
import Enclaves
import Foundation
import Histories
import Primitives
import Remotes
import Secrets
import SeededGenerators
import TemporaryHomes
import Testing
import Vaults

@testable import Syncing

/// A coffer in a scenario.
struct ScenarioDevice {
  var coffer: SyncedCoffer
  /// An earlier state of its disk.
  var saved: (home: TemporaryHome, notes: Set<String>)?
  /// Its disk was once put back to an earlier state.
  var wasPutBack = false
  /// Its user has revoked it and does not have it any more.
  var isLost = false
}

/// A text, or a capture, that somebody wrote.
struct ScenarioNote {
  /// The number of the device that wrote it.
  let device: Int
  /// The message or the capture.
  let record: RecordID
  var isCapture = false
  /// Whether a run ended well after it.
  var isAcknowledged = false
  /// Somebody who had seen it removed or replaced it.
  var isGone = false
}

/// An account of several coffers, and what its user did.
struct AccountScenario {
  let seed: UInt64
  let remote = MemoryRemote()
  let clock = TestClock()
  var devices: [ScenarioDevice] = []
  /// By their texts, or the titles of captures.
  var notes: [String: ScenarioNote] = [:]
  /// Which continuation the user chose, for each operation that has several.
  var choices: [ControlID: ControlID] = [:]
  /// A backup of the place.
  var backup: [String: [UInt8]]?
  /// Whether the place lost what came after its backup.
  var wasPlaceRestored = false
  /// What does not hold.
  private(set) var breaches: [String] = []
  /// What happened, for whoever reads a failure.
  private(set) var script: [String] = []
  private var noteCount = 0

  static let deviceLimit = 4
  /// Begins every text and title, so that the place can be searched for them.
  static let mark = "scenario-note-"
  static let words = AccountSecret(SyncedCoffer.words)

  init(seed: UInt64) throws {
    self.seed = seed
    let first = try SyncedCoffer(clock: clock.clock)
    devices = [ScenarioDevice(coffer: first)]
    try first.makeAccount(at: remote, place: .folder(path: "/nowhere"))
  }

  /// Does what the seed says, and brings everything to rest.
  mutating func play(deedCount: Int) throws {
    // The first number of a stream: numbers of seeds that follow each other give scenarios that differ.
    var stream = SeededGenerator(seed: seed)
    var generator = SeededGenerator(seed: stream.next())
    for _ in 0..<deedCount {
      let (number, deed) = AccountDeed.drawn(&generator)
      let device = number % devices.count
      guard !devices[device].isLost else { continue }
      script.append("\(device): \(deed)")
      try perform(deed, on: device)
      if isDetailed {
        script.append(
          "   \(try devices.indices.map { "\($0): \(try Set(coffer($0).shown().values.map { $0.text.dropFirst(Self.mark.count) }).sorted())" })"
        )
      }
    }
  }

  mutating func newNote() -> String {
    noteCount += 1
    return "\(Self.mark)\(seed)-\(noteCount)"
  }

  mutating func expect(_ holds: Bool, _ breach: @autoclosure () -> String) {
    if !holds { breaches.append(breach()) }
  }

  func coffer(_ device: Int) -> SyncedCoffer { devices[device].coffer }

  func account(_ device: Int) throws -> Synchronizer { try coffer(device).coffer.account.open() }

  /// Whether the script tells what each device shows after each deed.
  var isDetailed: Bool { ProcessInfo.processInfo.environment["COFFER_SCENARIO_SCRIPT"] != nil }

  // MARK: Runs

  private func place(_ failure: PlaceFailure?) -> any Remote {
    failure.map { StoppingRemote(remote, after: $0.after, carriesLastOut: $0.carriesLastOut) } ?? remote
  }

  /// Runs; what was written before is acknowledged if it ends well.
  @discardableResult
  mutating func run(_ device: Int, _ purpose: Purpose = .sync, failure: PlaceFailure? = nil) throws
    -> SyncReport
  {
    let report = try coffer(device).sync(purpose, at: place(failure))
    if report.outcome == .complete { acknowledge(device) }
    return report
  }

  private mutating func acknowledge(_ device: Int) {
    for (text, note) in notes where note.device == device { notes[text]?.isAcknowledged = true }
  }

  /// A change of the account, which may be refused, and whose remote may fail.
  /// - Returns: nil when nothing was changed.
  @discardableResult
  mutating func change(
    _ device: Int, failure: PlaceFailure? = nil, _ body: (Synchronizer, any Remote) throws -> SyncReport
  ) throws -> SyncReport? {
    do {
      let report = try body(account(device), place(failure))
      if report.outcome == .complete { acknowledge(device) }
      return report
    } catch let error as SyncError {
      switch error {
      case .remote, .refused, .notApproved: return nil
      default: throw error
      }
    }
  }

  /// The disk of a device as it is now, in a folder of its own.
  func copy(of device: Int) throws -> TemporaryHome {
    try coffer(device).place.copy()
  }

  /// A device goes on with another disk.
  mutating func replaceDisk(of device: Int, by home: TemporaryHome) throws {
    devices[device].coffer.coffer.close()
    devices[device].coffer = try SyncedCoffer(opening: home, clock: clock.clock)
  }
}
