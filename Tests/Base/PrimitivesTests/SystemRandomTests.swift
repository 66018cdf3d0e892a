// SPDX-License-Identifier: Apache-2.0

import Foundation
import Secrets
import Testing

@testable import Primitives

@Suite("The system's randomness")
struct SystemRandomTests {
  @Test("Interrupted and short answers are asked for again, until every byte is filled")
  func shortAnswers() {
    var bytes = [UInt8](repeating: 0, count: 40)
    var asked: [Int] = []
    bytes.withMutableRawSpan { span in
      SystemRandom.fill(&span) { place, count in
        asked.append(count)
        if asked.count == 2 {
          errno = EINTR
          return -1
        }
        let given = min(count, 16)
        place?.initializeMemory(as: UInt8.self, repeating: 0xAA, count: given)
        return given
      }
    }
    #expect(asked == [40, 24, 24, 8])
    #expect(bytes == [UInt8](repeating: 0xAA, count: 40))
  }

  @Test(
    "A failure ends the process before a byte is used, and says why", arguments: [ENOSYS, EAGAIN, EFAULT])
  func failure(code: Int32) async throws {
    let ended = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { [code] in
      var bytes = [UInt8](repeating: 0, count: 32)
      bytes.withMutableRawSpan { span in
        SystemRandom.fill(&span) { _, _ in
          errno = code
          return -1
        }
      }
    }
    let said = String(decoding: try #require(ended).standardErrorContent, as: UTF8.self)
    #expect(said.contains("the system gives no randomness"), "\(said)")
  }

  @Test("A source that gives nothing ends the process too, and is not asked for ever")
  func nothing() async {
    await #expect(processExitsWith: .failure) {
      var bytes = [UInt8](repeating: 0, count: 1)
      bytes.withMutableRawSpan { span in SystemRandom.fill(&span) { _, _ in 0 } }
    }
  }
}
