// SPDX-License-Identifier: Apache-2.0
//
// A server that fails, cuts off, answers slowly or answers nonsense: a request is made again where that helps, and is an
// error of its own where it does not. Objects stay whole.

import Couriers
import Dispatch
import Glibc
import Remotes
import S3Server
import Secrets
import Testing

@Suite("A service that misbehaves")
struct CourierFaultTests {
  private static let name = "account/slots/hash"
  private static let bytes = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }

  @Test("Errors that pass are not seen", arguments: [500, 502, 503, 504, 429])
  func passing(status: Int) throws {
    let server = try S3Server()
    let remote = try server.remote()
    let requests: [() throws -> Void] = [
      { try remote.put(Self.name, Self.bytes) },
      { () throws in #expect(try remote.get(Self.name) == Self.bytes) },
      { () throws in #expect(try remote.get(Self.name, range: 5..<10) == Array(Self.bytes[5..<10])) },
      { () throws in #expect(try remote.stat(Self.name) == Self.bytes.count) },
      { () throws in #expect(try remote.list("").objects.count == 1) }, { try remote.delete(Self.name) },
    ]
    for request in requests {
      server.change { $0.answers = Array(repeating: S3Answer(status: status, code: "SlowDown"), count: 5) }
      let before = server.requests.count
      try request()
      #expect(server.requests.count - before == 6)
    }
    #expect(server.keys == [])
  }

  @Test("After five repetitions it is unreachable, and the next request tries again")
  func lasting() throws {
    let server = try S3Server()
    let remote = try server.remote()
    server.change { $0.answers = Array(repeating: S3Answer(status: 503, code: "SlowDown"), count: 6) }
    #expect(throws: RemoteError.serviceUnreachable) { try remote.put(Self.name, Self.bytes) }
    #expect(server.keys == [])
    try remote.put(Self.name, Self.bytes)
    #expect(server.keys == [Self.name])
  }

  @Test("An answer that is cut off at any byte is asked for again, and nothing of it is believed")
  func cutAnswers() throws {
    let server = try S3Server()
    let remote = try server.remote()
    let bytes = Array(Self.bytes.prefix(300))
    try remote.put(Self.name, bytes)
    // The head of the answer has about 90 bytes.
    for count in 0..<380 {
      server.change { $0.cutAnswers = [count] }
      #expect(try remote.get(Self.name) == bytes, "cut after \(count) bytes")
    }
    for count in stride(from: 0, to: 600, by: 7) {
      server.change { $0.cutAnswers = [count] }
      #expect(try remote.list("").objects.map(\.name) == [Self.name], "cut after \(count) bytes")
      server.change { $0.cutAnswers = [count] }
      #expect(try remote.get(Self.name, range: 3..<200) == Array(bytes[3..<200]), "cut after \(count) bytes")
    }
    for count in 0..<90 {
      server.change { $0.cutAnswers = [count] }
      try remote.put(Self.name, bytes)
      server.change { $0.cutAnswers = [count] }
      #expect(try remote.stat(Self.name) == 300, "cut after \(count) bytes")
    }
  }

  @Test("A request that is cut off is made again, whole")
  func cutRequests() throws {
    let server = try S3Server()
    let remote = try server.remote()
    server.change { $0.cutRequestCount = 3 }
    let bytes = [UInt8](repeating: 9, count: 5_000_000)
    try remote.put(Self.name, bytes)
    #expect(try remote.get(Self.name) == bytes)
  }

  @Test("A server that does not go on is given up after a time", .timeLimit(.minutes(60)))
  func stalled() throws {
    let server = try S3Server()
    let remote = try courierRemote(server.place(), stallSeconds: 2)
    try remote.put(Self.name, [1])
    // The first request waits for the second, which comes when the first was given up.
    let (first, second) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    first.signal()
    server.change {
      $0.onRequest = { _ in
        if first.wait(timeout: .now()) == .success { second.wait() } else { second.signal() }
      }
    }
    let before = server.requests.count
    #expect(try remote.get(Self.name) == [1])
    // More than two if a busy machine did not answer the second in time, either.
    #expect((2...6).contains(server.requests.count - before))
  }

  @Test("A server that is not there is unreachable at once; one that was there is waited for")
  func away() throws {
    let first = try S3Server()
    let remote = try first.remote()
    try remote.put(Self.name, [1])
    let place = try first.place()
    first.stop()
    #expect(throws: RemoteError.serviceUnreachable) { try courierRemote(place).stat(Self.name) }
    #expect(throws: RemoteError.serviceUnreachable) { try remote.stat(Self.name) }
  }

  @Test("An address at which nobody answers is tried once, and not six times", .timeLimit(.minutes(10)))
  func silence() throws {
    // Connections that nobody accepts fill the queue of a socket; further ones are not answered.
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    var waiting: [Int32] = []
    defer { for descriptor in waiting + [listener] { close(descriptor) } }
    withUnsafeMutablePointer(to: &address) { address in
      address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        #expect(bind(listener, address, length) == 0 && listen(listener, 0) == 0)
        #expect(getsockname(listener, address, &length) == 0)
        for _ in 0..<4 {
          let one = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
          connect(one, address, length)
          waiting.append(one)
        }
      }
    }
    let place = try S3Place(
      isEncrypted: false, host: "127.0.0.1", port: UInt16(bigEndian: address.sin_port), bucket: "coffer",
      accessKey: "AK", secretKey: SharedSecretBytes(SecretBytes(copying: [1].span.bytes)))
    // The pauses before six tries would take a quarter of an hour at least.
    let remote = try courierRemote(place, stallSeconds: 1, firstPauseMilliseconds: 60_000)
    let time = ContinuousClock().measure {
      #expect(throws: RemoteError.serviceUnreachable) { try remote.stat(Self.name) }
    }
    // It was waited for: a busy machine only makes that longer.
    #expect(time > .milliseconds(900), "\(time)")
  }

  @Test("A server that comes back is used again, on the same port")
  func back() throws {
    let first = try S3Server()
    let remote = try first.remote()
    try remote.put(Self.name, [1])
    first.stop()
    let second = try S3Server(port: first.port)
    try remote.put(Self.name, [2])
    #expect(second.keys == [Self.name])
  }

  @Test("Credentials, bucket, region and clock that do not fit are told apart")
  func refused() throws {
    let server = try S3Server()
    for (place, error) in [
      (try server.place(secretKey: "other"), RemoteError.refused(.permission)),
      (try server.place(accessKey: "other"), .refused(.permission)),
      (try server.place(region: "eu-1"), .refused(.address)),
      (try server.place(bucket: "other"), .refused(.bucket)),
    ] {
      let remote = try courierRemote(place)
      #expect(throws: error) { try remote.put(Self.name, [1]) }
      #expect(throws: error) { try remote.list("") }
    }
    let remote = try server.remote()
    for (answer, error) in [
      (S3Answer(status: 403, code: "RequestTimeTooSkewed"), RemoteError.refused(.clock)),
      (S3Answer(status: 403, code: "QuotaExceeded"), .full), (S3Answer(status: 507, code: "x"), .full),
      (S3Answer(status: 301, headers: [("Location", "http://127.0.0.1:1/")]), .refused(.address)),
    ] {
      server.change { $0.answers = [answer] }
      #expect(throws: error) { try remote.put(Self.name, [1]) }
    }
    #expect(server.keys == [])
  }

  @Test("The page of a network's login, a broken list and another protocol are not a remote")
  func nonsense() throws {
    let server = try S3Server()
    let remote = try server.remote()
    let page = S3Answer(status: 200, body: Array("<!DOCTYPE html><html><body>Log in<br></body></html>".utf8))
    server.change { $0.answers = [page, S3Answer(status: 302, headers: [("Location", "/login")]), page] }
    #expect(throws: RemoteError.invalidAnswer) { try remote.list("") }
    #expect(throws: RemoteError.invalidAnswer) { try remote.put(Self.name, [1]) }
    // An object is what has the hash of its name: whoever asked for it compares.
    #expect(try remote.get(Self.name) != nil)
  }

  @Test("A list without an end, or with more than a list may have, is given up and takes no memory")
  func floods() throws {
    let server = try S3Server()
    let remote = try server.remote()
    let endless =
      "<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>x</NextContinuationToken>"
      + "</ListBucketResult>"
    server.change {
      $0.answers = Array(repeating: S3Answer(status: 200, body: Array(endless.utf8)), count: 2_000)
    }
    #expect(throws: RemoteError.invalidAnswer) { try remote.list("") }
    let long = Array("<ListBucketResult>".utf8) + [UInt8](repeating: 0x20, count: 20 << 20)
    server.change { $0.answers = [S3Answer(status: 200, body: long)] }
    #expect(throws: RemoteError.invalidAnswer) { try remote.list("") }
    let headers = (0..<5_000).map { ("X-\($0)", String(repeating: "a", count: 40)) }
    server.change { $0.answers = [S3Answer(status: 200, headers: headers)] }
    #expect(throws: RemoteError.self) { try remote.stat(Self.name) }
    server.change { $0.answers = [] }
    #expect(try remote.list("").objects == [])
  }
}
