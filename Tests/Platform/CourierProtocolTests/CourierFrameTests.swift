// SPDX-License-Identifier: Apache-2.0
//
// Strict reading: what one side did not mean, the other does not take.

import Glibc
import Remotes
import Secrets
import SeededGenerators
import Testing

@testable import CourierProtocol

@Suite("Reading frames of the courier")
struct CourierFrameTests {
  static let requests: [CourierRequest] = [
    .list(folder: "", continuation: "a+/="), .get(name: "a", range: nil), .get(name: "a", range: 5..<Int.max),
    .put(name: "a/b", bytes: []), .stat(name: "a"), .delete(name: "a"),
  ]
  static let errors: [RemoteError] = [
    .serviceUnreachable, .refused(.permission), .refused(.readOnly), .refused(.name), .refused(.tooLarge),
    .refused(.occupied), .refused(.clock), .refused(.address), .full, .inputOutput(code: 5), .untrusted,
    .invalidAnswer, .refused(.unprepared), .refused(.bucket),
  ]
  static let answers: [CourierAnswer] =
    [
      .ready, .notConfined(step: 3, code: 38), .object([]), .object([1]), .byteCount(7), .absent, .done,
      .page(CourierPage(objects: [], time: nil, continuation: "")),
      .page(
        CourierPage(
          objects: [
            RemoteObject(name: "a", byteCount: 1, date: nil), .init(name: "a-", byteCount: 2, date: nil),
          ],
          time: nil, continuation: "next")),
    ] + errors.map { .failed($0) }

  private func body(_ frame: [UInt8]) throws -> (CourierHead, [UInt8]) {
    (try CourierHead(Array(frame.prefix(9))), Array(frame.dropFirst(9)))
  }

  @Test("Every request and answer is read as it was written")
  func roundTrips() throws {
    for request in Self.requests {
      let (head, body) = try body(request.frame(number: 7))
      #expect(try CourierRequest(kind: head.kind, body: body) == request)
    }
    for answer in Self.answers {
      let (head, body) = try body(answer.frame(number: 7))
      #expect(try CourierAnswer(kind: head.kind, body: body) == answer)
    }
  }

