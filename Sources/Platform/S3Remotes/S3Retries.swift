// SPDX-License-Identifier: Apache-2.0
//
// How often a request is made again, and after which pauses. Every request may be made again: objects have names by
// their hashes, and to write or delete one twice changes nothing.

internal import Synchronization

/// Pauses before repetitions.
package struct S3Retries: Sendable {
  /// 1, 2, 4, 8 and 16 s, unless told; then the next run tries.
  static let count = 5

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

  /// Waits before a repetition, the first of which is 0. The factor keeps clients that failed together apart.
  /// - Returns: whether to make it.
  func pause(before repetition: Int) -> Bool {
    guard repetition < Self.count else { return false }
    return wait(firstSeconds * Double(1 << repetition) * Double.random(in: 0.5...1.5))
  }
}

/// Whether a server has ever answered. One that has not is not waited for: offline is normal.
final class S3Acquaintance: Sendable {
  private let known = Atomic<Bool>(false)

  var isMade: Bool { known.load(ordering: .relaxed) }

  func make() { known.store(true, ordering: .relaxed) }
}
