// SPDX-License-Identifier: Apache-2.0
//
// A courier that a server has taken over says what it likes. The side with the keys takes nothing of it that does not
// fit, and hears nothing after that.

import Dispatch
import Glibc
import Remotes
import Testing

@testable import CourierProtocol
@testable import Couriers

@Suite("A courier that lies")
struct CourierConversationTests {
  /// Asks a courier that answers the first request with these bytes, where the number is to be 1.
  /// - Parameter isCancelled: whether nobody wants to wait any more once the answer was sent.
  private func ask<Answer>(
    _ answer: [UInt8], isCancelled: Bool = false, _ body: (CourierRemote) throws -> Answer
  ) throws -> Answer {
    let (ours, theirs) = try #require(CourierSocket.pair())
    // A number that no process has.
    let conversation = CourierConversation(ours, process: .max)
    let (group, sent) = (DispatchGroup(), DispatchSemaphore(value: 0))
    DispatchQueue(label: "courier").async(group: group) {
      _ = try? theirs.receive()
      answer.withUnsafeBytes { _ = send(theirs.descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
      sent.signal()
      // Until the other side hangs up.
      while case .frame? = try? theirs.receive() {}
      close(theirs.descriptor)
    }
    DispatchQueue(label: "reader").async(group: group) { conversation.readAnswers() }
    defer {
      conversation.hangUp()
      group.wait()
      close(ours.descriptor)
    }
    return try body(
      CourierRemote(conversation) {
        guard isCancelled else { return false }
        sent.wait()
        sent.signal()
        return true
      })
  }

  private func page(_ names: [String]) -> [UInt8] {
    let objects = names.map { RemoteObject(name: $0, byteCount: 1, date: nil) }
    return CourierAnswer.page(CourierPage(objects: objects, time: nil, continuation: "")).frame(number: 1)
  }

  @Test("What fits is believed", .timeLimit(.minutes(60)))
  func honest() throws {
    #expect(try ask(page(["f/a", "f/b"])) { try $0.list("f").objects.count } == 2)
    #expect(try ask(CourierAnswer.object([1]).frame(number: 1)) { try $0.get("a", range: 0..<1) } == [1])
    #expect(try ask(CourierAnswer.absent.frame(number: 1)) { try $0.stat("a") } == nil)
    #expect(throws: RemoteError.full) {
      try ask(CourierAnswer.failed(.full).frame(number: 1)) { try $0.put("a", []) }
    }
  }

  @Test(
    "Who does not want to wait any more is let go, and is told the same of all that follows",
    .timeLimit(.minutes(60)))
  func cancelled() throws {
    try ask([], isCancelled: true) { remote in
      #expect(throws: RemoteError.serviceUnreachable) { _ = try remote.get("a") }
      #expect(throws: RemoteError.serviceUnreachable) { _ = try remote.stat("a") }
    }
    // What has its answer keeps it.
    #expect(try ask(CourierAnswer.absent.frame(number: 1), isCancelled: true) { try $0.stat("a") } == nil)
  }

  @Test(
    "An answer to another request, of another kind, or with more than was asked for is not",
    .timeLimit(.minutes(60)))
  func lies() throws {
    let requests: [(CourierAnswer, (CourierRemote) throws -> Void)] = [
      (.done, { _ = try $0.get("a") }), (.byteCount(1), { _ = try $0.get("a") }),
      (.object([1, 2]), { _ = try $0.get("a", range: 5..<6) }),
      (.object([]), { _ = try $0.stat("a") }), (.done, { _ = try $0.stat("a") }),
      (.absent, { try $0.put("a", []) }), (.ready, { try $0.delete("a") }),
      (.absent, { _ = try $0.list("a") }),
      (.notConfined(step: 1, code: 1), { try $0.delete("a") }),
    ]
    for (answer, request) in requests {
      try ask(answer.frame(number: 1)) { remote in
        #expect(throws: RemoteError.courier(.invalid)) { try request(remote) }
        // Nothing is heard after it.
        #expect(throws: RemoteError.courier(.invalid)) { _ = try remote.stat("a") }
      }
    }
    for names in [["g/a"], ["f"], ["f-/a"], ["f/b", "f/a"], ["f/a", "f/a"], ["f/../g"]] {
      #expect(throws: RemoteError.courier(.invalid)) { try ask(page(names)) { try $0.list("f") } }
    }
    for bytes in [
      CourierAnswer.done.frame(number: 2), CourierAnswer.done.frame(number: 0),
      [135, 0, 0, 0, 1, 255, 0, 0, 0],
      [135, 0, 0, 0, 1, 0, 0, 0, 1, 0], [9, 0, 0, 0, 1, 0, 0, 0, 0],
    ] {
      #expect(throws: RemoteError.courier(.invalid)) { try ask(bytes) { try $0.put("a", []) } }
    }
  }
}
