// SPDX-License-Identifier: Apache-2.0
//
// A process that ends at any request while captures travel.

import Captures
import CofferKit
import Foundation
import Histories
import Primitives
import Testing

@testable import Syncing

@Suite("Captures that are interrupted")
struct CaptureInterruptionTests {
  @Test(
    "After every request of sending and of getting the process may end: the next one goes on",
    arguments: [false, true])
  func everyRequest(carriesLastOut: Bool) throws {
    let folder = try RemoteFolder()
    let (first, second) = (try SyncedCoffer(), try SyncedCoffer())
    try first.makeAccount(at: folder.remote, folder: folder.path)
    try second.join(first, at: folder.remote)
    // Two packs of parts, and one of the first part and the label.
    let capture = try first.take(photoByteCount: 17 << 20, title: "film")
    var limit = 0
    while true {
      // Each run gets one request further than the one before it, from where that one ended.
      let report = try first.sync(
        at: StoppingRemote(folder.remote, after: limit, carriesLastOut: carriesLastOut))
      let isUploaded = try first.coffer.captures.summary(of: capture).upload.state == .uploaded
      #expect(isUploaded == (report.outcome == .complete))
      if report.outcome == .complete { break }
      #expect(report.outcome == .unreachable)
      try second.sync(at: folder.remote)
      limit += 1
    }
    #expect(limit > 6)
    try second.sync(at: folder.remote)
    #expect(try second.labels() == [capture: "film"])

    limit = 0
    while true {
      do {
        #expect(
          try second.fetch(
            capture, at: StoppingRemote(folder.remote, after: limit, carriesLastOut: carriesLastOut)))
        break
      } catch SyncError.remote { limit += 1 }
      #expect(try !second.coffer.captures.summary(of: capture).isWhole)
    }
    #expect(limit == 2)
    #expect(try second.files(of: capture) == first.files(of: capture))
    for coffer in [first, second] { #expect(try coffer.sync(.verify, at: folder.remote).alarms.isEmpty) }
  }
}
