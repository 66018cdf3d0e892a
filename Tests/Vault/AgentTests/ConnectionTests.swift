// SPDX-License-Identifier: Apache-2.0

import Extents
import Foundation
import Keychains
import Testing

@testable import Agent

@Suite("Connections to the agent")
struct ConnectionTests {
  /// A connection that sends whatever the test likes.
  private final class RawConnection {
    let descriptor: Int32

    init(_ place: AgentPlace) throws {
      descriptor = socket(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
      let number = descriptor
      let result = try PacketSocket.withAddress(place.socket) { connect(number, $0, $1) }
      guard result == 0 else { throw AgentError.system(errno) }
      var limit = timeval(tv_sec: 30, tv_usec: 0)
      setsockopt(
        descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout.size(ofValue: limit)))
    }

    deinit { close(descriptor) }

    func send(_ bytes: [UInt8]) { _ = Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) }

    /// The next answer; empty when the agent has closed the connection.
    func receive() -> [UInt8] {
      var bytes = [UInt8](repeating: 0, count: 1_000)
      let count = recv(descriptor, &bytes, bytes.count, 0)
      return Array(bytes.prefix(max(count, 0)))
    }
  }

  private static let zeros = [UInt8](repeating: 0, count: 48)
  private static let status: [UInt8] = Array("COFA".utf8) + [1, 1, 0, 0] + zeros
  private static let filled = [UInt8](repeating: 7, count: 48)

  /// A message and what is wrong with it.
  private static let badMessages: [(String, [UInt8])] = [
    ("a byte", [0x43]),
    ("too short", status.dropLast()),
    ("too long", status + [0]),
    ("far too long", status + [UInt8](repeating: 1, count: 300)),
    ("another magic", Array("COFB".utf8) + status.dropFirst(4)),
    ("another version", Array("COFA".utf8) + [2, 1, 0, 0] + zeros),
    ("an unknown kind", Array("COFA".utf8) + [1, 8, 0, 0] + zeros),
    ("keep without a passcode", Array("COFA".utf8) + [1, 6, 4, 0] + filled.prefix(32) + zeros.prefix(16)),
    (
      "keep of a class key",
      Array("COFA".utf8) + [1, 6, 1, 0] + filled.prefix(32) + zeros.prefix(16) + filled.prefix(36)
    ),
    ("an idle limit without seconds", Array("COFA".utf8) + [1, 7, 0, 0] + zeros),
    ("an absolute limit without seconds", Array("COFA".utf8) + [1, 8, 0, 0] + zeros),
    ("kind zero", Array("COFA".utf8) + [1, 0, 0, 0] + zeros),
    ("a filled reserved byte", Array("COFA".utf8) + [1, 1, 0, 1] + zeros),
    ("status with keys", Array("COFA".utf8) + [1, 1, 3, 0] + zeros),
    ("status with a binding", Array("COFA".utf8) + [1, 1, 0, 0] + filled),
    ("get without a binding", Array("COFA".utf8) + [1, 3, 3, 0] + zeros),
    ("get with a slot", Array("COFA".utf8) + [1, 3, 3, 0] + filled),
    ("get of no key", Array("COFA".utf8) + [1, 3, 0, 0] + filled.prefix(32) + zeros.prefix(16)),
    ("get of the first key alone", Array("COFA".utf8) + [1, 3, 1, 0] + filled.prefix(32) + zeros.prefix(16)),
    ("get of a third key", Array("COFA".utf8) + [1, 3, 7, 0] + filled.prefix(32) + zeros.prefix(16)),
    ("get of one key for a look", Array("COFA".utf8) + [1, 3, 9, 0] + filled.prefix(32) + zeros.prefix(16)),
    ("give without keys", Array("COFA".utf8) + [1, 2, 3, 0] + filled),
    ("give of one key", Array("COFA".utf8) + [1, 2, 3, 0] + filled + filled.prefix(32)),
    ("give of half a key too much", Array("COFA".utf8) + [1, 2, 3, 0] + filled + filled + filled),
    ("give that says one key", Array("COFA".utf8) + [1, 2, 2, 0] + filled + filled + filled.prefix(16)),
    (
      "give without a slot",
      Array("COFA".utf8) + [1, 2, 3, 0] + filled.prefix(32) + zeros.prefix(16) + filled + filled.prefix(16)
    ),
    ("lock with keys behind", Array("COFA".utf8) + [1, 4, 0, 0] + zeros + filled + filled.prefix(16)),
    ("logout with a slot", Array("COFA".utf8) + [1, 5, 0, 0] + zeros.prefix(32) + filled.prefix(16)),
  ]

  @Test(
    "What the protocol does not allow closes the connection, unanswered, and changes nothing",
    arguments: badMessages)
  func malformed(what: String, bytes: [UInt8]) throws {
    let served = try ServedHome()
    defer { served.end() }
    let keys = someKeys()
    try served.client().give(keys, binding: binding(), slot: UUID())
    let connection = try RawConnection(served.place)
    connection.send(Self.status)
    #expect(connection.receive().count == 88)
    connection.send(bytes)
    #expect(connection.receive().isEmpty, "\(what)")
    let got = try served.client().keys(.all, binding: binding())
    #expect(isSame(got.keys.whenUnlocked, keys.whenUnlocked))
    #expect(isSame(got.keys.afterFirstUnlock, keys.afterFirstUnlock))
  }

  @Test("The bytes of requests are those of the specification")
  func bytes() {
    let (binding, slot) = (binding(), UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)))
    #expect(AgentRequest.status.header.bytes == Self.status)
    let give = AgentRequest.give(binding: binding, slot: slot).header.bytes
    #expect(give == Array("COFA".utf8) + [1, 2, 3, 0] + binding.bytes + Array(1...16))
    let get = AgentRequest.get(.afterFirstUnlock, binding: binding).header.bytes
    #expect(get == Array("COFA".utf8) + [1, 3, 2, 0] + binding.bytes + Self.zeros.prefix(16))
    #expect(AgentHeader(give) == AgentRequest.give(binding: binding, slot: slot).header)
  }

  @Test("A silent connection is closed after its time and holds nobody up meanwhile")
  func silent() throws {
    let served = try ServedHome()
    defer { served.end() }
    let silent = try RawConnection(served.place)
    // Two round trips: the first connection was accepted before the second was answered.
    #expect(try served.client().status().state == .neverUnlocked)
    #expect(try served.client().status().state == .neverUnlocked)
    served.clock.advance(seconds: 2)
    #expect(silent.receive().isEmpty)
  }

  @Test("A client whose connection was closed for its silence connects again by itself")
  func reconnects() throws {
    let served = try ServedHome()
    defer { served.end() }
    let client = try served.client()
    for _ in 1...3 {
      #expect(try client.status().state == .neverUnlocked)
      served.clock.advance(seconds: 3)
    }
    try client.give(someKeys(), binding: binding(), slot: UUID())
    served.clock.advance(seconds: 3)
    #expect(try client.keys(.all, binding: binding()).keys.whenUnlocked != nil)
  }

  @Test("More connections than there is room for take the place of the most silent ones")
  func crowd() throws {
    let served = try ServedHome()
    defer { served.end() }
    var crowd: [RawConnection] = []
    for _ in 0..<(3 * AgentLoop.connectionLimit) {
      crowd.append(try RawConnection(served.place))
      served.clock.advance(seconds: 0.001)
      // Each is accepted before the next comes, so that the queue never fills.
      #expect(try served.client().status().state == .neverUnlocked)
    }
    #expect(crowd[0].receive().isEmpty)
    crowd[crowd.count - 1].send(Self.status)
    #expect(crowd[crowd.count - 1].receive().count == 88)
  }

  @Test("Who does not fetch answers is dropped")
  func deaf() throws {
    let served = try ServedHome()
    defer { served.end() }
    let deaf = try RawConnection(served.place)
    _ = fcntl(deaf.descriptor, F_SETFL, O_NONBLOCK)
    // More than a socket holds; the agent drops it when an answer finds no room.
    try eventually {
      var isGone = false
      for _ in 0..<50 where !isGone {
        isGone =
          Glibc.send(deaf.descriptor, Self.status, Self.status.count, Int32(MSG_NOSIGNAL)) < 0
          && errno == EPIPE
      }
      return isGone
    }
    #expect(try served.client().status().state == .neverUnlocked)
  }

  @Test("An agent that hangs costs a client its deadline, once", .timeLimit(.minutes(10)))
  func hung() throws {
    let folder = try RuntimeFolder()
    let place = try folder.place()
    // It listens, and never answers.
    let listening = try AgentServer.Listening(place)
    let client = try #require(AgentClient.connect(place))
    client.deadlineMilliseconds = AgentClient.deadlineMilliseconds
    let begin = ContinuousClock.now
    #expect(throws: AgentError.notAnswering) { try client.status() }
    // A busy machine only makes that longer.
    #expect(ContinuousClock.now - begin >= .milliseconds(AgentClient.deadlineMilliseconds))
    // If it waited again, it would wait for longer than this test may take.
    client.deadlineMilliseconds = 900_000
    #expect(throws: AgentError.notAnswering) { try client.keys(.all, binding: binding()) }
    // With a full queue there is not even a connection.
    var queue: [AgentClient] = [client]
    while queue.count < 100, let next = AgentClient.connect(place) { queue.append(next) }
    #expect(queue.count < 100)
    // That is not the same as no agent: it may still have keys.
    #expect(throws: AgentError.notAnswering) { _ = try AgentClient.find(place.socket) }
    listening.end()
    queue = []
    #expect(try AgentClient.find(place.socket) == nil)
  }

  @Test("Keys whose giver has given up do not count, and those held before stay")
  func giverGone() throws {
    let served = try ServedHome()
    defer { served.end() }
    let header = AgentRequest.give(binding: binding(), slot: UUID()).header.bytes
    let give = header + [UInt8](repeating: 1, count: 64)
    for isUnlocked in [false, true] {
      let keys = someKeys()
      if isUnlocked { try served.client().give(keys, binding: binding(), slot: UUID()) }
      let gone = try RawConnection(served.place)
      shutdown(gone.descriptor, Int32(SHUT_RD))
      gone.send(give)
      // Accepted after the other was, so it is heard after it too.
      let client = try served.client()
      #expect(try client.status().state == (isUnlocked ? .unlocked : .neverUnlocked))
      guard isUnlocked else { continue }
      #expect(isSame(try client.keys(.all, binding: binding()).keys.whenUnlocked, keys.whenUnlocked))
    }
  }

  @Test("A client that gives up can be told nothing any more, so that the agent knows")
  func givesUp() throws {
    let folder = try RuntimeFolder()
    let place = try folder.place()
    let listening = try AgentServer.Listening(place)
    let client = try #require(AgentClient.connect(place))
    client.deadlineMilliseconds = AgentClient.deadlineMilliseconds
    #expect(throws: AgentError.notAnswering) { try client.give(someKeys(), binding: binding(), slot: UUID()) }
    let accepted = accept(listening.descriptor, nil, nil)
    defer { close(accepted) }
    let isHeard = PacketSocket.send(accepted, AgentHeader(kind: 2).bytes, RawSpan(), RawSpan())
    #expect(!isHeard)
    withExtendedLifetime(client) {}
    listening.end()
  }

  @Test("An answer that the protocol does not allow is an error, and the connection is used no more")
  func lyingAgent() throws {
    let place = try RuntimeFolder()
    let where_ = try place.place()
    let listening = try AgentServer.Listening(where_)
    let client = try #require(AgentClient.connect(where_))
    let accepted = accept(listening.descriptor, nil, nil)
    defer { close(accepted) }
    // Keys that nobody asked for: the answer is there before the question.
    let header = AgentHeader(kind: 3, keys: 3, binding: binding(), slot: UUID()).bytes
    let answer = header + [UInt8](repeating: 1, count: 64)
    #expect(send(accepted, answer, answer.count, 0) == answer.count)
    #expect(throws: AgentError.malformedAnswer) { try client.keys(.afterFirstUnlock, binding: binding()) }
    #expect(throws: AgentError.notAnswering) { try client.status() }
    listening.end()
  }

  @Test("Descriptors that are sent along do not arrive")
  func descriptors() throws {
    let served = try ServedHome()
    defer { served.end() }
    let connection = try RawConnection(served.place)
    let ends = makePipe()
    // One control message, SCM_RIGHTS, with the pipe's writing end.
    var control: (Int, Int32, Int32, Int32, Int32) = (20, SOL_SOCKET, 1, ends.writing, 0)
    var bytes = Self.status
    bytes.withUnsafeMutableBytes { bytes in
      withUnsafeMutableBytes(of: &control) { control in
        var part = iovec(iov_base: bytes.baseAddress, iov_len: bytes.count)
        withUnsafeMutablePointer(to: &part) { part in
          var message = msghdr()
          message.msg_iov = part
          message.msg_iovlen = 1
          message.msg_control = control.baseAddress
          message.msg_controllen = 24
          #expect(sendmsg(connection.descriptor, &message, 0) == bytes.count)
        }
      }
    }
    #expect(connection.receive().count == 88)
    close(ends.writing)
    // Nobody else has the writing end: reading finds the end of the pipe.
    var byte: UInt8 = 0
    var polled = pollfd(fd: ends.reading, events: Int16(POLLIN), revents: 0)
    #expect(poll(&polled, 1, Patience.milliseconds) == 1)
    #expect(read(ends.reading, &byte, 1) == 0)
    close(ends.reading)
  }
}
