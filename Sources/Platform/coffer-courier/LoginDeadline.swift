// SPDX-License-Identifier: Apache-2.0
//
// libpq computes what a server asks for at the login within one call, and the server says how much that is: SCRAM has a
// number of iterations, up to 2,147,483,647. A call cannot be ended, so another thread makes it, and is given up.

internal import CPostgreSQL
internal import Dispatch
internal import Glibc
internal import PostgreSQLRemotes
internal import Primitives
internal import Remotes
internal import Synchronization

/// When a login is to be over.
final class LoginDeadline: Sendable {
  /// In seconds of a clock that nobody sets; the highest number while nothing is awaited.
  private let time = Atomic(Int.max)
  /// How much later than its end a login that only waits may return, on a machine that is busy: it looks at its own clock.
  private static let slackSeconds = 10

  func begin(seconds: Int) { time.store(Self.now() + seconds + Self.slackSeconds, ordering: .relaxed) }
  func end() { time.store(.max, ordering: .relaxed) }
  var isOver: Bool { Self.now() > time.load(ordering: .relaxed) }

  private static func now() -> Int {
    var time = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return time.tv_sec
  }
}

/// One attempt to log in, in a thread of its own.
final class Login: Sendable {
  private let deadline = LoginDeadline()
  private let result = Mutex<Result<LibpqConnection, PostgreSQLTransportError>?>(nil)
  private let isDone = DispatchSemaphore(value: 0)

  /// - Returns: nil when it is given up: its thread may go on for hours, and can only be ended with the process.
  static func connection(
    _ place: PostgreSQLPlace, stallSeconds: Int
  ) -> Result<LibpqConnection, PostgreSQLTransportError>? {
    let login = Login()
    let thread = WorkerThread {
      let made = Result { () throws(PostgreSQLTransportError) in
        try LibpqConnection(place, stallSeconds: stallSeconds, deadline: login.deadline)
      }
      login.result.withLock { $0 = made }
      login.isDone.signal()
    }
    guard let thread else { return .failure(.interrupted) }
    while login.isDone.wait(timeout: .now() + .seconds(1)) == .timedOut {
      if login.deadline.isOver { return nil }
    }
    thread.join()
    return login.result.withLock { $0.take() }
  }
}
