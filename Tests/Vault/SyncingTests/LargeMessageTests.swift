// SPDX-License-Identifier: Apache-2.0
//
// Messages that no pack has room for.

import CofferKit
import Foundation
import Histories
import Remotes
import Testing
import Vaults

@testable import Syncing

@Suite("Large messages")
struct LargeMessageTests {
  private let folder: RemoteFolder
  private let first: SyncedCoffer
  private let second: SyncedCoffer

  init() throws {
    folder = try RemoteFolder()
    (first, second) = (try SyncedCoffer(), try SyncedCoffer())
  }

  /// Text whose parts all differ.
  private static func text(_ byteCount: Int, _ name: String = "") -> String {
    let block = String(repeating: "x", count: 65_000)
    let text = (0...byteCount / 65_000).map { "\(name)\($0)\n\(block)" }.joined()
    return String(decoding: text.utf8.prefix(byteCount), as: UTF8.self)
  }

  private func packs() throws -> [Data] {
    try folder.files().filter { $0.key.contains("/pack/") }.map(\.value)
  }

  @Test("A message of 40 MiB is sent in parts, arrives whole, and can be edited and removed on both sides")
  func roundTrip() throws {
    let (small, large) = ("small", Self.text(40 << 20))
    try first.add(small)
    let id = try first.add(large, title: "large")
    try first.makeAccount(at: folder.remote, folder: folder.path)
    let report = try second.join(first, at: folder.remote)
    #expect(report.newCount == 2 && report.missingCount == 0)
    let shown = try second.shown()
    #expect(shown[id]?.text == large && shown[id]?.title == "large" && shown.count == 2)
    #expect(try packs().allSatisfy { $0.count <= 16 << 20 })
    #expect(try first.sync(at: folder.remote).onlyHereCount == 0)
    // Nothing is sent again, and it is one change to whoever reads of it.
    let before = try packs().count
    #expect(try first.sync(at: folder.remote).sentCount == 0)
    let edited = Self.text(9 << 20, "edited ")
    try second.edit(id, edited, title: "edited")
    #expect(try second.coffer.account.open().countWaiting() == 1)
    let sent = try second.sync(at: folder.remote)
    #expect(sent.sentCount == 1 && sent.putBackCount == 0 && sent.waitingCount == 0)
    #expect(try packs().count == before + 1)
    #expect(try first.sync(at: folder.remote).changedCount == 1)
    #expect(try first.shown()[id]?.text == edited && first.history(id) == [large, edited])
    #expect(try first.sync(.verify, at: folder.remote).putBackCount == 0)
    try first.coffer.removeMessage(id)
    try first.sync(at: folder.remote)
    try second.sync(at: folder.remote)
    #expect(try second.trash() == [id])
    // Put back, it is sent as another version of the same content.
    try second.coffer.putBackMessage(id)
    try second.sync(at: folder.remote)
    try first.sync(at: folder.remote)
    #expect(try first.shown()[id]?.text == edited && first.trash().isEmpty)
  }

  @Test("A sender that ends between the packs sends the rest, and a reader that ends gets all again")
  func interrupted() throws {
    try first.makeAccount(at: folder.remote, folder: folder.path)
    try second.join(first, at: folder.remote)
    let large = Self.text(17 << 20)
    let id = try first.add(large)
    let before = try packs().count
    // It ends when one of its two packs is at the remote, or both, and no segment names them.
    var limit = 0
    let had = try segmentCount()
    while try packs().count == before {
      limit += 1
      let stopping = StoppingRemote(folder.remote, after: limit, carriesLastOut: true)
      #expect(try first.sync(at: stopping).outcome == .unreachable)
    }
    #expect(try segmentCount() == had)
    #expect(try second.sync(at: folder.remote).newCount == 0)
    let sent = try packs().count
    #expect(try first.sync(at: folder.remote).sentCount == 1)
    // A process that ended seals its packs again.
    #expect(try packs().count == sent + 2 && segmentCount() == had + 1)
    // The reader ends when it knows of the message, then with the first of its packs.
    func read(until isEnough: (SyncReport) -> Bool) throws -> SyncReport? {
      for limit in 1..<40 {
        let stopping = StoppingRemote(folder.remote, after: limit, carriesLastOut: false)
        let report = try second.sync(at: stopping)
        if isEnough(report) { return report }
      }
      return nil
    }
    #expect(try read { $0.missingCount == 1 }?.outcome == .unreachable)
    #expect(try read { $0.byteCount > 4 << 20 }?.outcome == .unreachable)
    #expect(try second.shown().isEmpty)
    #expect(try second.sync(at: folder.remote).newCount == 1)
    #expect(try second.shown()[id]?.text == large)
    #expect(try second.sync(.verify, at: folder.remote).alarms.isEmpty)
  }

  private func segmentCount() throws -> Int {
    try folder.files().count { $0.key.contains("/chain/") }
  }

  @Test("A part that is damaged at the remote is written again by whoever has the message")
  func damagedPart() throws {
    let large = Self.text(9 << 20)
    let id = try first.add(large)
    try first.makeAccount(at: folder.remote, folder: folder.path)
    let largest = try #require(
      folder.files().filter { $0.key.contains("/pack/") }.max { $0.value.count < $1.value.count })
    var bytes = largest.value
    bytes[bytes.count / 2] ^= 1
    try bytes.write(to: URL(filePath: folder.path + "/" + largest.key))
    #expect(try second.join(first, at: folder.remote).missingCount == 1)
    #expect(try second.shown().isEmpty)
    let synchronizer = try first.coffer.account.open()
    let found = try synchronizer.examinePacks(percent: 100, at: folder.remote) { _ in true }
    #expect(found.damagedCount == 1)
    #expect(try synchronizer.run(.verify, at: folder.remote).putBackCount > 0)
    #expect(try second.sync(at: folder.remote).newCount == 1)
    #expect(try second.shown()[id]?.text == large)
  }
}
