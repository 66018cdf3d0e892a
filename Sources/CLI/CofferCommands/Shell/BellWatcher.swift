// SPDX-License-Identifier: Apache-2.0
//
// A thread that waits for the request of a signal beside a wait that hears of no signals itself.

internal import CSystem
internal import Foundation
internal import Glibc

/// Calls `stop` once when a descriptor becomes readable, until it is ended.
final class BellWatcher: Sendable {
  private let ends: (reading: Int32, writing: Int32)
  private let ended = DispatchSemaphore(value: 0)

  /// Nil when there are no descriptors left.
  /// - Parameter bell: is polled, and never read.
  init?(_ bell: Int32, _ stop: @escaping @Sendable () -> Void) {
    var ends: (reading: Int32, writing: Int32) = (-1, -1)
    guard unsafe coffer_pipe(&ends.reading, &ends.writing) == 0 else { return nil }
    self.ends = ends
    let ended = ended
    let farewell = ends.reading
    Thread.detachNewThread {
      var polled = [
        pollfd(fd: bell, events: Int16(POLLIN), revents: 0),
        pollfd(fd: farewell, events: Int16(POLLIN), revents: 0),
      ]
      var count: Int32
      repeat { count = unsafe poll(&polled, 2, -1) } while count < 0 && errno == EINTR
      if polled[1].revents == 0 { stop() }
      ended.signal()
    }
  }

  /// Ends the thread, and waits for that.
  func end() {
    _ = unsafe write(ends.writing, "!", 1)
    ended.wait()
    close(ends.reading)
    close(ends.writing)
  }
}
