// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A thread that does one thing and ends.
@safe
package final class WorkerThread {
  private let thread: pthread_t

  /// Nil when there is no thread to be had.
  package init?(_ body: @escaping @Sendable () -> Void) {
    let handedOver = unsafe Unmanaged.passRetained(Body(body))
    var thread = pthread_t()
    let failure = unsafe pthread_create(
      &thread, nil,
      { body in
        // The thread's own reference, taken over from the caller.
        if let body = unsafe body { unsafe Unmanaged<Body>.fromOpaque(body).takeRetainedValue().run() }
        return nil
      }, handedOver.toOpaque())
    guard failure == 0 else {
      unsafe handedOver.release()
      return nil
    }
    self.thread = thread
  }

  /// Waits for the thread to end; to be called once.
  package func join() { _ = pthread_join(thread, nil) }

  private final class Body {
    let run: @Sendable () -> Void

    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
  }
}
