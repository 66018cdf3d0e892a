// SPDX-License-Identifier: Apache-2.0
//
// A service that speaks as much S3 as a remote needs, on a loopback address, with its objects in memory. It checks the
// signature of each request with code of its own, and misbehaves as it is told.

import Dispatch
import Glibc
import Synchronization

/// A server for tests. It listens until it is released.
public final class S3Server: Sendable {
  /// What tests may change while it runs, and what it has.
  struct State {
    var objects: [String: S3Object] = [:]
    var faults = S3Faults()
    /// Method and target of each request whose head was read.
    var requests: [String] = []
    var connectionCount = 0
    var descriptors: Set<Int32> = []
  }

  public static let accessKey = "test-key"
  public static let secretKey = "test/secret+key"
  public static let region = "us-east-1"
  public static let bucket = "coffer"

  /// The port at 127.0.0.1.
  public let port: UInt16
  private let listener: Int32
  let state = Mutex(State())

  /// - Parameter port: one that was free before; nil for any.
  /// - Throws: when the system has no socket.
  public init(port wanted: UInt16 = 0) throws {
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var reuse: Int32 = 1
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &reuse, socklen_t(MemoryLayout<Int32>.size))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    address.sin_port = wanted.bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutablePointer(to: &address) { address in
      address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        bind(listener, address, length) == 0 && listen(listener, 64) == 0
          && getsockname(listener, address, &length) == 0
      }
    }
    port = UInt16(bigEndian: address.sin_port)
    self.listener = listener
    guard isBound else { throw S3ServerError() }
    Thread.start { [weak self] in
      while true {
        let connection = accept(listener, nil, nil)
        guard connection >= 0 else { return }
        guard let self else {
          close(connection)
          return
        }
        self.state.withLock {
          $0.connectionCount += 1
          $0.descriptors.insert(connection)
        }
        Thread.start { [weak self] in
          self?.serve(connection)
          self?.state.withLock { _ = $0.descriptors.remove(connection) }
          close(connection)
        }
      }
    }
  }

  deinit { stop() }

  /// Ends all connections, and takes no others.
  public func stop() {
    shutdown(listener, Int32(SHUT_RDWR))
    state.withLock { state in for descriptor in state.descriptors { shutdown(descriptor, Int32(SHUT_RDWR)) } }
  }

  /// Changes how it misbehaves.
  public func change(_ body: (inout S3Faults) -> Void) { state.withLock { body(&$0.faults) } }

  /// Method and target of each request, in the order in which their heads were read.
  public var requests: [String] { state.withLock { $0.requests } }

  /// How many connections there have been.
  public var connectionCount: Int { state.withLock { $0.connectionCount } }

  /// The keys of the bucket, in order.
  public var keys: [String] { state.withLock { $0.objects.keys.sorted() } }

  /// Puts an object there without a request.
  public func store(_ key: String, _ bytes: [UInt8]) {
    state.withLock { $0.objects[key] = S3Object(bytes: bytes, date: time(nil), listsBefore: 0) }
  }

  private func serve(_ connection: Int32) {
    let stream = S3Stream(connection)
    while let head = stream.readHead() {
      let fault = state.withLock { state in
        state.requests.append("\(head.method) \(head.target)")
        return state.faults.next()
      }
      fault.onRequest?("\(head.method) \(head.target)")
      if fault.cutsRequest { return }
      guard let body = stream.readBody(head.contentLength) else { return }
      let answer = fault.answer ?? self.answer(head, body)
      let bytes = answer.bytes(isHead: head.method == "HEAD", date: fault.hasDate ? time(nil) : nil)
      if let count = fault.answerByteCount {
        stream.write(Array(bytes.prefix(count)))
        return
      }
      guard stream.write(bytes) else { return }
    }
  }
}

/// A server could not be started.
public struct S3ServerError: Error {}

/// An object in memory.
struct S3Object {
  let bytes: [UInt8]
  let date: Int
  /// It is left out of so many lists more.
  var listsBefore: Int
}

/// Threads that wait for the network, which must not take those of the tests.
enum Thread {
  static func start(_ body: @escaping @Sendable () -> Void) {
    DispatchQueue(label: "s3-server").async(execute: body)
  }
}
