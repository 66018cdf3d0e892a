// SPDX-License-Identifier: Apache-2.0
//
// A restore of which something is missing, that the account names.

import Foundation
import Testing

@Suite("A restore that is not complete")
struct IncompleteRestoreTests {
  @Test("It ends as incomplete, keeps what came, and the next sync gets the rest")
  func missingSegment() throws {
    let devices = try TwoDevices(messages: ["Lease"])
    for title in ["Boat", "Tax"] {
      #expect(try devices.first(["message", "add", "--title", title], input: title).status == 0)
      #expect(try devices.first(["sync"]).status == 0)
    }
    let files = FileManager.default
    let segments = try files.subpathsOfDirectory(atPath: devices.stick.path())
      .filter { $0.contains("/chain/") && $0.contains("/0000000000000002-") }
    let segment = devices.stick.appending(path: try #require(segments.first)).path()
    let away = devices.place.folder.appending(path: "away").path()
    try files.moveItem(atPath: segment, toPath: away)
    let restored = try devices.restore()
    #expect(restored.status == 5, "\(restored)")
    #expect(restored.error.contains("not everything was restored"), "\(restored)")
    #expect(try devices.second(["list"]).output.contains("Lease"))
    try files.moveItem(atPath: away, toPath: segment)
    #expect(try devices.second(["sync"]).status == 0)
    let (here, there) = try devices.lists()
    #expect(here == there && ["Lease", "Boat", "Tax"].allSatisfy(here.contains), "\(there)")
  }
}
