// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import Testing

@testable import Primitives

@Suite("Identifiers of messages and captures")
struct RecordIDTests {
  @Test("Those of one thread rise, however many are made in a millisecond, and none is made twice on several")
  func rising() {
    let all = Mutex<[RecordID]>([])
    DispatchQueue.concurrentPerform(iterations: 4) { _ in
      let ids = (0..<20_000).map { _ in RecordID() }
      #expect(zip(ids, ids.dropFirst()).allSatisfy(<))
      all.withLock { $0 += ids }
    }
    let made = all.withLock { $0 }
    #expect(Set(made).count == 80_000)
    // Several came in one millisecond, or this has shown nothing.
    #expect(Set(made.map { "\($0)".prefix(13) }).count < made.count)
  }

  @Test("Each is a UUID of version 7 with the present time, after the lowest and before the highest")
  func form() throws {
    let before = Int64(Date().timeIntervalSince1970 * 1_000) - 1
    for _ in 0..<1_000 {
      let id = RecordID()
      #expect("\(id)".contains(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/))
      let milliseconds = try #require(Int64("\(id)".replacing("-", with: "").prefix(12), radix: 16))
      // A minute for a clock that is set back while other tests have identifiers made.
      #expect(milliseconds >= before - 60_000 && RecordID.lowest < id && id < RecordID.highest)
      #expect(RecordID("\(id)") == id && id.withBytes { RecordID($0) } == id)
    }
  }
}
