// SPDX-License-Identifier: Apache-2.0
//
// Connects to the source of screen and sleep events beside the agent's thread: a bus may accept a connection and never
// answer, and the agent must go on hearing its clients, its limits and its signals meanwhile.

internal import CSystem
internal import Foundation
internal import Glibc
internal import Synchronization

/// One attempt at a time. Belongs to one thread; what it has found is handed over to that.
final class WatchConnector {
  /// Nobody has the watch before it is handed over, and whoever made it has let it go by then.
  private struct Found: @unchecked Sendable { let watch: (any SessionWatch)? }

  /// What the thread of an attempt shares with us; it outlives us if the attempt does.
  private final class Attempt: Sendable {
    let found = Mutex<Found?>(nil)
    let ends: (reading: Int32, writing: Int32)

    init?() {
      var ends: (reading: Int32, writing: Int32) = (-1, -1)
      guard unsafe coffer_pipe(&ends.reading, &ends.writing) == 0 else { return nil }
      self.ends = ends
    }

    deinit {
      close(ends.reading)
      close(ends.writing)
    }
  }

  private let connect: @Sendable () -> (any SessionWatch)?
  private var attempt: Attempt?

  init(_ connect: @escaping @Sendable () -> (any SessionWatch)?) { self.connect = connect }

  /// Readable when an attempt has ended; -1 without one.
  var descriptor: Int32 { attempt?.ends.reading ?? -1 }

  /// Begins an attempt, unless there is one.
  func begin() {
    guard attempt == nil, let begun = Attempt() else { return }
    attempt = begun
    let connect = connect
    Thread.detachNewThread {
      let watch = Found(watch: connect())
      begun.found.withLock { $0 = watch }
      _ = unsafe write(begun.ends.writing, "!", 1)
    }
  }

  /// What an attempt that has ended has found; nil while it goes on.
  func take() -> (any SessionWatch)?? {
    guard let attempt, let found = attempt.found.withLock({ $0 }) else { return nil }
    self.attempt = nil
    return .some(found.watch)
  }

  /// The same, after waiting so long at most.
  func take(within patience: Duration) -> (any SessionWatch)?? {
    let milliseconds =
      patience.components.seconds * 1_000 + patience.components.attoseconds / 1_000_000_000_000_000
    var wait = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    _ = unsafe poll(&wait, 1, Int32(clamping: milliseconds))
    return take()
  }
}
