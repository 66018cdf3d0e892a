// SPDX-License-Identifier: Apache-2.0
//
// A server that holds what asks it: by a computation that has no end, and by a byte now and then.

import Dispatch
import Foundation
import Glibc
import Remotes
import S3Server
import Secrets
import Synchronization
import Testing

@testable import Couriers

@Suite("A service that holds the courier", .timeLimit(.minutes(60)))
struct HostileServerTests {
  @Test("A login that would compute for an hour is given up, and the process that computes ends")
  func iterations() throws {
    let server = try HostileServer { connection in
      // The length of the first message, then its text; then the name of a mechanism.
      let length = Self.read(4, connection).reduce(0) { $0 << 8 | Int($1) }
      _ = Self.read(length - 4, connection)
      Self.write("R", 10, Array("SCRAM-SHA-256\0\0".utf8), connection)
      let first = Self.message(connection)
      let nonce = String(decoding: first, as: UTF8.self).components(separatedBy: "r=").last ?? ""
      let challenge = "r=\(nonce)abc,s=QUFBQUFBQUFBQUFBQUFBQQ==,i=2147483647"
      Self.write("R", 11, Array(challenge.utf8), connection)
      // Nothing comes until the process ends.
      #expect(Self.message(connection).isEmpty)
    }
    let secret = { (text: String) in SharedSecretBytes(SecretBytes(copying: Array(text.utf8).span.bytes)) }
    let place = try PostgreSQLPlace(
      isEncrypted: false, host: "127.0.0.1", port: server.port, database: "coffer", account: "ada",
      user: "ada", password: secret("pw"))
    let remote = try courierRemote(.postgreSQL(place), stallSeconds: 1)
    let process = remote.conversation.process
    #expect(throws: RemoteError.invalidAnswer) { try remote.stat("account/a") }
    server.waitForEnd()
    while waitpid(process, nil, 0) < 0 && errno == EINTR {}
    #expect(kill(process, 0) == -1 && errno == ESRCH)
    #expect(throws: RemoteError.courier(.ended)) { try remote.stat("account/a") }
  }

  @Test("An answer of a byte now and then is given up")
  func drip() throws {
    let server = try HostileServer { connection in
      _ = Self.read(1, connection)
      let head = Array("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n".utf8)
      guard send(connection, head, head.count, Int32(MSG_NOSIGNAL)) == head.count else { return }
      while send(connection, head, 1, Int32(MSG_NOSIGNAL)) == 1 { usleep(200_000) }
    }
    let place = try S3Place(
      isEncrypted: false, host: "127.0.0.1", port: server.port, bucket: "coffer", accessKey: "AK",
      secretKey: SharedSecretBytes(SecretBytes(copying: [1].span.bytes)))
    let remote = try courierRemote(place, stallSeconds: 2)
    #expect(throws: RemoteError.serviceUnreachable) { try remote.get("account/a") }
  }

  @Test("Whoever hangs up ends the courier, whatever its server does")
  func hangUp() throws {
    let server = try S3Server()
    let remote = try server.remote()
    let process = remote.conversation.process
    let (asked, mayAnswer) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    server.change {
      $0.onRequest = { _ in
        asked.signal()
        mayAnswer.wait()
      }
    }
    let failed = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      #expect(throws: RemoteError.courier(.ended)) { try remote.get("account/a") }
      failed.signal()
    }
    asked.wait()
    remote.conversation.hangUp()
    failed.wait()
    while waitpid(process, nil, 0) < 0 && errno == EINTR {}
    #expect(kill(process, 0) == -1 && errno == ESRCH)
    mayAnswer.signal()
  }

  // MARK: PostgreSQL's messages

  private static func read(_ count: Int, _ connection: Int32) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: max(0, count))
    let got = recv(connection, &bytes, bytes.count, Int32(MSG_WAITALL))
    return got == bytes.count ? bytes : []
  }

  /// The body of a message; empty when there is none.
  private static func message(_ connection: Int32) -> [UInt8] {
    guard !read(1, connection).isEmpty else { return [] }
    let length = read(4, connection).reduce(0) { $0 << 8 | Int($1) }
    return read(length - 4, connection)
  }

  private static func write(_ kind: Character, _ code: UInt8, _ body: [UInt8], _ connection: Int32) {
    let length = UInt32(8 + body.count)
    let head =
      [kind.asciiValue ?? 0] + (0..<4).map { UInt8(truncatingIfNeeded: length >> (24 - 8 * $0)) }
      + [0, 0, 0, code]
    let all = head + body
    #expect(send(connection, all, all.count, Int32(MSG_NOSIGNAL)) == all.count)
  }
}

/// A port of 127.0.0.1, and a thread for each connection.
private final class HostileServer: Sendable {
  let port: UInt16
  private let listener: Int32
  private let ended = DispatchSemaphore(value: 0)

  init(_ serve: @escaping @Sendable (Int32) -> Void) throws {
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isReady = withUnsafeMutablePointer(to: &address) { address in
      address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        bind(listener, address, length) == 0 && listen(listener, 8) == 0
          && getsockname(listener, address, &length) == 0
      }
    }
    try #require(isReady)
    self.listener = listener
    port = UInt16(bigEndian: address.sin_port)
    let ended = ended
    Thread.detachNewThread {
      while true {
        let connection = accept(listener, nil, nil)
        guard connection >= 0 else { return }
        Thread.detachNewThread {
          serve(connection)
          close(connection)
          ended.signal()
        }
      }
    }
  }

  /// Waits until a connection has ended.
  func waitForEnd() { ended.wait() }

  deinit {
    shutdown(listener, Int32(SHUT_RDWR))
    close(listener)
  }
}