  @Test("A body with a byte less or a byte more is refused, except where an object ends it")
  func lengths() throws {
    for answer in Self.answers {
      let (head, body) = try body(answer.frame(number: 7))
      if case .object = answer { continue }
      #expect(throws: CourierProtocolError.self) { try CourierAnswer(kind: head.kind, body: body + [0]) }
      guard !body.isEmpty else { continue }
      #expect(throws: CourierProtocolError.self) {
        try CourierAnswer(kind: head.kind, body: Array(body.dropLast()))
      }
    }
    for request in Self.requests {
      let (head, body) = try body(request.frame(number: 7))
      if case .put = request { continue }
      #expect(throws: CourierProtocolError.self) { try CourierRequest(kind: head.kind, body: body + [0]) }
    }
  }

  @Test("Unknown kinds, flags and reasons are refused")
  func unknown() {
    for kind in UInt8.min...UInt8.max where !(2...6).contains(kind) {
      #expect(throws: CourierProtocolError.self) { try CourierRequest(kind: kind, body: [0, 1, 0x61]) }
    }
    for kind in UInt8.min...UInt8.max where !(129...136).contains(kind) {
      #expect(throws: CourierProtocolError.self) { try CourierAnswer(kind: kind, body: []) }
    }
    #expect(throws: CourierProtocolError.self) { try CourierRequest(kind: 3, body: [0, 1, 0x61, 2]) }
    for (reason, detail) in [(0, 0), (15, 0), (1, 1), (255, 0)] as [(UInt8, UInt8)] {
      #expect(throws: CourierProtocolError.self) {
        try CourierAnswer(kind: 136, body: [reason, 0, 0, 0, detail])
      }
    }
  }

  @Test("A page with names that are not ours, twice the same, or out of order is refused")
  func pages() throws {
    for names in [["A"], ["a/../b"], [""], ["a", "a"], ["b", "a"], ["a/b", "a-b"]] {
      let page = CourierPage(
        objects: names.map { RemoteObject(name: $0, byteCount: 1, date: nil) }, time: nil, continuation: "")
      let (head, body) = try body(CourierAnswer.page(page).frame(number: 1))
      #expect(throws: CourierProtocolError.self) { try CourierAnswer(kind: head.kind, body: body) }
    }
    let many = (0...CourierPage.objectCountLimit).map {
      RemoteObject(name: "\(100_000 + $0)", byteCount: 1, date: nil)
    }
    let (head, body) = try body(
      CourierAnswer.page(CourierPage(objects: many, time: nil, continuation: "")).frame(number: 1))
    #expect(throws: CourierProtocolError.self) { try CourierAnswer(kind: head.kind, body: body) }
  }

  @Test("A range that ends before it begins, or is beyond every number, is refused")
  func ranges() {
    for range in [[0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0, 8], [UInt8](repeating: 255, count: 16)] {
      #expect(throws: CourierProtocolError.self) {
        try CourierRequest(kind: 3, body: [0, 1, 0x61, 1] + range)
      }
    }
  }

  @Test("A body above the limit is refused before it is read")
  func tooLarge() throws {
    let limit = UInt32(CourierHead.bodyByteCountLimit)
    func head(_ count: UInt32) throws -> CourierHead {
      try CourierHead(
        [4, 0, 0, 0, 1] + (0..<4).reversed().map { UInt8(truncatingIfNeeded: count >> (8 * $0)) })
    }
    #expect(try head(limit).bodyByteCount == Int(limit))
    #expect(throws: CourierProtocolError.self) { try head(limit + 1) }
    #expect(throws: CourierProtocolError.self) { try head(.max) }
  }

  @Test("Changed bytes are refused, or read as something that has the same bytes")
  func mutations() throws {
    var random = SeededGenerator(seed: 11)
    let opening = try CourierOpening(.s3(CourierSpecTests.place()), CourierLimits()).frame().withBytes {
      Array(copying: $0)
    }
    let frames =
      Self.requests.map { $0.frame(number: 1) } + Self.answers.map { $0.frame(number: 1) } + [opening]
    for _ in 0..<20_000 {
      var frame = frames.randomElement(using: &random)!
      for _ in 0...Int.random(in: 0..<3, using: &random) {
        frame[Int.random(in: 0..<frame.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
      }
      guard let (head, body) = try? body(frame) else { continue }
      if let request = try? CourierRequest(kind: head.kind, body: body) {
        #expect(request.frame(number: head.number).dropFirst(9) == body[...])
      }
      if let answer = try? CourierAnswer(kind: head.kind, body: body) {
        #expect(answer.frame(number: head.number).dropFirst(9) == body[...])
      }
      _ = try? CourierOpening(body: body.span.bytes)
    }
  }

  private func send(_ bytes: [UInt8], to socket: CourierSocket) -> Bool { socket.send(bytes.span.bytes) }

  @Test("What breaks off in a frame is an error; an end between frames is an end")
  func ends() throws {
    let frame = CourierRequest.stat(name: "a").frame(number: 1)
    for count in 0...frame.count {
      let (one, other) = try #require(CourierSocket.pair())
      defer { close(other.descriptor) }
      #expect(send(Array(frame.prefix(count)), to: one))
      close(one.descriptor)
      switch count {
      case 0:
        guard case .end = try other.receive() else {
          Issue.record("no end")
          return
        }
      case frame.count:
        guard case .frame(_, let body) = try other.receive() else {
          Issue.record("no frame")
          return
        }
        #expect(body == [0, 1, 0x61])
      default: #expect(throws: CourierProtocolError.self) { _ = try other.receive() }
      }
    }
  }

  @Test("The frame that opens is read as nothing else, and nothing else as that")
  func openings() throws {
    for frame in [CourierRequest.stat(name: "a").frame(number: 0), [1, 0, 0, 0, 1, 0, 0, 0, 0]] {
      let (one, other) = try #require(CourierSocket.pair())
      defer { close(other.descriptor) }
      #expect(send(frame, to: one))
      close(one.descriptor)
      #expect(throws: CourierProtocolError.self) { _ = try other.receiveOpening() }
    }
  }
}
