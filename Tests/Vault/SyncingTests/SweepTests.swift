// SPDX-License-Identifier: Apache-2.0

import Foundation
import Histories
import Remotes
import Synchronization
import Testing
import Vaults

@testable import Syncing

@Suite("Sweeping")
struct SweepTests {
  /// A clock that moves when it is told to.
  private final class Calendar: Sendable {
    private let seconds = Atomic<Int64>(1_800_000_000)

    func advance(days: Int64) { seconds.add(days * 86_400, ordering: .relaxed) }

    var clock: VaultClock {
      VaultClock(
        now: { self.seconds.load(ordering: .relaxed) }, uptime: { self.seconds.load(ordering: .relaxed) },
        pause: { _ in })
    }
  }

  private let calendar = Calendar()
  private let folder: RemoteFolder
  private let first: SyncedCoffer
  private let second: SyncedCoffer
  private let removed: MessageID

  /// Two devices, and one message of three that both know to be removed; each message is a pack of its own.
  init() throws {
    folder = try RemoteFolder()
    first = try SyncedCoffer(clock: calendar.clock)
    second = try SyncedCoffer(clock: calendar.clock)
    removed = try first.add("removed later")
    try first.makeAccount(at: folder.remote, folder: folder.path)
    for text in ["kept", "kept, too"] {
      try first.add(text)
      try first.sync(at: folder.remote)
    }
    try second.join(first, at: folder.remote)
    try first.coffer.removeMessage(removed)
    for coffer in [first, second] { try #require(coffer.sync(at: folder.remote).outcome == .complete) }
  }

  /// A folder has no clock: four segments of one's own, a week apart, stand for it.
  private func letWeeksPass() throws {
    for _ in 0..<5 {
      calendar.advance(days: 8)
      for coffer in [first, second] { try #require(coffer.sync(at: folder.remote).outcome == .complete) }
    }
  }

  private func packs() throws -> Set<String> { Set(try folder.files().keys.filter { $0.contains("/pack/") }) }

  private func sweep(
    _ coffer: SyncedCoffer, at remote: (any Remote)? = nil,
    allows: (DeadPacks) throws -> Bool = { _ in true },
    progress: (SyncReport) -> Bool = { _ in true }
  ) throws -> SyncReport {
    try coffer.coffer.account.open().sweep(at: remote ?? folder.remote, allows: allows, progress: progress)
  }

  @Test(
    "What was removed is deleted at the place when weeks have passed, not before, and only when it is allowed"
  )
  func removedLongAgo() throws {
    #expect(try sweep(first, allows: { _ in throw SyncError.busy }).deletedCount == 0)
    calendar.advance(days: 40)
    #expect(try sweep(first, allows: { _ in throw SyncError.busy }).deletedCount == 0)
    try letWeeksPass()
    let before = try packs()
    var asked: [Int] = []
    let refused = try sweep(first) { dead in
      asked = [dead.count, dead.byteCount]
      return false
    }
    #expect(refused.outcome == .complete && refused.deletedCount == 0 && asked[0] == 1 && asked[1] >= 1_024)
    #expect(try packs() == before)
    let swept = try sweep(first)
    #expect(swept.outcome == .complete && swept.deletedCount == 1)
    let after = try packs()
    #expect(after.count == before.count - 1 && after.isSubset(of: before))

    // Nobody misses it: neither who had it, nor who comes later.
    for coffer in [first, second] {
      let verified = try coffer.sync(.verify, at: folder.remote)
      #expect(verified.outcome == .complete && verified.alarms.isEmpty && verified.putBackCount == 0)
    }
    let third = try SyncedCoffer(clock: calendar.clock)
    let joined = try third.join(first, at: folder.remote)
    #expect(joined.outcome == .complete && joined.missingCount == 0 && joined.alarms.isEmpty)
    let shown = try third.shown()
    #expect(try shown.count == 2 && shown == first.shown())
    #expect(try sweep(first, allows: { _ in throw SyncError.busy }).deletedCount == 0)
  }

  @Test("A sweep that is cut off at any request, carried out or not, loses nothing, and the next one ends it")
  func cutOff() throws {
    try letWeeksPass()
    let before = try packs()
    var limit = 0
    while true {
      let remote = StoppingRemote(folder.remote, after: limit, carriesLastOut: limit.isMultiple(of: 2))
      let report = try sweep(first, at: remote)
      let left = try packs()
      #expect(left.isSubset(of: before) && before.count - left.count <= 1)
      if report.outcome == .complete { break }
      #expect(report.outcome == .unreachable)
      limit += 1
    }
    #expect(limit > 8)
    #expect(try packs().count == before.count - 1)
    let verified = try second.sync(.verify, at: folder.remote)
    #expect(verified.outcome == .complete && verified.alarms.isEmpty && verified.putBackCount == 0)
  }

  @Test("What another process took in while the question stood decides: nothing is deleted")
  func overtaken() throws {
    try letWeeksPass()
    let before = try packs()
    #expect(throws: SyncError.busy) {
      try sweep(first) { _ in
        try first.add("meanwhile")
        try #require(first.sync(at: folder.remote).outcome == .complete)
        return true
      }
    }
    #expect(try before.isSubset(of: packs()))
  }

  @Test("While something is wrong at the place, or held, nothing is deleted")
  func refused() throws {
    try letWeeksPass()
    let before = try packs()
    let segment = try #require(
      folder.files().keys.first { $0.contains("/chain/") && $0.contains("/0000000000000001-") })
    try FileManager.default.removeItem(atPath: folder.path + "/" + segment)
    let report = try sweep(second, allows: { _ in throw SyncError.busy })
    #expect(report.outcome == .sweepRefused && !report.alarms.isEmpty)
    #expect(try packs() == before)
  }
}
