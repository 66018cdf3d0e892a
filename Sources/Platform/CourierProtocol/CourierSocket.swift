// SPDX-License-Identifier: Apache-2.0
//
// One end of the socket. It waits for as long as the other process lives.

internal import Glibc
package import Secrets

/// A frame that came.
package enum CourierReceived {
  case frame(CourierHead, [UInt8])
  /// The other process has ended the conversation.
  case end
}

/// One end of the socket between the two processes. Sendable: it is a number. Whoever made it closes it.
package struct CourierSocket: Sendable {
  package let descriptor: Int32

  package init(descriptor: Int32) { self.descriptor = descriptor }

  /// Two ends, which no other process inherits; nil when the system has none.
  package static func pair() -> (CourierSocket, CourierSocket)? {
    var ends: [Int32] = [-1, -1]
    let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    guard unsafe socketpair(AF_UNIX, kind, 0, &ends) == 0 else { return nil }
    return (CourierSocket(descriptor: ends[0]), CourierSocket(descriptor: ends[1]))
  }

  /// False when the other process is gone.
  package func send(_ bytes: RawSpan) -> Bool {
    unsafe bytes.withUnsafeBytes { bytes in
      var sent = 0
      while sent < bytes.count {
        let count = unsafe Glibc.send(
          descriptor, bytes.baseAddress! + sent, bytes.count - sent, Int32(MSG_NOSIGNAL))
        if count > 0 { sent += count } else if errno != EINTR { return false }
      }
      return true
    }
  }

  /// The next frame.
  /// - Throws: when the other process sends something that is not a frame, or breaks off in one.
  package func receive() throws(CourierProtocolError) -> CourierReceived {
    guard let head = try receiveHead() else { return .end }
    var body = [UInt8](repeating: 0, count: head.bodyByteCount)
    guard body.withMutableRawSpan({ receive(&$0) == .all }) else { throw CourierProtocolError() }
    return .frame(head, body)
  }

  /// The body of the frame that opens, in locked memory; nil when the conversation ends before.
  package func receiveOpening() throws(CourierProtocolError) -> SecretBytes? {
    guard let head = try receiveHead() else { return nil }
    guard head.kind == CourierOpening.kind, head.number == 0,
      head.bodyByteCount <= CourierOpening.bodyByteCountLimit
    else { throw CourierProtocolError() }
    var body = SecretBytes(zeroed: head.bodyByteCount)
    guard body.withMutableBytes({ receive(&$0) == .all }) else { throw CourierProtocolError() }
    return body
  }

  private func receiveHead() throws(CourierProtocolError) -> CourierHead? {
    var bytes = [UInt8](repeating: 0, count: CourierHead.byteCount)
    switch bytes.withMutableRawSpan({ receive(&$0) }) {
    case .nothing: return nil
    case .part: throw CourierProtocolError()
    case .all: return try CourierHead(bytes)
    }
  }

  private enum Extent { case nothing, part, all }

  private func receive(_ bytes: inout MutableRawSpan) -> Extent {
    unsafe bytes.withUnsafeMutableBytes { bytes in
      var received = 0
      while received < bytes.count {
        let count = unsafe recv(descriptor, bytes.baseAddress! + received, bytes.count - received, 0)
        if count > 0 {
          received += count
        } else if count == 0 || errno != EINTR {
          return received == 0 ? .nothing : .part
        }
      }
      return .all
    }
  }
}
