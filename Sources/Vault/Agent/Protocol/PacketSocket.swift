// SPDX-License-Identifier: Apache-2.0
//
// One end of a local connection that carries whole packets (SOCK_SEQPACKET). Sends from and receives into
// several places at once, so that keys need no buffer beside their header. Never blocks.

internal import CSystem
internal import Glibc

/// A local packet socket, closed when the value goes.
@safe
struct PacketSocket: ~Copyable {
  let descriptor: Int32

  /// The result of receiving.
  enum Received: Equatable {
    /// A packet of so many bytes, all of which are there.
    case packet(byteCount: Int)
    /// A packet that was longer than the places for it; the rest is lost.
    case tooLong
    /// Nothing yet.
    case nothing
    /// The other side has closed the connection.
    case closed
  }

  /// Takes over an open descriptor.
  init(owning descriptor: Int32) { self.descriptor = descriptor }

  /// A new socket that does not block and is not passed on.
  init() throws(AgentError) {
    let kind = Int32(SOCK_SEQPACKET.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
    descriptor = socket(AF_UNIX, kind, 0)
    guard descriptor >= 0 else { throw .system(errno) }
  }

  deinit { close(descriptor) }

  /// Gives the open descriptor away.
  consuming func released() -> Int32 {
    let number = descriptor
    discard self
    return number
  }

  /// The process at the other end, if it runs as the same user; for a client, the one that listens.
  borrowing func peerOfSameUser() -> Int32? { Self.peerOfSameUser(descriptor) }

  static func peerOfSameUser(_ descriptor: Int32) -> Int32? {
    var (user, process): (UInt32, Int32) = (0, 0)
    guard unsafe coffer_peer(descriptor, &user, &process) == 0, user == geteuid() else { return nil }
    return process
  }

  /// Sends one packet: `header`, then both parts, which may be empty.
  /// - Returns: false when it was not sent, for whatever reason.
  static func send(_ descriptor: Int32, _ header: [UInt8], _ first: RawSpan, _ second: RawSpan) -> Bool {
    var sent = -1
    unsafe header.withUnsafeBytes { header in
      unsafe first.withUnsafeBytes { first in
        unsafe second.withUnsafeBytes { second in
          var parts = unsafe (
            iovec(iov_base: .init(mutating: header.baseAddress), iov_len: header.count),
            iovec(iov_base: .init(mutating: first.baseAddress), iov_len: first.count),
            iovec(iov_base: .init(mutating: second.baseAddress), iov_len: second.count)
          )
          unsafe withMessage(&parts) { message in
            repeat {
              sent = unsafe sendmsg(descriptor, &message, Int32(MSG_NOSIGNAL))
            } while sent < 0 && errno == EINTR
          }
        }
      }
    }
    return sent == header.count + first.byteCount + second.byteCount
  }

  /// Receives one packet into `header` and then both parts.
  static func receive(
    _ descriptor: Int32, _ header: inout [UInt8], _ first: inout MutableRawSpan,
    _ second: inout MutableRawSpan
  ) -> Received {
    var count = -1
    var isCut = false
    var failure: Int32 = 0
    unsafe header.withUnsafeMutableBytes { header in
      unsafe first.withUnsafeMutableBytes { first in
        unsafe second.withUnsafeMutableBytes { second in
          var parts = unsafe (
            iovec(iov_base: header.baseAddress, iov_len: header.count),
            iovec(iov_base: first.baseAddress, iov_len: first.count),
            iovec(iov_base: second.baseAddress, iov_len: second.count)
          )
          unsafe withMessage(&parts) { message in
            repeat {
              // No room for control data: descriptors that are sent along never arrive.
              count = unsafe recvmsg(descriptor, &message, 0)
              failure = errno
            } while count < 0 && failure == EINTR
            isCut = unsafe message.msg_flags & Int32(MSG_TRUNC) != 0
          }
        }
      }
    }
    if count > 0 { return isCut ? .tooLong : .packet(byteCount: count) }
    if count < 0 && (failure == EAGAIN || failure == EWOULDBLOCK) { return .nothing }
    return .closed
  }

  private static func withMessage(
    _ parts: inout (iovec, iovec, iovec), _ body: (inout msghdr) -> Void
  ) {
    unsafe withUnsafeMutablePointer(to: &parts) { parts in
      unsafe parts.withMemoryRebound(to: iovec.self, capacity: 3) { parts in
        var message = unsafe msghdr()
        unsafe message.msg_iov = parts
        unsafe message.msg_iovlen = 3
        unsafe body(&message)
      }
    }
  }

  /// Calls `body` with the address of a path.
  static func withAddress<R>(
    _ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> R
  ) throws(AgentError) -> R {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let bytes = Array(path.utf8)
    // One byte for the NUL.
    guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else { throw .pathTooLong }
    unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes) }
    return unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
  }
}
