// SPDX-License-Identifier: Apache-2.0
//
// What synchronisation leaves in memory: contents and keys nowhere, once the coffers are closed.

import CofferKit
import Histories
import MemorySearch
import MessageFormats
import Primitives
import Secrets
import Testing

@testable import Syncing

@Suite("What synchronisation leaves in memory", .serialized)
struct SyncMemoryTests {
  @Test("Contents of messages, epoch keys and the card's secret are gone afterwards")
  func nothingIsLeft() throws {
    for (name, needle) in try synchronise() {
      #expect(try ProcessMemory.places(of: needle) == [], "\(name)")
    }
  }

  @Test("The search finds an epoch key that is in use")
  func searchWorks() throws {
    let folder = try RemoteFolder()
    let coffer = try SyncedCoffer()
    try coffer.makeAccount(at: folder.remote, folder: folder.path)
    let synchronizer = try coffer.coffer.account.open()
    let needle = try #require(synchronizer.history.epochKeys.first).key.withBytes { Needle($0) }
    #expect(try !ProcessMemory.places(of: needle).isEmpty)
    _ = try synchronizer.status()
  }

  /// One coffer sends a message that the other gets.
  @inline(never)
  private func synchronise() throws -> [(name: String, needle: Needle)] {
    let folder = try RemoteFolder()
    let (first, second) = (try SyncedCoffer(), try SyncedCoffer())
    let content = SystemRandom.secretBytes(count: 64)
    let metadata = MessageMetadata(title: "", tags: [], contentType: "application/octet-stream", date: 0)
    _ = try first.coffer.addMessage(content, metadata: metadata)
    try first.makeAccount(at: folder.remote, folder: folder.path)
    try second.join(first, at: folder.remote)
    var needles = [("content", content.withBytes { Needle($0) })]
    let synchronizer = try second.coffer.account.open()
    for (number, key) in synchronizer.history.epochKeys {
      needles.append(("key of epoch \(number)", key.withBytes { Needle($0) }))
    }
    needles.append(
      ("secret of the card", try second.coffer.account.open().address().secret.withBytes { Needle($0) }))
    first.coffer.close()
    second.coffer.close()
    return needles
  }
}
