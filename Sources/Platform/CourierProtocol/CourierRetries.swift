// SPDX-License-Identifier: Apache-2.0
//
// How often a request is made again, and after which pauses. Every request may be made again: objects have
// names by their hashes, and to write or delete one twice changes nothing.

package import Remotes
internal import Synchronization

/// What became of a request, once.
package enum CourierAttempt<Answer> {
  case answered(Answer)
  /// To be made again later. If that does not help: the error.
  case passing(RemoteError)
  case lasting(RemoteError)
}

/// Pauses before repetitions.
package struct CourierRetries: Sendable {
  /// 1, 2, 4, 8 and 16 s, unless told; then the next run tries.
  private static let count = 5

  /// The first pause, in seconds.
  private let firstSeconds: Double
  /// Waits so many seconds. False: the request is not to be made again.
  private let wait: @Sendable (Double) -> Bool

  /// - Parameters:
  ///   - firstSeconds: the first pause; each further one is twice as long.
  ///   - wait: waits so many seconds, and tells whether to go on.
  package init(firstSeconds: Double, wait: @escaping @Sendable (Double) -> Bool) {
    self.firstSeconds = firstSeconds
    self.wait = wait
  }

  /// Makes a request, again if that may help.
  package func answer<Answer>(
    _ attempt: () -> CourierAttempt<Answer>
  ) throws(RemoteError) -> Answer {
    var repetition = 0
    while true {
      switch attempt() {
      case .answered(let answer): return answer
      case .lasting(let error): throw error
      case .passing(let error):
        guard pause(before: repetition) else { throw error }
        repetition += 1
      }
    }
  }

  /// Waits before a repetition, the first of which is 0. The factor keeps clients that failed together apart.
  /// - Returns: whether to make it.
  private func pause(before repetition: Int) -> Bool {
    guard repetition < Self.count else { return false }
    return wait(firstSeconds * Double(1 << repetition) * Double.random(in: 0.5...1.5))
  }
}

/// Whether a server has ever answered. One that has not is not waited for: offline is normal.
package final class CourierAcquaintance: Sendable {
  private let known = Atomic<Bool>(false)

  package init() {}

  package var isMade: Bool { known.load(ordering: .relaxed) }

  package func make() { known.store(true, ordering: .relaxed) }
}
