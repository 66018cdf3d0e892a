// SPDX-License-Identifier: Apache-2.0
//
// The end of a courier that nobody uses any more. What is under way may never end by itself: a server can send a byte now
// and then, or have libpq compute for hours.

internal import CourierProtocol
internal import Glibc
internal import Primitives

enum HangUpWatch {
  /// Requests that are under way when the other process hangs up, or ends, have so long.
  private static let graceSeconds: UInt32 = 10

  /// POLLRDHUP, which Glibc's module lacks: the other process sends nothing more.
  private static let hangUp: Int16 = 0x2000

  /// Ends this process some seconds after the other one has ended the conversation.
  /// - Returns: false when there is no thread for it.
  static func begin(_ socket: CourierSocket) -> Bool {
    let thread = WorkerThread {
      var watched = pollfd(fd: socket.descriptor, events: hangUp, revents: 0)
      while unsafe poll(&watched, 1, -1) < 0 && errno == EINTR {}
      var rest = graceSeconds
      while rest > 0 { rest = sleep(rest) }
      _exit(1)
    }
    return thread != nil
  }
}
