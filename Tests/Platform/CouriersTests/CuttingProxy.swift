// SPDX-License-Identifier: Apache-2.0
//
// A listener on loopback, and what passes bytes on to a server and cuts the connection where it is told.

import Dispatch
import Glibc
import Synchronization
import Testing

/// Hands each connection that is made to it to a function, in a thread of its own.
final class LoopbackListener: Sendable {
  let port: UInt16
  private let listener: Int32

  init(_ serve: @escaping @Sendable (LoopbackConnection) -> Void) throws {
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var address = LoopbackConnection.address(port: 0)
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutablePointer(to: &address) { address in
      address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        bind(listener, address, length) == 0 && listen(listener, 16) == 0
          && getsockname(listener, address, &length) == 0
      }
    }
    try #require(isBound)
    port = UInt16(bigEndian: address.sin_port)
    self.listener = listener
    DispatchQueue(label: "listener").async {
      while case let descriptor = accept(listener, nil, nil), descriptor >= 0 {
        DispatchQueue(label: "connection").async { serve(LoopbackConnection(descriptor)) }
      }
    }
  }

  deinit {
    shutdown(listener, Int32(SHUT_RDWR))
    close(listener)
  }
}

/// One connection, which is closed when it is released.
final class LoopbackConnection: Sendable {
  let descriptor: Int32

  init(_ descriptor: Int32) { self.descriptor = descriptor }

  /// Connects to a port of this machine; nil when nobody listens there.
  init?(port: UInt16) {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var address = Self.address(port: port)
    let code = withUnsafeMutablePointer(to: &address) { address in
      address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard code == 0 else { return nil }
  }

  deinit { close(descriptor) }

  func send(_ text: String) { send(Array(text.utf8)) }

  func send(_ bytes: some Collection<UInt8>) {
    _ = Array(bytes).withUnsafeBytes {
      Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
    }
  }

  /// What comes next; empty at the end.
  func receive() -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: 65_536) { bytes, count in
      count = max(0, recv(descriptor, bytes.baseAddress, bytes.count, 0))
    }
  }

  func awaitEnd() { while !receive().isEmpty {} }

  /// No byte passes any more, in either direction.
  func cut() { shutdown(descriptor, Int32(SHUT_RDWR)) }

  static func address(port: UInt16) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    address.sin_port = port.bigEndian
    return address
  }
}

/// Passes bytes between clients and a server, and cuts connections.
final class CuttingProxy: Sendable {
  /// A connection is cut when so many bytes more have passed to the server, or from it.
  struct Cut: Sendable {
    let isToServer: Bool
    var byteCount: Int
  }

  private let listener: LoopbackListener
  private let cuts: Waiting

  /// The cuts that are to come.
  private final class Waiting: Sendable {
    let list = Mutex<[Cut]>([])

    /// How many of the next bytes pass; whether the connection is cut after them.
    func pass(_ count: Int, isToServer: Bool) -> (Int, isCut: Bool) {
      list.withLock { list in
        guard let next = list.first, next.isToServer == isToServer else { return (count, false) }
        guard next.byteCount <= count else {
          list[0].byteCount -= count
          return (count, false)
        }
        list.removeFirst()
        return (next.byteCount, true)
      }
    }
  }

  var port: UInt16 { listener.port }

  init(to port: UInt16) throws {
    let cuts = Waiting()
    self.cuts = cuts
    listener = try LoopbackListener { client in
      guard let server = LoopbackConnection(port: port) else { return }
      let group = DispatchGroup()
      for (source, target, isToServer) in [(client, server, true), (server, client, false)] {
        DispatchQueue(label: "pump").async(group: group) {
          while case let bytes = source.receive(), !bytes.isEmpty {
            let (count, isCut) = cuts.pass(bytes.count, isToServer: isToServer)
            target.send(bytes.prefix(count))
            if isCut { break }
          }
          source.cut()
          target.cut()
        }
      }
      group.wait()
    }
  }

  /// The next connections to carry bytes are cut so.
  func cut(_ cuts: [Cut]) { self.cuts.list.withLock { $0 = cuts } }

  var hasCuts: Bool { cuts.list.withLock { !$0.isEmpty } }
}
